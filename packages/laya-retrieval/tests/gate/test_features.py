"""The feature gate."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from laya_retrieval import (
    Candidate,
    FeatureGate,
    FeatureModel,
    GateError,
    GateState,
    RrfFuser,
    extract_features,
)
from laya_retrieval.gate.features import FEATURES, RETRIEVAL_FEATURES
from laya_signals import ConfigError

PIPELINE = "pipe0000pipe0000"


def of(key, score, text, **metadata):
    return Candidate(key, score, text, metadata)


POOL = [
    of("d1#1", 0.9, "Acme earned 1200 in Paris", laya_relevance=0.9),
    of("d1#2", 0.5, "lunch", laya_relevance=0.6),
    of("d2#1", 0.1, "lunch", laya_relevance=0.3),
]


def feature(name, query="q", pool=POOL):
    return float(extract_features(query, pool, [name])[0])


@pytest.mark.parametrize(
    ("name", "query", "expected"),
    [
        ("top_relevance", "q", 0.9),
        ("second_relevance", "q", 0.6),
        ("mean_relevance", "q", 0.6),
        ("relevance_gap", "q", 0.3),
        ("relevance_spread", "q", 0.3),
        ("log_kept", "q", np.log(4)),
        ("score_gap", "q", 0.5),
        ("score_mass", "q", 0.5),
        ("term_coverage", "acme earned lunch money", 0.75),
        ("best_passage_coverage", "acme earned lunch money", 0.5),
        ("name_coverage", "When did Acme leave London", 0.5),
        ("name_coverage", "when did it", 1.0),
        ("number_coverage", "was it 1200 or 1300", 0.5),
        ("leg_agreement", "q", 0.0),
        ("distinct_documents", "q", 2 / 3),
        ("duplicates", "q", 1 / 3),
        ("log_evidence_length", "q", np.log1p(35)),
    ],
)
def test_what_each_feature_measures(name, query, expected):
    assert feature(name, query) == pytest.approx(expected)


def test_leg_agreement_reads_the_explained_fusion():
    legs = [[Candidate("a", 1.0), Candidate("b", 0.5)], [Candidate("a", 9.0)]]
    pool = RrfFuser(explain=True).fuse(legs)
    assert feature("leg_agreement", pool=pool) == pytest.approx(0.75)


def test_relevance_features_need_relevances():
    with pytest.raises(GateError, match=r"'x'.*LayaGate"):
        extract_features("q", [of("x", 1.0, "t")])
    assert len(extract_features("q", [of("x", 1.0, "t")], RETRIEVAL_FEATURES)) > 5


def test_an_unknown_feature_is_refused():
    with pytest.raises(GateError, match="unknown feature 'magic'"):
        extract_features("q", POOL, ["magic"])
    with pytest.raises(GateError, match="no candidates"):
        extract_features("q", [])


texts = st.text(max_size=20)
probabilities = st.floats(0, 1)
pools = st.lists(st.tuples(st.floats(-1e6, 1e6), texts, probabilities), min_size=1, max_size=6)


@given(texts, pools)
def test_features_are_finite_and_do_not_depend_on_the_order(query, rows):
    pool = [of(f"d{i}", s, t, laya_relevance=p) for i, (s, t, p) in enumerate(rows)]
    features = extract_features(query, pool)
    assert features.shape == (len(FEATURES),)
    assert np.isfinite(features).all()
    assert extract_features(query, pool[::-1]) == pytest.approx(features)


def fitted(names=("top_relevance", "term_coverage")):
    generator = np.random.default_rng(0)
    x = generator.random((200, len(names)))
    y = (x[:, 0] + 0.3 * generator.normal(size=200) > 0.5).astype(int)
    return FeatureModel.fit(x, y, pipeline_fingerprint=PIPELINE, names=names)


def test_a_saved_model_loads_equal(tmp_path):
    model = fitted()
    model.save(tmp_path / "gate.json")
    assert FeatureModel.load(tmp_path / "gate.json") == model
    stored = json.loads((tmp_path / "gate.json").read_text())
    assert stored["features"] == ["top_relevance", "term_coverage"]
    assert stored["pipeline_fingerprint"] == PIPELINE
    assert stored["fingerprint"] == model.fingerprint
    assert [p.name for p in tmp_path.iterdir()] == ["gate.json"]


@pytest.mark.parametrize(
    "change",
    [
        {"intercept": 3.0},
        {"schema_version": 99},
        {"features": ["magic", "term_coverage"]},
        {"weights": [1.0]},
        {"scale": [0.0, 1.0]},
        {"extra": 1},
    ],
)
def test_a_model_that_was_changed_is_refused(tmp_path, change):
    path = tmp_path / "gate.json"
    fitted().save(path)
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with pytest.raises(GateError):
        FeatureModel.load(path)


@pytest.mark.parametrize("content", ["", "[]", "{}", "nonsense"])
def test_a_file_that_is_no_model_is_refused(tmp_path, content):
    (tmp_path / "x.json").write_text(content)
    with pytest.raises(GateError, match=r"x\.json"):
        FeatureModel.load(tmp_path / "x.json")
    with pytest.raises(GateError, match="gone"):
        FeatureModel.load(tmp_path / "gone.json")


def test_the_gate_answers_with_the_models_probability(tmp_path):
    model = fitted()
    model.save(tmp_path / "gate.json")
    gate = FeatureGate(path=str(tmp_path / "gate.json"), pipeline_fingerprint=PIPELINE)
    verdict = gate.judge("acme lunch", POOL)
    expected = model.probability(extract_features("acme lunch", POOL, model.features))
    assert verdict.state is GateState.MEASURED
    assert verdict.answerability == expected
    assert verdict.kept == tuple(POOL)
    assert verdict.model_fingerprint == model.fingerprint


def test_no_candidates_are_not_measured():
    gate = FeatureGate(model=fitted(), pipeline_fingerprint=PIPELINE)
    assert gate.judge("q", []).state is GateState.GATE_NOT_REACHED


def test_a_model_of_another_pipeline_is_refused():
    with pytest.raises(GateError, match="fitted on pipeline"):
        FeatureGate(model=fitted(), pipeline_fingerprint="other")


def test_a_model_and_a_pipeline_are_needed():
    with pytest.raises(ConfigError):
        FeatureGate(pipeline_fingerprint=PIPELINE)
    with pytest.raises(ConfigError, match="pipeline_fingerprint"):
        FeatureGate(model=fitted())


def test_features_of_the_wrong_width_are_refused():
    with pytest.raises(GateError):
        FeatureModel.fit(
            [[1.0]], [1], pipeline_fingerprint=PIPELINE, names=["log_kept", "duplicates"]
        )
    with pytest.raises(GateError):
        fitted().probability([1.0])
