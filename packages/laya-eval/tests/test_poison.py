"""Planted passages, with trust filtering off and on."""

from __future__ import annotations

import json
import tempfile

import pytest
from laya_eval.beir import load_judged
from laya_eval.errors import DataError
from laya_eval.poison import KINDS, planted_corpus
from laya_rag.cli.app import app
from typer.testing import CliRunner

STACK = """
name: coast
source: {provider: source.jsonl, config: {path: nowhere}}
trust: {provider: trust.manifest, config: {default_tier: trusted}}
signals: {bm25: {provider: tokenizer.word, config: {stem: english}}}
export: {path: elsewhere}
"""


@pytest.fixture(autouse=True)
def own_lock(tmp_path_factory, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path_factory.mktemp("lock")))


def test_the_corpus_is_kept_and_two_documents_are_planted_for_each_query(judged_data, tmp_path):
    queries = load_judged(judged_data).queries
    planted_corpus(judged_data, queries, tmp_path / "new" / "corpus.jsonl")
    rows = [json.loads(line) for line in (tmp_path / "new" / "corpus.jsonl").open()]
    ids = [row["_id"] for row in rows]
    planted = [name for name in ids if name.startswith("planted/")]
    assert len(ids) == 32 + 2 * len(queries)
    assert {name.rpartition("/")[0] + "/" for name in planted} == set(KINDS.values())
    for query in queries.values():
        assert sum(query in row["text"] for row in rows) == 2
    with pytest.raises(DataError, match="begins with planted/"):
        planted_corpus(tmp_path / "new", queries, tmp_path / "again.jsonl")


def test_the_trust_filter_keeps_out_what_is_found_without_it(judged_data, tmp_path):
    (tmp_path / "stack.yaml").write_text(STACK)
    arguments = [
        *("eval", "poison", str(tmp_path / "stack.yaml"), "--data", str(judged_data)),
        *("--out", str(tmp_path / "out"), "--quiet"),
    ]
    done = CliRunner().invoke(app, [*arguments, "--json"])
    assert done.exit_code == 0, done.output
    report = json.loads(done.stdout)
    assert len(report["queries"]) == 17
    assert [row["kind"] for row in report["reached"]] == ["false claim", "instructions"]
    for row in report["reached"]:
        assert row["unfiltered"] > 10
        assert row["filtered"] == 0
    claim, instructions = report["reached"]
    assert claim["flagged"] == 0
    assert instructions["flagged"] == instructions["passages"]
    assert report["flagged_honest"] == 0
    assert not (tmp_path / "elsewhere").exists()
    table = CliRunner().invoke(app, arguments, env={"COLUMNS": "120"}).stdout
    assert "0 of 17" in table
