"""The settings of a measurement: together with corpus and data, everything that its report says."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from laya_eval.bootstrap import MEAN_RESAMPLES
from laya_eval.metrics import MEASURES
from laya_eval.permutation import PERMUTATIONS


class Settings(BaseModel):
    """How systems are run and measured; see `laya eval run --help` for each."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    #: None for every leg and the usual fusions of them.
    systems: tuple[str, ...] | None = None
    #: What the others are compared with; None for `rrf@60`, or else the first.
    baseline: str | None = None
    measures: tuple[str, ...] = Field(default=MEASURES, min_length=1)
    #: Only these legs; None for all that the corpus has.
    legs: tuple[str, ...] | None = None
    #: Passages to take from each leg.
    depth: int = Field(default=300, ge=1)
    #: Documents of each ranking that are kept and measured.
    results: int = Field(default=100, ge=1)
    #: Fused candidates that a step reads.
    candidates: int = Field(default=20, ge=1)
    #: Candidates that the step `cover` keeps.
    keep: int = Field(default=10, ge=1)
    #: Probability from which the step `filter` keeps a candidate.
    relevance: float = Field(default=0.5, ge=0, le=1)
    #: The decision model of `filter` and `order`: a provider's name, or its block as JSON.
    model: str = "decision.mini"
    #: Fusers and processors under names of their own, as provider blocks.
    define: dict[str, dict[str, Any]] = Field(default_factory=dict)
    #: Names that the first search found to search for again, for the diagnostic of second hops.
    probes: int = Field(default=0, ge=0, exclude_if=lambda value: value == 0)
    #: Measure what is extracted from the first passages against the data's gold answers.
    nuggets: bool = Field(default=False, exclude_if=lambda value: not value)
    split: str = "test"
    #: Only this many queries, drawn with the seed; None for all.
    sample: int | None = Field(default=None, ge=1)
    #: Leave a document in the ranking of the query with its id.
    keep_identical_ids: bool = False
    resamples: int = Field(default=MEAN_RESAMPLES, ge=1)
    permutations: int = Field(default=PERMUTATIONS, ge=1)
    seed: int = Field(default=0, ge=0)
