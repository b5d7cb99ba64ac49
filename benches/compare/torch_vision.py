"""Times a training step of networks that see in PyTorch and in wug-nn, in turns on one machine.

    python3 -m venv venv && venv/bin/pip install torch
    venv/bin/python benches/compare/torch_vision.py [--no-compile] [--binary PATH] [--turns 5] [MODEL...]

mns-cnn is the CNN of the MNS paper at batch 32; resnet18 a stock ResNet-18 on 256 windows of 32 x 32 pixels; hint-lstm-attn the
network of the HINT paper, a ResNet-18 and an LSTM with attention, on 32 expressions of 12 symbols. A step is forward,
backward, clipping and Adam in single precision. PyTorch is measured eagerly, with the layout channels-last, and compiled by
torch.compile, which needs a C++ compiler and is left out with a message where it does not work; the best of them counts. Each runs in a process of its own, whose largest memory is printed; the shortest step of
all turns counts.
"""

import json
import resource
import subprocess
import sys
import time

sys.path.pop(0)  # this folder has a torch.py

MODELS = ["mns-cnn", "resnet18", "hint-lstm-attn"]
SECONDS = 2


def networks():
    import torch
    from torch import nn
    from torch.nn import functional as F

    class Block(nn.Module):
        def __init__(self, inputs, outputs, stride):
            super().__init__()
            self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
            self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
            self.norm1, self.norm2 = nn.BatchNorm2d(outputs), nn.BatchNorm2d(outputs)
            self.shortcut = nn.Identity()
            if stride > 1:
                self.shortcut = nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))

        def forward(self, x):
            y = self.norm2(self.conv2(F.relu(self.norm1(self.conv1(x)), inplace=True)))
            return F.relu(y + self.shortcut(x), inplace=True)

    def resnet():
        stem = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1)]
        stages = []
        for inputs, outputs in zip([64, 64, 128, 256], [64, 128, 256, 512]):
            stages += [Block(inputs, outputs, 1 if outputs == 64 else 2), Block(outputs, outputs, 1)]
        return nn.Sequential(*stem, *stages, nn.AdaptiveAvgPool2d(1), nn.Flatten())

    def classifier(body, features, units, classes):
        return nn.Sequential(body, nn.Linear(features, units), nn.ReLU(), nn.Dropout(0.5), nn.Linear(units, classes))

    def cnn():
        layers = []
        for inputs in [3, 32, 32, 32]:
            layers += [nn.Conv2d(inputs, 32, 3, 2), nn.BatchNorm2d(32), nn.ReLU(inplace=True)]
        return nn.Sequential(*layers, nn.Flatten())

    class Hint(nn.Module):
        """As the paper's code: the windows of a batch are one batch of the ResNet; additive attention, word by word."""

        def __init__(self):
            super().__init__()
            self.see, self.vector = resnet(), nn.Linear(512, 128)
            self.special, self.words = nn.Embedding(2, 128), nn.Embedding(12, 128)
            self.encoder = nn.LSTM(128, 512, 3, bidirectional=True, dropout=0.1, batch_first=True)
            self.bridge = nn.ModuleList([nn.Linear(1024, 512), nn.Linear(1024, 512)])
            self.query, self.key, self.v = nn.Linear(512, 512), nn.Linear(1024, 512), nn.Linear(512, 1, bias=False)
            self.cell = nn.LSTMCell(128 + 1024, 512)
            self.out = nn.Linear(128 + 512 + 1024, 11)
            self.drop = nn.Dropout(0.1)

        def forward(self, windows, fed):
            batch, symbols = windows.shape[:2]
            x = self.vector(self.see(windows.flatten(0, 1))).unflatten(0, (batch, symbols))
            x = torch.cat([x, self.special(torch.ones(batch, 1, dtype=torch.long))], 1)
            memory, last = self.encoder(self.drop(x))
            state = [torch.tanh(linear(torch.cat([one[-2], one[-1]], -1))) for linear, one in zip(self.bridge, last)]
            keys, scores = self.key(memory), []
            for t in range(fed.shape[1]):
                word = self.drop(self.words(fed[:, t]))
                weights = self.v(torch.tanh(self.query(state[0]).unsqueeze(1) + keys)).softmax(1)
                context = (weights * memory).sum(1)
                state = self.cell(torch.cat([word, context], -1), tuple(state))
                scores.append(self.out(torch.cat([word, state[0], context], -1)))
            return torch.stack(scores, 1)

    images = lambda *shape: torch.randint(256, shape).float()
    if sys.argv[2] == "mns-cnn":
        return classifier(cnn(), 512, 512, 99), [images(32, 3, 80, 80)], torch.randint(99, (32,))
    if sys.argv[2] == "resnet18":
        return classifier(resnet(), 512, 128, 20), [images(256, 3, 32, 32) / 255], torch.randint(20, (256,))
    target = torch.cat([torch.randint(1, 11, (32, 4)), torch.zeros(32, 1, dtype=torch.long)], 1)
    fed = torch.cat([torch.full((32, 1), 11), target[:, :-1]], 1)
    return Hint(), [images(32, 12, 3, 32, 32) / 255, fed], target


