"""Fitting a feature gate on labels."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from laya_eval.gate.evidence import EvidencePipeline
from laya_eval.gate.fit import fit_gate, tabulate
from laya_eval.gate.labels import Labels, load_labels
from laya_eval.gate.prediction import predict
from laya_rag.backend.bundle import BundleBackend
from laya_retrieval.errors import GateError
from laya_retrieval.gate.features import RETRIEVAL_FEATURES, FeatureGate


@pytest.fixture(scope="module")
def pipeline(bundle):
    return EvidencePipeline(BundleBackend(bundle))


@pytest.fixture(scope="module")
def table(pipeline, labels):
    return tabulate(load_labels(labels), pipeline, RETRIEVAL_FEATURES)


def fitted(table, **settings):
    return fit_gate(table, pipeline_fingerprint="f", resamples=20, **settings)


def test_both_regimes_are_out_of_fold_and_find_the_signal(table):
    fit = fitted(table)
    assert fit.random.measures["roc_auc"].value > 0.95
    assert fit.held_out.measures["roc_auc"].value > 0.95
    assert fit.no_held_out is None
    assert fit.model.examples == 56
    assert (fit.random.queries, fit.random.unreached) == (57, 1)
    assert fit.random.evidence_recall == 1.0


def test_labels_without_groups_have_no_held_out_regime(table):
    bare = replace(table, queries=tuple(replace(query, group=None) for query in table.queries))
    fit = fitted(bare)
    assert fit.held_out is None
    assert fit.no_held_out == "the labels name no groups"


def test_groups_that_cannot_be_held_out_say_why(table):
    one = replace(table, queries=tuple(replace(query, group="one") for query in table.queries))
    assert "at least two" in fitted(one).no_held_out


def test_the_same_labels_give_the_same_model(table):
    assert fitted(table).model == fitted(table).model


def test_one_class_cannot_be_fitted(pipeline, labels):
    only = Labels(tuple(q for q in load_labels(labels).queries if q.answerable))
    with pytest.raises(GateError, match="both classes"):
        fitted(tabulate(only, pipeline, RETRIEVAL_FEATURES))


def test_the_fitted_gate_judges_as_its_table_says(pipeline, labels, table, tmp_path):
    fit = fit_gate(table, pipeline_fingerprint=pipeline.fingerprint, resamples=5)
    fit.model.save(tmp_path / "gate.json")
    gate = FeatureGate(path=str(tmp_path / "gate.json"), pipeline_fingerprint=pipeline.fingerprint)
    said = [p.probability for p in predict(load_labels(labels), pipeline, gate)]
    assert said.count(None) == 1
    expected = [fit.model.probability(row) for row in table.rows]
    assert np.allclose([p for p in said if p is not None], expected)
    assert json.loads((tmp_path / "gate.json").read_text())["features"] == [*RETRIEVAL_FEATURES]
