from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from laya_index.errors import BundleError
from laya_rag.backend.bundle import FIELDS, BundleBackend
from laya_rag.errors import ModelMismatchError
from laya_retrieval.errors import FilterError
from laya_retrieval.retrieve.backend import Capability, RetrievalBackend


def test_it_is_a_retrieval_backend(bundle: Path) -> None:
    assert isinstance(BundleBackend(bundle), RetrievalBackend)


def test_capabilities_follow_the_signals(bundle: Path, lexical_bundle: Path) -> None:
    both = {Capability.BM25, Capability.DENSE, Capability.FILTER}
    assert BundleBackend(bundle).capabilities == both
    assert BundleBackend(lexical_bundle).capabilities == both - {Capability.DENSE}
    assert BundleBackend(lexical_bundle).query("tide").vector is None


def test_every_leg_is_ordered_by_score_then_id(bundle: Path) -> None:
    backend = BundleBackend(bundle)
    for leg, candidates in backend.search(backend.query("tide mill", depth=10)).items():
        keys = [(-candidate.score, candidate.id) for candidate in candidates]
        assert keys == sorted(keys), leg


def test_bm25_returns_only_what_holds_a_term(bundle: Path) -> None:
    backend = BundleBackend(bundle)
    found = backend.search(backend.query("zebra", depth=10))
    assert found["bm25"] == []
    assert len(found["dense"]) == 5


@pytest.mark.parametrize("depth", [1, 2, 100])
def test_depth_cuts_the_same_order(bundle: Path, depth: int) -> None:
    backend = BundleBackend(bundle)
    whole = backend.search(backend.query("tide mill", depth=100))
    for leg, candidates in backend.search(backend.query("tide mill", depth=depth)).items():
        assert candidates == whole[leg][:depth]


def test_candidates_carry_text_and_fields(bundle: Path) -> None:
    backend = BundleBackend(bundle)
    first = backend.search(backend.query("ferry", depth=1))["bm25"][0]
    assert first.id == "acme/two#chunk-0"
    assert first.text == "The ferry crosses to the island four times a day."
    assert set(first.metadata) == set(FIELDS)
    assert first.metadata["trust_tier"] == "trusted"


def test_a_filter_holds_inside_the_search(bundle: Path) -> None:
    backend = BundleBackend(bundle)
    query = backend.query("tide", depth=1, filters={"document_id": {"eq": "globex/one"}})
    for candidates in backend.search(query).values():
        assert [candidate.metadata["document_id"] for candidate in candidates] == ["globex/one"]


def test_an_unknown_filter_field_is_refused(bundle: Path) -> None:
    backend = BundleBackend(bundle)
    with pytest.raises(FilterError, match="colour"):
        backend.search(backend.query("tide", filters={"colour": "red"}))


def test_another_encoder_is_refused(bundle: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(bundle, copy)
    manifest = json.loads((copy / "manifest.json").read_text())
    manifest["embeddings"]["embedding"]["fingerprint"] = "0123456789abcdef"
    (copy / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(ModelMismatchError, match=r"encoder 0123456789abcdef.*laya process"):
        BundleBackend(copy)


def test_another_tokenizer_is_refused(bundle: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(bundle, copy)
    manifest = json.loads((copy / "manifest.json").read_text())
    manifest["bm25"]["tokenizer"]["config"]["stem"] = "german"
    (copy / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(ModelMismatchError, match="tokenizer"):
        BundleBackend(copy)


def test_a_missing_file_is_named(bundle: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(bundle, copy)
    gone = next(copy.glob("chunks/*.parquet"))
    gone.unlink()
    with pytest.raises(BundleError, match=gone.name):
        BundleBackend(copy)
