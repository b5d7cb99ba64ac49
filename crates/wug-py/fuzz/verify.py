#!/usr/bin/env python3
"""Random and mutated answers through `wug.verify`, over all benchmarks: `python fuzz/verify.py [NUMBER] [SEED]`.

Prints the largest CPU time of one verdict and the most memory that one took (Linux); fails if one takes 10 ms or 64 MB,
or if anything but a verdict comes back.
"""

import random
import sys
import time

import wug

STREAMS = ["scan/simple", "nacs/simple", "cogs/main", "cogs/variable-free", "recogs/v2", "hint/symbol", "mns/circle"]
STREAMS += ["mt/en-fr", "toy/random-1"]
READ = ["slog/varfree", "pcfg/set", "pairs/own"]
METRICS = {"cogs": [None, "index-invariant", "sem", "sem-official"], "recogs": [None, "sem-official"]}
METRICS |= {"nacs": [None, "exact"], "hint": [None, "gpt3-notebook"]}
ODD = [
    "",
    "\x00",
    "\ud800",
    "(",
    ")",
    "x _ 1",
    ";",
    "AND",
    "LAMBDA a .",
    "9" * 50,
    "-1",
    "NaN",
    "∞",
    "and",
    "after",
    "\n",
    "🐣",
]


def mutated(chance, target, other):
    """An answer that is nearly right, or not at all."""
    words = target.split(" ")
    for _ in range(chance.randrange(1, 6)):
        at = chance.randrange(len(words) + 1)
        match chance.randrange(6):
            case 0:
                words.insert(at, chance.choice(ODD))
            case 1:
                words[at : at + 1] = []
            case 2:
                words[at:at] = other.split(" ")[: chance.randrange(1, 20)]
            case 3:
                words = words[at:] + words[:at]
            case 4:
                chance.shuffle(words)
            case 5 if len(words) < 4000:
                words *= chance.choice([2, 2, 2, 30])
    return " ".join(words)


def memory(name):
    """A line of this process's status in bytes: VmRSS, or VmHWM, the most since the last reset."""
    with open("/proc/self/status") as status:
        return next(1024 * int(line.split()[1]) for line in status if line.startswith(name))


def reset_peak():
    """Forgets how much memory was in use before (Linux)."""
    with open("/proc/self/clear_refs", "w") as reset:
        reset.write("5")


def main(number, seed):
    chance = random.Random(seed)
    items = {name: wug.stream(name, split="test", seed=seed)[:500] for name in STREAMS}
    # Those that are read from files have no stream: any texts will do.
    items |= {name: items["cogs/variable-free" if name == "slog/varfree" else "toy/random-1"] for name in READ}
    for name in items:  # tables that are made once for a process
        for metric in METRICS.get(name.split("/")[0], [None]):
            wug.verify(name, items[name][0], "warm up", metric=metric)
    names, slowest, largest, correct = list(items), 0.0, 0, 0
    for i in range(number):
        name = names[i % len(names)]
        item, other = chance.choice(items[name]), chance.choice(items[name])
        answer = mutated(chance, item["target"], other["target"])
        metric = chance.choice(METRICS.get(name.split("/")[0], [None]))
        reset_peak()
        before = memory("VmRSS")
        begun = time.thread_time()
        verdict = wug.verify(name, item, answer, metric=metric)
        took = time.thread_time() - begun
        grown = memory("VmHWM") - before
        assert isinstance(verdict, wug.Verdict)
        assert verdict.correct or verdict.reason
        correct += verdict.correct
        if took > slowest:
            slowest, worst = took, (name, metric, len(answer))
        largest = max(largest, grown)
        assert took < 0.01, (took, name, metric, item, answer[:2000])
        assert grown < 64 << 20, (grown, name, metric, item, answer[:2000])
    print(f"{number:,} answers: {correct:,} correct; slowest {slowest * 1000:.2f} ms of CPU time {worst}; ")
    print(f"at most {largest / 2**20:.1f} MB of memory in one call")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20_000, int(sys.argv[2]) if len(sys.argv) > 2 else 0)
