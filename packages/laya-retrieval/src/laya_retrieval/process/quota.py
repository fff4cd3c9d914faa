"""The first results come from different documents."""

from __future__ import annotations

from collections.abc import Sequence

from laya_signals.component import Component, ComponentConfig
from pydantic import Field

from laya_retrieval.candidate import Candidate
from laya_retrieval.process.group import document_of


class QuotaConfig(ComponentConfig):
    """Settings of `processor.quota`."""

    #: How many leading results must be of distinct documents.
    documents: int = Field(default=5, ge=1)


class DocumentQuota(Component[QuotaConfig]):
    """The first N results are N distinct documents, as far as the pool allows.

    Keeps the incoming order otherwise, and every score: the best candidate of each of the first N
    documents moves to the front, the rest follows.
    """

    Config = QuotaConfig

    def process(self, query: str, candidates: Sequence[Candidate]) -> list[Candidate]:  # noqa: ARG002
        """All candidates, reordered."""
        front: list[Candidate] = []
        rest: list[Candidate] = []
        seen: set[str] = set()
        for candidate in candidates:
            document = document_of(candidate)
            if document not in seen and len(front) < self.config.documents:
                seen.add(document)
                front.append(candidate)
            else:
                rest.append(candidate)
        return front + rest
