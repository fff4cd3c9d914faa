"""What the model, the features and the scores say about each question, kept as one goes."""

from __future__ import annotations

from dataclasses import dataclass, field

from laya_retrieval.candidate import Candidate
from laya_retrieval.gate.features import FEATURES, extract_features
from laya_retrieval.gate.laya import LayaGate, noul_probabilities
from laya_retrieval.process.group import document_of

from laya_eval.gate.evidence import EvidencePipeline
from laya_eval.gate.labels import LabelledQuery
from laya_eval.study.decisions.pairs import Pair
from laya_eval.study.decisions.settings import FEATURES as RETRIEVAL


@dataclass(frozen=True, slots=True)
class Asked:
    """What one question got; JSON values only, so that a checkpoint can hold it."""

    #: The decision model's probability that what is shown answers; None where it was not reached.
    probability: float | None
    #: Whether a document that answers is among the evidence that the decision model's gate shows.
    shown: bool = False
    #: Whether one is among the first fused passages, which every other gate shows.
    found: bool = False
    #: Features of the fused candidates; empty when there are none.
    features: list[float] = field(default_factory=list)
    #: Features of those that the decision model keeps, its relevances among them.
    sifted: list[float] = field(default_factory=list)
    #: The best score of each leg; a leg that found nothing is missing.
    scores: dict[str, float] = field(default_factory=dict)


def ask_pair(pair: Pair, gate: LayaGate) -> Asked:
    """The decision model about one text."""
    state = {"query": pair.label.query, "evidence": pair.evidence}
    question = gate.answerability_question
    [probability] = noul_probabilities(gate.model, question, [state], [pair.label.id])
    return Asked(probability)


def ask_corpus(
    label: LabelledQuery, pipeline: EvidencePipeline, gate: LayaGate, *, keep: int, judged: bool
) -> Asked:
    """One search; unless `judged`, the decision model is left out."""
    found = pipeline.retrieve(label.query)
    candidates = found.candidates
    asked = {
        "found": _shows(candidates[:keep], label),
        "features": extract_features(label.query, candidates, RETRIEVAL).tolist()
        if candidates
        else [],
        "scores": {leg.mode: leg.candidates[0].score for leg in found.legs if leg.candidates},
    }
    if not judged:
        return Asked(None, **asked)
    verdict = gate.judge(label.query, candidates)
    return Asked(
        verdict.answerability,
        shown=_shows(verdict.kept[:keep], label),
        sifted=extract_features(label.query, verdict.kept, tuple(FEATURES)).tolist()
        if verdict.kept
        else [],
        **asked,
    )


def _shows(passages: tuple[Candidate, ...], label: LabelledQuery) -> bool:
    return any(document_of(passage) in label.documents for passage in passages)
