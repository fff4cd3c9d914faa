from __future__ import annotations

import json
import math
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from laya_index.bundle.reader import BundleReader
from laya_index.errors import BundleError
from laya_rag.access import Access
from laya_rag.backend.base import CorpusBackend, CorpusView
from laya_rag.backend.bundle import FIELDS, BundleBackend
from laya_rag.errors import AccessError, MissingExtraError, ModelMismatchError, RagError
from laya_retrieval.candidate import Candidate
from laya_retrieval.errors import FilterError, OrchestrationError
from laya_retrieval.retrieve.backend import Capability, RetrievalBackend
from laya_retrieval.retrieve.query import QueryBundle

Make = Callable[..., Path]

EVERYONE = Access(min_trust="quarantined")
ROWS = {
    "a/one": "the tide mill\n\nis driven by the tide twice a day",
    "a/two": "the ferry crosses",
    "b/one": "the dyke watch is called out when the tide is high and the wind comes from the west",
}


ENTITIES = "laya_index.graph.patterns:PatternExtractor"


def found(backend: BundleBackend, text: str = "tide mill") -> dict[str, list[Candidate]]:
    view = backend.view(EVERYONE)
    return view.search(view.query(text, depth=10))


def cached(bundle: Path) -> list[Path]:
    return sorted((bundle.with_name(f"{bundle.name}.cache") / "search").iterdir())


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


def test_it_implements_the_seams(bundle: Path) -> None:
    backend = BundleBackend(bundle)
    assert isinstance(backend, CorpusBackend)
    assert isinstance(backend.view(EVERYONE), CorpusView)


def test_every_signal_is_a_leg(make: Make, tmp_path: Path) -> None:
    backend = BundleBackend(make(tmp_path, ROWS))
    assert backend.view(EVERYONE).capabilities == set(Capability)
    legs = found(backend)
    assert list(legs) == ["bm25", "dense", "dense:half", "sparse", "multivector"]
    for leg, candidates in legs.items():
        assert candidates, leg
        for candidate in candidates:
            assert candidate.text in ROWS[candidate.metadata["document_id"]]


