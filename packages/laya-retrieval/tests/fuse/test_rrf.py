"""Reciprocal rank fusion."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from laya_retrieval import Candidate, FusionError, LegContribution, RrfFuser, WeightedFuser
from laya_retrieval.fuse.log_odds import LogOddsFuser

DENSE = [Candidate("a", 0.91), Candidate("b", 0.83), Candidate("c", 0.55)]
BM25 = [Candidate("c", 12.4), Candidate("a", 9.1), Candidate("d", 2.0)]
FUSERS = [RrfFuser(), RrfFuser(ties="mean"), WeightedFuser(), LogOddsFuser()]

ids = st.sampled_from("abcdefgh")
scores = st.floats(-1e6, 1e6, allow_nan=False)
ranked_lists = st.lists(
    st.lists(st.builds(Candidate, ids, scores, st.sampled_from(["", "x", "y"])), max_size=8),
    min_size=1,
    max_size=4,
)


def rounded(candidates, digits=5):
    return [(c.id, round(c.score, digits)) for c in candidates]


def test_the_specified_example():
    assert rounded(RrfFuser().fuse([DENSE, BM25])) == [
        ("a", 0.03252),
        ("c", 0.03227),
        ("b", 0.01613),
        ("d", 0.01587),
    ]


def test_k_is_configurable():
    assert RrfFuser(k=5).fuse([DENSE])[0].score == pytest.approx(1 / 6)


def test_weights_weigh():
    assert [c.id for c in RrfFuser().fuse([DENSE, BM25], weights=[0.1, 1.0])] == [
        "c",
        "a",
        "d",
        "b",
    ]


def test_scores_are_never_read():
    other = [Candidate(c.id, -i * 100.0) for i, c in enumerate(DENSE)]
    assert RrfFuser().fuse([DENSE, BM25])[0].score == RrfFuser().fuse([other, BM25])[0].score


def test_an_id_twice_in_one_list_counts_once_at_its_best_rank():
    doubled = [Candidate("a", 3.0), Candidate("a", 2.0), Candidate("b", 1.0)]
    assert dict(rounded(RrfFuser().fuse([doubled]))) == {
        "a": round(1 / 61, 5),
        "b": round(1 / 63, 5),
    }


def test_the_same_text_under_two_ids_stays_two():
    same = [Candidate("a", 2.0, "text", {"lang": "en"}), Candidate("b", 1.0, "text")]
    assert len(RrfFuser().fuse([same])) == 2


def test_equal_neighbours_share_the_mean_of_their_places():
    tied = [Candidate("a", 1.0), Candidate("b", 1.0), Candidate("c", 0.5)]
    fused = {c.id: c.score for c in RrfFuser(ties="mean").fuse([tied])}
    assert fused["a"] == fused["b"] == pytest.approx(1 / 61.5)
    assert fused["c"] == pytest.approx(1 / 63)


def test_an_arbitrary_order_among_equals_cannot_outvote_another_leg():
    tied = [Candidate(i, 1.0) for i in "zyx"]
    other = [Candidate("x", 1.0), Candidate("z", 0.5)]
    forwards = RrfFuser(ties="mean").fuse([tied, other])
    assert forwards == RrfFuser(ties="mean").fuse([tied[::-1], other])
    assert forwards[0].id == "x"
    assert RrfFuser().fuse([tied, other])[0].id == "z"


def test_text_and_metadata_come_from_the_first_list_that_has_text():
    bare = [Candidate("a", 1.0, "", {"from": "bare"})]
    full = [Candidate("a", 1.0, "text", {"from": "full"})]
    late = [Candidate("a", 1.0, "other", {"from": "late"})]
    [fused] = RrfFuser().fuse([bare, full, late])
    assert (fused.text, fused.metadata["from"]) == ("text", "full")
    [bare_only] = RrfFuser().fuse([bare])
    assert bare_only.metadata["from"] == "bare"


def test_explain_names_every_leg_that_contributed():
    fused = RrfFuser(explain=True).fuse([DENSE, BM25], names=["dense", "bm25"])
    by_id = {c.id: c.metadata["fusion"] for c in fused}
    assert by_id["a"] == (
        LegContribution("dense", 1, 0.91, 1 / 61),
        LegContribution("bm25", 2, 9.1, 1 / 62),
    )
    assert [part.leg for part in by_id["d"]] == ["bm25"]


def test_without_explain_metadata_is_the_candidates_own():
    assert "fusion" not in RrfFuser().fuse([DENSE])[0].metadata


@pytest.mark.parametrize("fuser", FUSERS, ids=lambda f: type(f).__name__)
@pytest.mark.parametrize(
    ("weights", "says"),
    [
        ([1.0], "1 weights for 2 lists"),
        ([1.0, -1.0], "weight 1 is -1.0"),
        ([0.0, 0.0], "all weights are 0"),
        ([1.0, float("nan")], "weight 1 is nan"),
        ([1.0, float("inf")], "weight 1 is inf"),
    ],
)
def test_weights_that_cannot_weigh_are_refused(fuser, weights, says):
    with pytest.raises(FusionError, match=says):
        fuser.fuse([DENSE, BM25], weights=weights)


@pytest.mark.parametrize("names", [["a"], ["a", "a"]])
def test_names_must_tell_the_legs_apart(names):
    with pytest.raises(FusionError):
        RrfFuser().fuse([DENSE, BM25], names=names)


@pytest.mark.parametrize("fuser", FUSERS, ids=lambda f: type(f).__name__)
@pytest.mark.parametrize("lists", [[], [[]], [[], []]])
def test_nothing_in_nothing_out(fuser, lists):
    assert fuser.fuse(lists) == []


@pytest.mark.parametrize("fuser", FUSERS, ids=lambda f: type(f).__name__)
@given(lists=ranked_lists)
def test_the_result_is_a_total_order_of_all_ids(fuser, lists):
    fused = fuser.fuse(lists)
    assert {c.id for c in fused} == {c.id for leg in lists for c in leg}
    assert len({c.id for c in fused}) == len(fused)
    assert fused == sorted(fused, key=lambda c: (-c.score, c.id))
    assert fused == fuser.fuse(lists)


@pytest.mark.parametrize("fuser", FUSERS, ids=lambda f: type(f).__name__)
@given(lists=ranked_lists)
def test_the_order_of_the_legs_does_not_matter(fuser, lists):
    forwards = {c.id: c.score for c in fuser.fuse(lists)}
    backwards = {c.id: c.score for c in fuser.fuse(lists[::-1])}
    assert forwards == pytest.approx(backwards, rel=1e-9, abs=1e-9)


@given(lists=ranked_lists, place=st.integers(0, 7), leg=st.integers(0, 3))
def test_moving_up_in_a_leg_never_lowers_the_fused_score(lists, place, leg):
    chosen = list({c.id: c for c in lists[leg % len(lists)]}.values())
    lists[leg % len(lists)] = chosen
    if len(chosen) < 2:
        return
    place = 1 + place % (len(chosen) - 1)
    before = {c.id: c.score for c in RrfFuser().fuse(lists)}
    chosen[place - 1], chosen[place] = chosen[place], chosen[place - 1]
    after = {c.id: c.score for c in RrfFuser().fuse(lists)}
    moved = chosen[place - 1].id
    assert after[moved] > before[moved]
    assert all(after[key] == before[key] for key in before if key not in {moved, chosen[place].id})


@given(lists=ranked_lists)
def test_explaining_changes_nothing_else(lists):
    plain, explained = (RrfFuser(explain=e).fuse(lists) for e in (False, True))
    assert [(c.id, c.text) for c in plain] == [(c.id, c.text) for c in explained]
    assert [c.score for c in plain] == pytest.approx([c.score for c in explained], rel=1e-12)
    for candidate in explained:
        parts = candidate.metadata["fusion"]
        assert len({part.leg for part in parts}) == len(parts)
        assert sum(part.contribution for part in parts) == pytest.approx(candidate.score)


@given(lists=ranked_lists)
def test_inputs_are_left_alone(lists):
    copies = [list(leg) for leg in lists]
    RrfFuser(explain=True).fuse(lists)
    assert lists == copies
