"""What each leg weighs in the fusion."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from laya_index.bundle.manifest import Manifest

#: By the provider of the encoder that filled the column. `encoder.laya` is the encoder of a
#: decision model, no retriever: nDCG@10 .014 on SciFact, where BM25 reaches .654. An adapted one
#: is worth about .3, which only its owner can say.
WEIGHT_BY_ENCODER: Mapping[str, float] = {"encoder.laya": 0.0}


def leg_weights(
    manifest: Manifest,
    legs: Collection[str],
    *,
    given: Mapping[str, float],
    named: bool,
) -> dict[str, float]:
    """The weight of each of `legs`: the one `given`, else by kind of encoder, else 1.

    Legs that were `named` by the caller are wanted, and weigh 1. So does a leg that would be left
    out and has no other beside it.
    """
    weights = {leg: given.get(leg, 1.0 if named else _default(manifest, leg)) for leg in legs}
    if any(weights.values()):
        return weights
    return {leg: given.get(leg, 1.0) for leg in legs}


def _default(manifest: Manifest, leg: str) -> float:
    kind, _, name = leg.partition(":")
    if kind != "dense":
        return 1.0
    entry = manifest.embeddings.get(f"embedding_{name}" if name else "embedding")
    return 1.0 if entry is None else WEIGHT_BY_ENCODER.get(entry.provider, 1.0)
