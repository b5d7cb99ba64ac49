"""Endless streams of items."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, overload

from . import _html, _wug
from ._data import Example, named, picture
from ._score import Verdict, verify

_CHUNK = 1024
_BLOCK = 64
_SHOWN = 5

Bound = int | str | tuple[int, int] | range


class Stream:
    """The items of one split of a dataset at one seed: endless, and addressed by number.

    Item ``i`` is the same whoever asks. Train and test share no item, whatever their seeds.

    >>> train = stream("hint/symbol", split="train", seed=7)
    >>> train[1_000_000]["id"]
    'train_01000000'
    >>> [item["id"] for item in train[10:13]]
    ['train_00000010', 'train_00000011', 'train_00000012']
    >>> stream("scan/length", split="test").size
    3920
    """

    def __init__(
        self,
        dataset: str,
        split: str = "train",
        seed: int = 0,
        where: Mapping[str, Bound] | None = None,
        settings: Mapping[str, object] | None = None,
    ) -> None:
        """See :func:`stream`."""
        self.dataset = dataset
        self.split = split
        self.seed = seed
        self.where = dict(where or {})
        self.settings = dict(settings or {})
        limits = [f"{fact}={_written(bound)}" for fact, bound in self.where.items()]
        self._native = _wug.Stream(f"{dataset}#{split}", seed, limits, named(self.settings))

    @property
    def size(self) -> int | None:
        """The number of different items, where it is known to be finite; else ``None``."""
        return self._native.size

    @overload
    def __getitem__(self, index: int) -> Example: ...
    @overload
    def __getitem__(self, index: slice) -> list[Example]: ...
    def __getitem__(self, index: int | slice) -> Example | list[Example]:
        """An item, or some that follow each other."""
        if isinstance(index, slice):
            if index.stop is None or index.step not in (None, 1):
                raise ValueError("a slice of a stream has an end and no step")
            start = index.start or 0
            if start < 0 or index.stop < 0:
                raise IndexError("a stream has no end to count from")
            return self._items(start, max(0, index.stop - start))
        if index < 0:
            raise IndexError("a stream has no end to count from")
        return self._items(index, 1)[0]

    def _items(self, start: int, count: int) -> list[Example]:
        items = self._native.items(start, count)
        for item in items:
            if "image" in item:
                item["image"] = picture(*item["image"])
        return items

    def __iter__(self) -> Iterator[Example]:
        """All items from the first, without end."""
        return self.iterate()

    def iterate(self, start: int = 0, *, worker: int = 0, workers: int = 1) -> Iterator[Example]:
        """Items from ``start`` on, without end. Several workers share them: an item is in one of them only.

        >>> workers = [stream("hint/symbol").iterate(worker=worker, workers=2) for worker in range(2)]
        >>> [next(worker)["id"] for worker in workers]
        ['train_00000000', 'train_00000064']
        """
        if workers > 1:
            for first in itertools.count(start + worker * _BLOCK, workers * _BLOCK):
                yield from self._items(first, _BLOCK)
        count = 1
        while True:
            yield from self._items(start, count)
            start += count
            # Who stops soon should not pay for many.
            count = min(2 * count, _CHUNK)

    def verify(self, item: Mapping[str, Any], answer: str) -> Verdict:
        """Judges an answer to an item."""
        return verify(self.dataset, item, answer)

    def __reduce__(self) -> tuple[type[Stream], tuple[Any, ...]]:
        """Streams can be pickled: they are what they were made from."""
        return type(self), (self.dataset, self.split, self.seed, self.where, self.settings)

    def __repr__(self) -> str:
        """What it streams."""
        size = "endless" if self.size is None else f"{self.size:,} different items"
        return f"<wug.Stream {self.dataset}#{self.split}, seed {self.seed} ({size})>"

    def _repr_html_(self) -> str:
        rows = [[_html.cell(item[key]) for key in ("id", "input", "target")] for item in self[:_SHOWN]]
        return _html.table(["id", "input", "target"], rows, _html.cell(repr(self)))


def stream(
    dataset: str,
    *,
    split: str = "train",
    seed: int = 0,
    where: Mapping[str, Bound] | None = None,
    **settings: object,
) -> Stream:
    """The endless stream of a dataset.

    ``where`` bounds facts of the items, as difficulty: a value, or the first and the last of a range. Further
    keywords are settings of the dataset.

    >>> items = stream("hint/symbol", seed=7, where={"operators": (2, 3)})
    >>> items[0]["facts"]["operators"] in (2, 3)
    True
    """
    return Stream(dataset, split, seed, where, settings)


def _written(bound: Bound) -> str:
    if isinstance(bound, range):
        bound = (bound.start, bound.stop - 1)
    if isinstance(bound, Sequence) and not isinstance(bound, str):
        first, last = bound
        return f"{first}-{last}"
    return str(bound)
