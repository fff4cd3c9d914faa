"""Measures of a ranking, by the field's own implementation (ir-measures, extra `metrics`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from laya_eval.beir import Qrels
from laya_eval.errors import DataError, MeasureError
from laya_eval.trec import Run, scores_of

#: What a report has unless it is told otherwise; the first one is tested.
MEASURES = ("nDCG@10", "R@100", "MRR@10", "MAP@100", "Judged@10")


def membership(qrels: Qrels) -> list[str]:
    """The queries that a mean averages over: those with at least one relevant document."""
    return [query for query, grades in qrels.items() if max(grades.values(), default=0) > 0]


def per_query(
    run: Run, qrels: Qrels, measures: Sequence[str] = MEASURES
) -> dict[str, dict[str, float]]:
    """Measure to query to value, over `membership(qrels)` in its order.

    A query that the run lacks counts 0; one that is not judged is ignored. `measures` are names of
    ir-measures (`nDCG@10`, `R@100`, `MRR@10`, `MAP@100`, `Judged@10`, `P@5`, …). Raises
    `MeasureError` for another name, and `DataError` when no query has a relevant document.
    """
    members = membership(qrels)
    if not members:
        raise DataError("no query has a relevant document, so there is nothing to average")
    asked = {name: _measure(name) for name in measures}
    judged = {query: dict(qrels[query]) for query in members}
    scored = {query: scores_of(run[query]) for query in members if run.get(query)}
    values = {str(measure): dict.fromkeys(members, 0.0) for measure in asked.values()}
    for found in _library().iter_calc(list(asked.values()), judged, scored):
        values[str(found.measure)][found.query_id] = float(found.value)
    return {name: values[str(measure)] for name, measure in asked.items()}


def cutoff(name: str) -> int | None:
    """How many documents of a ranking a measure looks at; None for all of them."""
    found = _measure(name).params.get("cutoff")
    return None if found is None else int(found)


def drop_identical(documents: Sequence[str], query: str) -> list[str]:
    """The ranking without the document of the query's own id.

    A query that is itself a document of the corpus must not find itself: BEIR's rule. Where the
    ids of queries and documents have nothing to do with each other, do not apply it.
    """
    return [document for document in documents if document != query]


def _measure(name: str) -> Any:
    library = _library()
    try:
        return library.parse_measure(name)
    except (NameError, ValueError, SyntaxError, AssertionError, TypeError) as error:
        some = ", ".join(MEASURES)
        raise MeasureError(f"no measure {name!r}: {error}; {some} are some") from error


def _library() -> Any:
    try:
        import ir_measures
    except ImportError as error:
        raise MeasureError(
            "ir-measures is not installed: install laya-eval with its extra `metrics`"
        ) from error
    return ir_measures
