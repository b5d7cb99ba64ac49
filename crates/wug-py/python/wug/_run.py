"""Runs of learners, comparisons and reports."""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

from . import _html, _wug
from ._data import named
from ._score import Scores, Verdict


class Run:
    """A finished run, kept in a folder.

    ``Run("runs/lstm")`` reads one that is there.
    """

    def __init__(self, folder: str | PathLike[str]) -> None:
        """Reads the run in a folder."""
        self.folder = Path(folder)
        record, scores, verdicts = _wug.judge_run(self.folder)
        self.record: dict[str, Any] = json.loads(record)
        self.scores = Scores(json.loads(scores), verdicts)

    @property
    def accuracy(self) -> float:
        """Share of right answers, from 0 to 1."""
        return self.scores.accuracy

    @property
    def interval(self) -> tuple[float, float]:
        """The 95% interval of the accuracy."""
        return self.scores.interval

    @cached_property
    def predictions(self) -> dict[str, str]:
        """What was answered, by the id of the example."""
        lines = (self.folder / "predictions.jsonl").read_text(encoding="utf-8").splitlines()
        rows = [json.loads(line) for line in lines]
        return {row["id"]: row["prediction"] for row in rows}

    def verdicts(self) -> dict[str, Verdict]:
        """The verdict on each answer, by the id of its example."""
        return self.scores.verdicts()

    def __fspath__(self) -> str:
        """The folder."""
        return str(self.folder)

    def __repr__(self) -> str:
        """What was run, and its accuracy."""
        spec = self.record["spec"]
        return f"<wug.Run {spec['learner']} on {spec['dataset']}: {self.accuracy:.2%}, {self.folder}>"

    def _repr_html_(self) -> str:
        return _html.cell(f"{self.record['spec']['learner']}, {self.folder}") + self.scores._repr_html_()


def run(
    dataset: str,
    learner: str,
    *,
    out: str | PathLike[str] | None = None,
    force: bool = False,
    progress: bool | Callable[[str, int, int, str], None] = False,
    learner_seed: int = 0,
    metric: str | None = None,
    limit: int | None = None,
    reads_symbols: bool = False,
    seed: int | str | None = None,
    data: str | PathLike[str] | None = None,
    data_settings: dict[str, object] | None = None,
    **settings: object,
) -> Run:
    """Lets a learner answer, and scores it. Further keywords are settings of the learner: ``steps=3000``.

    The run is kept in ``out`` (default: a folder below ``runs``, named by everything that determines the result).
    If the folder has this run already it is not run again, and an unfinished one goes on from its checkpoint: after
    Ctrl-C, call the function again. ``force`` replaces what is there.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     run("mns/circle", "always-one", limit=100, out=folder + "/run").scores.n
    100
    """
    texts = [f"{key}={value}" for key, value in named(settings).items()]
    show = _show if progress is True else (progress or None)
    try:
        folder = _wug.run(
            dataset,
            learner,
            texts,
            learner_seed,
            metric,
            limit,
            reads_symbols,
            seed,
            data,
            named(data_settings or {}),
            out,
            force,
            show,
        )
    finally:
        if progress is True:
            print(file=sys.stderr)
    return Run(folder)


def _show(unit: str, done: int, of: int, message: str) -> None:
    line = f"{done:,} of {of:,} {unit}: {message}"
    print(f"\r{line:<78}", end="", file=sys.stderr, flush=True)


class Comparison:
    """Paired differences between runs. ``json`` is the document that ``wug compare --json`` prints."""

    def __init__(self, document: dict[str, Any]) -> None:
        """Used by :func:`compare`."""
        self.json = document

    @property
    def pairs(self) -> list[dict[str, Any]]:
        """Each system against the first, part by part."""
        return [dict(pair, part=part["part"]) for part in self.json["parts"] for pair in part["pairs"]]

    @property
    def difference(self) -> float:
        """The accuracy of the second run less that of the first."""
        return float(self.pairs[0]["difference"])

    @property
    def interval(self) -> tuple[float, float]:
        """The 95% interval of the difference."""
        low, high = self.pairs[0]["interval"]
        return low, high

    def __repr__(self) -> str:
        """The first difference."""
        low, high = self.interval
        return f"<wug.Comparison {self.difference:+.2%} ({low:+.2%} to {high:+.2%})>"

    def _repr_html_(self) -> str:
        def row(pair: dict[str, Any]) -> list[str]:
            low, high = pair["interval"]
            names = [_html.cell(pair[key]) for key in ("part", "other", "baseline")]
            counts = [f"{pair[key]:,}" for key in ("gained", "lost")]
            return [*names, *counts, f"{pair['difference']:+.2%}", f"{low:+.2%} to {high:+.2%}"]

        header = ["part", "system", "baseline", "gained", "lost", "difference", "95% interval"]
        return _html.table(header, [row(pair) for pair in self.pairs], _html.cell(self.json["dataset"]))


def compare(*runs: Run | str | PathLike[str], by: str | Sequence[str] = ()) -> Comparison:
    """Compares runs on the same examples: paired differences from the first, with intervals."""
    facts = [by] if isinstance(by, str) else list(by)
    return Comparison(json.loads(_wug.compare([Path(run) for run in runs], facts)))


def report(runs: Iterable[Run | str | PathLike[str]], path: str | PathLike[str]) -> Path:
    """Writes one page to look at from runs; returns its path."""
    for folder, what in _wug.report([Path(run) for run in runs], path):
        warnings.warn(f"not shown: {folder}: {what}", stacklevel=2)
    return Path(path)
