"""The sparse composition that both clocks share.

`model_weight · model(text) ⊕ entity_boost · entity terms ⊕ metadata_boost · metadata terms`,
where ⊕ adds weights per index. An index counts once in the entity part and once in the metadata
part, however often it is named there.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from pydantic import Field

from laya_signals.component import ComponentConfig
from laya_signals.errors import EncodeError
from laya_signals.sparse.base import SparseEncoder
from laya_signals.sparse.vector import SparseVector

#: An entity's text and the confidence, 0..1, with which it was found.
Entity: TypeAlias = tuple[str, float]


class CompositionConfig(ComponentConfig):
    """The weights of the three parts; both clocks must use the same."""

    model_weight: float = Field(default=1.0, ge=0, allow_inf_nan=False)
    entity_boost: float = Field(default=1.0, ge=0, allow_inf_nan=False)
    metadata_boost: float = Field(default=0.5, ge=0, allow_inf_nan=False)
    #: Entities found with less confidence are left out.
    min_confidence: float = Field(default=0.5, ge=0, le=1)


def compose(
    model: SparseEncoder,
    texts: Sequence[str],
    config: CompositionConfig,
    *,
    entities: Sequence[Sequence[Entity]] | None = None,
    metadata_terms: Sequence[Sequence[str]] | None = None,
) -> list[SparseVector]:
    """One composed vector per text; `entities` and `metadata_terms` have one entry per text.

    Raises `EncodeError` when the lists differ in length, or a confidence is not in 0..1.
    """
    return compose_vectors(
        model, model.encode(texts), config, entities=entities, metadata_terms=metadata_terms
    )


def compose_vectors(
    model: SparseEncoder,
    vectors: Sequence[SparseVector],
    config: CompositionConfig,
    *,
    entities: Sequence[Sequence[Entity]] | None = None,
    metadata_terms: Sequence[Sequence[str]] | None = None,
) -> list[SparseVector]:
    """Like `compose`, for texts whose vectors by `model` are known."""
    for name, given in (("entities", entities), ("metadata_terms", metadata_terms)):
        if given is not None and len(given) != len(vectors):
            raise EncodeError(
                f"{len(given)} {name} for {len(vectors)} texts: give one entry per text"
            )
    return [
        _composed(
            model,
            vector,
            config,
            entities[position] if entities is not None else (),
            metadata_terms[position] if metadata_terms is not None else (),
        )
        for position, vector in enumerate(vectors)
    ]


def _composed(
    model: SparseEncoder,
    vector: SparseVector,
    config: CompositionConfig,
    entities: Sequence[Entity],
    metadata_terms: Sequence[str],
) -> SparseVector:
    weights = {index: config.model_weight * value for index, value in vector}
    for text, confidence in entities:
        if not 0 <= confidence <= 1:
            raise EncodeError(f"entity {text!r} has confidence {confidence!r}, not one in 0..1")
    kept = [text for text, confidence in entities if confidence >= config.min_confidence]
    for boost, named in ((config.entity_boost, kept), (config.metadata_boost, metadata_terms)):
        for index in _indices(model, named):
            weights[index] = weights.get(index, 0.0) + boost
    return SparseVector.from_mapping(weights)


def _indices(model: SparseEncoder, named: Iterable[str]) -> set[int]:
    return {index for text in named for index in model.term_ids(text)}
