import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from laya_index.integrity.minhash import (
    FUNCTIONS,
    SHINGLE,
    bucket_pairs,
    jaccard,
    rows_per_band,
    shingles,
    signature,
)

WORDS = [f"word{number}" for number in range(3000)]


def text(seed: int, words: int = 400) -> list[str]:
    return list(np.random.default_rng(seed).choice(WORDS, words))


def edited(words: list[str], share: float, seed: int) -> list[str]:
    rng = np.random.default_rng(seed)
    other = list(words)
    for place in rng.choice(len(words), int(share * len(words)), replace=False):
        other[place] = f"new{rng.integers(1_000_000)}"
    return other


@pytest.mark.parametrize(
    ("given_text", "expected"),
    [
        ("", {""}),
        ("short", {"short"}),
        ("123456789", {"123456789"}),
        ("1234567890", {"123456789", "234567890"}),
        ("aaaaaaaaaaaa", {"a" * SHINGLE}),
    ],
)
def test_shingles_are_runs_of_characters(given_text: str, expected: set[str]) -> None:
    assert shingles(given_text) == expected


@given(st.sets(st.integers(0, 30), min_size=1), st.sets(st.integers(0, 30), min_size=1))
def test_jaccard_is_shared_over_all(first: set[int], second: set[int]) -> None:
    a, b = ({str(item) for item in items} for items in (first, second))
    assert jaccard(a, b) == pytest.approx(len(a & b) / len(a | b))


@given(st.text(max_size=60))
def test_a_signature_depends_on_the_set_of_shingles_alone(given_text: str) -> None:
    made = signature(given_text) if given_text else signature(" ")
    assert made.shape == (FUNCTIONS,)
    again = signature(given_text or " ")
    np.testing.assert_array_equal(made, again)
    if len(given_text) >= SHINGLE:
        doubled = signature(given_text + given_text)
        # More shingles can only lower a minimum.
        assert (doubled <= made).all()


def test_signatures_are_the_same_on_every_machine() -> None:
    made = signature("The tide mill stands at the old harbour.")
    assert int(made.astype(np.uint64).sum()) == 17_011_381_084


@pytest.mark.parametrize("share", [0.0, 0.01, 0.03, 0.1, 0.3])
def test_agreement_estimates_the_similarity(share: float) -> None:
    errors = []
    for seed in range(12):
        words = text(seed)
        first, second = " ".join(words), " ".join(edited(words, share, seed + 100))
        agreement = float((signature(first) == signature(second)).mean())
        errors.append(agreement - jaccard(shingles(first), shingles(second)))
    # The estimate's standard deviation is at most 0.5 / sqrt(128) = 0.044.
    assert abs(np.mean(errors)) < 0.04
    assert max(map(abs, errors)) < 0.18


@pytest.mark.parametrize(
    ("threshold", "rows"),
    [(1.0, 16), (0.99, 16), (0.95, 8), (0.9, 8), (0.8, 4), (0.7, 4), (0.5, 2), (0.1, 1)],
)
def test_bands_miss_one_pair_in_a_thousand_at_most(threshold: float, rows: int) -> None:
    assert rows_per_band(threshold) == rows
    missed = (1 - threshold**rows) ** (FUNCTIONS // rows)
    assert missed <= 1e-3 or rows == 1


@given(st.lists(st.lists(st.integers(0, 3), min_size=16, max_size=16), min_size=1, max_size=12))
def test_a_pair_comes_once_if_a_band_agrees(rows: list[list[int]]) -> None:
    signatures = np.tile(np.array(rows, np.uint32), (1, FUNCTIONS // 16))
    size = rows_per_band(0.8)
    bands = signatures.reshape(len(rows), -1, size)
    expected = {
        (i, j)
        for i in range(len(rows))
        for j in range(i + 1, len(rows))
        if (bands[i] == bands[j]).all(axis=1).any()
    }
    found = list(bucket_pairs(signatures, 0.8))
    assert len(found) == len(set(found))
    assert set(found) == expected
    assert found == list(bucket_pairs(signatures, 0.8))


@pytest.mark.slow
def test_it_finds_what_datasketch_finds() -> None:
    datasketch = pytest.importorskip("datasketch")
    texts = []
    for seed in range(60):
        words = text(seed, 200)
        texts += [" ".join(words), " ".join(edited(words, 0.01 * (seed % 6), seed + 1000))]
    index = datasketch.MinHashLSH(threshold=0.8, num_perm=FUNCTIONS)
    theirs: set[tuple[int, int]] = set()
    hashes = []
    for number, item in enumerate(texts):
        minhash = datasketch.MinHash(num_perm=FUNCTIONS)
        minhash.update_batch([part.encode() for part in shingles(item)])
        hashes.append(minhash)
        index.insert(number, minhash)
    for number, minhash in enumerate(hashes):
        theirs |= {
            (min(number, other), max(number, other))
            for other in index.query(minhash)
            if other != number
        }
    ours = set(bucket_pairs(np.stack([signature(item) for item in texts]), 0.8))
    sets = [shingles(item) for item in texts]
    exact = {
        (i, j)
        for i in range(len(texts))
        for j in range(i + 1, len(texts))
        if jaccard(sets[i], sets[j]) >= 0.8
    }
    assert len(exact) >= 30
    assert exact <= ours
    assert theirs & exact <= ours
    # Both estimate the same similarity.
    for i, j in sorted(exact):
        agreement = float((signature(texts[i]) == signature(texts[j])).mean())
        assert agreement == pytest.approx(hashes[i].jaccard(hashes[j]), abs=0.2)