def test_token_vectors_without_an_encoding_are_a_leg_of_a_small_corpus(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokens = {"provider": "multivector.hashing", "config": {"dimension": 16}}
    path = make(tmp_path, ROWS, signals={"multivector": tokens})
    first = found(BundleBackend(path))["multivector"][0]
    assert first.metadata["document_id"] == "a/one"
    monkeypatch.setattr("laya_rag.backend.snapshot.EXHAUSTIVE_CHUNKS", 1)
    assert BundleBackend(path).view(EVERYONE).capabilities == {Capability.FILTER}


def test_encodings_without_their_token_vectors_are_a_leg(make: Make, tmp_path: Path) -> None:
    tokens = {"provider": "multivector.hashing", "keep_multivectors": False}
    fde = {"provider": "fde.muvera", "config": {"repetitions": 2, "k_sim": 2, "projection": 4}}
    backend = BundleBackend(make(tmp_path, ROWS, signals={"multivector": tokens, "fde": fde}))
    assert len(found(backend)["multivector"]) == backend.manifest.counts.chunks


def test_bm25f_scores_by_the_formula(make: Make, tmp_path: Path) -> None:
    fields = {"title": {"weight": 3.0, "b": 0.2}, "content": {"weight": 1.5}}
    bm25 = {"provider": "tokenizer.whitespace", "k1": 1.4, "b": 0.6, "bm25f": fields}
    rows = {"tide mill": "the mill by the sea", "ferry": "tide tide", "dyke": "a wall"}
    weights = {}
    titles = {name: name.split() for name in rows}
    contents = {name: text.split() for name, text in rows.items()}
    average = {"title": 4 / 3, "content": 9 / 3}
    for name in rows:
        total = 0.0
        for term, df in (("tide", 2), ("mill", 1)):
            t = sum(
                weight * words[name].count(term) / (1 - b + b * len(words[name]) / average[field])
                for field, words, weight, b in (
                    ("title", titles, 3.0, 0.2),
                    ("content", contents, 1.5, 0.6),
                )
            )
            total += math.log(1 + (3 - df + 0.5) / (df + 0.5)) * t * 2.4 / (t + 1.4)
        weights[name] = total
    view = BundleBackend(make(tmp_path, rows, signals={"bm25": bm25})).view(EVERYONE)
    legs = view.search(view.query("tide mill"))
    assert {c.metadata["document_id"]: c.score for c in legs["bm25"]} == pytest.approx(
        {name: weight for name, weight in weights.items() if weight}, rel=1e-6
    )


def test_a_query_is_composed_like_the_passages(make: Make, tmp_path: Path) -> None:
    compose = {
        "model_weight": 0.5,
        "entity_boost": 2.0,
        "entities": {"provider": ENTITIES},
    }
    sparse = {"provider": "sparse.hashing", "compose": compose}
    view = BundleBackend(make(tmp_path, ROWS, signals={"sparse": sparse})).view(EVERYONE)
    terms = view.query("where did Ada Lovelace live").sparse_terms
    assert sorted(terms.values.tolist()) == [0.5, 0.5, 0.5, 2.5, 2.5]


def test_what_the_graph_says_of_a_chunk_stands_beside_its_fields(
    make: Make, tmp_path: Path
) -> None:
    rows = {
        "a": "Ada Lovelace wrote to Charles Babbage.",
        "b": "Charles Babbage built an engine with Ada Lovelace.",
        "c": "nobody is named here",
    }
    signals = {"bm25": {"provider": "tokenizer.word"}}
    path = make(tmp_path, rows, signals=signals, graph={"provider": "graph.patterns"})
    view = BundleBackend(path).view(EVERYONE)
    chunk = view.chunks("a")[0]
    header = BundleReader.open(path).read("chunks", ["document_id", "context_header"])
    wanted = dict(zip(*header.to_pydict().values(), strict=True))["a"]
    assert {key: chunk.metadata[key] for key in wanted} == wanted
    assert set(chunk.metadata) == {*FIELDS, *wanted}
    node = wanted["kg_node_ids"][0]
    legs = view.search(view.query("engine nobody wrote", filters={"kg_node_ids": node}))
    assert {c.metadata["document_id"] for c in legs["bm25"]} == {"a", "b"}


def test_only_what_is_asked_for_is_encoded(make: Make, tmp_path: Path) -> None:
    view = BundleBackend(make(tmp_path, ROWS)).view(EVERYONE)
    assert view.query("tide", modes=["bm25"]).signals() == ("bm25",)
    assert view.query("tide", modes=["dense:half"]).signals() == ("bm25", "dense:half")
    assert view.query("tide", vector=np.ones(8)).vector.tolist() == [1.0] * 8
    given = view.query("tide", vectors={"half": np.ones(8)}, sparse_terms={3: 1.0})
    assert given.vectors["half"].tolist() == [1.0] * 8
    assert given.sparse_terms.to_mapping() == {3: 1.0}
    assert view.query("  ").signals() == ()


@pytest.mark.parametrize(
    ("signals", "error", "match"),
    [
        ({"vector": np.ones(3)}, ModelMismatchError, "3 components"),
        ({"vectors": {"half": np.ones(3)}}, ModelMismatchError, "dense:half"),
        ({"vectors": {"other": np.ones(8)}}, OrchestrationError, "dense:other"),
        ({"multivector": np.ones((2, 3))}, ModelMismatchError, "multivector"),
    ],
)
def test_a_signal_that_does_not_fit_is_refused(
    make: Make, tmp_path: Path, signals: dict[str, object], error: type[Exception], match: str
) -> None:
    view = BundleBackend(make(tmp_path, ROWS)).view(EVERYONE)
    with pytest.raises(error, match=match):
        view.search(QueryBundle(**signals))


@pytest.mark.parametrize("signal", ["sparse", "multivector", "fde"])
def test_another_model_of_any_signal_is_refused(make: Make, tmp_path: Path, signal: str) -> None:
    path = make(tmp_path, ROWS)
    manifest = json.loads((path / "manifest.json").read_text())
    manifest["signals"][signal]["fingerprint"] = "0123456789abcdef"
    (path / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(ModelMismatchError, match="0123456789abcdef"):
        BundleBackend(path)


def test_a_corpus_without_a_chunk_works(make: Make, tmp_path: Path) -> None:
    view = BundleBackend(make(tmp_path, {}), approximate=True).view(EVERYONE)
    assert view.totals().chunks == 0
    assert view.documents() == []
    assert all(leg == [] for leg in view.search(view.query("tide")).values())


def test_tenants_are_asked_for(tenant_bundle: Path) -> None:
    backend = BundleBackend(tenant_bundle)
    with pytest.raises(AccessError, match="tenant"):
        backend.view(Access())
    assert backend.view(Access(tenants=["acme"])).totals().documents == 2
    assert backend.view(Access(tenants=["nobody"])).totals().documents == 0


def test_documents_are_listed_page_by_page(bundle: Path) -> None:
    view = BundleBackend(bundle).view(Access())
    ids = [row.document_id for row in view.documents()]
    assert ids == ["acme/one", "acme/two", "globex/one", "inbox/mail"]
    assert [row.document_id for row in view.documents(after="acme/three", limit=2)] == ids[1:3]
    row = view.document("acme/two")
    assert (row.title, row.chunks, row.trust_tier, row.tenants) == ("Ferry", 1, "trusted", None)
    assert row.characters == len(view.chunks("acme/two")[0].text)


def test_chunks_come_by_ordinal(make: Make, tmp_path: Path) -> None:
    view = BundleBackend(make(tmp_path, {"a/one": "tide mill ferry dyke " * 9})).view(EVERYONE)
    chunks = view.chunks("a/one")
    assert [chunk.metadata["ordinal"] for chunk in chunks] == list(range(len(chunks)))
    assert len(chunks) > 2
    assert view.chunks("a/one", after=0, limit=1) == chunks[1:2]
    assert view.records([chunks[1].id, chunks[0].id]) == [chunks[1], chunks[0]]
    assert {chunk.score for chunk in chunks} == {0.0}


def test_the_cache_is_used_and_safe_to_delete(make: Make, tmp_path: Path) -> None:
    bundle = make(tmp_path, ROWS)
    steps: list[tuple[str, int, int]] = []
    first = BundleBackend(bundle, progress=lambda *step: steps.append(step))
    assert steps[0][1] == 0
    assert steps[-1][1] == steps[-1][2]
    expected = found(first)
    steps.clear()
    assert found(BundleBackend(bundle, progress=lambda *step: steps.append(step))) == expected
    assert steps == []
    shutil.rmtree(bundle.with_name("bundle.cache"))
    assert found(first) == expected
    assert found(BundleBackend(bundle)) == expected


def test_a_damaged_cache_is_built_again(make: Make, tmp_path: Path) -> None:
    bundle = make(tmp_path, ROWS)
    expected = found(BundleBackend(bundle))
    [folder] = cached(bundle)
    for path in sorted(folder.iterdir()):
        data = path.read_bytes()
        path.write_bytes(bytes(byte ^ 255 for byte in data[:64]) + data[64:] if data else b"x")
        assert found(BundleBackend(bundle)) == expected, path.name


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_a_build_that_is_stopped_leaves_nothing(
    make: Make, tmp_path: Path, error: type[BaseException]
) -> None:
    bundle = make(tmp_path, ROWS)
    steps = 0

    def stop(what: str, done: int, total: int) -> None:
        nonlocal steps
        steps += 1
        if steps > 5:
            raise error

    with pytest.raises(error):
        BundleBackend(bundle, progress=stop)
    assert cached(bundle) == []
    assert found(BundleBackend(bundle))


def test_a_cache_folder_may_be_named(make: Make, tmp_path: Path) -> None:
    bundle = make(tmp_path / "a", ROWS)
    expected = found(BundleBackend(bundle, cache=tmp_path / "elsewhere"))
    assert list((tmp_path / "elsewhere").iterdir())
    assert not (bundle.with_name("bundle.cache") / "search").exists()
    assert found(BundleBackend(bundle)) == expected


def test_a_cache_that_cannot_be_written_is_no_obstacle(
    make: Make, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    bundle = make(tmp_path / "a", ROWS)
    (tmp_path / "file").write_text("no folder")
    backend = BundleBackend(bundle, cache=tmp_path / "file" / "below", approximate=True)
    assert "cannot write" in caplog.text
    assert found(backend) == found(BundleBackend(bundle))


def test_an_open_backend_keeps_its_snapshot(make: Make, tmp_path: Path) -> None:
    bundle = make(tmp_path, ROWS)
    old = BundleBackend(bundle)
    expected, identity = found(old), old.identity
    make(tmp_path, {**ROWS, "c/new": "another tide mill"})
    new = BundleBackend(bundle)
    assert new.identity != identity
    assert "c/new" in {c.metadata["document_id"] for c in found(new)["bm25"]}
    assert found(old) == expected
    assert old.view(EVERYONE).totals().documents == 3
    [folder] = cached(bundle)
    assert new.identity[:16] in folder.name


def test_identity_is_that_of_the_content(make: Make, tmp_path: Path) -> None:
    a, b = (BundleBackend(make(tmp_path / name, ROWS)) for name in "ab")
    other = BundleBackend(make(tmp_path / "c", {**ROWS, "x": "y"}))
    assert a.identity == b.identity != other.identity
    assert len(a.identity) == 64


_OPEN = """
import sys
from pathlib import Path
from laya_rag.access import Access
from laya_rag.backend.bundle import BundleBackend

sys.path.append(sys.argv[2])
view = BundleBackend(Path(sys.argv[1]), approximate=True).view(Access(min_trust="quarantined"))
legs = view.search(view.query("tide mill", depth=10))
print([(leg, [(c.id, c.score) for c in candidates]) for leg, candidates in legs.items()])
"""


@pytest.mark.slow
def test_processes_may_build_the_cache_at_the_same_time(make: Make, tmp_path: Path) -> None:
    bundle = make(tmp_path, ROWS)
    command = [sys.executable, "-c", _OPEN, str(bundle), str(Path(__file__).parent / "providers")]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    told = {process.communicate(timeout=300)[0] for process in running}
    assert [process.returncode for process in running] == [0] * 4
    assert len(told) == 1
    assert "a/one#chunk-0" in told.pop()
    assert all(not path.name.startswith(".") for path in cached(bundle))


def test_threads_share_a_view(make: Make, tmp_path: Path) -> None:
    rows = {f"d{n:03}": f"tide {n} mill {n % 7} ferry {n % 3}" for n in range(60)}
    view = BundleBackend(make(tmp_path, rows)).view(EVERYONE)
    queries = [view.query(f"tide {n} ferry", depth=7) for n in range(12)]
    expected = [view.search(query) for query in queries]
    barrier = threading.Barrier(4)

    def work(_: int) -> list[dict[str, list[Candidate]]]:
        barrier.wait()
        return [view.search(query) for query in queries]

    with ThreadPoolExecutor(4) as pool:
        assert all(result == expected for result in pool.map(work, range(4)))


def test_approximate_search_gives_the_same_on_a_small_corpus(make: Make, tmp_path: Path) -> None:
    bundle = make(tmp_path, ROWS)
    expected = found(BundleBackend(bundle, approximate=False))
    assert len(cached(bundle)) == 1
    for _ in range(2):
        assert found(BundleBackend(bundle, approximate=True)) == expected
    assert len(cached(bundle)) == 4


def test_approximate_search_needs_faiss_only_when_asked_for(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bundle = make(tmp_path, ROWS)
    monkeypatch.setitem(sys.modules, "faiss", None)
    monkeypatch.setattr("laya_rag.backend.approximate.FROM_CHUNKS", 1)
    assert found(BundleBackend(bundle))
    with pytest.raises(MissingExtraError, match="approximate"):
        BundleBackend(bundle, approximate=True)


def test_from_a_size_on_search_is_approximate_by_itself(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bundle = make(tmp_path, ROWS)
    monkeypatch.setattr("laya_rag.backend.approximate.FROM_CHUNKS", 1)
    BundleBackend(bundle)
    assert any(path.name.startswith("approximate-") for path in cached(bundle))


def test_a_closed_backend_opens_no_view(bundle: Path) -> None:
    backend = BundleBackend(bundle)
    view = backend.view(EVERYONE)
    backend.close()
    backend.close()
    with pytest.raises(RagError, match="closed"):
        backend.view(EVERYONE)
    assert view.totals().documents == 5
