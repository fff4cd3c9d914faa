"""From a query and a backend to the final candidates."""

from laya_retrieval.retrieve.backend import Capability, LegResult, Legs, RetrievalBackend
from laya_retrieval.retrieve.pipeline import (
    OrchestrationPipeline,
    RetrievalResult,
    StageReport,
    retrieve,
)
from laya_retrieval.retrieve.query import QueryBundle

__all__ = [
    "Capability",
    "LegResult",
    "Legs",
    "OrchestrationPipeline",
    "QueryBundle",
    "RetrievalBackend",
    "RetrievalResult",
    "StageReport",
    "retrieve",
]
