from __future__ import annotations

import pytest
from laya_index.bundle.manifest import EmbeddingEntry, Manifest
from laya_rag.engine.weights import leg_weights
from laya_rag.testing import MemoryCorpus


def manifest(**providers: str) -> Manifest:
    entries = {
        column: EmbeddingEntry(provider=provider, config={}, fingerprint="f", dimension=4)
        for column, provider in providers.items()
    }
    return MemoryCorpus([]).manifest.model_copy(update={"embeddings": entries})


@pytest.mark.parametrize(
    ("provider", "expected"),
    [("encoder.mini", 1.0), ("encoder.laya", 0.0), ("my.module:Encoder", 1.0)],
)
def test_a_dense_leg_weighs_what_its_kind_of_encoder_is_worth(
    provider: str, expected: float
) -> None:
    found = leg_weights(manifest(embedding=provider), ["bm25", "dense"], given={}, named=False)
    assert found == {"bm25": 1.0, "dense": expected}


def test_each_embedding_has_its_own_encoder() -> None:
    two = manifest(embedding="encoder.mini", embedding_wide="encoder.laya")
    found = leg_weights(two, ["bm25", "dense", "dense:wide"], given={}, named=False)
    assert found == {"bm25": 1.0, "dense": 1.0, "dense:wide": 0.0}


def test_a_given_weight_wins() -> None:
    found = leg_weights(
        manifest(embedding="encoder.laya"), ["bm25", "dense"], given={"dense": 0.3}, named=False
    )
    assert found == {"bm25": 1.0, "dense": 0.3}


def test_a_leg_that_is_named_is_wanted() -> None:
    found = leg_weights(manifest(embedding="encoder.laya"), ["dense"], given={}, named=True)
    assert found == {"dense": 1.0}


def test_the_only_leg_is_never_left_out() -> None:
    found = leg_weights(manifest(embedding="encoder.laya"), ["dense"], given={}, named=False)
    assert found == {"dense": 1.0}


def test_a_leg_that_was_switched_off_stays_off() -> None:
    found = leg_weights(
        manifest(embedding="encoder.mini"), ["dense"], given={"dense": 0.0}, named=False
    )
    assert found == {"dense": 0.0}
