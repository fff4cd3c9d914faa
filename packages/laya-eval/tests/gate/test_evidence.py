"""Candidates for a gate, and the fingerprint of how they came about."""

from __future__ import annotations

import pytest
from laya_eval.gate.evidence import EvidencePipeline, EvidenceSettings
from laya_rag.backend.bundle import BundleBackend
from laya_rag.errors import RagError
from laya_retrieval.gate.laya import LayaGate
from laya_retrieval.gate.verdict import RELEVANCE_KEY
from laya_retrieval.testing import FakeDecisionModel


def pipeline(path, relevance=None, **settings):
    return EvidencePipeline(BundleBackend(path), EvidenceSettings(**settings), relevance=relevance)


def test_candidates_come_with_what_features_read(bundle):
    found = pipeline(bundle, candidates=3).candidates("the mill painted red")
    assert len(found) == 3
    assert found[0].metadata["document_id"] == "mill-1"
    assert [part.leg for part in found[0].metadata["fusion"]] == ["bm25"]
    assert pipeline(bundle).candidates("xylophone") == ()


def test_a_decision_model_sifts_where_there_is_one(bundle):
    sifting = pipeline(bundle, LayaGate(model=FakeDecisionModel(), relevance_threshold=0.9))
    found = sifting.candidates("mill painted")
    assert [c.metadata["document_id"] for c in found] == ["mill-1"]
    assert found[0].metadata[RELEVANCE_KEY] == 1.0


def test_the_fingerprint_changes_with_the_configuration(bundle, other_bundle):
    gates = [
        LayaGate(model=FakeDecisionModel()),
        LayaGate(model=FakeDecisionModel(), relevance_threshold=0.9),
        LayaGate(model=FakeDecisionModel(fingerprint="another")),
    ]
    made = [
        pipeline(bundle),
        pipeline(bundle, depth=10),
        pipeline(bundle, candidates=10),
        pipeline(bundle, min_trust="trusted"),
        pipeline(other_bundle),
        *(pipeline(bundle, gate) for gate in gates),
    ]
    assert len({one.fingerprint for one in made}) == len(made)


def test_the_fingerprint_does_not_depend_on_who_asks_or_on_naming_every_leg(bundle):
    plain = pipeline(bundle).fingerprint
    assert pipeline(bundle, tenants=("acme",)).fingerprint == plain
    assert pipeline(bundle, legs=("bm25",)).fingerprint == plain


def test_a_bundle_with_tenants_asks_for_one(tenant_bundle):
    with pytest.raises(RagError, match="--tenant"):
        pipeline(tenant_bundle)
    assert pipeline(tenant_bundle, tenants=("acme",)).candidates("mill")
    assert pipeline(tenant_bundle, all_tenants=True).candidates("mill")
    assert not pipeline(tenant_bundle, tenants=("nobody",)).candidates("mill")
