"""Grammars from pairs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

from . import _wug


class Prediction(NamedTuple):
    """What a grammar answers, and why."""

    text: str | None
    """The answer, or ``None`` if the grammar has none."""
    abstained: str | None
    """Why there is no answer."""
    derivation: str
    """How it comes about."""


class Model:
    """A grammar that was found behind pairs."""

    def __init__(self, native: _wug.Model) -> None:
        """Used by :func:`induce`."""
        self._native = native

    def predict(self, source: str) -> str | None:
        """The answer, or ``None`` if the grammar has none."""
        return self.explain(source).text

    def explain(self, source: str) -> Prediction:
        """The answer and how it comes about."""
        return Prediction(*self._native.predict(source))

    @property
    def grammar(self) -> str:
        """The rules, for a person to read."""
        return self._native.grammar

    def save(self, path: str | PathLike[str]) -> None:
        """Writes the grammar to a file."""
        Path(path).write_text(self._native.save() + "\n", encoding="utf-8")

    @staticmethod
    def load(path: str | PathLike[str]) -> Model:
        """Reads a grammar that was saved."""
        return Model(_wug.Model.load(Path(path).read_text(encoding="utf-8")))

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        """Models can be pickled."""
        return _restored, (self._native.save(),)

    def __repr__(self) -> str:
        """The size of the grammar."""
        return f"<wug.Model of {len(self.grammar.splitlines())} lines>"


def _restored(text: str) -> Model:
    return Model(_wug.Model.load(text))


def induce(
    pairs: Iterable[tuple[str, str]] | Iterable[Mapping[str, Any]],
    *,
    budget: float = 600.0,
    steps: int | None = None,
) -> Model:
    """Finds the grammar behind pairs of texts, or behind examples with ``input`` and ``target``.

    ``budget`` is the time in seconds after which the best grammar so far is used.

    >>> pairs = [("jump", "JUMP"), ("walk", "WALK"), ("look", "LOOK"), ("walk twice", "WALK WALK"),
    ...          ("look twice", "LOOK LOOK"), ("walk and look", "WALK LOOK"), ("jump and look", "JUMP LOOK"),
    ...          ("look twice and walk", "LOOK LOOK WALK"), ("walk and look twice", "WALK LOOK LOOK")]
    >>> model = induce(pairs)
    >>> model.predict("jump twice and walk twice")
    'JUMP JUMP WALK WALK'
    >>> model.predict("jump around") is None
    True
    """
    return Model(_wug.induce([_pair(pair) for pair in pairs], budget, steps))


def _pair(pair: tuple[str, str] | Mapping[str, Any]) -> tuple[str, str]:
    if isinstance(pair, Mapping):
        return str(pair["input"]), str(pair["target"])
    source, target = pair
    return source, target
