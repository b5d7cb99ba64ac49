"""Scores replies by wug's verdicts."""

from pathlib import Path

import datasets

from wug.adapters.prompts import verify_reply


def rows(task, **_):
    """The questions of a task."""
    path = Path(__file__).parent / f"{task}.jsonl"
    return {"test": datasets.load_dataset("json", data_files=str(path), split="train")}


def process_results(doc, results):
    """1 if the answer in the reply is correct."""
    return {"correct": float(verify_reply(doc["dataset"], doc, results[0]).correct)}
