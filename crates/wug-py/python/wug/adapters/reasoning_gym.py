"""A ``ProceduralDataset`` of reasoning-gym for each benchmark.

After the import, ``reasoning_gym.create_dataset("wug_hint", size=100)`` makes one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from reasoning_gym.factory import DATASETS, ProceduralDataset, register_dataset

from .._stream import Stream
from .prompts import prompt, verify_reply

DEFAULTS = {
    "scan": "scan/simple",
    "nacs": "nacs/simple",
    "cogs": "cogs/main",
    "recogs": "recogs/v2",
    "hint": "hint/symbol",
}
"""The dataset that each benchmark's task draws from unless ``dataset`` is set."""


@dataclass
class WugConfig:
    """What a task draws."""

    dataset: str = ""
    """The dataset, such as ``scan/length``."""
    split: str = "train"
    """The split of the stream."""
    where: dict[str, Any] = field(default_factory=dict)
    """Bounds on facts, as difficulty: ``{"depth": (2, 4)}``."""
    seed: int | None = None
    """The seed of the stream."""
    size: int = 500
    """The number of items."""

    def validate(self) -> None:
        """Fails if there is no such stream."""
        Stream(self.dataset, self.split, self.seed or 0, self.where)


class WugDataset(ProceduralDataset):  # type: ignore[misc]
    """Items of a stream as questions."""

    def __init__(self, config: WugConfig) -> None:
        """Opens the stream."""
        super().__init__(config=config, seed=config.seed, size=config.size)
        self.stream = Stream(config.dataset, config.split, self.seed, config.where)

    def __getitem__(self, idx: int) -> dict[str, Any]:
        """Question, answer and metadata of an item."""
        if not 0 <= idx < self.size:
            raise IndexError(f"there are {self.size} items")
        item = self.stream[idx]
        metadata = {
            "source_dataset": f"wug_{self.config.dataset.split('/')[0]}",
            "source_index": idx,
            "dataset": self.config.dataset,
            "id": item["id"],
            "input": item["input"],
            "difficulty": item["facts"],
        }
        return {"question": prompt(self.config.dataset, item), "answer": item["target"], "metadata": metadata}

    def score_answer(self, answer: str | None, entry: dict[str, Any]) -> float:
        """1 if the answer is correct by the benchmark's metric, else 0."""
        example = {"input": entry["metadata"]["input"], "target": entry["answer"]}
        return float(verify_reply(entry["metadata"]["dataset"], example, answer or "").correct)


def _register() -> None:
    for benchmark, dataset in DEFAULTS.items():
        if f"wug_{benchmark}" in DATASETS:
            continue
        fields = {"__annotations__": {"dataset": str}, "dataset": dataset, "__doc__": f"What is drawn of {dataset}."}
        config: Any = dataclass(type(f"Wug{benchmark.capitalize()}Config", (WugConfig,), fields))
        task = type(f"Wug{benchmark.capitalize()}Dataset", (WugDataset,), {"__doc__": f"Items of {dataset}."})
        register_dataset(f"wug_{benchmark}", task, config)


_register()
