"""The whole validation of a stack; for every row, a stack that fails in exactly that row."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from laya_index.cache import VectorCache
from laya_index.errors import StackError
from laya_index.sample import planted_values
from laya_index.stack import Stack
from laya_rag.validate.base import Verdict
from laya_rag.validate.run import CHECKS, validate_stack

StackOf = Callable[..., Stack]
pytestmark = pytest.mark.slow

OWN = "laya_rag_broken"


def failed(verdict: Verdict) -> set[str]:
    assert tuple(row.check for row in verdict.rows) == CHECKS
    return {row.check for row in verdict.rows if not row.passed}


def column(name: str, **config: Any) -> dict[str, Any]:
    return {"signals_columns": {"own": {"provider": f"{OWN}:{name}", "config": config}}}


def encoder(**config: Any) -> dict[str, Any]:
    return {"signals_embedding": {"provider": f"{OWN}:Words", "config": config}}


def test_a_good_stack_passes_every_row_and_leaves_nothing_behind(
    stack_of: StackOf, broken: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    changes = {**encoder(), **column("Number"), "graph": {"provider": "graph.patterns"}}
    verdict = validate_stack(stack_of(**changes))
    assert failed(verdict) == set(), verdict
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("changes", "rows"),
    [
        (encoder(length=2.0), {"contracts"}),
        (encoder(same=False), {"rag"}),
        (encoder(device="cuda:7"), {"device"}),
        ({"redact": None}, {"pii"}),
        ({"redact": {"provider": "redact.patterns", "config": {"kinds": ["EMAIL"]}}}, {"pii"}),
        ({"redact": {"provider": f"{OWN}:Talkative"}}, {"pii"}),
        (column("Leaky", text=planted_values()["iban_plain"]), {"pii"}),
        (column("Worker"), {"determinism"}),
        (column("Neighbours"), {"determinism"}),
        (encoder(by_batch=True), {"determinism", "incremental"}),
        (column("Random"), {"determinism", "resume", "incremental"}),
    ],
    ids=lambda value: "-".join(sorted(value)),  # a set as text has another order each time
)
def test_a_broken_component_fails_in_its_row(
    changes: dict[str, Any], rows: set[str], stack_of: StackOf, broken: str
) -> None:
    assert failed(validate_stack(stack_of(**changes))) == rows


def test_a_component_that_knows_of_a_killed_run_fails_resume(
    stack_of: StackOf, broken: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAYA_TEST_MARKS", str(tmp_path))
    verdict = validate_stack(stack_of(**column("Remembers")))
    assert failed(verdict) == {"resume"}
    (row,) = (row for row in verdict.rows if row.check == "resume")
    assert "column 'number' of record_id" in row.finding.problems[0]


def test_a_cache_that_gives_other_vectors_fails_incremental(
    stack_of: StackOf, broken: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = VectorCache.get

    def damaged(self: VectorCache, keys: list[bytes]) -> dict[bytes, Any]:
        found = whole(self, keys)
        if "incremental" in str(self._path):
            return {key: np.roll(vector, 1) for key, vector in found.items()}
        return found

    monkeypatch.setattr(VectorCache, "get", damaged)
    verdict = validate_stack(stack_of(**encoder()))
    assert failed(verdict) == {"incremental"}
    (row,) = (row for row in verdict.rows if row.check == "incremental")
    assert row.finding.problems[0].startswith("step 1 (")
    assert "column 'embedding' of record_id" in row.finding.problems[0]


def test_a_graph_that_names_what_is_not_there_fails_kg(
    stack_of: StackOf, broken: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from laya_rag.validate import kg

    rows = kg._rows

    def without_a_node(bundle: Path, manifest: Any, kind: str, columns: Any = None) -> Any:
        found = rows(bundle, manifest, kind, columns)
        return found[1:] if kind == "graph-nodes" else found

    monkeypatch.setattr(kg, "_rows", without_a_node)
    verdict = validate_stack(stack_of(graph={"provider": "graph.patterns"}))
    assert failed(verdict) == {"kg"}


def test_a_report_that_cannot_be_written_fails_its_row(stack_of: StackOf, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    assert failed(validate_stack(stack_of(), out=tmp_path / "file")) == {"report"}


def test_a_stack_that_cannot_be_built_fails_where_something_is_to_be_checked(
    stack_of: StackOf, broken: str
) -> None:
    verdict = validate_stack(stack_of(**column("Raises")))
    assert failed(verdict) == set(CHECKS) - {"report"}
    assert verdict.rows[0].finding.problems == ("ValueError: no number today",)
    assert "the stack cannot be built" in verdict.rows[1].finding.problems[0]


def test_settings_of_the_stacks_own_source_that_are_wrong_are_an_error(stack_of: StackOf) -> None:
    source = {"provider": "source.jsonl", "config": {"path": "x", "id_field": 5}}
    with pytest.raises((StackError, Exception), match="id_field"):
        validate_stack(stack_of(source=source))


@pytest.mark.parametrize("provider", ["source.jsonl", "source.parquet"])
def test_a_stack_over_a_table_passes(provider: str, stack_of: StackOf) -> None:
    source = {"provider": provider, "config": {"path": "nowhere"}}
    assert failed(validate_stack(stack_of(source=source))) == set()
