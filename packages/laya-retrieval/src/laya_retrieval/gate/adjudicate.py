"""Claims against the corpus: supported, not supported, or not measured."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum

from laya_retrieval.candidate import Candidate
from laya_retrieval.gate.base import Gate


class Support(Enum):
    """What a gate says about one claim."""

    SUPPORTED = "supported"
    NOT_SUPPORTED = "not_supported"
    #: Nothing relevant was found, or the gate is off: neither for nor against the claim.
    NOT_MEASURED = "not_measured"


@dataclass(frozen=True, slots=True)
class Adjudication:
    """One claim, what the gate says about it, and the passages that this rests on."""

    claim: str
    support: Support
    #: The probability that the passages support the claim, 0..1; None when not measured.
    probability: float | None
    passages: tuple[Candidate, ...]


def adjudicate(
    claims: Sequence[str],
    passages: Sequence[Candidate] | Callable[[str], Sequence[Candidate]],
    gate: Gate,
) -> list[Adjudication]:
    """Judge every claim with the gate's answerability question, the claim as the query.

    `passages` are the same for all claims, or a function that retrieves them for one. It is a
    model's reading of the passages, no proof; a claim without relevant passages is not measured.
    """
    results: list[Adjudication] = []
    for claim in claims:
        verdict = gate.judge(claim, passages(claim) if callable(passages) else passages)
        if verdict.answerable is None:
            support = Support.NOT_MEASURED
        else:
            support = Support.SUPPORTED if verdict.answerable else Support.NOT_SUPPORTED
        results.append(Adjudication(claim, support, verdict.answerability, verdict.kept))
    return results
