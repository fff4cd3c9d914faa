"""Fusion against ranx."""

import random

import pytest
from laya_retrieval import Candidate, RrfFuser, WeightedFuser

pytestmark = pytest.mark.slow
ranx = pytest.importorskip("ranx", reason="needs the dependency group `oracles`")


def made(seed):
    generator = random.Random(seed)
    legs = []
    for _ in range(3):
        keys = generator.sample(range(120), 60)
        values = sorted((generator.random() for _ in keys), reverse=True)
        legs.append([Candidate(f"d{k}", v) for k, v in zip(keys, values, strict=True)])
    return legs


def as_run(leg):
    return ranx.Run({"q": {c.id: c.score for c in leg}})


def scores(run):
    return dict(run["q"])


@pytest.mark.parametrize("seed", range(5))
def test_rrf_equals_ranx(seed):
    legs = made(seed)
    theirs = ranx.fuse([as_run(leg) for leg in legs], method="rrf", norm=None, params={"k": 60})
    ours = {c.id: c.score for c in RrfFuser().fuse(legs)}
    assert ours == pytest.approx(scores(theirs), rel=1e-9)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("normalize", "norm"), [("minmax", "min-max"), ("zscore", "zmuv")])
def test_weighted_equals_ranx(seed, normalize, norm):
    legs = made(seed)
    weights = [0.5, 0.3, 0.2]
    theirs = ranx.fuse(
        [as_run(leg) for leg in legs], method="wsum", norm=norm, params={"weights": weights}
    )
    fused = WeightedFuser(normalize=normalize).fuse(legs, weights=weights)
    assert {c.id: c.score for c in fused} == pytest.approx(scores(theirs), rel=1e-9, abs=1e-9)
