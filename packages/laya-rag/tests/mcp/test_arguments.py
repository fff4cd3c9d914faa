from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from laya_rag.mcp import InvalidArgumentsError
from laya_rag.mcp import arguments as module
from laya_rag.mcp.tools import TOOLS

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=8,
)
NAMES = sorted({name for tool in TOOLS.values() for name in tool.arguments.model_fields})
GOOD: dict[str, dict[str, Any]] = {
    "search": {"query": "tide"},
    "more_like_this": {"record_id": "a#chunk-0"},
    "get_context": {"record_id": "a#chunk-0", "before": 0},
    "search_evidence": {"query": "tide", "limit": 3},
    "extract_answer": {"query": "tide"},
    "verify_answer": {"answer": "Yes [1].", "record_ids": ["a#chunk-0"]},
    "adjudicate_answer": {"answer": "Yes."},
    "list_sources": {},
    "list_documents": {"after": "a", "limit": 1},
    "read_document": {"document_id": "a", "after": 0},
    "index_status": {},
    "corpus_stats": {},
    "check_index_integrity": {},
    "index_documents": {"folder": "notes", "dry_run": True},
    "reset_index": {"confirm": "reset"},
}


@pytest.mark.parametrize("name", TOOLS)
def test_good_arguments_are_taken_and_fit_the_schema(name: str) -> None:
    model = TOOLS[name].arguments
    module.parse(model, GOOD[name])
    schema = model.model_json_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(GOOD[name], schema)
    assert schema["additionalProperties"] is False


@pytest.mark.parametrize("name", TOOLS)
def test_an_unknown_argument_is_refused_and_the_known_ones_named(name: str) -> None:
    with pytest.raises(InvalidArgumentsError) as raised:
        module.parse(TOOLS[name].arguments, {**GOOD[name], "scope": "everything"})
    assert "unknown argument 'scope'" in str(raised.value)
    assert "everything" not in str(raised.value)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("search", {"query": 3}),
        ("search", {"query": "a", "limit": "5"}),
        ("search", {"query": "a", "limit": 5.0}),
        ("search", {"query": "a", "limit": True}),
        ("search", {"query": "a", "limit": 0}),
        ("search", {"query": "a", "limit": 51}),
        ("search", {"query": " \n"}),
        ("search", {"query": "x" * 4001}),
        ("search", {"query": "a", "filter": {"year": {"above": 3}}}),
        ("search", {"query": "a", "filter": "year"}),
        ("search", {}),
        ("search", []),
        ("search", "query"),
        ("search", None),
        ("get_context", {"record_id": "a", "before": -1}),
        ("verify_answer", {"answer": "a"}),
        ("verify_answer", {"answer": "a", "query": "b", "record_ids": ["c"]}),
        ("verify_answer", {"answer": "a", "query": " "}),
        ("index_documents", {"dry_run": 1}),
        ("reset_index", {"confirm": "yes"}),
        ("reset_index", {"confirm": "RESET"}),
        ("reset_index", {"confirm": True}),
        ("reset_index", {}),
    ],
)
def test_bad_arguments(name: str, arguments: Any) -> None:
    with pytest.raises(InvalidArgumentsError):
        module.parse(TOOLS[name].arguments, arguments)


@given(
    name=st.sampled_from(sorted(TOOLS)),
    given_=JSON | st.dictionaries(st.sampled_from(NAMES) | st.text(max_size=8), JSON, max_size=4),
)
def test_any_json_is_taken_as_it_is_or_refused(name: str, given_: Any) -> None:
    model = TOOLS[name].arguments
    try:
        parsed = module.parse(model, given_)
    except InvalidArgumentsError as error:
        json.dumps(error.to_json(), allow_nan=False)
        return
    # Nothing was converted, and nothing was ignored.
    assert parsed.model_dump(exclude_unset=True) == given_


def test_a_message_holds_no_value() -> None:
    with pytest.raises(InvalidArgumentsError) as raised:
        module.parse(TOOLS["search"].arguments, {"query": ["very secret"]})
    assert "secret" not in str(raised.value)
