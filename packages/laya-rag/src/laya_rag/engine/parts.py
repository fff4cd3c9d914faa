"""From settings to the components that do the work."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, TypeVar

from laya_retrieval.fuse.base import Fuser
from laya_retrieval.gate.base import Gate
from laya_retrieval.gate.laya import LayaGate
from laya_retrieval.process.base import Processor
from laya_retrieval.process.cover import CoverageSelector
from laya_retrieval.process.dedup import Deduplicator
from laya_retrieval.process.pack import Packer
from laya_retrieval.process.quota import DocumentQuota
from laya_retrieval.process.rerank import Reranker
from laya_retrieval.registry import resolve_fuser, resolve_gate, retrieval
from laya_signals.component import ComponentConfig, fingerprint_of
from laya_signals.decide.base import DecisionModel
from laya_signals.registry import ProviderBlock, signals

from laya_rag.config import Settings
from laya_rag.engine.cancel import BatchedModel, CancelToken
from laya_rag.engine.second import SecondStage

T = TypeVar("T")
C = TypeVar("C", bound=ComponentConfig)


class Parts:
    """Builds the components that settings name, and shares the models between calls.

    `model` takes the place of the decision model that settings name. A model is kept for as long
    as this lives, so whoever lets others choose the settings of a call must not let them choose
    models. Thread-safe.
    """

    def __init__(self, model: DecisionModel | None = None) -> None:
        self._model = model
        self._built: dict[str, Any] = {}
        self._lock = threading.Lock()

    def fuser(self, settings: Settings) -> Fuser:
        """The fuser, told to explain its scores: a rank without its reasons is no evidence."""
        block = settings.search.fuser
        return self._once(
            f"fuser {fingerprint_of(block.model_dump())}",
            lambda: _resolved_with(block, {"explain": True}, resolve_fuser),
        )

    def gate(self, settings: Settings, cancel: CancelToken) -> Gate | None:
        """The gate of one question, able to stop between two calls of its model; None when off."""
        own = settings.gate
        if not own.enabled:
            return None
        given = {
            "relevance_threshold": own.relevance,
            "answerability_threshold": own.answerability,
            "order": own.order,
        }
        if issubclass(retrieval.load(own.judge.provider), LayaGate):
            model = BatchedModel(self._decision_model(own.model), own.batch, cancel.check)
            return _resolved_with(own.judge, given, lambda block: resolve_gate(block, model=model))
        key = fingerprint_of([own.judge.model_dump(), given])
        return self._once(f"gate {key}", lambda: _resolved_with(own.judge, given, resolve_gate))

    def second(self, settings: Settings, cancel: CancelToken) -> SecondStage:
        """The second stage of one question."""
        own, keep = settings.second, settings.search.keep
        threshold = settings.gate.answerability
        if not own.enabled:
            return SecondStage(keep=keep, answerability_threshold=threshold)
        order: list[tuple[str, Processor]] = []
        if (rerank := own.rerank) is not None:
            key = fingerprint_of(rerank.model_dump())
            order.append(("rerank", self._once(f"rerank {key}", lambda: Reranker(rerank))))
        if own.cover is not None:
            order.append(("cover", CoverageSelector(_sized(own.cover, "top_k", keep))))
        if own.quota is not None:
            order.append(("quota", DocumentQuota(_sized(own.quota, "documents", keep))))
        return SecondStage(
            keep=keep,
            answerability_threshold=threshold,
            dedup=None if own.dedup is None else Deduplicator(own.dedup),
            gate=self.gate(settings, cancel),
            candidates=settings.gate.candidates,
            order=tuple(order),
            packer=None if own.pack is None else Packer(own.pack),
        )

    def _decision_model(self, block: ProviderBlock) -> DecisionModel:
        if self._model is not None:
            return self._model
        key = fingerprint_of(block.model_dump())
        return self._once(f"model {key}", lambda: signals.resolve(block, DecisionModel))

    def _once(self, key: str, make: Callable[[], T]) -> T:
        # Held while building: a model is loaded once, however many ask for it at the same time.
        with self._lock:
            if key not in self._built:
                self._built[key] = make()
            built: T = self._built[key]
            return built


def _resolved_with(
    block: ProviderBlock, given: dict[str, Any], resolve: Callable[[ProviderBlock], T]
) -> T:
    """The component, with those of the `given` settings that its kind knows."""
    known = retrieval.load(block.provider).Config.model_fields
    config = {key: value for key, value in given.items() if key in known} | block.config
    return resolve(ProviderBlock(provider=block.provider, config=config))


def _sized(config: C, field: str, keep: int) -> C:
    """The settings with `field` at `keep`, unless it was given."""
    return config if field in config.model_fields_set else config.model_copy(update={field: keep})