def measure(how):
    import torch
    from torch import nn
    from torch.nn import functional as F

    torch.manual_seed(0)
    model, inputs, target = networks()
    if how == "channels-last":
        model = model.to(memory_format=torch.channels_last)
        if inputs[0].dim() == 4:
            inputs[0] = inputs[0].contiguous(memory_format=torch.channels_last)
    run = torch.compile(model) if how == "compile" else model
    optimiser = torch.optim.Adam(model.parameters(), 1e-4)

    def step():
        optimiser.zero_grad()
        F.cross_entropy(run(*inputs).flatten(0, -2), target.flatten()).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        optimiser.step()

    try:
        step()
    except Exception as error:
        if how != "compile":
            raise
        sys.exit(f"torch.compile does not work here: {error}")
    for _ in sys.stdin:
        best, start = float("inf"), time.perf_counter()
        while time.perf_counter() - start < SECONDS:
            now = time.perf_counter()
            step()
            best = min(best, time.perf_counter() - now)
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        found = {"milliseconds": best * 1e3, "peak_kilobytes": memory, "threads": torch.get_num_threads(), "version": torch.__version__}
        print(json.dumps(found), flush=True)


def compare(model, binary, kinds, turns):
    python = [sys.executable, __file__, "--measure", model]
    commands = {"wug-nn": [*binary, model, "--turns"], **{kind: [*python, kind] for kind in kinds}}
    pipe = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    processes = {name: subprocess.Popen(command, **pipe) for name, command in commands.items()}
    found = {name: [] for name in commands}
    for _ in range(turns):
        for name, process in processes.items():
            try:
                process.stdin.write("\n")
                process.stdin.flush()
            except BrokenPipeError:
                continue
            if line := process.stdout.readline():
                found[name].append(json.loads(line))
    for process in processes.values():
        try:
            process.stdin.close()
        except BrokenPipeError:
            pass
        process.wait()
    kinds = [kind for kind in kinds if found[kind] or kind != "compile"]
    best = {name: min(each["milliseconds"] for each in found[name]) for name in ["wug-nn", *kinds]}
    ours = min(found["wug-nn"], key=lambda each: each["milliseconds"])
    kind = min(kinds, key=best.get)
    theirs = found[kind][-1]
    times = ", ".join(f"{name} {best[name]:.1f}" for name in kinds)
    print(
        f"{model}: {best['wug-nn']:.1f} ms, PyTorch {times} ms, ratio {best[kind] / best['wug-nn']:.2f};"
        f" {ours['gflops']:.0f} GFLOP/s, {100 * ours['share_of_peak']:.0f}% of peak;"
        f" memory {found['wug-nn'][-1]['peak_kilobytes'] // 1024} MB, PyTorch {theirs['peak_kilobytes'] // 1024} MB"
        f" ({ours['isa']}, {theirs['threads']} threads, PyTorch {theirs['version']})",
        flush=True,
    )


def main():
    arguments = sys.argv[1:]
    if "--measure" in arguments:
        return measure(arguments[2])
    value = lambda name, default: arguments[arguments.index(name) + 1] if name in arguments else default
    cargo = "cargo run --quiet --release -p wug-nn --example vision --"
    binary = value("--binary", cargo).split()
    kinds = ["eager", "channels-last", *([] if "--no-compile" in arguments else ["compile"])]
    for model in [word for word in arguments if word in MODELS] or MODELS:
        compare(model, binary, kinds, int(value("--turns", "5")))


main()
