"""Systems by name."""

from __future__ import annotations

import pytest
from laya_eval.errors import UnknownSystemError
from laya_eval.retrieval.systems import (
    Contestants,
    Remembering,
    default_systems,
    leg_weights,
    parse_system,
)
from laya_retrieval.candidate import Candidate
from laya_retrieval.fuse.rrf import RrfFuser
from laya_retrieval.fuse.weighted import WeightedFuser
from laya_retrieval.gate.laya import LayaGate
from laya_retrieval.testing import FakeDecisionModel

LEGS = {
    "bm25": [Candidate("a", 9.0, "revenue grew"), Candidate("b", 4.0, "costs fell")],
    "dense": [Candidate("c", 0.9, "profit"), Candidate("b", 0.8, "costs fell")],
}


def ids(candidates):
    return [candidate.id for candidate in candidates]


def test_a_name_has_a_base_a_number_and_steps():
    system = parse_system("rrf@60+filter+cover")
    assert (system.base, system.parameter, system.steps) == ("rrf", 60.0, ("filter", "cover"))
    assert not system.is_leg
    assert parse_system("dense:small").is_leg


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("", "is not BASE"),
        ("rrf@x", "'x' behind the @ is no number"),
        ("rrf+", "is not BASE"),
        ("bm25@1", "a leg takes no number"),
        ("rff@60", "'rff' is no leg"),
        ("minmax@1.5", "a weight between 0 and 1"),
        ("rrf+filtr", "no step 'filtr'"),
    ],
)
def test_a_misspelt_system_is_refused(name, words):
    with pytest.raises(UnknownSystemError, match=words):
        Contestants([name])


def test_no_system_and_the_same_twice_are_refused():
    with pytest.raises(UnknownSystemError, match="no system"):
        Contestants([])
    with pytest.raises(UnknownSystemError, match="'bm25' twice"):
        Contestants(["bm25", "bm25"])


def test_systems_are_the_components_that_they_name():
    names = ["bm25", "dense", "rrf@5", "minmax", "minmax@0.7"]
    ranked = Contestants(names).rank("q", LEGS)
    lists, legs = list(LEGS.values()), list(LEGS)
    assert ranked["bm25"] == LEGS["bm25"]
    assert ranked["rrf@5"] == RrfFuser(k=5).fuse(lists, names=legs)
    assert ranked["minmax"] == WeightedFuser().fuse(lists, names=legs)
    weighed = WeightedFuser().fuse(lists, names=legs, weights=[1 - 0.7, 0.7])
    assert ranked["minmax@0.7"] == weighed


@pytest.mark.parametrize(
    ("legs", "weights"),
    [
        (["bm25", "dense"], [0.25, 0.75]),
        (["bm25", "dense", "dense:small", "sparse"], [0.25, 0.25, 0.25, 0.25]),
        (["dense", "sparse"], [1.0, 1.0]),
        (["bm25"], [1.0]),
    ],
)
def test_the_share_is_of_all_legs_but_bm25(legs, weights):
    assert leg_weights(legs, 0.75) == pytest.approx(weights)


def test_a_step_reads_the_first_candidates_and_nothing_behind_them_comes_back():
    ranked = Contestants(["rrf", "rrf+head", "rrf+cover"], candidates=2, keep=1).rank("q", LEGS)
    assert len(ranked["rrf"]) == 3
    assert ranked["rrf+head"] == ranked["rrf"][:2]
    assert len(ranked["rrf+cover"]) == 1


def test_two_gates_ask_about_a_candidate_once():
    model = FakeDecisionModel()
    systems = ["rrf+filter", "rrf+order", "rrf+head"]
    remembering = Remembering(model)
    contestants = Contestants(systems, relevance=0.4, model=lambda: remembering)
    ranked = contestants.rank("revenue grew", LEGS)
    assert sum(len(states) for states, _ in model.calls) == 3
    gate = LayaGate(model=model, relevance_threshold=0.4)
    assert ids(ranked["rrf+filter"]) == ids(gate.process("revenue grew", ranked["rrf+head"]))
    assert sorted(ids(ranked["rrf+order"])) == sorted(ids(ranked["rrf+head"]))
    relevances = [c.score for c in ranked["rrf+order"]]
    assert relevances == sorted(relevances, reverse=True)


def test_remembering_keeps_questions_and_states_apart():
    model = FakeDecisionModel()
    remembering = Remembering(model)
    one = {"relevance": {"type": "noul", "instructions": "It is relevant."}}
    other = {"relevance": {"type": "noul", "instructions": "It answers."}}
    states = [{"query": "a", "document": "a"}, {"query": "a", "document": "b"}]
    first = remembering.predict_batch(states, one)
    assert remembering.predict_batch(states[::-1], one) == first[::-1]
    assert len(model.calls) == 1
    remembering.predict_batch(states, other)
    assert len(model.calls) == 2


def test_the_model_is_made_only_for_a_gate():
    def never():
        raise AssertionError

    Contestants(["rrf", "rrf+cover"], model=never)


def test_parts_of_your_own_go_by_your_name():
    define = {
        "flat": {"provider": "fuser.rrf", "config": {"k": 1000}},
        "quota": {"provider": "processor.quota"},
    }
    contestants = Contestants(["flat+quota"], define=define)
    ranked = contestants.rank("q", LEGS)
    assert ids(ranked["flat+quota"])[0] == "b"
    assert set(contestants.description) == {"flat", "quota"}


def test_what_takes_part_has_a_fingerprint():
    one = Contestants(["rrf@60", "rrf@60+cover"], keep=3).description
    two = Contestants(["rrf@60", "rrf@60+cover"], keep=4).description
    assert one["rrf@60"] == two["rrf@60"] == RrfFuser(k=60).fingerprint
    assert one["cover"] != two["cover"]


def test_by_default_legs_and_their_usual_fusions():
    assert default_systems(["bm25"]) == ("bm25",)
    assert default_systems(["bm25", "dense"])[:3] == ("bm25", "dense", "rrf@60")
