"""From what each question got to the gates' figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from laya_retrieval.errors import GateError
from laya_retrieval.gate.features import FeatureGate, FeatureModel
from laya_retrieval.gate.out_of_fold import out_of_fold
from numpy.typing import NDArray

from laya_eval.comparison import Comparison, Contest, compare
from laya_eval.errors import MeasureError
from laya_eval.gate.labels import LabelledQuery
from laya_eval.gate.prediction import Prediction
from laya_eval.gate.scorecard import Estimate, Scorecard, confidences, estimate, scorecard
from laya_eval.risk import answered_shares, risk_at_coverage
from laya_eval.study.decisions.held_out import rank
from laya_eval.study.decisions.judging import Asked
from laya_eval.study.decisions.settings import COMPARED_AT, COVERAGES, FEATURES, StudySettings

#: How what was fitted had been kept away from the question.
AS_IT_IS, RANDOM, GROUPS = "none", "random", "whole groups"
ALWAYS, BM25, DENSE = "answer always", "BM25's best score", "dense leg's best score"
LAYA, RECALIBRATED = "LayaGate", "LayaGate, recalibrated"
FEATURE, SIFTED = "FeatureGate", "FeatureGate with relevances"
#: Those that are compared with the two scores.
GATES, SCORES = (LAYA, FEATURE, SIFTED), (BM25, DENSE)


@dataclass(frozen=True, slots=True)
class Card:
    """One gate on one set's judged questions.

    `measures` adds to those of the scorecard `answered`, the share of the questions that reach the
    threshold, `wrong_answered`, the share of wrong answers among those, and `wrong@C` for each
    coverage C. For a gate that always answers `scores` is None and only `wrong@1` is there.
    """

    gate: str
    split: str
    wrong: tuple[bool, ...]
    scores: Scorecard | None
    measures: Mapping[str, Estimate]


@dataclass(frozen=True, slots=True)
class Outcome:
    """One set: its questions, what they got, and every gate's card."""

    labels: tuple[LabelledQuery, ...]
    cards: tuple[Card, ...]
    #: Why a gate is missing, by gate and split.
    unmeasured: Mapping[str, str]

    def card(self, gate: str, split: str) -> Card | None:
        """The card of a gate, if it was measured."""
        return next((c for c in self.cards if (c.gate, c.split) == (gate, split)), None)


def measured_pairs(
    labels: Sequence[LabelledQuery], asked: Mapping[str, Asked], settings: StudySettings
) -> Outcome:
    """The decision model's gate on pairs, as it is and recalibrated on other pairs."""
    wrong = [not label.answerable for label in labels]
    table = _Table(tuple(labels), [asked[label.id] for label in labels], settings)
    cards = [_card(LAYA, AS_IT_IS, table.labels, table.probabilities, wrong, settings)]
    return _with_fitted(table, {RECALIBRATED: (table.log_odds, wrong)}, cards)


def measured_corpus(
    labels: Sequence[LabelledQuery],
    judged: frozenset[str],
    asked: Mapping[str, Asked],
    settings: StudySettings,
) -> Outcome:
    """All gates on a corpus's judged questions.

    An answer is wrong when the corpus does not answer the question, or when no document that does
    is among the passages that the reader is shown. What is fitted on features or scores is fitted
    on the questions that are not judged too.
    """
    table = _Table(tuple(labels), [asked[label.id] for label in labels], settings, judged)
    shown = [not (label.answerable and row.shown) for label, row in table.judged]
    found = [not (label.answerable and row.found) for label, row in table.judged]
    asked_labels = tuple(label for label, _ in table.judged)
    base = estimate(
        lambda rows: float(np.mean(np.array(found)[rows])),
        np.arange(len(found), dtype=np.intp),
        settings.resamples,
        settings.seed,
    )
    probabilities = [row.probability for _, row in table.judged]
    cards = [
        Card(ALWAYS, AS_IT_IS, tuple(found), None, {"wrong@1": base}),
        _card(LAYA, AS_IT_IS, asked_labels, probabilities, shown, settings),
    ]
    return _with_fitted(
        table,
        {
            BM25: (table.score("bm25"), found),
            DENSE: (table.score("dense"), found),
            RECALIBRATED: (table.log_odds, shown),
            FEATURE: (table.features, found),
            SIFTED: (table.sifted, shown),
        },
        cards,
    )


