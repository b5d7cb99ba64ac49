#!/usr/bin/env python3
"""A plain Python sampler of the rules of MNS, and its speed beside wug's in the same run.

    python3 benches/compare/mns.py target/release/wug

Draws problems as wug does for mns/circle (no pictures), first checks that they are alike (the share of answers that
are 1), then prints the time of each and their ratio, by the clock and by the work of one core. Needs nothing but the
standard library.
"""

import json
import random
import resource
import subprocess
import sys
import tempfile
import time

OPERATORS = "+-*/"
LAYOUTS = {
    "combination": [("overlap", 2, [0]), ("include", 8, [0, 2, 4]), ("tangent", 3, [0])],
    "composition": [
        ("line", 4, [0, 2]),
        ("cross", 8, [0, 2, 4]),
        ("triangle", 6, [0, 2, 3]),
        ("square", 8, [0, 2, 4]),
        ("circle", 8, [0, 2, 4]),
    ],
    "partition": [("2", 2, [0]), ("4", 4, [0, 2]), ("6", 6, [0, 2, 3]), ("8", 8, [0, 2, 4])],
}
CONDITIONS = [
    (kind, layout, integers, parts)
    for kind, layouts in LAYOUTS.items()
    for layout, integers, all_parts in layouts
    for parts in all_parts
]


class Failed(Exception):
    """A value has no operands."""


def split(operator, value):
    if operator == "+":
        if value == 1:
            raise Failed
        left = random.randint(1, value - 1)
        return left, value - left
    if operator == "-":
        if value == 99:
            raise Failed
        left = random.randint(value + 1, 99)
        return left, left - value
    for _ in range(101):
        if operator == "*":
            left = random.randint(1, value)
            if value % left == 0:
                return left, value // left
        else:
            left = random.randint(value, 99)
            if left % value == 0:
                return left, left // value
    raise Failed


def parse(operators, parenthesis):
    """A tree of (operator, left, right) over the numbers of leaves."""
    items = list(range(len(operators) + 1))
    operators = list(operators)

    def join(i):
        items[i : i + 2] = [(operators.pop(i), items[i], items[i + 1])]

    if parenthesis is not None:
        join(parenthesis)
    for kinds in ("*/", "+-"):
        i = 0
        while i < len(operators):
            if operators[i] in kinds:
                join(i)
            else:
                i += 1
    return items[0]


def fill(tree, value, leaves):
    if isinstance(tree, int):
        leaves[tree] = value
        return
    operator, left, right = tree
    left_value, right_value = split(operator, value)
    fill(left, left_value, leaves)
    fill(right, right_value, leaves)


def numbers_for(tree, value, size):
    for _ in range(11):
        leaves = [0] * size
        try:
            fill(tree, value, leaves)
            return leaves
        except Failed:
            pass
    return None


def groups_of(kind, layout, integers, parts):
    if parts == 0:
        return [list(range(integers))]
    size = integers // parts
    symmetric = kind == "composition" and layout in ("circle", "square", "triangle")
    if symmetric or random.random() < 0.5:
        groups = [list(range(group, integers, parts)) for group in range(parts)]
        if parts == 2 and layout in ("include", "cross"):
            groups = [[a, b, c, d] for a, d, b, c in groups]
        return groups
    groups = [list(range(group * size, (group + 1) * size)) for group in range(parts)]
    if kind == "partition" and parts == 2 and integers in (6, 8):
        groups[1].reverse()
    return groups


def problem(kind, layout, integers, parts):
    constants = [random.randint(5, 94) for _ in range(3)]
    shown = kind == "composition" and random.random() < 0.5
    if not shown:
        constants = [constants[0]] * 3
    groups = groups_of(kind, layout, integers, parts)
    size = len(groups[0])
    operators = [random.choice(OPERATORS) for _ in range(25)]
    while True:
        used = operators[: size - 1]
        parenthesis = None
        for i, operator in enumerate(used[:-1]):
            if operator in "+-" and random.random() < 0.5:
                parenthesis = i
                break
        tree = parse(used, parenthesis)
        panels = []
        for constant in constants:
            panel = [0] * integers
            for group in groups:
                leaves = numbers_for(tree, constant, size)
                if leaves is None:
                    break
                for position, leaf in zip(group, leaves):
                    panel[position] = leaf
            else:
                panels.append(panel)
                continue
            break
        if len(panels) == 3:
            break
        random.shuffle(operators)
    asked = random.randrange(integers)
    answer = panels[2][asked]
    panels[2][asked] = "?"
    texts = [
        " ".join(map(str, panel)) + (f" = {constant}" if shown else "")
        for panel, constant in zip(panels, constants)
    ]
    return f"{kind} {layout} : {' | '.join(texts)}", answer


def main():
    wug = sys.argv[1] if len(sys.argv) > 1 else "target/release/wug"
    number = 28 * 500
    random.seed(0)
    start, cpu = time.perf_counter(), time.process_time()
    ones = 0
    with tempfile.TemporaryFile("w") as out:
        for i in range(number):
            text, answer = problem(*CONDITIONS[i % 28])
            ones += answer == 1
            out.write(json.dumps({"id": i, "input": text, "target": str(answer)}) + "\n")
    python = (time.perf_counter() - start) / number * 1e6
    python_cpu = (time.process_time() - cpu) / number * 1e6

    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        command = [wug, "generate", "mns/circle", "--quiet", "--out", f"{folder}/data"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        seconds = time.perf_counter() - start
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        with open(f"{folder}/data/test.jsonl") as lines:
            targets = [json.loads(line)["target"] for line in lines]
    rust = seconds / 280_000 * 1e6
    rust_cpu = (usage.ru_utime + usage.ru_stime) / 280_000 * 1e6

    share = targets.count("1") / len(targets)
    print(f"answers that are 1: Python {ones / number:.1%} of {number}, wug {share:.1%} of {len(targets)}")
    print(f"Python: {python:6.1f} us a problem, {python_cpu:6.1f} us of one core ({number} problems as JSON lines)")
    print(f"wug:    {rust:6.1f} us a problem, {rust_cpu:6.1f} us of one core (280,000 problems in {seconds:.2f} s)")
    print(f"ratio:  {python / rust:6.0f} by the clock, {python_cpu / rust_cpu:.0f} core for core")


if __name__ == "__main__":
    main()
