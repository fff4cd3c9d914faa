"""Answerability from about a dozen features that the pipeline has anyway."""

from __future__ import annotations

import json
import math
import os
import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from laya_signals.component import Component, ComponentConfig, fingerprint_of
from laya_signals.errors import ConfigError
from numpy.typing import ArrayLike, NDArray
from pydantic import Field

from laya_retrieval.candidate import Candidate
from laya_retrieval.errors import GateError
from laya_retrieval.fuse.base import FUSION_KEY
from laya_retrieval.gate.verdict import RELEVANCE_KEY, Funnel, GateState, Verdict
from laya_retrieval.logistic import fit_logistic, sigmoid
from laya_retrieval.process.group import document_of

#: Raised whenever a feature's meaning changes: models fitted on the old meaning are refused.
SCHEMA_VERSION = 1

_WORD = re.compile(r"\w+")
_NAME = re.compile(r"(?<!^)(?<![.!?]\s)\b[A-ZÀ-ÖØ-Þ][\w’'-]*")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


@dataclass(frozen=True, slots=True)
class _Evidence:
    """What the features read, computed once."""

    query: str
    candidates: Sequence[Candidate]
    terms: frozenset[str]
    passages: tuple[frozenset[str], ...]

    @classmethod
    def of(cls, query: str, candidates: Sequence[Candidate]) -> _Evidence:
        return cls(
            query,
            candidates,
            _words(query),
            tuple(_words(candidate.text) for candidate in candidates),
        )

    @property
    def relevances(self) -> list[float]:
        found: list[float] = []
        for candidate in self.candidates:
            value = candidate.metadata.get(RELEVANCE_KEY)
            if not isinstance(value, int | float) or not math.isfinite(value):
                raise GateError(
                    f"candidate {candidate.id!r} has no metadata[{RELEVANCE_KEY!r}]: run LayaGate "
                    "first, or fit without the relevance features"
                )
            found.append(float(value))
        return sorted(found, reverse=True)

    @property
    def scores(self) -> list[float]:
        return sorted((candidate.score for candidate in self.candidates), reverse=True)

    @property
    def covered(self) -> frozenset[str]:
        return frozenset().union(*self.passages)


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.casefold()))


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 1.0


def _second(values: Sequence[float]) -> float:
    return values[1] if len(values) > 1 else 0.0


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _score_gap(evidence: _Evidence) -> float:
    scores = evidence.scores
    span = scores[0] - scores[-1]
    return (scores[0] - _second(scores)) / span if len(scores) > 1 and span > 0 else 0.0


def _score_mass(evidence: _Evidence) -> float:
    # Where the mean lies between the lowest and the highest score: a long flat tail is near 0.
    scores = evidence.scores
    span = scores[0] - scores[-1]
    return (_mean(scores) - scores[-1]) / span if span > 0 else 1.0


def _coverage(evidence: _Evidence) -> float:
    return _share(len(evidence.terms & evidence.covered), len(evidence.terms))


def _best_coverage(evidence: _Evidence) -> float:
    asked = evidence.terms
    return max(_share(len(asked & words), len(asked)) for words in evidence.passages)


def _name_coverage(evidence: _Evidence) -> float:
    names = _words(" ".join(_NAME.findall(evidence.query)))
    return _share(len(names & evidence.covered), len(names))


def _number_coverage(evidence: _Evidence) -> float:
    asked = set(_NUMBER.findall(evidence.query))
    found = {n for candidate in evidence.candidates for n in _NUMBER.findall(candidate.text)}
    return _share(len(asked & found), len(asked))


def _leg_agreement(evidence: _Evidence) -> float:
    legs = [
        frozenset(part.leg for part in candidate.metadata.get(FUSION_KEY, ()))
        for candidate in evidence.candidates
    ]
    known = frozenset().union(*legs)
    return _mean([len(own) for own in legs]) / len(known) if known else 0.0


def _distinct_documents(evidence: _Evidence) -> float:
    return len({document_of(c) for c in evidence.candidates}) / len(evidence.candidates)


def _duplicates(evidence: _Evidence) -> float:
    texts = {" ".join(candidate.text.split()) for candidate in evidence.candidates}
    return 1 - len(texts) / len(evidence.candidates)