def transferred(
    sources: Mapping[str, tuple[Sequence[LabelledQuery], Mapping[str, Asked]]],
    target: tuple[Sequence[LabelledQuery], frozenset[str], Mapping[str, Asked]],
    fingerprint: str,
    settings: StudySettings,
) -> tuple[dict[str, Card], dict[str, str]]:
    """The feature gate fitted on all questions of each source, measured on the target's judged.

    The second is why a source is missing, one that has one class only say.
    """
    labels, judged, asked = target
    own = [label for label in labels if label.id in judged]
    wrong = [not (label.answerable and asked[label.id].found) for label in own]
    cards: dict[str, Card] = {}
    unmeasured: dict[str, str] = {}
    for name, (known, rows) in sources.items():
        used = [label for label in known if rows[label.id].features]
        try:
            model = FeatureModel.fit(
                [rows[label.id].features for label in used],
                [float(label.answerable) for label in used],
                pipeline_fingerprint=fingerprint,
                names=FEATURES,
            )
        except GateError as error:
            unmeasured[name] = str(error)
            continue
        gate = FeatureGate(model=model, pipeline_fingerprint=fingerprint)
        said = [
            gate.model.probability(asked[label.id].features) if asked[label.id].features else None
            for label in own
        ]
        cards[name] = _card(FEATURE, f"fitted on {name}", own, said, wrong, settings)
    return cards, unmeasured


def compared(
    outcomes: Mapping[str, Outcome], settings: StudySettings
) -> dict[tuple[str, str, str], Comparison]:
    """Every gate against every score, by set, gate and score; all are one family.

    The value of a question is what it adds to the share of right answers among those answered at
    the compared coverage, so that a difference is one of wrong answers per answered one.
    """
    family: dict[tuple[str, str, str], Contest] = {}
    for name, outcome in outcomes.items():
        for gate in GATES:
            own = outcome.card(gate, AS_IT_IS if gate == LAYA else GROUPS)
            for score in SCORES:
                base = outcome.card(score, GROUPS)
                if own is not None and base is not None:
                    family[name, gate, score] = Contest(
                        gate, score, f"right at {COMPARED_AT}", _values(own), _values(base)
                    )
    if not family:
        return {}
    found = compare(
        list(family.values()),
        resamples=settings.resamples,
        permutations=settings.permutations,
        seed=settings.seed,
    )
    return dict(zip(family, found, strict=True))


def deal(groups: Sequence[str], outcomes: Sequence[bool], folds: int) -> list[int]:
    """The fold of every question, whole groups in one, each class spread as evenly as can be.

    Where a group has one class only, holding out one group at a time would tilt what is left
    against it; folds with both classes do not. The largest groups are dealt first.
    """
    sizes = Counter(zip(groups, outcomes, strict=True))
    order = sorted(
        set(groups), key=lambda group: (-sizes[group, True] - sizes[group, False], rank(group))
    )
    filled: Counter[tuple[int, bool]] = Counter()
    place: dict[str, int] = {}
    for group in order:
        mostly = sizes[group, True] > sizes[group, False]
        fold = min(
            range(folds),
            key=lambda at: (filled[at, mostly], filled[at, True] + filled[at, False], at),
        )
        place[group] = fold
        for outcome in (True, False):
            filled[fold, outcome] += sizes[group, outcome]
    return [place[group] for group in groups]


