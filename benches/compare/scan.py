"""SCAN and NACS in plain Python, timed beside wug in one run.

    cargo build --release && python3 benches/compare/scan.py

Both sides enumerate the 20,910 commands with their actions, choose the rows of all 209 files of the SCAN repository
(drawn splits included, with their validation draw), write the files, and judge 20,910 NACS predictions by
interpreting them. Python keeps the commands between splits, as wug does.
"""
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
VERBS = ["walk", "look", "run", "jump"]
ACTION = {"walk": "I_WALK", "look": "I_LOOK", "run": "I_RUN", "jump": "I_JUMP", "turn": None}
TURN = {"left": "I_TURN_LEFT", "right": "I_TURN_RIGHT"}


def interpret(words):
    """The actions of a command, or None if it is no command."""
    for conjunction in ("and", "after"):
        if conjunction in words:
            at = words.index(conjunction)
            left, right = interpret_repeated(words[:at]), interpret_repeated(words[at + 1:])
            if left is None or right is None:
                return None
            return left + right if conjunction == "and" else right + left
    return interpret_repeated(words)


def interpret_repeated(words):
    if not words:
        return None
    times = {"twice": 2, "thrice": 3}.get(words[-1], 1)
    phrase = interpret_phrase(words[:-1] if times > 1 else words)
    return None if phrase is None else phrase * times


def interpret_phrase(words):
    if not words or words[0] not in ACTION:
        return None
    verb = [ACTION[words[0]]] if ACTION[words[0]] else []
    if len(words) == 1:
        return verb or None
    if words[-1] not in TURN:
        return None
    turn = [TURN[words[-1]]]
    if len(words) == 2:
        return turn + verb
    if len(words) == 3 and words[1] == "opposite":
        return turn + turn + verb
    if len(words) == 3 and words[1] == "around":
        return (turn + verb) * 4
    return None


def enumerate_commands():
    """All commands with their actions, sorted."""
    phrases = list(VERBS)
    for verb in VERBS + ["turn"]:
        for direction in TURN:
            phrases += [f"{verb} {direction}", f"{verb} opposite {direction}", f"{verb} around {direction}"]
    simple = [phrase + repeat for phrase in phrases for repeat in ("", " twice", " thrice")]
    commands = simple + [f"{a} {word} {b}" for word in ("and", "after") for a in simple for b in simple]
    return sorted((command, " ".join(interpret(command.split()))) for command in commands)


def shuffled(rows, rng):
    rng.shuffle(rows)
    return rows


def splits(pairs, rng):
    """The rows of the train and test files of every split, and the validation draw of each."""
    commands = [command for command, _ in pairs]
    everything = range(len(pairs))
    padded = [f" {command} " for command in commands]

    def has(row, *stretches):
        return any(f" {stretch} " in padded[row] for stretch in stretches)

    def by_words(neither, test):
        kept = [row for row in everything if not has(row, *neither)]
        return [row for row in kept if not has(row, *test)], [row for row in kept if has(row, *test)]

    def addprim(primitive, added, copies, excluded):
        alone = commands.index(primitive)
        others = [row for row in everything if not has(row, primitive)]
        excluded = set(excluded) | {alone}
        train = others + [row for row in added + [alone] for _ in range(copies)]
        return train, [row for row in everything if has(row, primitive) and row not in excluded]

    simple = shuffled(list(everything), rng)
    yield "simple", simple[:16728], simple[16728:]
    for share in (1, 2, 4, 8, 16, 32, 64):
        size = len(pairs) * share // 100
        yield f"simple_p{share}", simple[:size], simple[size:]
    length = [len(actions.split()) for _, actions in pairs]
    yield "length", [row for row in everything if length[row] <= 22], [row for row in everything if length[row] > 22]
    yield "addprim_jump", *addprim("jump", [], 1467, [])
    yield "addprim_turn_left", *addprim("turn left", [], 2189, [])
    for number in (1, 2, 4, 8, 16, 32):
        for repetition in range(1, 6):
            candidates = addprim("jump", [], 0, [])[1]
            added = rng.sample(candidates, number)
            yield (f"addprim_complex_jump_num{number}_rep{repetition}",
                   *addprim("jump", added, int(1467 / (number + 1) + 0.5), added))
    for name, pattern in (("around_right", "around right"), ("opposite_right", "opposite right"), ("right", "right")):
        yield f"template_{name}", *by_words([f"turn {pattern}"], [f"{verb} {pattern}" for verb in VERBS])
    yield "template_jump_around_right", *by_words(["turn around right"], ["jump around right"])
    fillers = ["look", "walk", "run"]

    def filler(number):
        train, test = by_words(["turn around right"], ["jump around right"])
        return [row for row in train if not has(row, *[f"{verb} around right" for verb in fillers[number:]])], test

    for number in range(4):
        yield f"filler_num{number}", *filler(number)
    for number in (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024):
        for repetition in range(1, 6):
            train, test = filler(0)
            candidates = [row for row in filler(1)[0] if has(row, "look around right")]
            yield f"fewshot_num{number}_rep{repetition}", train + rng.sample(candidates, number), test


def make(pairs):
    rng = random.Random(0)
    files = {"tasks.txt": shuffled(list(range(len(pairs))), rng)}
    for name, train, test in splits(pairs, rng):
        files[f"tasks_train_{name}.txt"] = shuffled(list(train), rng)
        files[f"tasks_test_{name}.txt"] = shuffled(list(test), rng)
        validation = [row for row in train if rng.random() < 0.1]
        assert validation
    assert len(files) == 209
    return files


def write(pairs, files, folder):
    for name, rows in files.items():
        with open(os.path.join(folder, name), "w") as file:
            for row in rows:
                command, actions = pairs[row]
                file.write(f"IN: {command} OUT: {actions}\n")


def score(pairs):
    return sum(" ".join(interpret(command.split()) or []) == actions for command, actions in pairs)


def timed(work):
    start = time.perf_counter()
    result = work()
    return result, time.perf_counter() - start


def main():
    wug = os.path.join(ROOT, "target", "release", "wug")
    if not os.path.exists(wug):
        sys.exit("build first: cargo build --release")
    command = ["cargo", "run", "--release", "--quiet", "--example", "scan_speed", "-p", "wug-bench"]
    fast = json.loads(subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout)

    pairs, enumerated = timed(enumerate_commands)
    assert len(pairs) == 20910
    files, split = timed(lambda: make(pairs))
    rows = sum(len(rows) for rows in files.values())
    assert rows == fast["rows"], (rows, fast["rows"])
    folder = tempfile.mkdtemp()
    try:
        _, written = timed(lambda: write(pairs, files, folder))
        out = os.path.join(folder, "wug")
        _, wug_written = timed(lambda: subprocess.run(
            [wug, "generate", "scan", "--format", "native", "--out", out], check=True, stdout=subprocess.DEVNULL))
    finally:
        shutil.rmtree(folder)
    right, scored = timed(lambda: score(pairs))
    assert right == 20910

    print(f"{'':34}{'Python':>10}{'wug':>10}{'ratio':>8}")
    for name, slow, quick in (
        ("enumerate 20,910 commands", enumerated, fast["enumerate"]),
        (f"choose the {rows:,} rows of 209 files", split, fast["split"]),
        ("both: generation", enumerated + split, fast["enumerate"] + fast["split"]),
        ("judge 20,910 NACS predictions", scored, fast["score"]),
        ("everything onto disk, as a process", enumerated + split + written, wug_written),
    ):
        print(f"{name:34}{slow:9.3f}s{quick:9.4f}s{slow / quick:7.0f}x")


if __name__ == "__main__":
    main()
