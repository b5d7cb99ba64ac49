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

    arguments = {"stream": stream, "shards": list(range(shards)), "of": shards, "count": count}
    return IterableDataset.from_generator(_items, gen_kwargs=arguments)


def _items(stream: Stream, shards: list[int], of: int, count: int | None) -> Iterator[dict[str, Any]]:
    """The items of some shards in turn; an endless shard may not keep the next one from its turn."""
    iterators = [stream.iterate(worker=shard, workers=of) for shard in shards]
    while iterators:
        for items in list(iterators):
            item = next(items)
            if count is not None and int(item["id"].rsplit("_", 1)[1]) >= count:
                iterators.remove(items)
            else:
                yield item
