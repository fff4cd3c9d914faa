"""The seam of everything that compares an answer with the passages it was written from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias, runtime_checkable

from laya_retrieval.candidate import Candidate
from laya_retrieval.errors import VerificationError
from laya_retrieval.verify.report import CitationReport

__all__ = ["Passage", "PassageText", "Verifier", "read_passages"]

#: What a caller may give as a passage: a candidate, or its bare text.
Passage: TypeAlias = Candidate | str


@runtime_checkable
class Verifier(Protocol):
    """An answer and its passages to a report; `[n]` in the answer cites the n-th passage."""

    def verify(self, answer: str, passages: Sequence[Passage]) -> CitationReport:
        """What in `answer` agrees with `passages`, and what was not compared."""
        ...


@dataclass(frozen=True, slots=True)
class PassageText:
    """A passage as the checks read it: `number` is the n of `[n]`, from 1."""

    number: int
    record_id: str | None
    text: str


def read_passages(passages: Sequence[Passage]) -> list[PassageText]:
    """The passages numbered from 1; a bare text has no record id.

    Raises `VerificationError` for one text where a sequence is wanted (its characters would be
    taken for passages) and, naming the number, for anything but a candidate or a text.
    """
    if isinstance(passages, str | bytes):
        raise VerificationError("passages must be a sequence of candidates or texts, not one text")
    read = []
    for number, passage in enumerate(passages, start=1):
        if isinstance(passage, Candidate):
            read.append(PassageText(number, passage.id, passage.text))
        elif isinstance(passage, str):
            read.append(PassageText(number, None, passage))
        else:
            raise VerificationError(
                f"passage {number} is {type(passage).__name__}, expected a candidate or a text"
            )
    return read
