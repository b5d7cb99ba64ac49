"""Times one training step of PyTorch and of wug-nn, same shapes, one after the other on one machine.

    python3 -m venv venv && venv/bin/pip install torch
    venv/bin/python benches/compare/torch.py

A step is forward, backward, clipping and Adam in single precision; the least of all steps in four seconds counts. PyTorch
runs eagerly with all cores; --compile adds torch.compile, and the better one counts.
"""

import json
import subprocess
import sys
import time

sys.path.pop(0)  # this folder has a torch.py, this file

import torch
from torch import nn

HIDDEN, WORDS_IN, WORDS_OUT, SOURCE, TARGET = 200, 20, 10, 8, 16


class Model(nn.Module):
    def __init__(self, attention):
        super().__init__()
        self.attention = attention
        self.words_in = nn.Embedding(WORDS_IN, HIDDEN)
        self.words_out = nn.Embedding(WORDS_OUT + 1, HIDDEN)
        self.encoder = nn.LSTM(HIDDEN, HIDDEN, 2)
        self.decoder = nn.LSTM(HIDDEN * (2 if attention else 1), HIDDEN, 2)
        self.query = nn.Linear(HIDDEN, HIDDEN, bias=False)
        self.key = nn.Linear(HIDDEN, HIDDEN, bias=False)
        self.v = nn.Linear(HIDDEN, 1, bias=False)
        self.out = nn.Linear(HIDDEN, WORDS_OUT)

    def forward(self, source, fed):
        memory, states = self.encoder(self.words_in(source))
        words = self.words_out(fed)
        if not self.attention:
            return self.out(self.decoder(words, states)[0])
        keys, outputs = self.key(memory), []
        for word in words:
            scores = self.v(torch.tanh(self.query(states[0][-1]) + keys))
            context = (torch.softmax(scores, 0) * memory).sum(0)
            output, states = self.decoder(torch.cat([word, context], 1).unsqueeze(0), states)
            outputs.append(output)
        return self.out(torch.cat(outputs))


def seconds(attention, batch, compiled):
    torch.manual_seed(0)
    model = Model(attention)
    run = torch.compile(model) if compiled else model
    optimiser = torch.optim.Adam([p for n, p in model.named_parameters() if attention or n.split(".")[0] not in ("query", "key", "v")])
    source = torch.randint(WORDS_IN, (SOURCE, batch))
    target = torch.randint(WORDS_OUT, (TARGET, batch))
    fed = torch.cat([torch.full((1, batch), WORDS_OUT), target[:-1]])
    best, start, steps = float("inf"), time.perf_counter(), 0
    while steps < 5 or time.perf_counter() - start < 4:
        now = time.perf_counter()
        optimiser.zero_grad()
        scores = run(source, fed)
        loss = nn.functional.cross_entropy(scores.flatten(0, 1), target.flatten(), reduction="sum") / batch
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        optimiser.step()
        best, steps = min(best, time.perf_counter() - now), steps + 1
    return best


def main():
    command = ["cargo", "run", "--quiet", "--release", "-p", "wug-nn", "--example", "step"]
    if "--binary" in sys.argv:
        command = [sys.argv[sys.argv.index("--binary") + 1]]
    ours = [json.loads(line) for line in subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()]
    print(f"PyTorch {torch.__version__}, {torch.get_num_threads()} threads")
    for line in ours:
        eager = seconds(line["attention"], line["batch"], False)
        theirs = min(eager, seconds(line["attention"], line["batch"], True)) if "--compile" in sys.argv else eager
        name = "LSTM with attention" if line["attention"] else "LSTM"
        mine, words = line["milliseconds"], line["batch"] * TARGET
        print(
            f"{name:20} batch {line['batch']:3}: {mine:8.2f} ms, PyTorch {theirs * 1e3:8.2f} ms, ratio {theirs * 1e3 / mine:5.2f}"
            f"  ({1e3 / mine:7.1f} steps/s, {words * 1e3 / mine:8.0f} target words/s, {line['isa']})"
        )


main()