class _Table:
    """The labels of a set with what each got, as columns to fit on."""

    def __init__(
        self,
        labels: tuple[LabelledQuery, ...],
        rows: Sequence[Asked],
        settings: StudySettings,
        judged: frozenset[str] | None = None,
    ) -> None:
        self.labels = labels
        self.rows = rows
        self.settings = settings
        self.measured = [judged is None or label.id in judged for label in labels]

    @property
    def judged(self) -> list[tuple[LabelledQuery, Asked]]:
        """What is measured."""
        pairs = zip(self.labels, self.rows, self.measured, strict=True)
        return [(label, row) for label, row, measured in pairs if measured]

    @property
    def probabilities(self) -> list[float | None]:
        """The decision model's, for every question."""
        return [row.probability for row in self.rows]

    @property
    def log_odds(self) -> list[list[float]]:
        """The decision model's probability as log-odds, cut off where they end."""
        return [
            []
            if p is None
            else [float(np.log(np.clip(p, 1e-6, 1 - 1e-6) / (1 - np.clip(p, 1e-6, 1 - 1e-6))))]
            for p in self.probabilities
        ]

    @property
    def features(self) -> list[list[float]]:
        """Those of the search."""
        return [row.features for row in self.rows]

    @property
    def sifted(self) -> list[list[float]]:
        """Those of what the decision model kept."""
        return [row.sifted for row in self.rows]

    def score(self, leg: str) -> list[list[float]]:
        """The best score of a leg."""
        return [[row.scores[leg]] if leg in row.scores else [] for row in self.rows]

    def fitted(self, columns: Sequence[list[float]], split: str) -> list[float | None]:
        """The measured questions' probabilities by models that have not seen them.

        Questions without columns get None. Raises `GateError` when nothing can be fitted.
        """
        used = [at for at, row in enumerate(columns) if row]
        outcomes = [self.labels[at].answerable for at in used]
        groups = None
        if split == GROUPS:
            names = [self.labels[at].group or self.labels[at].id for at in used]
            groups = deal(names, outcomes, self.settings.folds)
        if not used:
            raise GateError("no question has what it needs")
        said: NDArray[np.float64] = out_of_fold(
            [columns[at] for at in used],
            outcomes,
            groups=groups,
            folds=self.settings.folds,
            seed=self.settings.seed,
        )
        by_place = dict(zip(used, said.tolist(), strict=True))
        return [by_place.get(at) for at, measured in enumerate(self.measured) if measured]


def _with_fitted(
    table: _Table,
    columns: Mapping[str, tuple[Sequence[list[float]], Sequence[bool]]],
    cards: list[Card],
) -> Outcome:
    labels = tuple(label for label, _ in table.judged)
    unmeasured: dict[str, str] = {}
    for gate, (rows, wrong) in columns.items():
        for split in (RANDOM, GROUPS):
            try:
                said = table.fitted(rows, split)
            except GateError as error:
                unmeasured[f"{gate}, {split}"] = str(error)
                continue
            cards.append(_card(gate, split, labels, said, wrong, table.settings))
    return Outcome(labels, tuple(cards), unmeasured)


def _card(
    gate: str,
    split: str,
    labels: Sequence[LabelledQuery],
    probabilities: Sequence[float | None],
    wrong: Sequence[bool],
    settings: StudySettings,
) -> Card:
    predictions = [
        Prediction(label, probability, None)
        for label, probability in zip(labels, probabilities, strict=True)
    ]
    scores = scorecard(
        predictions,
        wrong=wrong,
        threshold=settings.threshold,
        resamples=settings.resamples,
        seed=settings.seed,
    )
    confidence = confidences(predictions)
    loss = np.array(wrong, dtype=np.float64)
    answered = confidence >= settings.threshold

    def wrong_answered(rows: NDArray[np.intp]) -> float:
        given = rows[answered[rows]]
        if not len(given):
            raise MeasureError("nothing is answered")
        return float(loss[given].mean())

    def wrong_at(coverage: float) -> Callable[[NDArray[np.intp]], float]:
        return lambda rows: risk_at_coverage(confidence[rows], loss[rows], coverage=coverage)

    measures: dict[str, Callable[[NDArray[np.intp]], float]] = {
        "answered": lambda rows: float(answered[rows].mean()),
        "wrong_answered": wrong_answered,
        **{f"wrong@{coverage:g}": wrong_at(coverage) for coverage in COVERAGES},
    }
    everything = np.arange(len(labels), dtype=np.intp)
    return Card(
        gate,
        split,
        tuple(wrong),
        scores,
        {
            **scores.measures,
            **{
                name: estimate(measure, everything, settings.resamples, settings.seed)
                for name, measure in measures.items()
            },
        },
    )


def _values(card: Card) -> dict[str, float]:
    """By question, the weight of its answer at the compared coverage, if it is not wrong."""
    if card.scores is None:
        raise MeasureError(f"{card.gate} has no order")
    predictions = card.scores.predictions
    shares = answered_shares(confidences(predictions), coverage=COMPARED_AT)
    # Rounded: the last bits of a sum of shares must not count as a difference on every question.
    right = np.round(shares * ~np.array(card.wrong) / shares.mean(), 9)
    return dict(zip((p.label.id for p in predictions), right.tolist(), strict=True))
