"""A pushed corpus answers as the bundle does that it was pushed from."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from laya_index.process import process
from laya_index.stack import parse_stack
from laya_rag.access import Access
from laya_rag.backend.base import CorpusBackend, CorpusView
from laya_rag.backend.bundle import BundleBackend
from laya_rag.backend.lancedb import LanceDbBackend, LanceDbSink
from laya_rag.backend.push import Sink, push
from laya_rag.backend.qdrant import QdrantBackend, QdrantSink, point_id
from laya_rag.backend.store import StoreBackend, Target, parse_target
from laya_rag.errors import AccessError, ModelMismatchError, NotFoundError, StoreError
from laya_retrieval.errors import FilterError
from laya_retrieval.retrieve.backend import Capability

pytestmark = pytest.mark.slow

WORDS = "tide mill ferry dyke watch island harbour storm lamp rope".split()
NAMES = ["NASA", "the Harbour Board", "Ada Lovelace", "nobody"]
ALL = Access(all_tenants=True, min_trust="quarantined")
ACCESSES = [
    ALL,
    Access(all_tenants=True),
    Access(all_tenants=True, min_trust="trusted"),
    Access(tenants=["acme"]),
    Access(tenants=["acme"], min_trust="quarantined"),
    Access(tenants=["globex"], min_trust="trusted"),
    Access(tenants=["nobody"]),
    Access(tenants=["acme", "nobody"]),
]


def documents(seed: int = 7) -> list[dict[str, str]]:
    rng = random.Random(seed)
    rows = []
    for n in range(60):
        owner = rng.choice(["acme", "globex", "both", "inbox", "spam"])
        text = " ".join(rng.choices(WORDS, k=rng.randint(5, 60))) + f". Ask {rng.choice(NAMES)}."
        title = rng.choice(["It's `odd`", 'a "quoted" \\ title', "日本語", WORDS[n % 10], ""])
        rows.append({"_id": f"{owner}/d{n:02d}", "title": title, "text": text})
    # Ties: three chunks that say the same.
    rows += [{"_id": f"acme/same{n}", "title": "Same", "text": "anchor rope."} for n in range(3)]
    return rows


BM25 = "{provider: tokenizer.word, config: {stem: english}}"
BM25F = "{provider: tokenizer.word, bm25f: {title: {weight: 2, b: 0.5}, content: {}}}"


def build(
    folder: Path, rows: list[dict[str, str]], *, tenants: bool = True, bm25: str = BM25
) -> Path:
    (folder / "corpus.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    owners = ', tenants: {acme: ["acme/**", "both/**"], globex: ["globex/**", "both/**"]}'
    stack = f"""
name: coast
source: {{provider: source.jsonl, config: {{path: {folder / "corpus.jsonl"}}}}}
chunk: {{provider: chunker.paragraph, config: {{chars: 120, overlap: 20, min_chars: 10}}}}
trust:
  provider: trust.manifest
  config: {{rules: [{{match: "acme/**", tier: trusted}}, {{match: "globex/**", tier: trusted}},
    {{match: "both/**", tier: untrusted}}, {{match: "inbox/**", tier: untrusted}}]
    {owners if tenants else ""}}}
signals:
  bm25: {bm25}
  embedding: {{provider: encoder.mini}}
  embedding_small: {{provider: encoder.mini, dtype: float16}}
  sparse: {{provider: sparse.hashing}}