#: Feature name to how it is computed. All are finite for a non-empty list of candidates.
FEATURES: Mapping[str, Callable[[_Evidence], float]] = {
    "top_relevance": lambda e: e.relevances[0],
    "second_relevance": lambda e: _second(e.relevances),
    "mean_relevance": lambda e: _mean(e.relevances),
    "relevance_gap": lambda e: e.relevances[0] - _second(e.relevances),
    "relevance_spread": lambda e: e.relevances[0] - _mean(e.relevances),
    "log_kept": lambda e: math.log1p(len(e.candidates)),
    "score_gap": _score_gap,
    "score_mass": _score_mass,
    "term_coverage": _coverage,
    "best_passage_coverage": _best_coverage,
    "name_coverage": _name_coverage,
    "number_coverage": _number_coverage,
    "leg_agreement": _leg_agreement,
    "log_evidence_length": lambda e: math.log1p(sum(len(c.text) for c in e.candidates)),
    "distinct_documents": _distinct_documents,
    "duplicates": _duplicates,
}

#: The features that need no decision model.
RETRIEVAL_FEATURES: tuple[str, ...] = tuple(name for name in FEATURES if "relevance" not in name)


def extract_features(
    query: str, candidates: Sequence[Candidate], names: Sequence[str] = tuple(FEATURES)
) -> NDArray[np.float64]:
    """The named features of one query and its kept candidates, `(len(names),)` float64, finite.

    `*_relevance` and the relevance gaps read `metadata["laya_relevance"]`, `leg_agreement` reads
    `metadata["fusion"]` (0.0 without `explain=True`), coverage is the share of the query's words,
    names or numbers that the texts contain (1.0 when the query has none). Raises `GateError` for
    an unknown name, for no candidates, and for relevance features without relevances.
    """
    if not candidates:
        raise GateError("there are no features of no candidates")
    for name in names:
        if name not in FEATURES:
            raise GateError(f"unknown feature {name!r}; known are {', '.join(FEATURES)}")
    evidence = _Evidence.of(query, candidates)
    return np.array([FEATURES[name](evidence) for name in names], dtype=np.float64)


@dataclass(frozen=True, slots=True)
class FeatureModel:
    """A fitted logistic model over named features, and what it was fitted on.

    Weights are per standardised feature. `pipeline_fingerprint` names the configuration whose
    candidates it has seen. Raises `GateError` for an unknown feature, another schema version, or
    numbers that do not fit together.
    """

    features: tuple[str, ...]
    mean: tuple[float, ...]
    scale: tuple[float, ...]
    weights: tuple[float, ...]
    intercept: float
    pipeline_fingerprint: str
    l2: float
    examples: int
    schema_version: int = SCHEMA_VERSION

    def __post_init__(self) -> None:
        if self.schema_version != SCHEMA_VERSION:
            raise GateError(
                f"the model was fitted with feature schema {self.schema_version}, "
                f"this version computes {SCHEMA_VERSION}: fit it again"
            )
        if unknown := [name for name in self.features if name not in FEATURES]:
            raise GateError(f"unknown feature {unknown[0]!r}; known are {', '.join(FEATURES)}")
        columns = (self.mean, self.scale, self.weights)
        if not self.features or any(len(column) != len(self.features) for column in columns):
            raise GateError("a feature model needs a mean, a scale and a weight per feature")
        numbers = [*self.mean, *self.scale, *self.weights, self.intercept]
        if not all(math.isfinite(number) for number in numbers) or min(self.scale) <= 0:
            raise GateError("a feature model's numbers are finite, its scales above 0")

    @classmethod
    def fit(
        cls,
        features: ArrayLike,
        answerable: ArrayLike,
        *,
        pipeline_fingerprint: str,
        names: Sequence[str] = tuple(FEATURES),
        l2: float = 1.0,
    ) -> FeatureModel:
        """Fit on `features` `(n, len(names))` and labels `(n,)` of 0 and 1.

        Maximum likelihood with an L2 penalty of `l2 / 2 · Σ weight²` on standardised features.
        Raises `GateError` for shapes that do not fit, a missing class, or a value that is not
        finite.
        """
        x = np.asarray(features, dtype=np.float64)
        if x.ndim != 2 or x.shape[1] != len(names):
            raise GateError(f"features must be (n, {len(names)}), not {x.shape}")
        try:
            fitted = fit_logistic(x, answerable, l2=l2)
        except ValueError as error:
            raise GateError(f"the feature model cannot be fitted: {error}") from error
        return cls(
            features=tuple(names),
            mean=tuple(fitted.mean.tolist()),
            scale=tuple(fitted.scale.tolist()),
            weights=tuple(fitted.weights.tolist()),
            intercept=fitted.intercept,
            pipeline_fingerprint=pipeline_fingerprint,
            l2=l2,
            examples=len(x),
        )

    def probability(self, features: ArrayLike) -> float:
        """The probability for one row of features, 0..1."""
        row = np.asarray(features, dtype=np.float64)
        if row.shape != (len(self.features),) or not bool(np.all(np.isfinite(row))):
            raise GateError(f"give {len(self.features)} finite features, not shape {row.shape}")
        standard = (row - np.array(self.mean)) / np.array(self.scale)
        return float(sigmoid(standard @ np.array(self.weights) + self.intercept))

    @property
    def fingerprint(self) -> str:
        """Sixteen hex digits of everything in the model."""
        return fingerprint_of(asdict(self))

    def save(self, path: str | Path) -> None:
        """Write the model as JSON, its own fingerprint included; replaces the file at once."""
        target = Path(path)
        text = json.dumps({**asdict(self), "fingerprint": self.fingerprint}, indent=2) + "\n"
        handle, temporary = tempfile.mkstemp(dir=target.parent or Path(), prefix=f".{target.name}.")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
            Path(temporary).replace(target)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise

    @classmethod
    def load(cls, path: str | Path) -> FeatureModel:
        """Read what `save` wrote.

        Raises `GateError` when the file is missing, malformed, or was changed since: its
        fingerprint then no longer fits.
        """
        try:
            values = json.loads(Path(path).read_text(encoding="utf-8"))
            stated = values.pop("fingerprint")
            for name in ("features", "mean", "scale", "weights"):
                values[name] = tuple(values[name])
            model = cls(**values)
        except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
            raise GateError(f"{path} is no saved feature model: {error!r}") from error
        if model.fingerprint != stated:
            raise GateError(
                f"{path} was changed: its fingerprint is {model.fingerprint}, it states {stated}"
            )
        return model


