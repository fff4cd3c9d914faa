from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from laya_index.signal.base import CachedGenerator, SidecarGenerator, SignalGenerator
from laya_index.signal.embedding import EmbeddingSignal


@pytest.fixture
def signal(providers: Path) -> EmbeddingSignal:
    from laya_index_fake import FakeEncoder

    return EmbeddingSignal("embedding_x", FakeEncoder())


def test_it_implements_the_seams(signal: EmbeddingSignal) -> None:
    assert isinstance(signal, SignalGenerator)
    assert isinstance(signal, CachedGenerator)
    assert not isinstance(signal, SidecarGenerator)


def test_a_column_holds_the_vectors_in_order(signal: EmbeddingSignal) -> None:
    vectors = signal.vectors(["a", "b", "c"])
    [array] = signal.arrays(vectors)
    [field] = signal.fields()
    assert (field.name, field.nullable, array.type) == ("embedding_x", False, field.type)
    assert np.array_equal(np.array(array.to_pylist(), np.float32), np.stack(vectors))
    assert len(signal.arrays([])[0]) == 0


def test_float16_halves_the_column_and_shares_the_cache(signal: EmbeddingSignal) -> None:
    half = EmbeddingSignal("embedding_x", signal.encoder, "float16")
    vectors = signal.vectors(["a", "b"])
    [rounded], [whole] = half.arrays(vectors), signal.arrays(vectors)
    assert rounded.type.value_type == pa.float16()
    assert rounded.nbytes * 2 == whole.nbytes
    np.testing.assert_allclose(rounded.to_pylist(), whole.to_pylist(), atol=1e-3)
    assert half.cache_key == signal.cache_key == signal.fingerprint == signal.encoder.fingerprint
    assert half.fingerprint != signal.fingerprint


@pytest.mark.parametrize("bad", [[0, 0, 0, 0], [1, 0, 0, np.nan], [np.inf, 0, 0, 0]])
def test_zero_and_non_finite_vectors_are_not_usable(
    signal: EmbeddingSignal, bad: list[float]
) -> None:
    assert not signal.usable(np.array(bad, np.float32))
    assert signal.usable(np.array([1, 0, 0, 0], np.float32))
