#!/usr/bin/env python3
"""Semantic Exact Match in wug against the published algorithm in Python, on one core each, in one run.

    cargo build --release && python3 benches/compare/sem.py [--limit N]

The Python below is written from the description of the published algorithm: try every way to give each predicted
variable a gold variable that occurs with the same predicates. Rows that would need more than 10^4 ways are left out,
for wug too; predictions are the targets with variables renamed and conjuncts shuffled.
"""

import argparse
import itertools
import os
import random
import re
import subprocess
import sys
import tempfile
import time

ONE_PLACE = re.compile(r"(\w+)\((\d+)\)")
TWO_PLACE = re.compile(r"(\w+)\((\d+),(\d+)\)")
MOST_WAYS = 10**4


def conjuncts(form):
    return set(re.split(r"AND|;", form.replace(" ", "")))


def signatures(form):
    """For each variable the sorted predicates that it occurs with."""
    form = form.replace(" ", "").replace("AND", " AND ")
    found = {}
    for predicate, variable in ONE_PLACE.findall(form):
        found.setdefault(variable, []).append(predicate)
    for predicate, first, second in TWO_PLACE.findall(form):
        found.setdefault(first, []).append(predicate)
        found.setdefault(second, []).append(predicate)
    return {variable: tuple(sorted(predicates)) for variable, predicates in found.items()}


def candidates(gold, prediction):
    by_signature = {}
    for variable, signature in signatures(gold).items():
        by_signature.setdefault(signature, []).append(variable)
    return {v: by_signature.get(signature, []) for v, signature in signatures(prediction).items()}


def ways(gold, prediction):
    total = 1
    for choices in candidates(gold, prediction).values():
        total *= len(choices)
    return total


def sem(gold, prediction):
    choices = candidates(gold, prediction)
    wanted = conjuncts(gold)
    gold_variables = set(re.findall(r"\d+", gold))
    tight = prediction.replace(" ", "").replace("AND", " AND ")
    for images in list(itertools.product(*choices.values())):
        mapping = dict(zip(choices, images))
        if set(mapping.values()) != gold_variables:
            continue
        renamed = tight
        for old, new in mapping.items():
            renamed = re.sub(rf"\b{old}\b", "v" + new, renamed)
        if conjuncts(renamed.replace("v", "")) == {c.replace("v", "") for c in wanted}:
            return True
    return False


def paraphrase(form, generator):
    """The same said with other variables and in another order."""
    variables = sorted(set(re.findall(r"\d+", form)))
    names = dict(zip(variables, generator.sample(range(100), len(variables))))
    pieces = re.split(r" AND | ; ", re.sub(r"\d+", lambda match: str(names[match.group()]), form))
    generator.shuffle(pieces)
    return " AND ".join(pieces)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limit", type=int, default=2000, help="rows of the generalization part [2000]")
    limit = parser.parse_args().limit
    target = os.environ.get("CARGO_TARGET_DIR", "target")
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            [f"{target}/release/wug", "generate", "recogs/v2#gen", "--format", "native", "--out", folder,
             "--limit", str(limit), "--quiet"],
            check=True, stdout=subprocess.DEVNULL)
        with open(f"{folder}/gen.tsv") as file:
            forms = [line.split("\t")[1] for line in file]
        generator = random.Random(0)
        pairs = [(form, paraphrase(form, generator)) for form in forms if "LAMBDA" not in form]
        kept = [pair for pair in pairs if ways(*pair) <= MOST_WAYS]
        path = f"{folder}/pairs.tsv"
        with open(path, "w") as file:
            file.writelines(f"{gold}\t{said}\n" for gold, said in kept)

        start = time.perf_counter()
        right = sum(sem(gold, said) for gold, said in kept)
        python = time.perf_counter() - start
        command = ["cargo", "run", "--release", "--quiet", "-p", "wug-bench", "--example", "sem", "--", path, "20"]
        output = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
        ours, rust = int(output[0]), float(output[1])
    print(f"{len(kept)} of {len(pairs)} rows with at most {MOST_WAYS} ways")
    print(f"python {python:.3f} s, {right} right; wug {rust:.4f} s, {ours} right; ratio {python / rust:.0f}")
    return 0 if right == ours == len(kept) else 1


if __name__ == "__main__":
    sys.exit(main())
