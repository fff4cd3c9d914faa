"""What a view of a tenant returns, counts and raises is what a bundle of its chunks alone would."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from laya_rag.access import Access
from laya_rag.backend.bundle import BundleBackend
from laya_rag.backend.view import BundleView
from laya_rag.errors import NotFoundError
from laya_retrieval.errors import FilterError

Make = Callable[..., Path]

TENANTS = {"acme": ["acme/**", "both/**"], "globex": ["globex/**", "both/**"]}
TIERS = {"*/t*": "trusted", "*/u*": "untrusted", "*/q*": "quarantined"}
FOLDERS = {"acme": ("acme", "both"), "globex": ("globex", "both")}
KEPT = {"trusted": "t", "untrusted": "tu", "quarantined": "tuq"}

BM25F = {
    "provider": "tokenizer.whitespace",
    "bm25f": {"title": {"weight": 3.0, "b": 0.2}, "headings": {"weight": 2.0}, "content": {}},
}

words = st.sampled_from(["tide", "mill", "ferry", "dyke", "watch", "the", "of"])
texts = st.lists(words, min_size=1, max_size=25).map(" ".join)
names = st.builds(
    "{}/{}{}".format,
    st.sampled_from(["acme", "globex", "both", "none"]),
    st.sampled_from("tuq"),
    st.integers(0, 3),
)
corpora = st.dictionaries(names, texts, min_size=1, max_size=8)
accesses = st.builds(
    lambda tenants, tier: Access(tenants=tenants, min_trust=tier),
    st.sampled_from([("acme",), ("globex",), ("acme", "globex"), ("nobody",)]),
    st.sampled_from(sorted(KEPT)),
)
filters = st.sampled_from(
    [
        None,
        {"trust_tier": "trusted"},
        {"document_id": {"gt": "both"}},
        {"tenants": {"nin": ["globex"]}},
        {"not": {"ordinal": {"gte": 1}}},
        {"or": [{"title": {"in": ["acme/t0", "both/u1"]}}, {"heading_path": {"exists": False}}]},
    ]
)


def seen(rows: Mapping[str, str], access: Access) -> dict[str, str]:
    folders = {folder for tenant in access.tenants for folder in FOLDERS.get(tenant, ())}
    return {
        name: text
        for name, text in rows.items()
        if name.partition("/")[0] in folders and name.partition("/")[2][0] in KEPT[access.min_trust]
    }


def raised(call: Callable[[], object]) -> str:
    with pytest.raises((NotFoundError, FilterError)) as caught:
        call()
    return f"{type(caught.value).__name__}: {caught.value}"


def everything(
    view: BundleView, queries: list[str], options: Mapping[str, Any], ids: list[str]
) -> list[Any]:
    """What every method says, errors included."""
    told: list[Any] = [view.capabilities, view.totals(), view.documents()]
    for text in queries:
        told.append(view.search(view.query(text, **options)))
        told.append(raised(lambda: view.search(view.query(text, filters={"colour": "red"}))))  # noqa: B023
    pages, after = [], None
    while page := view.documents(after=after, limit=2):
        pages.append(page)
        after = page[-1].document_id
    told.append(pages)
    known = {row.document_id for row in view.documents()}
    for name in ids:
        if name in known:
            chunks = view.chunks(name)
            told += [view.document(name), chunks, view.records([c.id for c in chunks][::-1])]
            told.append(view.chunks(name, after=0, limit=1))
        else:
            told += [raised(lambda: view.document(name)), raised(lambda: view.chunks(name))]  # noqa: B023
            told.append(raised(lambda: view.records([f"{name}#chunk-0"])))  # noqa: B023
    return told


def check(
    make: Make,
    rows: Mapping[str, str],
    access: Access,
    queries: list[str],
    options: Mapping[str, Any],
    signals: Mapping[str, Any],
) -> None:
    ids = sorted({*rows, "acme/absent"})
    with tempfile.TemporaryDirectory() as name:
        told = []
        for folder, part in (("whole", dict(rows)), ("part", seen(rows, access))):
            path = make(Path(name) / folder, part, signals=signals, tenants=TENANTS, tiers=TIERS)
            told.append(everything(BundleBackend(path).view(access), queries, options, ids))
    assert told[0] == told[1]


options = st.fixed_dictionaries({"depth": st.sampled_from([1, 3, 50]), "filters": filters})
few = st.lists(texts, min_size=1, max_size=3)
suppressed = [HealthCheck.too_slow]


def isolation(examples: int) -> Callable[..., None]:
    """The rule, tried on so many corpora."""

    @settings(max_examples=examples, deadline=None, suppress_health_check=suppressed)
    @given(fields=st.booleans(), rows=corpora, access=accesses, queries=few, options=options)
    def rule(
        make: Make,
        signals: dict[str, Any],
        fields: bool,
        rows: dict[str, str],
        access: Access,
        queries: list[str],
        options: dict[str, Any],
    ) -> None:
        check(make, rows, access, queries, options, signals | ({"bm25": BM25F} if fields else {}))

    return rule


test_a_view_is_what_a_bundle_of_its_chunks_would_be = isolation(6)
test_the_same_at_length = pytest.mark.slow(isolation(150))


def test_a_foreign_chunk_and_an_absent_one_raise_the_same(make: Make, tmp_path: Path) -> None:
    rows = {"acme/t0": "tide", "globex/t0": "tide"}
    view = BundleBackend(make(tmp_path, rows, tenants=TENANTS)).view(Access(tenants=["acme"]))
    for foreign, absent in (("globex/t0", "globex/t9"),):
        for call in (view.document, view.chunks, lambda name: view.records([f"{name}#chunk-0"])):
            assert raised(lambda: call(foreign)) == raised(lambda: call(absent)).replace(  # noqa: B023
                absent, foreign
            )
