"""What a gate says about labelled queries."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from laya_retrieval.gate.base import Gate

from laya_eval.gate.evidence import EvidencePipeline
from laya_eval.gate.labels import LabelledQuery, Labels


@dataclass(frozen=True, slots=True)
class Prediction:
    """One labelled query with the probability that a gate gave it."""

    label: LabelledQuery
    #: None where the gate was not reached: nothing relevant was found, so it refused unasked.
    probability: float | None
    #: Whether a relevant document is among the candidates; None where the labels name none.
    found: bool | None


def predict(
    labels: Labels,
    pipeline: EvidencePipeline,
    gate: Gate,
    *,
    advance: Callable[[], None] = lambda: None,
) -> tuple[Prediction, ...]:
    """The gate's probability for every query; `advance` is called after each."""
    predictions: list[Prediction] = []
    for label in labels.queries:
        candidates = pipeline.candidates(label.query)
        verdict = gate.judge(label.query, candidates)
        found = relevant_found(label, {c.metadata["document_id"] for c in candidates})
        predictions.append(Prediction(label, verdict.answerability, found))
        advance()
    return tuple(predictions)


def relevant_found(label: LabelledQuery, documents: set[str]) -> bool | None:
    """Whether any document that the label names is among `documents`; None when it names none."""
    return not documents.isdisjoint(label.documents) if label.documents else None
