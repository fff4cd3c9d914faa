"""Fit a feature gate on labelled queries, and say how it does on queries that it has not seen."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from laya_retrieval.errors import GateError
from laya_retrieval.gate.features import FeatureModel, extract_features
from laya_retrieval.gate.out_of_fold import out_of_fold
from numpy.typing import NDArray

from laya_eval.bootstrap import RESAMPLES
from laya_eval.gate.evidence import EvidencePipeline
from laya_eval.gate.labels import LabelledQuery, Labels
from laya_eval.gate.prediction import Prediction, relevant_found
from laya_eval.gate.scorecard import Scorecard, scorecard


@dataclass(frozen=True, slots=True, eq=False)
class FeatureTable:
    """The features of labelled queries.

    `rows` is `(n, len(names))` float64, one row for each of `queries` that found candidates, in
    order; `reached` `(len(queries),)` bool says which those are.
    """

    queries: tuple[LabelledQuery, ...]
    found: tuple[bool | None, ...]
    names: tuple[str, ...]
    rows: NDArray[np.float64]
    reached: NDArray[np.bool_]

    @property
    def outcomes(self) -> NDArray[np.float64]:
        """The labels of the rows, `(n,)` of 0 and 1."""
        return np.array([query.answerable for query in self.queries], dtype=np.float64)[
            self.reached
        ]


@dataclass(frozen=True, slots=True)
class GateFit:
    """A model fitted on all labels, and out-of-fold figures of models like it.

    `random` deals the queries into folds at random; `held_out` holds each group out whole, which
    is the figure to expect on something new, and is None, for the reason in `no_held_out`, where
    it cannot be measured.
    """

    model: FeatureModel
    random: Scorecard
    held_out: Scorecard | None
    no_held_out: str | None


def tabulate(
    labels: Labels,
    pipeline: EvidencePipeline,
    names: Sequence[str],
    *,
    advance: Callable[[], None] = lambda: None,
) -> FeatureTable:
    """Retrieve for every query and compute the named features; `advance` is called after each."""
    rows: list[NDArray[np.float64]] = []
    found: list[bool | None] = []
    reached: list[bool] = []
    for label in labels.queries:
        candidates = pipeline.candidates(label.query)
        found.append(relevant_found(label, {c.metadata["document_id"] for c in candidates}))
        reached.append(bool(candidates))
        if candidates:
            rows.append(extract_features(label.query, candidates, names))
        advance()
    table = np.array(rows, dtype=np.float64).reshape(len(rows), len(names))
    return FeatureTable(
        labels.queries, tuple(found), tuple(names), table, np.array(reached, dtype=bool)
    )


def fit_gate(
    table: FeatureTable,
    *,
    pipeline_fingerprint: str,
    l2: float = 1.0,
    folds: int = 5,
    threshold: float = 0.5,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> GateFit:
    """Fit on the whole table, and measure both split regimes.

    Raises `GateError` when the labels have one class only or are too few to hold a fold out.
    """
    model = FeatureModel.fit(
        table.rows,
        table.outcomes,
        pipeline_fingerprint=pipeline_fingerprint,
        names=table.names,
        l2=l2,
    )

    def measured(groups: Sequence[Hashable] | None) -> Scorecard:
        probabilities = out_of_fold(
            table.rows, table.outcomes, groups=groups, folds=folds, seed=seed, l2=l2
        )
        predictions = _predictions(table, probabilities)
        return scorecard(predictions, threshold=threshold, resamples=resamples, seed=seed)

    held_out, reason = None, "the labels name no groups"
    groups = [q.group for q, reached in zip(table.queries, table.reached, strict=True) if reached]
    if None not in groups:
        try:
            held_out, reason = measured(groups), ""
        except GateError as error:
            reason = str(error)
    return GateFit(model, measured(None), held_out, reason or None)


def _predictions(table: FeatureTable, probabilities: NDArray[np.float64]) -> tuple[Prediction, ...]:
    given = iter(probabilities.tolist())
    return tuple(
        Prediction(label, next(given) if reached else None, found)
        for label, reached, found in zip(table.queries, table.reached, table.found, strict=True)
    )
