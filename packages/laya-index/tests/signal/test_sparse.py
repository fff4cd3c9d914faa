from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from laya_index.document import Chunk, OffsetMap, RedactedDocument
from laya_index.graph.entity import Mention
from laya_index.signal.base import CachedGenerator, SignalGenerator
from laya_index.signal.sparse import CachedSparseSignal, SparseSignal
from laya_index.stack import ComposeBlock
from laya_retrieval import SpladeQueryEncoder
from laya_signals.sparse import HashingSparseEncoder, SparseVector


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


class Capitals:
    """Finds words that begin with a capital; surer of those in capitals throughout."""

    fingerprint = "capitals"

    def find(self, text: str) -> list[Mention]:
        return [
            Mention(0, 0, "name", word, 0.9 if word.isupper() else 0.4)
            for word in text.split()
            if word[0].isupper()
        ]


def weights_of(arrays: list[pa.Array]) -> list[dict[int, float]]:
    indices, values = (array.to_pylist() for array in arrays)
    return [dict(zip(*pair, strict=True)) for pair in zip(indices, values, strict=True)]


def test_entities_and_metadata_are_added_as_on_the_query_side() -> None:
    encoder = HashingSparseEncoder()
    block = ComposeBlock(entity_boost=3.0, metadata_boost=0.25, metadata=("topic", "author"))
    signal = SparseSignal(encoder, block, Capitals())
    document = RedactedDocument(
        "d", "", "", "text/plain", "", {"topic": "tax law", "other": "x"}, "", OffsetMap(), {}
    )
    text = "revenue of ACME in Paris"
    [found] = weights_of(signal.compute([Chunk(document, 0, 0, len(text), text, ())]))
    query = SpladeQueryEncoder(model=encoder, entity_boost=3.0, metadata_boost=0.25)
    expected = query.encode(
        text, entities=[("ACME", 0.9), ("Paris", 0.4)], metadata_terms=["tax law"]
    )
    assert found == expected.to_mapping()
    (acme,), (paris,), (tax, _) = (encoder.term_ids(name) for name in ("acme", "paris", "tax law"))
    assert (found[acme], found[paris], found[tax]) == (4.0, 1.0, 0.25)


def test_the_fingerprint_covers_the_composition_and_the_extractor() -> None:
    encoder = HashingSparseEncoder()
    fingerprints = {
        SparseSignal(encoder, block, extractor).fingerprint
        for block in (ComposeBlock(), ComposeBlock(entity_boost=2.0))
        for extractor in (None, Capitals())
    }
    assert len(fingerprints | {encoder.fingerprint}) == 5


@given(
    st.lists(
        st.dictionaries(
            # Bytes that would be a NaN as a float32 are indices like any other.
            st.one_of(st.integers(0, 2**31 - 1), st.integers(0x7F800000, 0x7FFFFFFF)),
            st.floats(0.125, 1e6, width=32),
            max_size=5,
        ),
        max_size=5,
    )
)
def test_a_cached_array_gives_the_vector_back(weights: list[dict[int, float]]) -> None:
    vectors = [SparseVector.from_mapping(found) for found in weights]

    class Known(HashingSparseEncoder):
        def encode(self, texts: Sequence[str]) -> list[SparseVector]:
            return [vectors[int(text)] for text in texts]

    chunks = [chunk(str(number)) for number in range(len(vectors))]
    signal = CachedSparseSignal(Known(vocab_size=1 << 31))
    assert isinstance(signal, CachedGenerator)
    cached = signal.vectors([str(number) for number in range(len(vectors))])
    assert all(
        array.shape == (len(vector), 2) for array, vector in zip(cached, vectors, strict=True)
    )
    assert all(signal.usable(array) for array in cached)
    # As they come back from the cache.
    cached = [np.frombuffer(array.tobytes(), np.float32).reshape(-1, 2) for array in cached]
    expected = [vector.to_mapping() for vector in vectors]
    assert weights_of(signal.arrays(cached)) == expected
    assert weights_of(signal.columns(chunks, cached)) == expected
    assert weights_of(SparseSignal(signal.encoder).compute(chunks)) == expected
    assert not signal.usable(np.array([[0.0, np.inf]], np.float32))
