import pyarrow as pa
import pytest
from laya_index.document import Chunk, OffsetMap, RedactedDocument
from laya_index.signal.base import CachedGenerator, SignalGenerator
from laya_index.signal.sparse import SparseSignal
from laya_signals.sparse import HashingSparseEncoder


def chunk(content: str, title: str = "") -> Chunk:
    document = RedactedDocument("d", content, title, "text/plain", "", {}, "", OffsetMap(), {})
    return Chunk(document, 0, 0, len(content), content, ())


def test_it_implements_the_seam() -> None:
    signal = SparseSignal(HashingSparseEncoder())
    assert isinstance(signal, SignalGenerator)
    assert not isinstance(signal, CachedGenerator)
    assert signal.fingerprint == signal.encoder.fingerprint


def test_two_columns_hold_what_the_encoder_says_of_title_and_passage() -> None:
    signal = SparseSignal(HashingSparseEncoder())
    chunks = [chunk("tax law tax", "On law"), chunk("..."), chunk("one two")]
    indices, values = signal.compute(chunks)
    assert [array.type for array in (indices, values)] == [f.type for f in signal.fields()]
    expected = signal.encoder.encode(["On law\ntax law tax", "...", "one two"])
    assert indices.to_pylist() == [vector.indices.tolist() for vector in expected]
    assert values.to_pylist() == [vector.values.tolist() for vector in expected]
    assert [len(array) for array in signal.compute([])] == [0, 0]


@pytest.mark.parametrize(
    ("size", "kind"),
    [(1, pa.uint32()), (1 << 32, pa.uint32()), ((1 << 32) + 1, pa.int64())],
)
def test_indices_have_the_type_that_holds_them(size: int, kind: pa.DataType) -> None:
    signal = SparseSignal(HashingSparseEncoder(vocab_size=size))
    assert signal.fields()[0].type.value_type == kind
    assert signal.compute([chunk("a b c")])[0].type.value_type == kind
