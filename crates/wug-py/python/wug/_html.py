"""What notebooks show."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from html import escape

_LONGEST = 200


def cell(value: object) -> str:
    """The content of a cell, escaped and shortened."""
    text = str(value)
    return escape(text if len(text) <= _LONGEST else text[:_LONGEST] + "…")


def table(header: Sequence[str], rows: Iterable[Sequence[str]], caption: str = "") -> str:
    """A table; cells are HTML already."""
    head = "".join(f"<th>{escape(name)}</th>" for name in header)
    body = "".join("<tr>" + "".join(f"<td>{value}</td>" for value in row) + "</tr>" for row in rows)
    return f"<table><caption>{caption}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def image(png: bytes) -> str:
    """A picture."""
    data = base64.b64encode(png).decode()
    return f'<img src="data:image/png;base64,{data}" style="max-height:6em;background:white">'
