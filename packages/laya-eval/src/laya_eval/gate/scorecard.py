"""How good a gate's probabilities are, in the numbers that are always reported together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from laya_eval.bootstrap import RESAMPLES, Interval, bootstrap_interval
from laya_eval.calibration import (
    CalibrationBin,
    brier,
    calibration_bins,
    expected_calibration_error,
)
from laya_eval.discrimination import accuracy, roc_auc
from laya_eval.errors import MeasureError
from laya_eval.gate.prediction import Prediction
from laya_eval.risk import RiskCoverage, aurc, best_aurc, coverage_at_risk, risk_coverage

#: The risk at which coverage is reported.
RISK = 0.1
#: Confidence of a query whose gate was not reached: below every probability.
UNREACHED = -1.0


@dataclass(frozen=True, slots=True)
class Estimate:
    """A measure and its bootstrap interval over queries; None where it is not defined."""

    value: float | None
    interval: Interval | None


@dataclass(frozen=True, slots=True)
class Scorecard:
    """The measures of one set of predictions, and what they rest on.

    `measures` has `roc_auc`, `accuracy`, `ece`, `brier`, `aurc` and `coverage_at_risk`. A query
    whose gate was not reached counts as refused: it ranks below every probability, and has no part
    in `ece` and `brier`, since no probability was given.
    """

    predictions: tuple[Prediction, ...]
    threshold: float
    measures: Mapping[str, Estimate]
    #: The area that the best possible order would reach, for comparison with `aurc`.
    best_aurc: float
    bins: tuple[CalibrationBin, ...]
    #: Loss 1 for a query that the corpus does not answer, unless `wrong` said otherwise.
    curve: RiskCoverage

    @property
    def queries(self) -> int:
        """How many queries were judged."""
        return len(self.predictions)

    @property
    def answerable(self) -> int:
        """How many of them the corpus answers."""
        return sum(p.label.answerable for p in self.predictions)

    @property
    def unreached(self) -> int:
        """For how many the gate was not reached."""
        return sum(p.probability is None for p in self.predictions)

    @property
    def evidence_recall(self) -> float | None:
        """Of the answerable queries that name documents, the share that found one."""
        found = [p.found for p in self.predictions if p.label.answerable and p.found is not None]
        return sum(found) / len(found) if found else None

    def as_json(self) -> dict[str, Any]:
        """The scorecard without its curve and predictions."""
        return {
            "queries": self.queries,
            "answerable": self.answerable,
            "unreached": self.unreached,
            "evidence_recall": self.evidence_recall,
            "threshold": self.threshold,
            "measures": {name: asdict(estimate) for name, estimate in self.measures.items()},
            "best_aurc": self.best_aurc,
            "bins": [asdict(b) for b in self.bins],
        }


def scorecard(
    predictions: Sequence[Prediction],
    *,
    wrong: Sequence[bool] | None = None,
    threshold: float = 0.5,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Scorecard:
    """Measure `predictions`; intervals come from `resamples` seeded resamples of the queries.

    `wrong` says for each what the risk counts; None for a query that the corpus does not answer.
    Raises `MeasureError` when there are none.
    """
    outcome = np.array([p.label.answerable for p in predictions], dtype=np.float64)
    confidence = confidences(predictions)
    loss = 1.0 - outcome if wrong is None else np.array(wrong, dtype=np.float64)

    def reached(rows: NDArray[np.intp]) -> NDArray[np.intp]:
        return rows[confidence[rows] >= 0]

    measured: dict[str, Callable[[NDArray[np.intp]], float]] = {
        "roc_auc": lambda rows: roc_auc(confidence[rows], outcome[rows]),
        "accuracy": lambda rows: accuracy(confidence[rows], outcome[rows], threshold=threshold),
        "ece": lambda rows: expected_calibration_error(
            confidence[reached(rows)], outcome[reached(rows)]
        ),
        "brier": lambda rows: brier(confidence[reached(rows)], outcome[reached(rows)]),
        "aurc": lambda rows: aurc(confidence[rows], loss[rows]),
        "coverage_at_risk": lambda rows: coverage_at_risk(confidence[rows], loss[rows], risk=RISK),
    }
    everything = np.arange(len(predictions), dtype=np.intp)
    asked = reached(everything)
    return Scorecard(
        predictions=tuple(predictions),
        threshold=threshold,
        measures={
            name: estimate(measure, everything, resamples, seed)
            for name, measure in measured.items()
        },
        best_aurc=best_aurc(loss),
        bins=calibration_bins(confidence[asked], outcome[asked]) if len(asked) else (),
        curve=risk_coverage(confidence, loss),
    )


def confidences(predictions: Sequence[Prediction]) -> NDArray[np.float64]:
    """The probabilities, `(n,)`; a query whose gate was not reached ranks below all of them."""
    return np.array([UNREACHED if p.probability is None else p.probability for p in predictions])


def estimate(
    measure: Callable[[NDArray[np.intp]], float],
    rows: NDArray[np.intp],
    resamples: int,
    seed: int,
) -> Estimate:
    """`measure` of `rows`, and its interval; both None where it is not defined."""
    try:
        value = measure(rows)
    except MeasureError:
        return Estimate(None, None)
    return Estimate(value, bootstrap_interval(measure, len(rows), resamples=resamples, seed=seed))
