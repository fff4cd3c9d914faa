"""Provider blocks to components."""

import laya_retrieval as lr
import pytest
from laya_retrieval.testing import (
    FakeCrossEncoder,
    FakeDecisionModel,
    FakeGraphSource,
    FakeMultiVectorEmbedder,
)
from laya_signals import ConfigError, RegistryError
from laya_signals.sparse import HashingSparseEncoder

SPECIFIED = {
    *(f"fuser.{name}" for name in ("rrf", "weighted", "log_odds")),
    *(
        f"processor.{name}"
        for name in (
            "identity bm25 dedup cover quota expand multihop_expand maxsim pack rerank laya_gate"
        ).split()
    ),
    *(f"gate.{name}" for name in ("laya", "features", "nli")),
    "query_sparse.splade",
    "query_multivector.hashing",
    "verifier.citations",
}
INJECT = {
    "processor.multihop_expand": {"graph_source": FakeGraphSource([])},
    "processor.maxsim": {"embedder": FakeMultiVectorEmbedder()},
    "processor.rerank": {"model": FakeCrossEncoder()},
    "processor.laya_gate": {"model": FakeDecisionModel()},
    "gate.laya": {"model": FakeDecisionModel()},
    "gate.nli": {"model": FakeCrossEncoder()},
    "query_sparse.splade": {"model": HashingSparseEncoder()},
    "gate.features": {
        "model": lr.FeatureModel(("log_kept",), (0.0,), (1.0,), (1.0,), 0.0, "p", 1.0, 2)
    },
}
CONFIG = {"gate.features": {"pipeline_fingerprint": "p"}, "processor.pack": {"budget": 100}}
RESOLVERS = {
    "fuser": lr.resolve_fuser,
    "processor": lr.resolve_processor,
    "gate": lr.resolve_gate,
    "query_sparse": lr.resolve_sparse_query,
    "query_multivector": lr.resolve_multivector_query,
    "verifier": lr.resolve_verifier,
}


def test_all_specified_names_are_registered():
    assert set(lr.retrieval.names()) >= SPECIFIED


@pytest.mark.parametrize("name", sorted(SPECIFIED))
def test_every_name_resolves_to_its_seam(name):
    block = {"provider": name, "config": CONFIG.get(name, {})}
    assert RESOLVERS[name.partition(".")[0]](block, **INJECT.get(name, {})) is not None


@pytest.mark.parametrize(
    ("resolve", "provider", "seam"),
    [
        (lr.resolve_fuser, "processor.bm25", "Fuser"),
        (lr.resolve_processor, "fuser.rrf", "Processor"),
        (lr.resolve_gate, "processor.identity", "Gate"),
        (lr.resolve_sparse_query, "fuser.rrf", "SparseQueryEncoder"),
        (lr.resolve_multivector_query, "fuser.rrf", "MultiVectorEncoder"),
        (lr.resolve_verifier, "fuser.rrf", "Verifier"),
    ],
)
def test_the_wrong_kind_fails_at_wiring(resolve, provider, seam):
    with pytest.raises(RegistryError, match=f"{provider}.*no {seam}"):
        resolve({"provider": provider})


def test_an_unknown_name_suggests_the_nearest():
    with pytest.raises(RegistryError, match=r"did you mean 'fuser\.rrf'"):
        lr.resolve_fuser({"provider": "fuser.rff"})


def test_wrong_settings_fail_at_wiring():
    with pytest.raises(ConfigError, match="unknown key 'kk'"):
        lr.resolve_fuser({"provider": "fuser.rrf", "config": {"kk": 3}})
