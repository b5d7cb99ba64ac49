"""Tasks of wug for Inspect: `inspect eval task.py@NAME --model MODEL`; replies are scored by wug's verdicts."""

import json
from pathlib import Path

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessageSystem, ChatMessageUser
from inspect_ai.scorer import CORRECT, INCORRECT, Score, Target, accuracy, scorer, stderr
from inspect_ai.solver import TaskState, generate

from wug.adapters.prompts import read_answer, verify_reply


@scorer(metrics=[accuracy(), stderr()])
def wug_verdict():
    """Correct by the benchmark's own metric."""

    async def score(state: TaskState, target: Target) -> Score:
        row, reply = state.metadata, state.output.completion
        verdict = verify_reply(row["dataset"], row, reply)
        answer = read_answer(row["dataset"], reply) or ""
        return Score(value=CORRECT if verdict.correct else INCORRECT, answer=answer, explanation=verdict.reason)

    return score


def wug_task(name: str) -> Task:
    """The task whose questions are in a file beside this one."""
    samples = []
    for line in (Path(__file__).parent / f"{name}.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        messages = [ChatMessageSystem(content=row["system"])] if row["system"] else []
        messages.append(ChatMessageUser(content=row["prompt"]))
        samples.append(Sample(id=row["id"], input=messages, target=row["target"], metadata=row))
    dataset = MemoryDataset(samples, name=name)
    return Task(dataset=dataset, solver=[generate()], scorer=wug_verdict(), name=name, version="1")
