#!/usr/bin/env python3
"""Semantic Exact Match in wug against the published algorithm in Python, in one run.

    cargo build --release && python3 benches/compare/sem.py [--limit N]

The Python below is written from the description of the published algorithm: try every way to give each predicted
variable a gold variable that occurs with the same predicates. Rows that would need more than 10^4 ways are left out,
for wug too. Half of the predictions are right: the targets with variables renamed and conjuncts shuffled. A quarter of
them have a wrong word besides, and a quarter two arguments exchanged. Both sides give verdicts. wug is timed as it scores,
on all cores, and on one core, as Python runs; its time with a reason for each wrong prediction is printed too.
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
    """As described: list every combination, keep those that cover all variables of both, rename, compare."""
    choices = candidates(gold, prediction)
    predicted, wanted = set(signatures(prediction)), set(signatures(gold))
    combinations = [dict(zip(choices, images)) for images in itertools.product(*choices.values())]
    mappings = [one for one in combinations if set(one) == predicted and set(one.values()) == wanted]
    tight = prediction.replace(" ", "").replace("AND", " AND ")
    for mapping in mappings:
        renamed = tight
        for old, new in mapping.items():
            renamed = re.sub(rf"\b{old}\b", "v" + new, renamed)
        if conjuncts(renamed.replace("v", "")) == {c.replace("v", "") for c in conjuncts(gold)}:
            return True
    return False


def paraphrase(form, generator):
    """The same said with other variables and in another order."""
    variables = sorted(set(re.findall(r"\d+", form)))
    names = dict(zip(variables, generator.sample(range(100), len(variables))))
    pieces = re.split(r" AND | ; ", re.sub(r"\d+", lambda match: str(names[match.group()]), form))
    generator.shuffle(pieces)
    return " AND ".join(pieces)


def misspeak(form, generator):
    """Nearly the same: another word for one, or the arguments of two predications exchanged."""
    pieces = form.split(" AND ")
    relations = [i for i, piece in enumerate(pieces) if "," in piece]
    if generator.random() < 0.5 or len(relations) < 2:
        at = generator.randrange(len(pieces))
        pieces[at] = "wug" + pieces[at][pieces[at].index(" ("):]
    else:
        one, other = generator.sample(relations, 2)
        (left, tail), (right, end) = pieces[one].split(" , "), pieces[other].split(" , ")
        pieces[one], pieces[other] = f"{left} , {end}", f"{right} , {tail}"
    return " AND ".join(pieces)


def ours(pairs, folder):
    """How many are right, and the seconds on one core, on all cores, and on one core with reasons."""
    path = f"{folder}/pairs.tsv"
    with open(path, "w") as file:
        file.writelines(f"{gold}\t{said}\n" for gold, said in pairs)
    command = ["cargo", "run", "--release", "--quiet", "-p", "wug-bench", "--example", "sem", "--", path, "20"]
    right, *seconds = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    return int(right), *map(float, seconds)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limit", type=int, default=21000, help="rows of the generalization part [21000]")
    limit = parser.parse_args().limit
    target = os.environ.get("CARGO_TARGET_DIR", "target")
    alike = True
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            [f"{target}/release/wug", "generate", "recogs/v2#gen", "--format", "native", "--out", folder,
             "--limit", str(limit), "--quiet"],
            check=True, stdout=subprocess.DEVNULL)
        with open(f"{folder}/gen.tsv") as file:
            forms = [line.split("\t")[1] for line in file]
        # Every tenth row, so that each of the 21 kinds of generalization is there.
        forms = [form for form in forms[::10] if "LAMBDA" not in form]
        generator = random.Random(0)
        right = [(form, paraphrase(form, generator)) for form in forms]
        wrong = [(form, misspeak(paraphrase(form, generator), generator)) for form in forms]
        total_python = total_core = total_all = 0
        for name, pairs in (("right", right), ("wrong", wrong)):
            kept = [pair for pair in pairs if ways(*pair) <= MOST_WAYS]
            print(f"{name}: {len(kept)} of {len(pairs)} rows with at most {MOST_WAYS} ways ...", flush=True)
            start = time.perf_counter()
            found = sum(sem(gold, said) for gold, said in kept)
            python = time.perf_counter() - start
            count, core, together, reasons = ours(kept, folder)
            print(f"  python {python:.3f} s, {found} match; wug {together:.4f} s, {count} match: ratio {python / together:.0f}"
                  f"; on one core {core:.4f} s: ratio {python / core:.0f}; with reasons {reasons:.4f} s")
            alike &= found == count
            total_python += python
            total_core += core
            total_all += together
    print(f"all: ratio {total_python / total_all:.0f}, on one core {total_python / total_core:.0f}"
          f"; the verdicts {'agree' if alike else 'DIFFER'}")
    return 0 if alike else 1


if __name__ == "__main__":
    sys.exit(main())
