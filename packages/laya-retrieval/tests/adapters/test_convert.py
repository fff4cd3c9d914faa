"""What all adapters share."""

import json

import pytest
from laya_retrieval import Candidate, Identity, LegContribution, RrfFuser
from laya_retrieval.adapters.convert import built, plain, score_or_rank, without_repeats
from laya_signals import RegistryError


@pytest.mark.parametrize("score", [None, "0.5", float("nan"), float("inf"), True])
def test_what_is_no_score_becomes_the_rank(score):
    assert score_or_rank(score, 4) == 0.25


def test_a_score_stays_a_score():
    assert score_or_rank(3, 4) == 3.0


def test_each_id_counts_once_at_its_first_place():
    pool = [Candidate("a", 3.0), Candidate("b", 2.0), Candidate("a", 1.0)]
    assert without_repeats(pool) == pool[:2]


def test_an_explained_ranking_can_be_written_as_json():
    [candidate] = RrfFuser(explain=True).fuse([[Candidate("a", 1.0)]])
    assert isinstance(candidate.metadata["fusion"][0], LegContribution)
    assert json.loads(json.dumps(plain(candidate.metadata)))["fusion"][0]["leg"] == "leg1"


def test_blocks_and_objects_may_be_mixed():
    ready = Identity()
    first, second = built([ready, {"provider": "processor.identity"}])
    assert first is ready
    assert isinstance(second, Identity)
    with pytest.raises(RegistryError):
        built([{"provider": "fuser.rrf"}])
