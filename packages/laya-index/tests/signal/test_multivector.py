import numpy as np
import pytest
from laya_index.bundle.schema import MULTIVECTOR_COLUMNS
from laya_index.signal.base import CachedGenerator, SidecarGenerator
from laya_index.signal.multivector import FdeSignal, MultiVectorSignal
from laya_signals.fde import MuveraFde
from laya_signals.multivector import HashingMultiVectorEncoder

TEXTS = ["tax law tax", "", "one"]
TOKENS = HashingMultiVectorEncoder(dimension=6)
FDE = MuveraFde(repetitions=2, k_sim=2, projection=3)


def test_only_what_keeps_token_vectors_writes_a_file() -> None:
    for signal, writes in ((MultiVectorSignal(TOKENS), True), (FdeSignal(TOKENS, FDE), False)):
        assert isinstance(signal, CachedGenerator)
        assert isinstance(signal, SidecarGenerator) == writes
        assert signal.ragged == writes


def test_a_file_holds_every_token_of_every_passage() -> None:
    signal = MultiVectorSignal(TOKENS)
    vectors = signal.vectors(TEXTS)
    table = signal.sidecar(["a", "b", "c"], vectors)
    assert table.schema.equals(MULTIVECTOR_COLUMNS)
    assert table["record_id"].to_pylist() == ["a", "b", "c"]
    for kept, expected in zip(table["multivector"].to_pylist(), vectors, strict=True):
        assert np.array_equal(np.array(kept, np.float32).reshape(-1, 6), expected)
    assert signal.fields() == signal.arrays(vectors) == []
    assert signal.sidecar([], []).num_rows == 0


def test_encodings_are_the_same_whether_token_vectors_are_kept_or_not() -> None:
    kept, unkept = MultiVectorSignal(TOKENS, FDE), FdeSignal(TOKENS, FDE)
    [one] = kept.arrays(kept.vectors(TEXTS))
    [other] = unkept.arrays(unkept.vectors(TEXTS))
    assert one.equals(other)
    assert kept.fields() == unkept.fields()
    assert one.type.list_size == kept.width == unkept.dimension == 2 * 4 * 3
    assert one.to_pylist()[1] == [0.0] * 24


def test_the_fingerprint_follows_both_and_the_cache_what_it_keeps() -> None:
    other = MuveraFde(seed=1)
    signals = [
        MultiVectorSignal(TOKENS),
        MultiVectorSignal(TOKENS, FDE),
        MultiVectorSignal(TOKENS, other),
        MultiVectorSignal(HashingMultiVectorEncoder(dimension=7), FDE),
    ]
    assert len({signal.fingerprint for signal in signals}) == 4
    assert len({signal.cache_key for signal in signals}) == 2
    assert FdeSignal(TOKENS, FDE).cache_key != FdeSignal(TOKENS, other).cache_key


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_numbers_that_are_not_finite_are_not_usable(bad: float) -> None:
    signal = MultiVectorSignal(TOKENS)
    assert not signal.usable(np.full((2, 6), bad, np.float32))
    assert signal.usable(np.zeros((0, 6), np.float32))
