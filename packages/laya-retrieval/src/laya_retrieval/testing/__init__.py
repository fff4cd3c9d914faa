"""Faithful fakes: they refuse what the real thing refuses."""

from laya_retrieval.testing.backend import FakeBackend
from laya_retrieval.testing.graph import FakeGraphSource
from laya_retrieval.testing.models import (
    FakeCrossEncoder,
    FakeDecisionModel,
    FakeMultiVectorEmbedder,
)

__all__ = [
    "FakeBackend",
    "FakeCrossEncoder",
    "FakeDecisionModel",
    "FakeGraphSource",
    "FakeMultiVectorEmbedder",
]
