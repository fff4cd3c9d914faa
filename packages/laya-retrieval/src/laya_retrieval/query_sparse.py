"""A query's sparse vector, composed exactly as the index composed the passages'."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from laya_signals.component import Component
from laya_signals.errors import ConfigError
from laya_signals.registry import ProviderBlock, signals
from laya_signals.sparse.base import SparseEncoder
from laya_signals.sparse.composition import CompositionConfig, Entity, compose
from laya_signals.sparse.vector import SparseVector


class SpladeQueryConfig(CompositionConfig):
    """Settings of `query_sparse.splade`: the composition's weights, and the model."""

    #: Which sparse encoder, for when none is injected.
    model: ProviderBlock | None = None


class SpladeQueryEncoder(Component[SpladeQueryConfig]):
    """`model_weight · model(text) ⊕ entity_boost · entity terms ⊕ metadata_boost · metadata terms`.

    Entities count from a confidence of `min_confidence` (.5). `model=` takes a `SparseEncoder`.
    Source of the model part: Formal et al., "SPLADE v2" (2021).
    """

    Config = SpladeQueryConfig

    def __init__(
        self,
        config: Mapping[str, Any] | SpladeQueryConfig | None = None,
        /,
        *,
        model: SparseEncoder | Mapping[str, Any] | None = None,
        **settings: Any,
    ) -> None:
        if isinstance(model, Mapping):
            settings["model"], model = model, None
        super().__init__(config, **settings)
        if model is None and self.config.model is not None:
            model = signals.resolve(self.config.model, SparseEncoder)
        if not isinstance(model, SparseEncoder):
            raise ConfigError("SpladeQueryEncoder: give model= a sparse encoder, or name one")
        self.model: SparseEncoder = model

    def fingerprint_extra(self) -> Any:
        """The model decides the first part."""
        return self.model.fingerprint

    def encode(
        self,
        text: str,
        *,
        entities: Sequence[Entity] = (),
        metadata_terms: Sequence[str] = (),
    ) -> SparseVector:
        """The query's vector, ready for `QueryBundle(sparse_terms=…)`.

        `entities` are texts with their confidence. Raises `EncodeError` for one outside 0..1.
        """
        return compose(
            self.model, [text], self.config, entities=[entities], metadata_terms=[metadata_terms]
        )[0]
