"""Scores of predictions, and verdicts on single answers."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import Any, NamedTuple, cast

from . import _html, _wug
from ._data import named


class Verdict(NamedTuple):
    """Whether an answer is correct, and why not."""

    correct: bool
    """Whether it counts as right."""
    reason: str = ""
    """Why it is wrong; empty if it is right."""
    undecided: bool = False
    """Whether the judge gave up within its bound on work, which counts as wrong."""

    def __bool__(self) -> bool:
        """Whether it is correct."""
        return self.correct


class Group(NamedTuple):
    """The score of the examples that share a value of a fact."""

    value: int | str
    """The value, or a range of numbers such as ``11-20``."""
    n: int
    """Examples."""
    correct: int
    """Right predictions."""
    accuracy: float
    """Share of right predictions."""
    interval: tuple[float, float]
    """The 95% interval of the accuracy."""


def verify(dataset: str, example: Mapping[str, Any], answer: str, *, metric: str | None = None) -> Verdict:
    """Judges one answer to an example, by ``metric`` or by the benchmark's own.

    Of the example only ``input`` and ``target`` are read. Nothing is executed, and time and memory are bounded,
    whatever the answer is.

    >>> verify("hint/symbol", {"input": "9*9", "target": "81"}, "18")
    Verdict(correct=False, reason='18 is not 81', undecided=False)
    >>> bool(verify("scan/simple", {"input": "jump twice", "target": "I_JUMP I_JUMP"}, "I_JUMP I_JUMP"))
    True
    """
    # What cannot be encoded (a lone surrogate) is no answer of any benchmark, but still gets a verdict.
    text = str(answer).encode("utf-8", "replace").decode()
    verdict = _wug.verify(dataset, metric, str(example["input"]), str(example["target"]), text)
    correct, undecided, reason = verdict
    return Verdict(correct, reason, undecided)


def score(
    dataset: str,
    predictions: Iterable[str] | Iterable[Mapping[str, Any]] | Mapping[str, str] | PathLike[str],
    *,
    part: str | None = None,
    metric: str | None = None,
    by: str | Sequence[str] = (),
    limit: int | None = None,
    seed: int | str | None = None,
    data: str | PathLike[str] | None = None,
    **settings: object,
) -> Scores:
    """Scores predictions for a part: the same document as ``wug score --json``.

    Predictions are texts in the order of the part, a dict from id to text, rows with ``id`` and ``prediction`` (and
    ``input``, which is then checked), or the path of a file. All else is as for :func:`wug.load`.

    >>> from wug import load
    >>> test = load("scan/length")["test"]
    >>> scores = score("scan/length", [example["target"] for example in test])
    >>> scores.accuracy, scores.n
    (1.0, 3920)
    >>> scores.by("action_length")[0].value
    24
    """
    address = f"{dataset}#{part}" if part else dataset
    facts = [by] if isinstance(by, str) else list(by)
    chosen = named(settings)
    document, verdicts = _wug.score(address, _given(predictions), metric, facts, limit, seed, data, chosen)
    return Scores(json.loads(document), verdicts)


def _given(
    predictions: Iterable[str] | Iterable[Mapping[str, Any]] | Mapping[str, str] | PathLike[str],
) -> Sequence[str] | Sequence[tuple[str, str, str | None]] | Path:
    if isinstance(predictions, PathLike):
        return Path(fspath(predictions))
    if isinstance(predictions, str):
        raise TypeError("predictions are a list of texts; a file is named by a pathlib.Path")
    if isinstance(predictions, Mapping):
        return [(str(id), str(text), None) for id, text in predictions.items()]
    rows = list(predictions)
    if rows and isinstance(rows[0], Mapping):
        return [_row(cast("Mapping[str, Any]", row)) for row in rows]
    return [_text(row) for row in rows]


def _text(row: object) -> str:
    if not isinstance(row, str):
        raise TypeError(f"a prediction is a text, not {type(row).__name__}")
    return row


def _row(row: Mapping[str, Any]) -> tuple[str, str, str | None]:
    if "id" not in row or "prediction" not in row:
        raise ValueError(f"a prediction needs `id` and `prediction`; this one has {', '.join(row)}")
    said = row.get("input")
    return str(row["id"]), str(row["prediction"]), None if said is None else str(said)


class PartScores:
    """The score of a part."""

    def __init__(self, document: Mapping[str, Any], verdicts: _wug.Verdicts) -> None:
        """Used by :class:`Scores`."""
        self._verdicts = verdicts
        self.part: str = document["part"]
        self.n: int = document["n"]
        self.correct: int = document["correct"]
        self.accuracy: float = document["accuracy"]
        self.interval: tuple[float, float] = tuple(document["interval"])
        self.undecided: int = document["undecided"]
        self.score: float | None = document.get("score")

    def by(self, fact: str) -> list[Group]:
        """The score by the values of a fact."""
        groups = json.loads(self._verdicts.by(self.part, fact))["groups"]
        return [Group(g["value"], g["n"], g["correct"], g["accuracy"], tuple(g["interval"])) for g in groups]

    def verdicts(self) -> dict[str, Verdict]:
        """The verdict on each prediction, by the id of its example."""
        return {
            id: Verdict(correct, reason, undecided) for id, correct, undecided, reason in self._verdicts.list(self.part)
        }

    def __repr__(self) -> str:
        """The accuracy with its interval."""
        low, high = self.interval
        return f"{self.part}: {self.accuracy:.2%} ({low:.2%} to {high:.2%}) of {self.n:,}"


class Scores:
    """Scores with 95% intervals. ``json`` is the document that ``wug score --json`` prints.

    Accuracy and the like are those of the first part; ``parts`` has all.
    """

    def __init__(self, document: dict[str, Any], verdicts: _wug.Verdicts) -> None:
        """Used by :func:`score`."""
        self.json = document
        self.parts = {part["part"]: PartScores(part, verdicts) for part in document["parts"]}

    @property
    def _first(self) -> PartScores:
        return next(iter(self.parts.values()))

    @property
    def dataset(self) -> str:
        """The dataset."""
        return str(self.json["dataset"])

    @property
    def metric(self) -> str:
        """The metric."""
        return str(self.json["metric"])

    @property
    def hint(self) -> str | None:
        """What the predictions seem to be made for instead, where they score badly."""
        return self.json.get("hint")

    @property
    def n(self) -> int:
        """Examples."""
        return self._first.n

    @property
    def correct(self) -> int:
        """Right predictions."""
        return self._first.correct

    @property
    def accuracy(self) -> float:
        """Share of right predictions, from 0 to 1."""
        return self._first.accuracy

    @property
    def interval(self) -> tuple[float, float]:
        """The 95% interval of the accuracy."""
        return self._first.interval

    def by(self, fact: str, part: str | None = None) -> list[Group]:
        """The score by the values of a fact."""
        return (self._first if part is None else self.parts[part]).by(fact)

    def verdicts(self, part: str | None = None) -> dict[str, Verdict]:
        """The verdict on each prediction, by the id of its example."""
        return (self._first if part is None else self.parts[part]).verdicts()

    def __repr__(self) -> str:
        """The accuracy of each part."""
        parts = "; ".join(repr(part) for part in self.parts.values())
        return f"<wug.Scores {self.dataset} {self.metric}: {parts}>"

    def _repr_html_(self) -> str:
        def row(part: PartScores) -> list[str]:
            low, high = part.interval
            return [
                _html.cell(part.part),
                f"{part.n:,}",
                f"{part.correct:,}",
                f"{part.accuracy:.2%}",
                f"{low:.2%} to {high:.2%}",
            ]

        header = ["part", "n", "correct", "accuracy", "95% interval"]
        caption = f"<b>{_html.cell(self.dataset)}</b> {_html.cell(self.metric)}"
        hint = f"<p>{_html.cell(self.hint)}</p>" if self.hint else ""
        return _html.table(header, [row(part) for part in self.parts.values()], caption) + hint
