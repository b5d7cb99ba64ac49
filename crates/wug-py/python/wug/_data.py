"""Datasets: parts like a dict, rows like a list."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, TypeAlias, overload

from . import _html, _wug

if TYPE_CHECKING:
    import datasets as hf
    import pandas as pd
    import pyarrow as pa

Example: TypeAlias = dict[str, Any]
"""``{'id', 'input', 'target', 'facts'}``, and ``'image'`` where inputs are images."""

_SHOWN = 5


def list_datasets() -> list[str]:
    """The names of all datasets.

    >>> "cogs/main" in list_datasets()
    True
    """
    return _wug.list_datasets()


def load(
    dataset: str,
    *,
    seed: int | str | None = None,
    data: str | PathLike[str] | None = None,
    **settings: object,
) -> Dataset:
    """Makes a dataset or, with ``data``, reads a released one or one that wug wrote.

    ``seed`` names the draw (default 0; ``"official"`` repeats the released draw where that is possible). Further
    keywords are settings of the dataset, with underscores for dashes: ``operators=30``.

    >>> data = load("scan/length")
    >>> list(data)[:2]
    ['train', 'test']
    >>> data["test"][0]["id"]
    'test_00000000'
    >>> load("scan/lenght")
    Traceback (most recent call last):
        ...
    ValueError: no dataset `scan/lenght`; did you mean scan/length, nacs/length?
    """
    return Dataset(_wug.load(dataset, seed, data, named(settings)))


def named(settings: Mapping[str, object]) -> dict[str, str]:
    """Settings as the core names and writes them."""
    return {key.replace("_", "-"): _written(value) for key, value in settings.items()}


def _written(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


class Dataset(Mapping[str, "Part"]):
    """The parts of a dataset, by name. A subset such as ``test-SL`` can be asked for too.

    >>> data = load("hint/symbol")
    >>> len(data["val"]) > len(data["val-SL"]) > 0
    True
    >>> "image" in data["val"][0]
    False
    """

    def __init__(self, native: _wug.Dataset) -> None:
        """Used by :func:`load`."""
        self._native = native

    @property
    def name(self) -> str:
        """``scan/length``."""
        return self._native.name

    @property
    def licence(self) -> str:
        """The licence of the released data."""
        return self._native.licence

    @property
    def citation(self) -> str:
        """BibTeX of the papers."""
        return self._native.citation

    @property
    def has_images(self) -> bool:
        """Whether inputs are images."""
        return self._native.has_images

    def __getitem__(self, part: str) -> Part:
        """A part, or a subset of one."""
        return Part(self._native.part(part))

    def __iter__(self) -> Iterator[str]:
        """Names of the parts."""
        return iter(self._native.parts())

    def __len__(self) -> int:
        """The number of parts."""
        return len(self._native.parts())

    def __repr__(self) -> str:
        """The name and the sizes of the parts."""
        sizes = ", ".join(f"{name}: {len(part):,}" for name, part in self.items())
        return f"<wug.Dataset {self.name} ({sizes})>"

    def _repr_html_(self) -> str:
        rows = [[_html.cell(name), f"{len(part):,}"] for name, part in self.items()]
        caption = f"<b>{_html.cell(self.name)}</b> {_html.cell(self._native.title)}"
        first = next(iter(self.values()))
        return _html.table(["part", "examples"], rows, caption) + first._repr_html_()


class Part(Sequence[Example]):
    """The examples of a part. Each is made when it is asked for; a slice is a part.

    >>> test = load("scan/simple")["test"]
    >>> sorted(test[0])
    ['facts', 'id', 'input', 'target']
    >>> len(test[:10]), test[-1]["id"]
    (10, 'test_00004181')
    """

    def __init__(self, native: _wug.Part) -> None:
        """Used by :class:`Dataset`."""
        self._native = native

    @property
    def name(self) -> str:
        """``train``."""
        return self._native.name

    @property
    def dataset(self) -> str:
        """The name of the dataset: ``scan/length``."""
        return self._native.dataset

    def __len__(self) -> int:
        """The number of examples."""
        return len(self._native)

    @overload
    def __getitem__(self, index: int) -> Example: ...
    @overload
    def __getitem__(self, index: slice) -> Part: ...
    def __getitem__(self, index: int | slice) -> Example | Part:
        """An example, or a part with some of them."""
        if isinstance(index, slice):
            return Part(self._native.take(range(*index.indices(len(self)))))
        if index < 0:
            index += len(self)
        if not 0 <= index < len(self):
            raise IndexError(f"{self.name}: there are {len(self)} examples")
        example = self._native.example(index)
        pixels = self._native.pixels(index)
        if pixels is not None:
            example["image"] = picture(*pixels)
        return example

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The examples as an Arrow C stream, with the columns of wug's Parquet files."""
        return self._native.__arrow_c_stream__(requested_schema)

    def to_arrow(self) -> pa.Table:
        """The examples as a ``pyarrow.Table``; no text is copied.

        >>> load("scan/length")["test"].to_arrow().num_rows
        3920
        """
        import pyarrow

        return pyarrow.RecordBatchReader.from_stream(self).read_all()

    def to_pandas(self) -> pd.DataFrame:
        """The examples as a ``pandas.DataFrame``, a column for each fact.

        >>> frame = load("scan/length")["test"].to_pandas()
        >>> int(frame["facts.action_length"].min())
        24
        """
        return self.to_arrow().flatten().to_pandas()

    def to_datasets(self) -> hf.Dataset:
        """The examples as a ``datasets.Dataset``."""
        from datasets import Dataset as HuggingFaceDataset

        return HuggingFaceDataset(self.to_arrow())

    def __repr__(self) -> str:
        """The name and the size."""
        return f"<wug.Part {self.dataset}#{self.name} ({len(self):,} examples)>"

    def _repr_html_(self) -> str:
        header = ["id", *(["image"] if self._native.has_images else []), "input", "target"]
        rows = []
        for index in range(min(_SHOWN, len(self))):
            example, png = self._native.example(index), self._native.png(index)
            images = [] if png is None else [_html.image(png)]
            texts = [_html.cell(example[key]) for key in ("id", "input", "target")]
            rows.append([texts[0], *images, *texts[1:]])
        return _html.table(header, rows, _html.cell(f"{self.dataset}#{self.name}: {len(self):,} examples"))


def picture(width: int, height: int, pixels: bytes) -> Any:
    """A grey picture: of PIL if it is installed, else a numpy array, else rows of numbers."""
    try:
        from PIL import Image

        return Image.frombytes("L", (width, height), pixels)
    except ImportError:
        pass
    try:
        import numpy

        return numpy.frombuffer(pixels, numpy.uint8).reshape(height, width)
    except ImportError:
        return [list(pixels[row * width : (row + 1) * width]) for row in range(height)]
