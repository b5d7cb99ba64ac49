"""How a language model is asked, and how its reply is read and judged: the same for every harness."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .. import _wug
from .._score import Verdict, verify


def chat(dataset: str, example: Mapping[str, Any]) -> tuple[str, str]:
    """The system's message (empty if there is none) and the user's.

    >>> chat("scan/simple", {"input": "jump twice"})[1]
    'Command: jump twice'
    """
    system, user = _wug.chat(dataset, str(example["input"]))
    return system or "", user


def prompt(dataset: str, example: Mapping[str, Any]) -> str:
    """The same in one text.

    >>> prompt("scan/simple", {"input": "jump twice"}).splitlines()[-1]
    'Command: jump twice'
    """
    system, user = chat(dataset, example)
    return f"{system}\n\n{user}" if system else user


def read_answer(dataset: str, reply: str) -> str | None:
    """The answer in a reply, or ``None`` if there is none.

    >>> read_answer("scan/simple", "Two jumps.\\n**Answer:** `I_JUMP  I_JUMP`")
    'I_JUMP I_JUMP'
    """
    return _wug.read_answer(dataset, reply.encode("utf-8", "replace").decode())


def verify_reply(dataset: str, example: Mapping[str, Any], reply: str) -> Verdict:
    """Judges the answer in a reply.

    >>> verify_reply("scan/simple", {"input": "jump twice", "target": "I_JUMP I_JUMP"}, "Answer: I_JUMP I_JUMP")
    Verdict(correct=True, reason='', undecided=False)
    """
    return verify(dataset, example, read_answer(dataset, reply) or "")
