"""Times one training step of PyTorch and of wug-nn, same shapes, in turns on one machine.

    python3 -m venv venv && venv/bin/pip install torch
    venv/bin/python benches/compare/torch.py [--compile] [--binary PATH]

A step is forward, backward, clipping and Adam in single precision. Every model runs in a process of its own, whose peak of
memory is printed, and has eight turns of two seconds, in which the others wait: machines that are shared are fast and slow for
minutes. The shortest of all its steps counts. PyTorch runs eagerly with all cores; --compile adds torch.compile, and the better
one counts. --binary is wug-nn's example `step`, if it is built already.
"""

import json
import resource
import subprocess
import sys
import time

sys.path.pop(0)  # this folder has a torch.py: this file

TURNS, SECONDS = 8, 2
LAYERS, HIDDEN, WORDS_IN, WORDS_OUT, SOURCE, TARGET = 2, 200, 20, 10, 8, 16


def measure(name, batch, compiled):
    """For each line that is read, prints the shortest step of PyTorch, in milliseconds, and the peak of memory."""
    import torch
    from torch import nn

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.words_in = nn.Embedding(WORDS_IN, HIDDEN)
            self.words_out = nn.Embedding(WORDS_OUT + 1, HIDDEN)
            self.encoder = nn.LSTM(HIDDEN, HIDDEN, LAYERS)
            self.decoder = nn.LSTM(HIDDEN * (1 + attention), HIDDEN, LAYERS)
            self.out = nn.Linear(HIDDEN * (1 + attention), WORDS_OUT)
            if attention:
                self.query = nn.Linear(HIDDEN, HIDDEN, bias=False)
                self.key = nn.Linear(HIDDEN, HIDDEN, bias=False)
                self.v = nn.Linear(HIDDEN, 1, bias=False)

        def forward(self, source, fed):
            memory, states = self.encoder(self.words_in(source))
            words = self.words_out(fed)
            if not attention:
                return self.out(self.decoder(words, states)[0])
            keys, outputs, contexts = self.key(memory), [], []
            for word in words:
                scores = self.v(torch.tanh(self.query(states[0][-1]) + keys))
                context = (torch.softmax(scores, 0) * memory).sum(0)
                output, states = self.decoder(torch.cat([word, context], 1).unsqueeze(0), states)
                outputs.append(output)
                contexts.append(context)
            return self.out(torch.cat([torch.cat(outputs), torch.stack(contexts)], 2))

    attention = name == "lstm-attn"
    torch.manual_seed(0)
    model = Model()
    run = torch.compile(model) if compiled else model
    optimiser = torch.optim.Adam(model.parameters())
    source = torch.randint(WORDS_IN, (SOURCE, batch))
    target = torch.randint(WORDS_OUT, (TARGET, batch))
    fed = torch.cat([torch.full((1, batch), WORDS_OUT), target[:-1]])

    def step():
        optimiser.zero_grad()
        scores = run(source, fed)
        loss = nn.functional.cross_entropy(scores.flatten(0, 1), target.flatten(), reduction="sum") / batch
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        optimiser.step()

    step()  # compiles
    for _ in sys.stdin:
        best, start, steps = float("inf"), time.perf_counter(), 0
        while steps < 5 or time.perf_counter() - start < SECONDS:
            now = time.perf_counter()
            step()
            best, steps = min(best, time.perf_counter() - now), steps + 1
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        print(json.dumps({
            "milliseconds": best * 1e3, "peak_kilobytes": peak, "version": torch.__version__,
            "threads": torch.get_num_threads(),
        }), flush=True)


def in_turns(commands):
    """What each command says of its best turn."""
    runs = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for command in commands]
    best = [None] * len(runs)
    for _ in range(TURNS):
        for i, run in enumerate(runs):
            print(file=run.stdin, flush=True)
            said = json.loads(run.stdout.readline() or sys.exit(f"{commands[i][0]} gave up"))
            best[i] = min(best[i] or said, said, key=lambda one: one["milliseconds"])
    for run in runs:
        run.communicate()
    return best


def main():
    binary = ["cargo", "run", "--quiet", "--release", "-p", "wug-nn", "--example", "step", "--"]
    if "--binary" in sys.argv:
        binary = [sys.argv[sys.argv.index("--binary") + 1]]
    modes = ["eager", "compile"] if "--compile" in sys.argv else ["eager"]
    print("model      batch   wug-nn  PyTorch  ratio  steps/s   words/s  of peak    memory   PyTorch's")
    for name in ["lstm", "lstm-attn"]:
        for batch in [1, 32, 128]:
            torch = [sys.executable, "-W", "ignore", __file__, name, str(batch)]
            ours, *theirs = in_turns([[*binary, name, str(batch), "--turns"], *([*torch, mode] for mode in modes)])
            best = min(theirs, key=lambda one: one["milliseconds"])
            mine = ours["milliseconds"]
            print(
                f"{name:10} {batch:5} {mine:5.2f} ms {best['milliseconds']:5.2f} ms {best['milliseconds'] / mine:5.2f}x"
                f" {1e3 / mine:8.1f} {batch * TARGET * 1e3 / mine:9.0f} {ours['share_of_peak']:7.0%}"
                f" {ours['peak_kilobytes'] / 1024:7.0f} MB {best['peak_kilobytes'] / 1024:7.0f} MB"
                f"  ({modes[theirs.index(best)]})", flush=True,
            )
    print(f"PyTorch {best['version']} with {best['threads']} threads; wug-nn with {ours['threads']}, {ours['isa']}")


if len(sys.argv) == 4 and sys.argv[3] in ["eager", "compile"]:
    measure(sys.argv[1], int(sys.argv[2]), sys.argv[3] == "compile")
else:
    main()
