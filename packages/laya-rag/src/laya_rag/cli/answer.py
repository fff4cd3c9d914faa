"""Reading what `laya verify` and `laya adjudicate` are to check."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from laya_retrieval.verify.base import Passage

AnswerArgument = Annotated[
    str, typer.Argument(help="File with the answer, or - for standard input.", metavar="FILE")
]


def read_text(name: str) -> str:
    """The text of a file, or of standard input for `-`; a usage error when it cannot be read."""
    try:
        raw = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
        return raw.decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise typer.BadParameter(f"cannot read {name!r}: {error}") from error


def read_evidence(name: str) -> list[Passage]:
    """The passages in a file: what `laya ask --json` or `laya search --json` printed, or a list.

    The items of a list are texts, or objects with `text` and perhaps `record_id`.
    """
    from laya_retrieval.candidate import Candidate

    try:
        data = json.loads(read_text(name))
    except ValueError as error:
        raise typer.BadParameter(f"--evidence {name!r} is no JSON: {error}") from error
    items = data.get("evidence", data.get("results")) if isinstance(data, dict) else data
    if not isinstance(items, list):
        raise typer.BadParameter(f"--evidence {name!r} has no list of passages")
    passages: list[Passage] = []
    for number, item in enumerate(items, start=1):
        fields: dict[str, Any] = {"text": item} if isinstance(item, str) else item
        if not isinstance(fields, dict) or not isinstance(fields.get("text"), str):
            raise typer.BadParameter(f"--evidence {name!r}: passage {number} has no text")
        record_id = fields.get("record_id")
        text: str = fields["text"]
        passages.append(Candidate(record_id, 0.0, text) if record_id else text)
    return passages
