from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest
from laya_rag.validate.contracts import check_contracts, contract_problems
from laya_rag.validate.trial import Trial

Problems = Callable[[Path], list[str]]


@pytest.fixture
def problems(everything: Trial) -> Problems:
    return lambda bundle: list(contract_problems(bundle, everything.pipeline, everything.documents))


def test_a_bundle_as_it_was_built_keeps_every_contract(everything: Trial) -> None:
    finding = check_contracts(everything)
    assert finding.problems == ()
    assert finding.detail.startswith("49 documents, ")


def rolled(values: list[Any]) -> list[Any]:
    return [*values[1:], values[0]]


@pytest.mark.parametrize(
    ("kind", "column", "row", "value", "said"),
    [
        ("chunks", "start", 3, lambda old: old + 1, r"record '.*', characters \d+:\d+: the doc"),
        ("chunks", "end", 3, 10**9, "outside the document"),
        ("chunks", "content", 3, "something else", "not 'something else'"),
        ("chunks", "content", 3, " ", "is blank"),
        ("chunks", "ordinal", 3, 7, "has ordinal 7, its place is"),
        ("chunks", "record_id", 3, "x#chunk-0", "record 'x#chunk-0' has ordinal"),
        ("chunks", "document_id", 3, "nobody", "'nobody' belong to no document"),
        ("chunks", "title", 3, "another", "title is 'another'"),
        ("chunks", "trust_tier", 3, "trusted", "trust_tier is 'trusted', not 'untrusted'"),
        ("chunks", "tenants", 3, ["x"], r"tenants is \['x'\], not None"),
        ("chunks", "schema_version", 3, 9, "schema_version is 9"),
        ("chunks", "provenance", 3, lambda old: {**old, "uri": "u"}, "provenance is"),
        ("chunks", "classification", 3, lambda old: {**old, "pii_count": 99}, "pii_count': 99"),
        ("chunks", "embedding", 3, lambda old: [2 * x for x in old], "embedding has length 2"),
        ("chunks", "embedding", 3, lambda old: [0.0 for _ in old], "embedding has length 0"),
        ("chunks", "embedding", 3, lambda old: [float("nan") for _ in old], "length nan"),
        ("chunks", "fde_embedding", 3, lambda old: [float("inf") for _ in old], "is not finite"),
        ("chunks", "sparse_indices", 3, rolled, r"sparse index \d+ stands behind \d+"),
        ("chunks", "sparse_indices", 3, lambda old: old[1:], r"\d+ sparse indices, \d+ values"),
        ("chunks", "sparse_indices", 3, lambda old: [*old[:-1], 2**32 - 1], "is not below"),
        ("chunks", "sparse_values", 3, lambda old: [0.0 for _ in old], "zero or not finite"),
        ("multivectors", "record_id", 3, "x", "not those of the chunks"),
        ("multivectors", "multivector", 3, [[1.0]], "has not 8 components"),
        ("multivectors", "multivector", 3, [[1.0] * 8], "not of length 1"),
        ("documents", "digest", 0, "0", "digest is '0'"),
        ("documents", "characters", 0, 3, "characters is 3"),
        ("documents", "document_id", 0, "x", "'x' is not in the source"),
        ("documents", "trust_tier", 0, "holy", "'holy' is no trust tier"),
        ("documents", "chunks", 0, 99, "99 chunks, there are"),
        ("documents", "redactions", 0, [("EMAIL", 99)], "is not the sum over the documents"),
        ("skipped", "reason", 0, "x", "counts.skipped is not"),
        ("bm25-terms", "term", 1, "zzzz", "terms are not strictly ascending"),
        ("bm25-terms", "df", 5, 99, "df 99 and cf"),
        ("bm25-terms", "cf", 5, 99, "cf 99 are not what"),
        ("bm25-terms", "idf", 5, 0.5, r"idf is 0\.5, not"),
        ("bm25-postings", "term", 5, "x", "its terms are not those of bm25-terms"),
        ("bm25-postings", "ordinals", 5, lambda old: [10**6 + n for n in range(len(old))], "range"),
        ("bm25-postings", "frequencies", 5, lambda old: [0 for _ in old], "df .* and cf"),
    ],
)
def test_a_changed_value_is_told_with_its_place(
    kind: str,
    column: str,
    row: int,
    value: Any,
    said: str,
    copied: Path,
    problems: Problems,
    tamper: SimpleNamespace,
) -> None:
    tamper.change_rows(copied, kind, tamper.set_value(column, row, value))
    found = problems(copied)
    assert any(_matches(said, text) for text in found), found


