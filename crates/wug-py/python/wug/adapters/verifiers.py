"""An endless ``Taskset`` of ``verifiers.v1`` over a stream."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import verifiers.v1 as vf

from .._stream import Stream
from .prompts import chat, verify_reply


class WugData(vf.TaskData):  # type: ignore[misc]
    """An item."""

    dataset: str
    """The dataset."""
    input: str
    """What is asked."""
    target: str
    """A right answer."""


class WugTask(vf.Task[WugData]):  # type: ignore[misc]
    """One question, answered in one turn, judged by the benchmark's metric."""

    @property
    def key(self) -> str:
        """The id of the item."""
        return str(self.data.id)

    @vf.stop  # type: ignore[untyped-decorator]
    async def single_turn(self, trace: vf.Trace) -> bool:
        """Stops after the first reply."""
        return bool(trace.num_turns >= 1)

    @vf.reward(weight=1.0)  # type: ignore[untyped-decorator]
    async def correct(self, trace: vf.Trace) -> float:
        """1 if the reply's answer is correct, else 0."""
        example = {"input": self.data.input, "target": self.data.target}
        return float(verify_reply(self.data.dataset, example, trace.last_reply or "").correct)


class WugConfig(vf.TasksetConfig):  # type: ignore[misc]
    """What is drawn."""

    dataset: str = "scan/simple"
    """The dataset."""
    split: str = "train"
    """The split of its stream."""
    seed: int = 0
    """The seed of the stream."""
    where: dict[str, Any] = {}  # noqa: RUF012 (pydantic copies it)
    """Bounds on facts, as difficulty."""


class WugTaskset(vf.Taskset[WugTask, WugConfig]):  # type: ignore[misc]
    """The items of a stream, without end."""

    INFINITE = True

    def load(self) -> Iterator[WugTask]:
        """Every item, from the first."""
        config = self.config
        for item in Stream(config.dataset, config.split, config.seed, config.where):
            system, user = chat(config.dataset, item)
            data = WugData(
                id=item["id"],
                prompt=user,
                system_prompt=system,
                dataset=config.dataset,
                input=item["input"],
                target=item["target"],
            )
            yield WugTask(data, config.task)
