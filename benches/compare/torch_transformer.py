"""Times a training step and greedy decoding of a Transformer in PyTorch and in wug-nn, one after the other on one machine.

    python3 -m venv venv && venv/bin/pip install torch
    wug generate cogs/main --out cogs
    venv/bin/python benches/compare/torch_transformer.py [--compile] [--binary PATH] [--width 128]... [--data cogs/test.jsonl]

Two layers of encoder and decoder, batch 128, source 12 and target 24 words. A step is forward with dropout 0.1, backward,
clipping and Adam in single precision. The PyTorch model is nn.Transformer with its fused attention; --compile adds
torch.compile, and the better one counts. Greedy decoding keeps keys and values in both. The shortest of all in five seconds
counts, and each width runs in a process of its own, whose largest memory is printed.

With --data, sequences as long as the file's first 512 are decoded as well, where all of a batch have the same number of
words above: PyTorch pads the sources of a batch of 128 and stops when its longest answer has ended, once with the batches in
the order of the file and once with sources of like length together.
"""

import json
import math
import resource
import subprocess
import sys
import tempfile
import time

sys.path.pop(0)  # this folder has a torch.py

BATCH, SOURCE, TARGET, WORDS, EXAMPLES = 128, 12, 24, 100, 512


def shortest(work):
    best, start, done = float("inf"), time.perf_counter(), 0
    while done < 5 or time.perf_counter() - start < 5:
        now = time.perf_counter()
        work()
        best, done = min(best, time.perf_counter() - now), done + 1
    return best * 1e3