graph: {{provider: graph.patterns}}
export: {{path: {folder / "bundle"}}}
"""
    process(parse_stack(stack), workers=1)
    return folder / "bundle"


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("stores"), documents())


KINDS = ["qdrant", "lancedb"]


def target_in(folder: Path, kind: str) -> Target:
    return parse_target(f"{kind}://{folder / kind}/notes")


def opened(target: Target) -> StoreBackend:
    return {"qdrant": QdrantBackend, "lancedb": LanceDbBackend}[target.kind](target, exact=True)


def sink_of(target: Target) -> Sink:
    return {"qdrant": QdrantSink, "lancedb": LanceDbSink}[target.kind](target)


@pytest.fixture(scope="module", params=KINDS)
def pair(
    request: pytest.FixtureRequest, bundle: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[BundleBackend, StoreBackend]]:
    target = target_in(tmp_path_factory.mktemp("pair"), request.param)
    report = push(bundle, target)
    assert (report.state, report.rows) == ("pushed", report.written)
    with opened(target) as store:
        own = BundleBackend(bundle, approximate=False)
        yield own, store
        own.close()


def same(expected: CorpusView, found: CorpusView, text: str, **options: object) -> None:
    """Both views rank the same chunks, but where scores differ by no more than rounding."""
    query = expected.query(text, **options)
    theirs, ours = expected.search(query), found.search(query)
    legs = set(theirs) if Capability.SPARSE in found.capabilities else set(theirs) - {"sparse"}
    assert set(ours) == legs
    for leg in legs:
        wanted, got = theirs[leg], ours[leg]
        assert len(wanted) == len(got), leg
        np.testing.assert_allclose(
            [c.score for c in got], [c.score for c in wanted], rtol=2e-6, atol=2e-6
        )
        scores = {c.id: c.score for c in wanted}
        for mine, other in zip(got, wanted, strict=True):
            if mine.id in scores:
                assert mine.score == pytest.approx(scores[mine.id], rel=2e-6, abs=2e-6)
            if mine.id != other.id:
                assert mine.score == pytest.approx(other.score, rel=2e-6, abs=2e-6)
            else:
                assert (mine.text, dict(mine.metadata)) == (other.text, dict(other.metadata))


# Searching


@pytest.mark.parametrize("access", ACCESSES, ids=str)
@pytest.mark.parametrize("depth", [1, 7, 500])
def test_every_leg_is_the_bundles(
    pair: tuple[BundleBackend, StoreBackend], access: Access, depth: int
) -> None:
    own, store = pair
    assert isinstance(store, CorpusBackend)
    assert isinstance(store.view(access), CorpusView)
    assert (store.manifest, store.identity) == (own.manifest, own.identity)
    for text in ("tide mill tide", "the lamp of the harbour", "unheard of", "日本語"):
        same(own.view(access), store.view(access), text, depth=depth)


@pytest.mark.parametrize("kind", KINDS)
def test_weighted_fields_score_as_in_the_bundle(tmp_path: Path, kind: str) -> None:
    fielded = build(tmp_path, documents()[:20], bm25=BM25F)
    target = target_in(tmp_path, kind)
    push(fielded, target)
    with opened(target) as store:
        for access in ACCESSES:
            own = BundleBackend(fielded).view(access)
            same(own, store.view(access), "tide mill odd", modes=["bm25"])


def test_ties_go_by_id(pair: tuple[BundleBackend, StoreBackend]) -> None:
    query = pair[0].query("anchor", depth=2, modes=["bm25"])
    found = pair[1].view(Access(tenants=["acme"])).search(query)["bm25"]
    assert [c.id for c in found] == ["acme/same0#chunk-0", "acme/same1#chunk-0"]


FIELD = st.sampled_from(
    ["document_id", "title", "media_type", "trust_tier", "tenants", "kg_node_ids", "ordinal", "end"]
)
TEXTS = st.sampled_from(
    ["acme", "globex", "trusted", "It's `odd`", 'a "quoted" \\ title', "日本語", "", "Same", "';--"]
)
VALUE = st.one_of(TEXTS, st.integers(-2, 200), st.booleans(), st.sampled_from([0.0, 1.5, 40.0]))
LEAF = st.one_of(
    st.tuples(FIELD, st.sampled_from(["eq", "ne"]), VALUE),
    st.tuples(FIELD, st.sampled_from(["in", "nin"]), st.lists(VALUE, max_size=3)),
    st.tuples(FIELD, st.just("exists"), st.booleans()),
    st.tuples(
        st.sampled_from(["ordinal", "start", "end"]),
        st.sampled_from(["gt", "gte", "lt", "lte"]),
        st.one_of(st.integers(-2, 200), st.sampled_from([0.5, 119.5])),
    ),
).map(lambda leaf: {leaf[0]: {leaf[1]: leaf[2]}})
FILTERS = st.recursive(
    LEAF,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda parts: {"and": parts}),
        st.lists(inner, max_size=3).map(lambda parts: {"or": parts}),
        inner.map(lambda part: {"not": part}),
    ),
    max_leaves=5,
)


@settings(max_examples=150, deadline=None)
@given(spec=FILTERS, access=st.sampled_from(ACCESSES))
def test_filters_hold_as_they_do_in_the_bundle(
    pair: tuple[BundleBackend, StoreBackend], spec: dict[str, object], access: Access
) -> None:
    own, store = (backend.view(access) for backend in pair)
    same(own, store, "tide lamp", depth=300, filters=spec, modes=["bm25", "dense"])


def test_rows_without_the_field_pass_a_negation(
    pair: tuple[BundleBackend, StoreBackend], tmp_path: Path
) -> None:
    untenanted = build(tmp_path, documents()[:10], tenants=False)
    target = target_in(tmp_path, "qdrant" if isinstance(pair[1], QdrantBackend) else "lancedb")
    push(untenanted, target)
    with opened(target) as store:
        view, everything = store.view(Access()), store.view(Access()).query("tide", depth=500)
        count = len(view.search(everything)["dense"])
        assert count > 0
        for spec in ({"tenants": {"ne": "acme"}}, {"tenants": {"nin": ["acme", "x"]}}):
            query = view.query("tide", depth=500, filters=spec)
            assert len(view.search(query)["dense"]) == count
        # A caller with a tenant, in a corpus that has none, sees nothing.
        assert not any(store.view(Access(tenants=["acme"])).search(everything).values())


@pytest.mark.parametrize(
    "spec",
    [
        {"provenance": "x"},
        {"heading_path": {"gt": "a"}},
        {"ordinal": 1 << 60},
        {"ordinal": {"lt": float("inf")}},
    ],
)
def test_a_filter_that_cannot_be_exact_is_refused(
    pair: tuple[BundleBackend, StoreBackend], spec: dict[str, object]
) -> None:
    view = pair[1].view(ALL)
    with pytest.raises(FilterError):
        view.search(view.query("tide", filters=spec))


def test_lancedb_orders_texts_and_qdrant_refuses_to(
    pair: tuple[BundleBackend, StoreBackend],
) -> None:
    own, store = (backend.view(ALL) for backend in pair)
    spec = {"document_id": {"gte": "both/", "lt": "globex/d3"}}
    if isinstance(pair[1], QdrantBackend):
        with pytest.raises(FilterError, match="cannot order texts"):
            store.search(store.query("tide", filters=spec))
    else:
        same(own, store, "tide", filters=spec)


# Who may see what


def test_a_corpus_with_tenants_asks_for_one(pair: tuple[BundleBackend, StoreBackend]) -> None:
    with pytest.raises(AccessError, match="name a tenant"):
        pair[1].view(Access())


def test_nothing_of_another_tenant_is_returned_counted_or_named(
    pair: tuple[BundleBackend, StoreBackend],
) -> None:
    store = pair[1]
    view, other = store.view(Access(tenants=["globex"])), store.view(ALL)
    theirs = next(row.document_id for row in other.documents() if row.tenants == ("acme",))
    for leg in view.search(view.query("tide", depth=500)).values():
        assert all("globex" in candidate.metadata["tenants"] for candidate in leg)
    assert all("globex" in (row.tenants or ()) for row in view.documents(limit=500))
    for name in (theirs, "no/such"):
        errors = []
        for ask in (view.document, view.chunks, lambda n: view.records([f"{n}#chunk-0"])):
            with pytest.raises(NotFoundError) as error:
                ask(name)
            errors.append(str(error.value).replace(name, "X"))
        assert errors == ["no document 'X'", "no document 'X'", "no chunk 'X#chunk-0'"]


def test_a_filter_does_not_lift_the_rules(pair: tuple[BundleBackend, StoreBackend]) -> None:
    view = pair[1].view(Access(tenants=["globex"]))
    spec = {"or": [{"tenants": "acme"}, {"ordinal": {"gte": 0}}, {"not": {"tenants": "globex"}}]}
    for leg in view.search(view.query("tide", filters=spec, depth=500)).values():
        assert all("globex" in candidate.metadata["tenants"] for candidate in leg)


def test_several_tenants_have_no_lexical_leg(pair: tuple[BundleBackend, StoreBackend]) -> None:
    view = pair[1].view(Access(tenants=["acme", "globex"]))
    assert Capability.BM25 not in view.capabilities
    assert Capability.DENSE in view.capabilities
    same(
        pair[0].view(Access(tenants=["acme", "globex"])),
        view,
        "tide",
        modes=["dense", "dense:small"],
    )


# Listings


@pytest.mark.parametrize("access", ACCESSES, ids=str)
def test_listings_are_the_bundles(pair: tuple[BundleBackend, StoreBackend], access: Access) -> None:
    own, store = (backend.view(access) for backend in pair)
    assert store.totals() == own.totals()
    assert store.documents(limit=500) == own.documents(limit=500)
    for after in ("", "acme/d1", "both/", "zzz", "日本語"):
        assert store.documents(after=after, limit=3) == own.documents(after=after, limit=3)
    for row in own.documents(limit=5):
        assert store.document(row.document_id) == row
        assert store.chunks(row.document_id) == own.chunks(row.document_id)
        assert store.chunks(row.document_id, after=0, limit=1) == own.chunks(
            row.document_id, after=0, limit=1
        )
    ids = [chunk.id for row in own.documents(limit=3) for chunk in own.chunks(row.document_id)]
    assert store.records([*reversed(ids), *ids[:1]]) == own.records([*reversed(ids), *ids[:1]])
    assert store.records([]) == []


# Pushing


class Killed(BaseException):
    pass


def killed_after(monkeypatch: pytest.MonkeyPatch, target: Target, writes: int) -> list[str]:
    """Let a sink write so often and then die; what it was asked to write, in order."""
    kind = {"qdrant": QdrantSink, "lancedb": LanceDbSink}[target.kind]
    plain: Callable[..., None] = kind.write
    asked: list[str] = []

    def write(self: Sink, corpus: object, what: str, start: int, stop: int) -> None:
        if len(asked) >= writes:
            raise Killed
        asked.append(f"{what} {start}")
        plain(self, corpus, what, start, stop)

    monkeypatch.setattr(kind, "write", write)
    monkeypatch.setattr(kind, "batch", 32)
    return asked


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("writes", [0, 2, 6, 7])
def test_a_killed_push_is_continued_and_never_seen(
    bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, writes: int
) -> None:
    target = target_in(tmp_path, kind)
    first = build(tmp_path, documents(1)[:12])
    push(first, target)
    with monkeypatch.context() as patch:
        before = killed_after(patch, target, writes)
        with pytest.raises(Killed):
            push(bundle, target)
    with opened(target) as store:
        assert store.identity == BundleBackend(first).identity
        same(BundleBackend(first).view(ALL), store.view(ALL), "tide mill")
    with monkeypatch.context() as patch:
        after = killed_after(patch, target, 1000)
        report = push(bundle, target)
    assert not set(before) & set(after)
    assert sum(report.written.values()) < sum(report.rows.values()) or writes == 0
    with opened(target) as store:
        for access in ACCESSES[:4]:
            same(BundleBackend(bundle).view(access), store.view(access), "tide mill lamp")
        assert store.view(ALL).documents(limit=500) == BundleBackend(bundle).view(ALL).documents(
            limit=500
        )


@pytest.mark.parametrize("kind", KINDS)
def test_pushing_again_does_nothing_and_another_corpus_replaces_it(
    bundle: Path, tmp_path: Path, kind: str
) -> None:
    target = target_in(tmp_path, kind)
    other = parse_target(f"{kind}://{tmp_path / kind}/notes-too")
    push(bundle, other)
    push(bundle, target)
    again = push(bundle, target)
    assert (again.state, sum(again.written.values())) == ("unchanged", 0)
    second = build(tmp_path, documents(3)[:20])
    report = push(second, target)
    old = BundleBackend(bundle).identity[:16]
    assert report.removed
    assert all(name.startswith(f"notes-{old}") for name in report.removed)
    with opened(target) as store:
        assert store.identity == BundleBackend(second).identity
    with opened(other) as store:
        assert store.identity == BundleBackend(bundle).identity


def test_who_has_the_old_corpus_open_is_told_to_open_again(bundle: Path, tmp_path: Path) -> None:
    from qdrant_client import QdrantClient

    client = QdrantClient(":memory:")
    place = parse_target("qdrant:///memory/notes")
    lance = target_in(tmp_path, "lancedb")
    push(bundle, place, sink=QdrantSink(place, client))
    push(bundle, lance)
    readers: list[StoreBackend] = [QdrantBackend(place, client=client), LanceDbBackend(lance)]
    second = build(tmp_path, documents(3)[:20])
    push(second, place, sink=QdrantSink(place, client))
    push(second, lance)
    for reader in readers:
        view = reader.view(ALL)
        with pytest.raises(StoreError):
            view.search(view.query("tide", modes=["dense"]))
    for again in (QdrantBackend(place, client=client), LanceDbBackend(lance)):
        view = again.view(ALL)
        assert view.search(view.query("tide", modes=["dense"]))["dense"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_model_that_is_not_here_is_refused_with_both_names(
    bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    target = target_in(tmp_path, kind)
    push(bundle, target)
    built = BundleBackend(bundle).manifest.embeddings["embedding"].fingerprint
    from laya_signals.encode.mini import MiniEncoder

    monkeypatch.setattr(MiniEncoder, "fingerprint", property(lambda self: "0123456789abcdef"))
    with pytest.raises(ModelMismatchError, match=f"{built}.*0123456789abcdef"):
        opened(target)


@pytest.mark.parametrize("kind", KINDS)
def test_where_nothing_was_pushed_says_what_to_do(tmp_path: Path, kind: str) -> None:
    with pytest.raises(StoreError, match="laya push"):
        opened(target_in(tmp_path, kind))


@pytest.mark.parametrize("kind", KINDS)
def test_what_somebody_else_made_is_left_alone(bundle: Path, tmp_path: Path, kind: str) -> None:
    target = target_in(tmp_path, kind)
    if kind == "qdrant":
        from qdrant_client import QdrantClient, models

        client = QdrantClient(path=str(target.folder))
        config = models.VectorParams(size=2, distance=models.Distance.DOT)
        client.create_collection("notes", vectors_config=config)
        client.close()
    else:
        import lancedb

        lancedb.connect(str(target.folder)).create_table("notes", [{"a": 1}])
    with pytest.raises(StoreError, match="no push made"):
        push(bundle, target)


def test_a_chunks_point_is_found_by_its_record_id(bundle: Path, tmp_path: Path) -> None:
    target = target_in(tmp_path, "qdrant")
    push(bundle, target)
    store = QdrantBackend(target)
    (point,) = store.client.retrieve(store.collection, [point_id("acme/same0#chunk-0")])
    assert point.payload is not None
    assert point.payload["content"] == "anchor rope."
    assert point.payload["provenance"]["source"] == "source.jsonl"
    store.close()


def test_a_client_that_is_given_is_used_and_left_open(bundle: Path) -> None:
    from qdrant_client import QdrantClient

    client = QdrantClient(":memory:")
    target = parse_target("qdrant:///memory/notes")
    push(bundle, target, sink=QdrantSink(target, client))
    with QdrantBackend(target, exact=True, client=client) as store:
        same(BundleBackend(bundle).view(ALL), store.view(ALL), "tide mill")
    assert client.get_collections().collections
