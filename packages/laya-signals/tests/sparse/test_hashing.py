"""Term frequencies over hashed indices."""

import subprocess
import sys
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from laya_signals import ConfigError
from laya_signals.sparse import HashingSparseEncoder, SparseEncoder, term_index
from laya_signals.tokenize.whitespace import WhitespaceTokenizer

# Bundles hold these indices: they may never change.
PINNED = 1047574


def test_it_implements_the_seam():
    assert isinstance(HashingSparseEncoder(), SparseEncoder)


@given(st.text(max_size=60), st.sampled_from([1, 7, 1 << 20]))
def test_indices_ascend_strictly_and_weights_are_counts(text, size):
    encoder = HashingSparseEncoder(vocab_size=size, tokenizer=WhitespaceTokenizer())
    [vector] = encoder.encode([text])
    assert (np.diff(vector.indices) > 0).all()
    assert all(0 <= index < size for index, _ in vector)
    assert sum(vector.values) == len(encoder.tokenizer.tokenize(text))
    assert vector.to_mapping() == Counter(encoder.term_ids(text))


def test_the_hash_is_the_same_in_every_process():
    assert term_index("revenue", 1 << 20) == PINNED
    code = "from laya_signals.sparse import term_index; print(term_index('revenue', 1 << 20))"
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(other.stdout) == term_index("revenue", 1 << 20)


def test_collisions_add_up():
    [vector] = HashingSparseEncoder(vocab_size=1).encode(["one two three"])
    assert vector.to_mapping() == {0: 3.0}


def test_the_fingerprint_follows_tokenizer_and_size():
    prints = {
        HashingSparseEncoder().fingerprint,
        HashingSparseEncoder(vocab_size=8).fingerprint,
        HashingSparseEncoder(tokenizer={"provider": "tokenizer.whitespace"}).fingerprint,
    }
    assert len(prints) == 3


def test_an_empty_vocabulary_is_refused():
    with pytest.raises(ConfigError, match="vocab_size"):
        HashingSparseEncoder(vocab_size=0)