def measure(width, compiled, lengths):
    import torch
    from torch import nn
    from torch.nn import functional as F

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.words_in = nn.Embedding(WORDS, width)
            self.words_out = nn.Embedding(WORDS + 1, width)
            angle = torch.arange(512).unsqueeze(1) / 10000 ** (torch.arange(0, width, 2) / width)
            self.register_buffer("codes", torch.stack([angle.sin(), angle.cos()], -1).flatten(1))
            self.body = nn.Transformer(width, width // 32, 2, 2, 4 * width, 0.1, batch_first=True)
            self.body.encoder.norm = self.body.decoder.norm = None
            self.out = nn.Linear(width, WORDS)
            self.drop = nn.Dropout(0.1)

        def place(self, words, table):
            return self.drop(table(words) * math.sqrt(width) + self.codes[: words.shape[1]])

        def forward(self, source, fed):
            mask = nn.Transformer.generate_square_subsequent_mask(fed.shape[1])
            x, y = self.place(source, self.words_in), self.place(fed, self.words_out)
            return self.out(self.body(x, y, tgt_mask=mask, tgt_is_causal=True))

        def greedy(self, source, length, seen=None):
            """As one writes it by hand: keys and values of all words so far are kept. What is not seen is padding."""
            heads = lambda x: x.unflatten(-1, (width // 32, 32)).transpose(1, 2)
            padding = None if seen is None else ~seen
            memory = self.body.encoder(self.place(source, self.words_in), src_key_padding_mask=padding)
            mask = None if seen is None else seen[:, None, None, :]
            layers, fixed, kept = self.body.decoder.layers, [], []
            for layer in layers:
                cross = layer.multihead_attn
                pair = F.linear(memory, cross.in_proj_weight[width:], cross.in_proj_bias[width:])
                fixed.append([heads(part) for part in pair.split(width, -1)])
                kept.append(None)
            word, said = torch.full((source.shape[0], 1), WORDS), []
            for t in range(length):
                x = self.words_out(word) * math.sqrt(width) + self.codes[t]
                for i, layer in enumerate(layers):
                    itself, cross = layer.self_attn, layer.multihead_attn
                    q, k, v = F.linear(x, itself.in_proj_weight, itself.in_proj_bias).split(width, -1)
                    pair = [heads(k), heads(v)]
                    kept[i] = pair if kept[i] is None else [torch.cat(both, 2) for both in zip(kept[i], pair)]
                    y = F.scaled_dot_product_attention(heads(q), *kept[i]).transpose(1, 2).flatten(2)
                    x = layer.norm1(x + itself.out_proj(y))
                    q = F.linear(x, cross.in_proj_weight[:width], cross.in_proj_bias[:width])
                    y = F.scaled_dot_product_attention(heads(q), *fixed[i], mask).transpose(1, 2).flatten(2)
                    x = layer.norm2(x + cross.out_proj(y))
                    x = layer.norm3(x + layer.linear2(F.relu(layer.linear1(x))))
                word = self.out(x)[:, :, 1:].argmax(-1) + 1
                said.append(word)
            return torch.cat(said, 1)

    torch.manual_seed(0)
    model = Model()
    run = torch.compile(model) if compiled else model
    optimiser = torch.optim.Adam(model.parameters(), 1e-4)
    source, target = torch.randint(WORDS, (BATCH, SOURCE)), torch.randint(WORDS, (BATCH, TARGET))
    fed = torch.cat([torch.full((BATCH, 1), WORDS), target[:, :-1]], 1)

    def step():
        optimiser.zero_grad()
        F.cross_entropy(run(source, fed).flatten(0, 1), target.flatten()).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        optimiser.step()

    found = {"step": shortest(step), "threads": torch.get_num_threads(), "version": torch.__version__}
    found["megabytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    model.eval()
    with torch.inference_mode():
        found["greedy"] = shortest(lambda: model.greedy(source, TARGET))
        for name, pairs in {"uneven": lengths, "sorted": sorted(lengths)}.items() if lengths else ():
            batches = []
            for first in range(0, len(pairs), BATCH):
                sources, answers = map(torch.tensor, zip(*pairs[first : first + BATCH]))
                seen = torch.arange(sources.max()) < sources[:, None]
                # All have ended when the longest has said its last word and its end.
                batches.append((torch.randint(WORDS, seen.shape), int(answers.max()) + 1, seen))
            found[name] = shortest(lambda: [model.greedy(*batch) for batch in batches])
    print(json.dumps(found))


def run(command):
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()[-1])


def main():
    arguments = sys.argv[1:]
    values = lambda name: [arguments[i + 1] for i, argument in enumerate(arguments) if argument == name]
    if "--measure" in arguments:
        lengths = [tuple(map(int, line.split())) for path in values("--lengths") for line in open(path)]
        return measure(int(arguments[1]), "--compile" in arguments, lengths)
    binary = values("--binary") or ["cargo", "run", "--quiet", "--release", "-p", "wug-nn", "--example", "transformer", "--"]
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as lengths:
        for path in values("--data"):
            with open(path) as file:
                for example in [json.loads(line) for line in file][:EXAMPLES]:
                    print(*(len(example[of].split()) for of in ("input", "target")), file=lengths, flush=True)
        for width in values("--width") or ["128", "256", "512"]:
            compare(width, binary, lengths.name if values("--data") else None, "--compile" in arguments)


def compare(width, binary, lengths, compiles):
    ours = run([*binary, width, *([lengths] if lengths else [])])
    command = [sys.executable, __file__, "--measure", width, *(["--lengths", lengths] if lengths else [])]
    theirs = [run(command), *([run([*command, "--compile"])] if compiles else [])]
    step, greedy = (min(one[what] for one in theirs) for what in ("step", "greedy"))
    print(
        f"width {width}: step {ours['step']:.1f} ms, PyTorch {', '.join(format(one['step'], '.1f') for one in theirs)} ms,"
        f" ratio {step / ours['step']:.2f}; greedy {ours['greedy']:.1f} ms, PyTorch {greedy:.1f} ms, ratio"
        f" {greedy / ours['greedy']:.2f}; memory {ours['megabytes']} MB, PyTorch"
        f" {min(one['megabytes'] for one in theirs)} MB ({ours['isa']}, {theirs[0]['threads']} threads,"
        f" PyTorch {theirs[0]['version']})",
        flush=True,
    )
    if lengths:
        uneven, ordered = (min(one[what] for one in theirs) for what in ("uneven", "sorted"))
        print(
            f"width {width}, lengths of the file: greedy {ours['uneven']:.1f} ms, PyTorch {uneven:.1f} ms, ratio"
            f" {uneven / ours['uneven']:.2f}; with sources sorted {ordered:.1f} ms, ratio {ordered / ours['uneven']:.2f}",
            flush=True,
        )


main()
