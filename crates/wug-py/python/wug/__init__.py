"""Benchmarks of compositional generalization: datasets, scores, verifiers, endless streams and learners.

>>> import wug
>>> data = wug.load("scan/length", seed=0)
>>> len(data["train"]), len(data["test"])
(16990, 3920)
>>> wug.verify("nacs/simple", {"input": "I_JUMP I_JUMP", "target": "jump twice"}, "jump and jump").correct
True
"""

from ._data import Dataset, Example, Part, list_datasets, load
from ._induce import Model, Prediction, induce
from ._run import Comparison, Run, compare, report, run
from ._score import Group, PartScores, Scores, Verdict, score, verify
from ._stream import Stream, stream
from ._wug import __version__

__all__ = [
    "Comparison",
    "Dataset",
    "Example",
    "Group",
    "Model",
    "Part",
    "PartScores",
    "Prediction",
    "Run",
    "Scores",
    "Stream",
    "Verdict",
    "__version__",
    "compare",
    "induce",
    "list_datasets",
    "load",
    "report",
    "run",
    "score",
    "stream",
    "verify",
]