class FeatureGateConfig(ComponentConfig):
    """Settings of `gate.features`."""

    #: The file of a fitted model, for when none is injected.
    path: str | None = None
    #: Fingerprint of the pipeline that makes the candidates; must be the fitted model's.
    pipeline_fingerprint: str
    #: Probability from which the evidence counts as answering.
    answerability_threshold: float = Field(default=0.5, ge=0, le=1)


class FeatureGate(Component[FeatureGateConfig]):
    """Answers answerability with a fitted `FeatureModel`; keeps every candidate.

    Runs after what decides relevance: `model=` (or `path`) may have been fitted with or without
    the relevance features. Raises `GateError` when the model was fitted on candidates of another
    pipeline: its probabilities would mean nothing here.
    """

    Config = FeatureGateConfig

    def __init__(
        self,
        config: Mapping[str, Any] | FeatureGateConfig | None = None,
        /,
        *,
        model: FeatureModel | None = None,
        **settings: Any,
    ) -> None:
        super().__init__(config, **settings)
        if model is None:
            if self.config.path is None:
                raise ConfigError("FeatureGate: give model= a FeatureModel, or the path of one")
            model = FeatureModel.load(self.config.path)
        if model.pipeline_fingerprint != self.config.pipeline_fingerprint:
            raise GateError(
                f"the feature model was fitted on pipeline {model.pipeline_fingerprint}, this one "
                f"is {self.config.pipeline_fingerprint}: fit it on this one's candidates"
            )
        self.model = model

    def fingerprint_extra(self) -> Any:
        """The model decides the probability."""
        return self.model.fingerprint

    def judge(self, query: str, candidates: Sequence[Candidate]) -> Verdict:
        """Whether `candidates` answer `query`; not reached when there are none."""
        count = len(candidates)
        answerability: float | None = None
        if candidates:
            features = extract_features(query, candidates, self.model.features)
            answerability = self.model.probability(features)
        threshold = self.config.answerability_threshold
        return Verdict(
            state=GateState.GATE_NOT_REACHED if answerability is None else GateState.MEASURED,
            answerable=None if answerability is None else answerability >= threshold,
            answerability=answerability,
            kept=tuple(candidates),
            dropped=(),
            funnel=Funnel(count, 0, 0, 0, count),
            relevance_threshold=None,
            answerability_threshold=threshold,
            questions=(),
            model_fingerprint=None if answerability is None else self.model.fingerprint,
        )