def _matches(pattern: str, text: str) -> bool:
    import re

    return re.search(pattern, text) is not None


def test_a_passage_that_is_gone_leaves_a_hole(
    copied: Path, problems: Problems, tamper: SimpleNamespace
) -> None:
    def without(table: pa.Table) -> pa.Table:
        ids = table["record_id"].to_pylist()
        row = next(n for n, name in enumerate(ids) if name == "harbour/rules.md#chunk-1")
        return pa.concat_tables([table.slice(0, row), table.slice(row + 1)])

    tamper.change_rows(copied, "chunks", without)
    found = problems(copied)
    assert any("harbour/rules.md" in text and "are in no chunk" in text for text in found)
    assert any("counts" in text and "chunks, there are" in text for text in found)


def test_a_term_that_a_passage_holds_must_be_in_its_postings(
    copied: Path, problems: Problems, tamper: SimpleNamespace
) -> None:
    tamper.change_rows(
        copied, "chunks", tamper.set_value("content", 0, lambda old: old + " zugzwang")
    )
    assert any("holds 'zugzwang' 1x, its posting says 0" in text for text in problems(copied))


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (lambda table: table.drop_columns(["embedding"]), "column 'embedding' is missing"),
        (lambda table: table.append_column("more", table["start"]), "'more' belongs to no signal"),
        (lambda table: table.cast(_nullable(table.schema, "title")), "'title' is string, not str"),
        (lambda table: table.select([1, 0, *range(2, table.num_columns)]), "in another order"),
    ],
)
def test_a_wrong_schema_is_told(
    edit: Callable[[pa.Table], pa.Table],
    said: str,
    copied: Path,
    problems: Problems,
    tamper: SimpleNamespace,
) -> None:
    tamper.change_rows(copied, "chunks", edit)
    assert any(said in text for text in problems(copied))


def _nullable(schema: pa.Schema, name: str) -> pa.Schema:
    at = schema.get_field_index(name)
    return schema.set(at, schema.field(at).with_nullable(True))


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("bytes", 1, "the manifest says 1"),
        ("sha256", "0" * 64, "its SHA-256 is not the manifest's"),
        ("rows", 1, "rows, the manifest says 1"),
        ("path", "../outside.parquet", "outside the bundle"),
        ("path", "/etc/hostname", "outside the bundle"),
        ("path", "nothing.parquet", "no file of the bundle"),
    ],
)
def test_a_manifest_entry_must_fit_its_file(
    key: str, value: Any, said: str, copied: Path, problems: Problems, tamper: SimpleNamespace
) -> None:
    tamper.change_manifest(copied, lambda data: data["files"][0].update({key: value}))
    assert any(said in text for text in problems(copied))


def test_a_file_that_the_manifest_does_not_name_is_told(copied: Path, problems: Problems) -> None:
    (copied / "stray.txt").write_text("x")
    assert problems(copied) == ["stray.txt: not in the manifest"]


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (str(Path(__file__).resolve()), "is an absolute path"),
        (str(Path.home()) + "/models/x", "path"),
        ("built 2026-01-31T10:00 by hand", "holds a time"),
        (int(time.time()), "is the time of the run"),
        (time.time_ns(), "is the time of the run"),
        (os.uname().nodename, "is this machine's name"),
    ],
    ids=["this file", "a folder at home", "a date", "seconds", "nanoseconds", "the host"],
)
def test_a_manifest_says_nothing_about_its_machine(
    value: Any, said: str, copied: Path, problems: Problems, tamper: SimpleNamespace
) -> None:
    tamper.change_manifest(
        copied, lambda data: data["bm25"]["tokenizer"].update(config={"note": value})
    )
    (only,) = problems(copied)
    assert "bm25.tokenizer.config.note" in only
    assert said in only


def test_a_manifest_is_canonical(copied: Path, problems: Problems) -> None:
    path = copied / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text())))
    assert problems(copied) == ["manifest.json is not written in the canonical form"]


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("avg_doc_len", 1.0, "bm25.avg_doc_len is 1.0"),
        ("doc_count", 10_000, "bm25.doc_count is 10000"),
    ],
)
def test_what_scoring_needs_fits_the_postings(
    key: str, value: Any, said: str, copied: Path, problems: Problems, tamper: SimpleNamespace
) -> None:
    tamper.change_manifest(copied, lambda data: data["bm25"].update({key: value}))
    assert any(said in text for text in problems(copied))
