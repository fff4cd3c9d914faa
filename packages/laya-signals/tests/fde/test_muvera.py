"""Fixed-dimensional encodings: the fast one against the obvious one, and both against MaxSim."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from laya_signals import ConfigError, EncodeError, signals
from laya_signals.fde import FdeEncoder, MuveraFde, ReferenceFde

SETTINGS = st.fixed_dictionaries(
    {
        "repetitions": st.integers(1, 4),
        "k_sim": st.integers(0, 4),
        "projection": st.sampled_from([None, 1, 3, 8]),
        "final_projection": st.sampled_from([None, 1, 17, 64]),
        "fill_empty": st.booleans(),
        "seed": st.integers(0, 5),
    }
)


def tokens(seed: int, count: int, dimension: int) -> np.ndarray:
    drawn = np.random.default_rng(seed).standard_normal((count, dimension))
    return (drawn / np.linalg.norm(drawn, axis=1, keepdims=True)).astype(np.float32)


def maxsim(query: np.ndarray, document: np.ndarray) -> float:
    return float((query @ document.T).max(axis=1).sum())


def rank_correlation(one: list[float], other: list[float]) -> float:
    ranks = [np.argsort(np.argsort(values)) for values in (one, other)]
    return float(np.corrcoef(*ranks)[0, 1])


@pytest.mark.parametrize("name", ["fde.reference", "fde.muvera"])
def test_they_are_providers_of_the_seam(name: str) -> None:
    built = signals.resolve({"provider": name, "config": {"repetitions": 3}}, FdeEncoder)
    assert built.width(10) == 3 * 2**4 * 16


@settings(max_examples=60)
@given(SETTINGS, st.integers(0, 12), st.integers(1, 9), st.integers(0, 10_000))
def test_the_fast_one_gives_what_the_obvious_one_gives(
    config: dict, count: int, dimension: int, seed: int
) -> None:
    vectors = tokens(seed, count, dimension)
    fast, slow = MuveraFde(config), ReferenceFde(config)
    for encode in ("encode_query", "encode_document"):
        one, other = getattr(fast, encode)(vectors), getattr(slow, encode)(vectors)
        assert one.dtype == other.dtype == np.float32
        assert one.shape == other.shape == (fast.width(dimension),)
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-6)


def test_the_width_is_repetitions_times_cells_times_components() -> None:
    assert MuveraFde(repetitions=5, k_sim=3, projection=8).width(100) == 5 * 8 * 8
    assert MuveraFde(repetitions=5, k_sim=3, projection=None).width(100) == 5 * 8 * 100
    assert MuveraFde(repetitions=5, k_sim=0, projection=8).width(100) == 5 * 8
    assert MuveraFde(repetitions=5, k_sim=3, final_projection=64).width(100) == 64


@given(st.integers(0, 10_000), st.integers(1, 8), st.integers(1, 8))
def test_one_cell_sums_queries_and_averages_documents(seed: int, count: int, other: int) -> None:
    fde = MuveraFde(repetitions=1, k_sim=0, projection=None)
    query, document = tokens(seed, count, 6), tokens(seed + 1, other, 6)
    np.testing.assert_allclose(fde.encode_query(query), query.sum(axis=0), atol=1e-5)
    np.testing.assert_allclose(fde.encode_document(document), document.mean(axis=0), atol=1e-5)


@given(st.integers(0, 10_000), st.integers(1, 6))
def test_a_passage_of_one_token_fills_every_cell_with_it(seed: int, count: int) -> None:
    """Then every query token meets it, and the dot product over repetitions is MaxSim."""
    fde = MuveraFde(repetitions=3, k_sim=3, projection=None)
    query, document = tokens(seed, count, 6), tokens(seed + 1, 1, 6)
    approximate = fde.encode_query(query) @ fde.encode_document(document) / 3
    assert approximate == pytest.approx(maxsim(query, document), abs=1e-4)


def test_empty_cells_stay_empty_where_asked_and_in_queries() -> None:
    fde = MuveraFde(repetitions=1, k_sim=4, projection=None, fill_empty=False)
    one = tokens(1, 1, 5)
    for encode in (fde.encode_document, fde.encode_query, MuveraFde(fde.config).encode_query):
        assert np.count_nonzero(encode(one).reshape(16, 5).any(axis=1)) == 1


def test_no_token_gives_zeros() -> None:
    for fde in (MuveraFde(), ReferenceFde(repetitions=1)):
        for encode in (fde.encode_query, fde.encode_document):
            encoded = encode(np.zeros((0, 7), np.float32))
            assert encoded.shape == (fde.width(7),)
            assert not encoded.any()


@pytest.mark.parametrize("kind", [MuveraFde, ReferenceFde])
@pytest.mark.parametrize(
    ("vectors", "message"),
    [
        (np.zeros(4), "matrix, not"),
        (np.zeros((2, 0)), "matrix, not"),
        (np.array([[1.0, np.nan]]), "not finite"),
    ],
)
def test_what_is_no_matrix_of_numbers_is_refused(
    kind: type, vectors: np.ndarray, message: str
) -> None:
    with pytest.raises(EncodeError, match=message):
        kind().encode_document(vectors)


@pytest.mark.parametrize("wrong", [{"repetitions": 0}, {"k_sim": 13}, {"projection": 0}])
def test_wrong_settings_are_refused(wrong: dict) -> None:
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        MuveraFde(wrong)


def test_the_same_seed_gives_the_same_bits_in_every_process() -> None:
    code = (
        "import hashlib, numpy as np; from laya_signals.fde import MuveraFde;"
        "v = np.arange(60, dtype=np.float32).reshape(5, 12) % 7 - 3;"
        "print(hashlib.sha256(MuveraFde(seed=3).encode_document(v).tobytes()).hexdigest())"
    )
    run = [sys.executable, "-c", code]
    outputs = {subprocess.run(run, capture_output=True, check=True).stdout for _ in range(2)}
    assert len(outputs) == 1
    vectors = tokens(0, 5, 12)
    one, other = (MuveraFde(seed=seed).encode_document(vectors) for seed in (3, 4))
    assert not np.array_equal(one, other)
    assert MuveraFde(seed=3).fingerprint != MuveraFde(seed=4).fingerprint


def clustered(rng: np.random.Generator, topics: np.ndarray, chosen: list[int]) -> np.ndarray:
    """Random token vectors as texts have them: each near one of the text's few topics."""
    near = topics[chosen] + 0.05 * rng.standard_normal((len(chosen), topics.shape[1]))
    return (near / np.linalg.norm(near, axis=1, keepdims=True)).astype(np.float32)


def test_dot_products_follow_maxsim_more_closely_as_encodings_get_wider() -> None:
    rng = np.random.default_rng(0)
    topics = tokens(1, 60, 64)
    documents = [clustered(rng, topics, list(rng.integers(0, 60, 20))) for _ in range(100)]
    queries = [clustered(rng, topics, list(rng.integers(0, 60, 8))) for _ in range(10)]
    found = []
    for repetitions in (2, 10, 40):
        fde = MuveraFde(repetitions=repetitions, k_sim=4, projection=16)
        encoded = np.stack([fde.encode_document(document) for document in documents])
        found.append(
            np.mean(
                [
                    rank_correlation(
                        list(encoded @ fde.encode_query(query)),
                        [maxsim(query, document) for document in documents],
                    )
                    for query in queries
                ]
            )
        )
    assert found == sorted(found)
    assert found[-1] > 0.8, found
