"""Not one stale byte gets through."""

from __future__ import annotations

import pytest
from laya_eval.errors import StaleError
from laya_eval.inspect import check
from laya_eval.inspect.check import check_site, is_inspectable
from laya_eval.inspect.site import STATIC
from laya_eval.inspect.vectors import load_vectors

from .conftest import ROOT, STACK, edit

FILES = (*STATIC, "data.js", "report.md", "report.json")


@pytest.fixture
def saved_only(monkeypatch):
    """Encoding takes a second; what it gives is looked at elsewhere."""
    monkeypatch.setattr(check, "encode", load_vectors)


def test_what_was_just_built_is_fresh(site):
    assert sorted(check_site(site)) == sorted(FILES)
    assert is_inspectable(site)


@pytest.mark.parametrize("name", FILES)
def test_a_byte_more_in_any_file_is_found(site, saved_only, name):
    path = site / name
    path.write_bytes(path.read_bytes() + b"\n")
    with pytest.raises(StaleError, match=rf"{name} differs"):
        check_site(site)


def test_a_number_that_was_changed_in_the_pages_copy_alone_is_found(site, saved_only):
    edit(site / "data.js", '"k1": 1.2', '"k1": 1.3')
    with pytest.raises(StaleError, match=r"afresh, data\.js differs; run"):
        check_site(site)


def test_a_missing_and_a_superfluous_file_are_found(site, saved_only):
    (site / "rank.js").rename(site / "ranks.js")
    with pytest.raises(StaleError, match=r"rank\.js is missing; ranks\.js is not part of it"):
        check_site(site)


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("stacks/inspectable.yaml", "title_weight: 3", "title_weight: 2"),
        ("stacks/inspectable.yaml", "# Twenty-four", "# 24"),
        ("stacks/inspectable/answers.jsonl", "Your ticket stays valid", "Your ticket is valid"),
        ("stacks/inspectable/evaluation.jsonl", '"salt-marsh"', '"dyke-watch"'),
        ("stacks/inspectable/vectors.json", '"documents": {', '"documents":  {'),
    ],
)
def test_a_source_that_was_changed_since_is_named(demo, site, saved_only, name, before, after):
    edit(demo / name, before, after)
    with pytest.raises(StaleError, match=rf"{name.rpartition('/')[2]} has changed"):
        check_site(site)


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("corpus.jsonl", "The hinges are bronze.", "The hinges are iron."),
        ("questions.jsonl", "need the wind", "want the wind"),
    ],
)
def test_a_text_that_was_changed_after_encoding_is_named(folder, site, name, before, after):
    edit(folder / name, before, after)
    with pytest.raises(StaleError, match="is of another text; run `laya inspect vectors`"):
        check_site(site)


def test_saved_vectors_that_the_encoder_does_not_give_are_found(site, monkeypatch, vectors):
    swapped = dict(zip(vectors.queries, reversed(vectors.queries.values()), strict=True))
    other = type(vectors)(vectors.encoder, vectors.documents, swapped)
    monkeypatch.setattr(check, "encode", lambda collection: other)
    with pytest.raises(StaleError, match="query ticket is not what the encoder gives"):
        check_site(site)


def test_a_report_without_sources_is_only_stale(site, saved_only):
    (site / "report.json").write_text('{"kind": "inspectable"}')
    with pytest.raises(StaleError, match=r"afresh, report\.json differs"):
        check_site(site)


@pytest.mark.parametrize("content", ["", "[]", '{"kind": "run"}'])
def test_another_report_is_none_of_these(tmp_path, content):
    assert not is_inspectable(tmp_path)
    (tmp_path / "report.json").write_text(content)
    assert not is_inspectable(tmp_path)


@pytest.mark.slow
def test_the_page_that_ships_is_fresh(monkeypatch):
    monkeypatch.chdir(ROOT)
    check_site(ROOT / "docs" / "inspectable", STACK)
