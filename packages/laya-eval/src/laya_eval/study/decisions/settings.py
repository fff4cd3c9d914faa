"""The settings of the study: together with the data and the model, all that its report says."""

from __future__ import annotations

from laya_retrieval.gate.features import RETRIEVAL_FEATURES
from pydantic import BaseModel, ConfigDict, Field

from laya_eval.bootstrap import RESAMPLES
from laya_eval.gate.evidence import EvidenceSettings
from laya_eval.permutation import PERMUTATIONS

#: Of a capped corpus set's questions, pair sets may have this many times as many.
PAIRS = 4
#: The shares of the questions that are answered, at which wrong answers are counted.
COVERAGES = (1.0, 0.95, 0.8, 0.5)
#: The one at which gates are compared.
COMPARED_AT = 0.8
FEATURES = RETRIEVAL_FEATURES


class StudySettings(BaseModel):
    """How gates are run and measured; the search is that of `laya ask`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    #: The stack that indexes the corpora.
    stack: str = "stacks/models/beir.yaml"
    #: Folders under the data folder; none for all.
    only: tuple[str, ...] = ()
    #: Questions of a corpus that the decision model judges.
    cap: int = Field(default=120, ge=10)
    #: The decision model: a provider's name, or its block as JSON.
    model: str = "decision.mini"
    #: Passages of evidence that a reader is shown.
    keep: int = Field(default=5, ge=1)
    depth: int = EvidenceSettings().depth
    candidates: int = EvidenceSettings().candidates
    relevance: float = Field(default=0.5, ge=0, le=1)
    threshold: float = Field(default=0.5, ge=0, le=1)
    #: Folds of everything that is fitted.
    folds: int = Field(default=5, ge=2)
    resamples: int = Field(default=RESAMPLES, ge=1)
    permutations: int = Field(default=PERMUTATIONS, ge=1)
    seed: int = Field(default=0, ge=0)
