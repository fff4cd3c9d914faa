"""The bundle answers questions through the query side."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pyarrow.compute as pc
from laya_index.bundle.reader import BundleReader
from laya_index.sample import questions
from laya_retrieval.retrieve.pipeline import OrchestrationPipeline, retrieve
from laya_retrieval.retrieve.query import QueryBundle

from laya_rag.access import Access
from laya_rag.backend.base import CorpusView
from laya_rag.backend.bundle import BundleBackend
from laya_rag.validate.base import Finding, counted, first_of
from laya_rag.validate.trial import Trial

#: A question counts as answered when its passage is among so many.
TOP = 10
# Candidates that each leg is asked for.
_DEPTH = 50
_EVERYTHING = Access(all_tenants=True, min_trust="quarantined")


def check_rag(trial: Trial) -> Finding:
    """Ask the bundle questions whose passages are known.

    All legs together must find each of them; one leg alone, half of them. Passages of every tenant
    and every tier are asked for: what the stack trusts is its own business.
    """
    bundle = trial.first
    gold = _gold(bundle)
    asked = [text for text, records in gold.items() if records]
    if 2 * len(asked) < len(gold):
        return Finding(
            "not asked",
            (f"the passages hold the answers to {len(asked)} of {len(gold)} questions whole",),
        )
    backend = BundleBackend(bundle)
    try:
        return _asked(backend.view(_EVERYTHING), {text: gold[text] for text in asked})
    finally:
        backend.close()


def _asked(view: CorpusView, gold: Mapping[str, set[str]]) -> Finding:
    queries = {text: view.query(text, depth=_DEPTH) for text in gold}
    legs = {leg for query in queries.values() for leg in query.legs(view.capabilities)}
    if not legs:
        return Finding(
            "not asked",
            ("no signal can be searched: name signals.bm25 or signals.embedding, say",),
        )
    problems = []
    found: dict[str, int] = {}
    for leg in sorted(legs):
        others = dict.fromkeys(legs - {leg}, 0.0)
        found[leg] = sum(_finds(view, query, gold[text], others) for text, query in queries.items())
        if 2 * found[leg] < len(gold):
            problems.append(f"leg {leg} alone finds {found[leg]} of {len(gold)} in its top {TOP}")
    missed = [text for text, query in queries.items() if not _finds(view, query, gold[text])]
    problems += [f"{text!r}: {sorted(gold[text])[0]!r} is not in the top {TOP}" for text in missed]
    each = ", ".join(f"{leg} {count}" for leg, count in found.items())
    return Finding(
        f"{len(gold) - len(missed)} of {counted(len(gold), 'question')} answered in the top {TOP}; "
        f"by one leg alone: {each}",
        first_of(problems),
        {"questions": len(gold), "answered": len(gold) - len(missed), "legs": found},
    )


def _gold(bundle: Path) -> dict[str, set[str]]:
    """The records that hold each question's answer."""
    with BundleReader.open(bundle) as reader:
        chunks = reader.read("chunks", ["record_id", "content"])
    return {
        question.text: set(
            chunks["record_id"]
            .filter(pc.match_substring(chunks["content"], question.answer))
            .to_pylist()
        )
        for question in questions()
    }


def _finds(
    view: CorpusView, query: QueryBundle, gold: set[str], weights: Mapping[str, float] | None = None
) -> bool:
    """Whether a passage of `gold` is among the first; a leg of weight 0 is not searched."""
    pipeline = OrchestrationPipeline(final_top_k=TOP, weights=weights or {})
    return any(candidate.id in gold for candidate in retrieve(query, view, pipeline).candidates)
