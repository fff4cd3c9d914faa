"""The files of the page."""

from __future__ import annotations

import re

import pytest
from laya_eval.errors import DataError
from laya_eval.inspect.collection import load_collection
from laya_eval.inspect.site import REPORT, STATIC, site_files
from laya_eval.inspect.vectors import vectors_text

from .conftest import STACK, edit


@pytest.fixture
def files(collection, vectors):
    return site_files(collection, vectors)


def test_the_same_sources_give_the_same_bytes(collection, vectors, files):
    assert site_files(collection, vectors) == files


def test_the_page_has_a_copy_of_the_report_and_of_the_vectors(files, vectors):
    assert files[REPORT].rstrip() in files["data.js"]
    assert vectors_text(vectors).rstrip() in files["data.js"]


def test_every_file_that_the_page_names_is_there_and_nothing_is_fetched(files):
    html = files["index.html"]
    named = re.findall(r'(?:src|href)="([^"#]+)"', html)
    assert set(named) <= set(files)
    assert {name for name in STATIC if name.endswith(".js")} <= set(named)
    for name in (*STATIC, "data.js"):
        text = files[name].replace("http://www.w3.org/2000/svg", "")
        assert not re.search(r"\b(?:fetch|XMLHttpRequest|import)\s*\(|@import|url\(", text), name
        assert not re.search(r"innerHTML|document\.write|\beval\b\(", text), name
    assert not re.search(r"\son\w+=|style=|<style|<script>", html)


def test_the_policy_of_the_page_allows_its_own_files_only(files):
    assert "default-src 'none'; script-src 'self'; style-src 'self'" in files["index.html"]
    assert "unsafe" not in files["index.html"]


@pytest.mark.parametrize(
    "config", ["{stem: german}", "{stop_words: english}", "{stem: english, stop_words: german}"]
)
def test_a_tokenizer_that_the_page_lacks_is_refused(demo, vectors, config):
    edit(demo / STACK, "{stem: english, stop_words: english}", config)
    with pytest.raises(DataError, match="has no other tokenizer"):
        site_files(load_collection(STACK), vectors)
