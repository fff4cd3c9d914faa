"""The composition that both clocks share."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from laya_signals import EncodeError
from laya_signals.sparse import CompositionConfig, HashingSparseEncoder, compose, term_index

MODEL = HashingSparseEncoder()
words = st.sampled_from("tax law city".split())


def test_without_boosts_it_is_the_model():
    config = CompositionConfig(entity_boost=0, metadata_boost=0)
    assert compose(MODEL, ["tax law"], config, entities=[[("x", 1.0)]]) == MODEL.encode(["tax law"])


def test_the_model_can_be_left_out():
    [vector] = compose(MODEL, ["tax"], CompositionConfig(model_weight=0), metadata_terms=[["law"]])
    assert vector.to_mapping() == {term_index("law", MODEL.dimension): 0.5}


@pytest.mark.parametrize("part", ["entities", "metadata_terms"])
def test_one_entry_per_text(part):
    with pytest.raises(EncodeError, match=part):
        compose(MODEL, ["a", "b"], CompositionConfig(), **{part: [[]]})


@given(st.lists(words, max_size=4), st.lists(st.tuples(words, st.floats(0, 1)), max_size=4))
def test_the_order_of_entities_does_not_matter(text, entities):
    one, two = (
        compose(MODEL, [" ".join(text)], CompositionConfig(), entities=[given])
        for given in (entities, entities[::-1])
    )
    assert one == two
