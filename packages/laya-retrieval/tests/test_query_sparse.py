"""A query's composed sparse vector."""

import pytest
from laya_retrieval import SpladeQueryEncoder
from laya_signals import ConfigError, EncodeError
from laya_signals.sparse import CompositionConfig, HashingSparseEncoder, compose, term_index

MODEL = HashingSparseEncoder()


def weight(vector, term):
    return vector.to_mapping().get(term_index(term, MODEL.dimension), 0.0)


def test_the_specified_example():
    encoder = SpladeQueryEncoder(model=MODEL, entity_boost=3)
    vector = encoder.encode("revenue tax filing", entities=[("tax", 0.95)])
    assert {t: weight(vector, t) for t in ("revenue", "tax", "filing")} == {
        "revenue": 1.0,
        "tax": 4.0,
        "filing": 1.0,
    }
    assert len(vector) == 3


@pytest.mark.parametrize(("confidence", "expected"), [(0.5, 2.0), (0.499, 1.0)])
def test_entities_count_from_half(confidence, expected):
    vector = SpladeQueryEncoder(model=MODEL).encode("tax", entities=[("tax", confidence)])
    assert weight(vector, "tax") == expected


def test_entities_and_metadata_terms_need_not_be_in_the_text():
    encoder = SpladeQueryEncoder(model=MODEL, entity_boost=2.0, metadata_boost=0.25)
    vector = encoder.encode("", entities=[("new york", 0.9)], metadata_terms=["annual report"])
    assert [weight(vector, t) for t in ("new", "york", "annual", "report")] == [2, 2, 0.25, 0.25]


def test_an_index_named_twice_is_boosted_once():
    encoder = SpladeQueryEncoder(model=MODEL)
    vector = encoder.encode("", entities=[("tax", 0.9), ("tax law", 0.8)])
    assert weight(vector, "tax") == 1.0


def test_both_clocks_compose_alike():
    settings = {"entity_boost": 3.0, "metadata_boost": 0.5, "model_weight": 0.7}
    query = SpladeQueryEncoder(model=MODEL, **settings).encode(
        "tax law", entities=[("law", 0.9)], metadata_terms=["title"]
    )
    [document] = compose(
        MODEL,
        ["tax law"],
        CompositionConfig(**settings),
        entities=[[("law", 0.9)]],
        metadata_terms=[["title"]],
    )
    assert query == document


def test_a_confidence_that_is_none_is_refused():
    with pytest.raises(EncodeError, match="'tax'"):
        SpladeQueryEncoder(model=MODEL).encode("x", entities=[("tax", 1.5)])


def test_a_model_is_needed():
    with pytest.raises(ConfigError, match="model="):
        SpladeQueryEncoder()
    with pytest.raises(ConfigError):
        SpladeQueryEncoder(model=object())
