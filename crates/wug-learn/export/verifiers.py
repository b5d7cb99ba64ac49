"""A taskset of wug for verifiers; replies are scored by wug's verdicts."""

import json
from pathlib import Path

import verifiers.v1 as vf

from wug.adapters.verifiers import WugData, WugTask


class ExportConfig(vf.TasksetConfig):
    """Nothing to choose: the rows are in a file beside this one."""


class ExportTaskset(vf.Taskset[WugTask, ExportConfig]):
    """The questions of the export."""

    def load(self):
        """Every question, in order."""
        for line in (Path(__file__).parent / "rows.jsonl").read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            data = WugData(
                id=row["id"],
                prompt=row["prompt"],
                system_prompt=row["system"],
                dataset=row["dataset"],
                input=row["input"],
                target=row["target"],
            )
            yield WugTask(data, self.config.task)
