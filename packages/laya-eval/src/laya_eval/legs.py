"""How well each leg of a bundle, and their fusion, rank the documents of a judged data set.

Run it with `python -m laya_eval.legs BUNDLE --data FOLDER`.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping
from pathlib import Path

import ir_measures
from ir_measures import R, nDCG
from laya_rag.backend.bundle import BundleBackend
from laya_retrieval.candidate import Candidate
from laya_retrieval.fuse.rrf import RrfFuser

from laya_eval.beir import Judged, load_judged

MEASURES = (nDCG @ 10, R @ 100)


def rank_documents(candidates: Iterable[Candidate], *, skip: str = "") -> list[str]:
    """Document ids by their best passage, in order; `skip` is left out.

    A query that is itself a document of the corpus must not find itself (BEIR's rule).
    """
    found = dict.fromkeys(candidate.metadata["document_id"] for candidate in candidates)
    return [document for document in found if document != skip]


def evaluate(
    runs: Mapping[str, Mapping[str, list[str]]], judged: Judged
) -> dict[str, dict[str, float]]:
    """Mean measures by run name, over all judged queries.

    `runs` is run name to query id to ranked document ids. Scores are written strictly decreasing,
    since evaluators break ties in an order of their own.
    """
    found: dict[str, dict[str, float]] = {}
    for name, run in runs.items():
        scored = {
            query: {document: -float(rank) for rank, document in enumerate(documents)}
            for query, documents in run.items()
        }
        values = ir_measures.calc_aggregate(MEASURES, judged.qrels, scored)
        found[name] = {str(measure): float(values[measure]) for measure in MEASURES}
    return found


def run_legs(
    backend: BundleBackend, judged: Judged, *, depth: int
) -> dict[str, dict[str, list[str]]]:
    """Every leg's ranked documents for every query, and those of their reciprocal rank fusion."""
    runs: dict[str, dict[str, list[str]]] = {}
    fuser = RrfFuser()
    for query, text in judged.queries.items():
        legs = backend.search(backend.query(text, depth=depth))
        ranked = {**legs, "rrf": fuser.fuse(list(legs.values()))}
        for name, candidates in ranked.items():
            runs.setdefault(name, {})[query] = rank_documents(candidates, skip=query)
    return runs


def main() -> None:
    """Print one line a leg."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("bundle", type=Path)
    parser.add_argument("--data", type=Path, required=True, help="a BEIR folder")
    parser.add_argument("--depth", type=int, default=300, help="passages to take from each leg")
    arguments = parser.parse_args()
    judged = load_judged(arguments.data)
    backend = BundleBackend(arguments.bundle)
    results = evaluate(run_legs(backend, judged, depth=arguments.depth), judged)
    print(f"{len(judged.queries)} queries, {backend.manifest.counts.chunks} chunks")  # noqa: T201
    for name, values in results.items():
        figures = "  ".join(f"{measure} {value:.4f}" for measure, value in values.items())
        print(f"{name:8} {figures}")  # noqa: T201


if __name__ == "__main__":
    main()
