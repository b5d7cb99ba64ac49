"""Streams as an ``IterableDataset`` of Hugging Face's ``datasets``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from .._stream import Stream

if TYPE_CHECKING:
    import datasets


def iterable_dataset(stream: Stream, *, shards: int = 1, count: int | None = None) -> datasets.IterableDataset:
    """A stream as an ``IterableDataset``: endless, or of its first ``count`` items.

    Workers share the items by shards; an item is in one of them only.
    """
    from datasets import IterableDataset

    numbers = list(range(shards))
    return IterableDataset.from_generator(
        _items, gen_kwargs={"stream": stream, "shards": numbers, "step": shards, "count": count}
    )


def _items(stream: Stream, shards: list[int], step: int, count: int | None) -> Iterator[dict[str, Any]]:
    iterators = [(shard, stream.iterate(shard, step)) for shard in shards]
    number = 0
    while iterators:
        for shard, items in list(iterators):
            if count is not None and number * step + shard >= count:
                iterators.remove((shard, items))
                continue
            yield next(items)
        number += 1
