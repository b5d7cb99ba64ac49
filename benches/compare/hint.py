"""HINT's sampling in plain Python, the way a notebook would do it: draw a tree, evaluate it, keep it if it is new.

Draws a hundredth of the dataset, with the same rules for each number of operators, the same properties for each row,
and prints the time for a row. `cargo bench -p wug-bench --bench hint` runs it beside wug.
"""

import random
import time

SHARE = 100
OPERATORS = "+-*/"
BINDS = {"+": 1, "-": 1, "*": 2, "/": 2}


def draw(operators):
    """A tree with so many operators: a digit, or (operator, left, right)."""
    if operators == 0:
        return random.randrange(10)
    operator = random.choice(OPERATORS)
    left = random.randrange(operators)
    return operator, draw(left), draw(operators - 1 - left)


def evaluate(tree):
    """The value of a tree and the largest value in it; None where it is undefined."""
    if isinstance(tree, int):
        return tree, tree
    operator, left, right = tree
    a, b = evaluate(left), evaluate(right)
    if a is None or b is None:
        return None
    if operator == "+":
        value = a[0] + b[0]
    elif operator == "-":
        value = max(0, a[0] - b[0])
    elif operator == "*":
        value = a[0] * b[0]
    elif b[0] == 0:
        return None
    else:
        value = -(-a[0] // b[0])
    return value, max(value, a[1], b[1])


def infix(tree, least=0):
    """The tokens of a tree, with the parentheses that are necessary."""
    if isinstance(tree, int):
        return [str(tree)]
    operator, left, right = tree
    tokens = infix(left, BINDS[operator]) + [operator] + infix(right, BINDS[operator] + 1)
    return ["("] + tokens + [")"] if BINDS[operator] < least else tokens


def depth(tree):
    """Nodes on the longest path from the root."""
    return 1 if isinstance(tree, int) else 1 + max(depth(tree[1]), depth(tree[2]))


def heads(tree, first=0, least=0):
    """For each token the position of the operator it belongs to, and the position of the tree's own top."""
    if isinstance(tree, int):
        return [-1], first
    operator, left, right = tree
    enclosed = BINDS[operator] < least
    of_left, left_top = heads(left, first + enclosed, BINDS[operator])
    top = first + enclosed + len(of_left)
    of_right, right_top = heads(right, top + 1, BINDS[operator] + 1)
    all_heads = [top] * enclosed + of_left + [-1] + of_right + [top] * enclosed
    all_heads[left_top - first] = all_heads[right_top - first] = top
    return all_heads, top


def pool(operators, size, least, most):
    """So many different trees, none of whose results is more than 5% of them."""
    known, results, rows = set(), {}, []
    while len(rows) < size:
        tree = draw(operators)
        if tree in known:
            continue
        value = evaluate(tree)
        if value is None or value[0] == 0 or not least <= value[1] <= most:
            continue
        if results.get(value[0], 0) >= max(1, size // 20):
            continue
        known.add(tree)
        results[value[0]] = results.get(value[0], 0) + 1
        tokens = infix(tree)
        of_tokens, _ = heads(tree)
        reach = max((abs(i - head) for i, head in enumerate(of_tokens) if head >= 0), default=0)
        rows.append(("".join(tokens), value[0], value[1], len(tokens), operators, depth(tree), reach))
    return rows


def main():
    random.seed(0)
    start = time.perf_counter()
    rows = 0
    for operators in range(3, 21):
        train = 100_000 if operators <= 10 else 0
        rows += len(pool(operators, (train + 1_100) // SHARE, 0, 100))
        rows += len(pool(operators, 1_100 // SHARE, 101, 10_000))
    print(f"{rows} rows, {(time.perf_counter() - start) / rows * 1e6:.2f} us a row")


if __name__ == "__main__":
    main()
