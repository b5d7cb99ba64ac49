"""Parts and streams as datasets of PyTorch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch.utils.data

from .._data import Example, Part
from .._stream import Stream

Transform = Callable[[Example], Any]


class PartDataset(torch.utils.data.Dataset):  # type: ignore[misc]
    """The examples of a part, by index; ``transform`` makes what a model reads of each."""

    def __init__(self, part: Part, transform: Transform | None = None) -> None:
        """Holds the part; nothing is made before it is asked for."""
        self.part = part
        self.transform = transform

    def __len__(self) -> int:
        """The number of examples."""
        return len(self.part)

    def __getitem__(self, index: int) -> Any:
        """An example."""
        example = self.part[index]
        return example if self.transform is None else self.transform(example)


class StreamDataset(torch.utils.data.IterableDataset):  # type: ignore[misc]
    """An endless stream. Workers share the items: none is in two of them."""

    def __init__(self, stream: Stream, transform: Transform | None = None, *, start: int = 0) -> None:
        """Begins at item ``start``, such as the number of items that were seen before a checkpoint."""
        super().__init__()
        self.stream = stream
        self.transform = transform
        self.start = start

    def __iter__(self) -> Iterator[Any]:
        """The items of this worker, without end."""
        worker = torch.utils.data.get_worker_info()
        number, workers = (0, 1) if worker is None else (worker.id, worker.num_workers)
        for item in self.stream.iterate(self.start, worker=number, workers=workers):
            yield item if self.transform is None else self.transform(item)
