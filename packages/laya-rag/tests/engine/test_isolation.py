"""One tenant's results say nothing about another's rows: not by content, count, order or error."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from laya_index.process import process
from laya_index.stack import parse_stack
from laya_rag.access import Access
from laya_rag.config import Settings
from laya_rag.engine import Engine
from laya_rag.errors import AccessError, NotFoundError
from laya_rag.testing import MemoryCorpus, chunk
from laya_retrieval.candidate import Candidate
from laya_retrieval.testing import FakeDecisionModel

ACME = Access(["acme"])

METHODS: dict[str, Callable[[Engine, Access | None], Any]] = {
    "search": lambda e, a: e.search("tide mill", access=a),
    "ask": lambda e, a: e.ask("tide mill", access=a),
    "extract": lambda e, a: e.extract("tide mill", access=a),
    "verify by query": lambda e, a: e.verify("The tide [1].", query="tide mill", access=a),
    "verify by passages": lambda e, a: e.verify("The tide [1].", passages=["tide"], access=a),
    "verify by records": lambda e, a: e.verify(
        "The tide [1].", records=["acme/one#chunk-0"], access=a
    ),
    "adjudicate": lambda e, a: e.adjudicate("The tide is high. The mill.", access=a),
    "documents": lambda e, a: e.documents(access=a),
    "document": lambda e, a: e.document("acme/one", access=a),
    "chunks": lambda e, a: e.chunks("acme/one", access=a),
    "records": lambda e, a: e.records(["acme/one#chunk-0"], access=a),
    "stats": lambda e, a: e.stats(access=a),
}

#: What is asked for by name, and must look as if it did not exist.
LOOKUPS: dict[str, Callable[[Engine, str], Any]] = {
    "document": lambda e, name: e.document(name, access=ACME),
    "chunks": lambda e, name: e.chunks(name, access=ACME),
    "records": lambda e, name: e.records([f"{name}#chunk-0"], access=ACME),
    "verify": lambda e, name: e.verify("[1]", records=[f"{name}#chunk-0"], access=ACME),
}


def shown(result: Any) -> str:
    found = result.to_json() if hasattr(result, "to_json") else repr(result)
    if isinstance(found, dict):
        found.pop("seconds", None)
    return json.dumps(found, allow_nan=False)


OWN = [
    chunk("acme/one#chunk-0", "The mill is driven by the tide.", tenants=["acme"]),
    chunk("acme/two#chunk-0", "The ferry crosses twice a day.", tenants=["acme"]),
    chunk("both/one#chunk-0", "Tide tables for the mill.", tenants=["acme", "globex"]),
]
OTHERS = [
    chunk("globex/one#chunk-0", "tide mill tide mill SECRET", tenants=["globex"]),
    chunk("nobody/one#chunk-0", "tide mill SECRET", tenants=[]),
]


def memory(rows: list[Candidate]) -> Engine:
    return Engine(MemoryCorpus(rows), model=FakeDecisionModel())


def written(folder: Path, rows: list[tuple[str, str]]) -> Path:
    folder.mkdir()
    lines = [json.dumps({"_id": i, "title": i, "text": text}) for i, text in rows]
    (folder / "corpus.jsonl").write_text("\n".join(lines))
    stack = f"""
name: coast
source: {{provider: source.jsonl, config: {{path: {folder / "corpus.jsonl"}}}}}
trust:
  provider: trust.manifest
  config: {{tenants: {{acme: ["acme/**"], globex: ["globex/**"]}}}}
signals:
  bm25: {{provider: tokenizer.word, config: {{stem: english}}}}
  embedding: {{provider: encoder.mini}}
export: {{path: {folder / "bundle"}}}
"""
    process(parse_stack(stack))
    return folder / "bundle"


@pytest.fixture(scope="module")
def bundles(tmp_path_factory: pytest.TempPathFactory) -> tuple[Engine, Engine]:
    """The same tenant's rows, alone and among those of others."""
    folder = tmp_path_factory.mktemp("isolation")
    own = [
        ("acme/one", "The mill is driven by the tide."),
        ("acme/two", "The ferry crosses twice a day."),
    ]
    others = [("globex/one", "tide mill tide mill SECRET"), ("lost/one", "tide mill SECRET")]
    return (
        Engine.open(written(folder / "alone", own), model=FakeDecisionModel()),
        Engine.open(written(folder / "among", [*own, *others]), model=FakeDecisionModel()),
    )


