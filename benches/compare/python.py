#!/usr/bin/env python3
"""The Python package against what a user would otherwise use, each pair in one run. Needs the package with pandas:

pip install ./crates/wug-py[pandas] && cargo build --release && python benches/compare/python.py
"""

import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pyarrow.parquet

import wug

COMMAND = Path(__file__).parents[2] / "target" / "release" / "wug"


def median(work, repeats=5):
    times = []
    for _ in range(repeats):
        begun = time.perf_counter()
        work()
        times.append(time.perf_counter() - begun)
    return statistics.median(times)


def pandas(folder):
    data = wug.load("cogs/main")
    subprocess.run(
        [COMMAND, "generate", "cogs/main", "--out", folder / "cogs", "--format", "parquet", "--quiet"], check=True
    )
    parts = ("train", "gen")
    ours = median(lambda: [data[part].to_pandas() for part in parts])

    def read():
        return [pyarrow.parquet.read_table(folder / "cogs" / f"{part}.parquet").flatten().to_pandas() for part in parts]

    assert all(len(one) == len(data[part]) for one, part in zip(read(), parts, strict=True))
    theirs = median(read)
    print(
        f"cogs/main train and gen to pandas: wug {ours:.3f} s, Parquet by pyarrow {theirs:.3f} s, ratio {ours / theirs:.2f}"
    )


def score(folder):
    gen = wug.load("recogs/v2")["gen"]
    predictions = [row["target"] for row in gen]
    path = folder / "predictions.txt"
    path.write_text("".join(f"{text}\n" for text in predictions))
    run = [COMMAND, "score", "recogs/v2#gen", "--predictions", path, "--json"]
    document = json.loads(subprocess.run(run, check=True, capture_output=True).stdout)
    assert document == wug.score("recogs/v2", predictions, part="gen").json
    ours = median(lambda: wug.score("recogs/v2", predictions, part="gen"), 3)
    theirs = median(lambda: subprocess.run(run, check=True, capture_output=True), 3)
    print(
        f"score {len(gen):,} ReCOGS predictions: Python {ours:.2f} s, command line {theirs:.2f} s, ratio {ours / theirs:.2f}"
    )


def stream(count=300_000):
    # One core: no other thread of the pool may help.
    code = (
        "import itertools, time, wug\n"
        "items = iter(wug.stream('hint/symbol', seed=7)); next(items); begun = time.perf_counter()\n"
        f"for _ in itertools.islice(items, {count}): pass\n"
        f"print({count} / (time.perf_counter() - begun))"
    )
    run = subprocess.run(["taskset", "-c", "0", sys.executable, "-c", code], check=True, capture_output=True, text=True)
    print(f"HINT items on one core, as Python dicts: {float(run.stdout):,.0f} a second")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        pandas(Path(name))
        score(Path(name))
    stream()
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")
