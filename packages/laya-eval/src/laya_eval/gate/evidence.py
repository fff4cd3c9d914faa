"""From a query to the candidates that a gate reads, always in the same way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from laya_rag.backend.bundle import BundleBackend
from laya_rag.config import SearchSettings
from laya_rag.engine.second import component_fingerprint
from laya_rag.errors import RagError
from laya_retrieval.candidate import Candidate
from laya_retrieval.gate.laya import LayaGate
from laya_retrieval.guard import Guard, TenantFilter, TrustFilter
from laya_retrieval.registry import resolve_fuser
from laya_retrieval.retrieve.pipeline import OrchestrationPipeline, RetrievalResult, retrieve
from laya_signals.component import fingerprint_of
from laya_signals.registry import ProviderBlock


@dataclass(frozen=True, slots=True)
class EvidenceSettings:
    """How candidates are found; the defaults are those of `laya ask`."""

    #: Candidates to take from each leg.
    depth: int = SearchSettings().depth
    #: Fused candidates that the gate reads.
    candidates: int = 20
    #: Only these legs; None for all that the bundle has signals for.
    legs: tuple[str, ...] | None = None
    min_trust: str = "untrusted"
    #: Who is asking, for a bundle that keeps tenants apart.
    tenants: tuple[str, ...] = ()
    all_tenants: bool = False


class EvidencePipeline:
    """All legs of a bundle, fused as `laya ask` does; with `relevance`, sifted by a decision model.

    The fused candidates carry `metadata["fusion"]`, the sifted ones `metadata["laya_relevance"]`
    too. Raises `RagError` for a bundle that keeps tenants apart when none is named.
    """

    def __init__(
        self,
        backend: BundleBackend,
        settings: EvidenceSettings | None = None,
        *,
        relevance: LayaGate | None = None,
    ) -> None:
        self.backend = backend
        self.settings = settings or EvidenceSettings()
        self.relevance = relevance
        guards: list[Guard] = [TrustFilter(self.settings.min_trust)]
        if self.settings.tenants:
            guards.append(TenantFilter(self.settings.tenants))
        elif backend.manifest.tenants is not None and not self.settings.all_tenants:
            raise RagError(
                f"bundle {str(backend.path)!r} keeps tenants apart: name one with --tenant, "
                "or see everything with --all-tenants"
            )
        block = SearchSettings().fuser
        self._fuser = resolve_fuser(
            ProviderBlock(provider=block.provider, config={**block.config, "explain": True})
        )
        self._pipeline = OrchestrationPipeline(
            fuser=self._fuser,
            final_top_k=self.settings.candidates,
            guards=guards,
        )

    @property
    def description(self) -> dict[str, Any]:
        """Everything but the documents that decides which candidates a query gets, as JSON.

        Not the documents: a bundle that grows keeps its gate. Not the tenants either, who decide
        what may be seen and not how it is found.
        """
        manifest = self.backend.manifest
        served = {capability.value for capability in self.backend.capabilities} - {"filter"}
        wanted = served if self.settings.legs is None else served & set(self.settings.legs)
        bm25 = manifest.bm25
        return {
            "components": dict(manifest.components),
            "bm25": None
            if bm25 is None
            else {"k1": bm25.k1, "b": bm25.b, "title_weight": bm25.title_weight},
            "legs": sorted(wanted),
            "depth": self.settings.depth,
            "candidates": self.settings.candidates,
            "min_trust": self.settings.min_trust,
            "fuser": component_fingerprint(self._fuser),
            "relevance": None if self.relevance is None else self.relevance.fingerprint,
        }

    @property
    def fingerprint(self) -> str:
        """Sixteen hex digits of `description`."""
        return fingerprint_of(self.description)

    def retrieve(self, query: str) -> RetrievalResult:
        """The legs for `query` and their fusion, before anything is sifted."""
        modes = self.settings.legs
        bundle = self.backend.query(query, depth=self.settings.depth, modes=modes)
        return retrieve(bundle, self.backend, self._pipeline)

    def candidates(self, query: str) -> Sequence[Candidate]:
        """What a gate reads for `query`, best first; may be empty."""
        found = self.retrieve(query).candidates
        return found if self.relevance is None else self.relevance.process(query, found)