@pytest.mark.parametrize("name", METHODS)
def test_a_tenant_sees_the_same_whether_or_not_others_are_there(
    name: str, bundles: tuple[Engine, Engine]
) -> None:
    for alone, among in ((memory(OWN), memory([*OWN, *OTHERS])), bundles):
        wanted, found = shown(METHODS[name](alone, ACME)), shown(METHODS[name](among, ACME))
        assert found == wanted
        assert "SECRET" not in found
        assert "globex" not in found


@pytest.mark.parametrize("name", LOOKUPS)
def test_a_hidden_row_and_a_missing_one_look_the_same(
    name: str, bundles: tuple[Engine, Engine]
) -> None:
    for one in (memory([*OWN, *OTHERS]), bundles[1]):
        messages = []
        for target in ("globex/one", "absent/one"):
            with pytest.raises(NotFoundError) as caught:
                LOOKUPS[name](one, target)
            messages.append(str(caught.value).replace(target, "X"))
        assert messages[0] == messages[1]


@pytest.mark.parametrize("name", METHODS)
def test_a_caller_who_names_no_tenant_is_refused_everything(
    name: str, bundles: tuple[Engine, Engine]
) -> None:
    for one in (memory([*OWN, *OTHERS]), bundles[1]):
        for access in (None, Access(), Access(min_trust="quarantined")):
            with pytest.raises(AccessError) as caught:
                METHODS[name](one, access)
            assert "acme" not in str(caught.value)
            assert "globex" not in str(caught.value)


@pytest.mark.parametrize("name", ["search", "ask", "extract", "adjudicate", "documents", "stats"])
def test_a_tenant_that_nobody_knows_sees_nothing(name: str, bundles: tuple[Engine, Engine]) -> None:
    for one in (memory([*OWN, *OTHERS]), bundles[1]):
        found = shown(METHODS[name](one, Access(["nobody"])))
        assert "acme/" not in found
        assert "globex" not in found


def test_who_may_see_everything_gets_the_identity_of_the_corpus() -> None:
    one = memory([*OWN, *OTHERS])
    assert one.search("tide", access=ACME).corpus.identity is None
    everything = one.search("tide", access=Access(all_tenants=True))
    assert everything.corpus.identity == one.backend.identity
    assert one.stats(access=ACME).whole is None
    assert one.stats(access=Access(all_tenants=True)).whole is not None


def test_the_integrity_of_all_is_for_who_may_see_all(bundles: tuple[Engine, Engine]) -> None:
    for access in (ACME, Access(), None):
        with pytest.raises(AccessError) as caught:
            bundles[1].integrity(access=access)
        assert "globex" not in str(caught.value)
    assert bundles[1].integrity(access=Access(all_tenants=True)).documents == 4


def test_the_tenants_of_the_settings_ask_where_a_call_does_not_say() -> None:
    settings = Settings().updated({"access.tenants": ["acme"]})
    one = Engine(MemoryCorpus([*OWN, *OTHERS]), settings, model=FakeDecisionModel())
    assert one.stats().chunks == 3


TEXTS = st.text("ab ", min_size=1, max_size=8).map(lambda text: f"tide {text}")
ROWS = st.lists(
    st.tuples(TEXTS, st.sets(st.sampled_from(["acme", "globex", "third"]), max_size=2)),
    max_size=8,
)


@given(ROWS, st.sampled_from(sorted(set(METHODS) - {"document", "chunks", "records"})))
def test_whatever_the_others_own_a_tenant_sees_the_same(
    rows: list[tuple[str, set[str]]], name: str
) -> None:
    own = [OWN[0]]
    corpus = [
        *own,
        *(
            chunk(f"doc{n}#chunk-0", text, tenants=tenants)
            for n, (text, tenants) in enumerate(rows)
        ),
    ]
    visible = [row for row in corpus if "acme" in row.metadata["tenants"]]
    found = shown(METHODS[name](memory(corpus), ACME))
    assert found == shown(METHODS[name](memory(visible), ACME))
