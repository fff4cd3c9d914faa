"""MTEB's search protocol over the engine, with MTEB's arguments; `tests/parity` has MTEB itself."""

from __future__ import annotations

import importlib.util
from types import SimpleNamespace

import numpy as np
import pytest
from laya_eval.errors import DataError, MissingHarnessError
from laya_eval.mteb import MtebSearch, query_text
from laya_rag.config import Settings

STACK = """
name: coast
source: {provider: source.jsonl, config: {path: nowhere.jsonl}}
chunk: {provider: chunker.paragraph, config: {chars: 60, overlap: 0, min_chars: 1}}
signals: {bm25: {provider: tokenizer.word, config: {stem: english, stop_words: english}}}
export: {path: bundle}
"""
CORPUS = [
    {
        "id": "tides",
        "title": "Tides",
        "text": "High water is twice a day.\n\nLow water is between.",
    },
    {"id": "ferry", "title": None, "text": "The ferry leaves at high water."},
    {"id": "seals", "text": "Seals rest on the sandbanks at low water."},
    {"id": "twin", "text": "The ferry leaves at high water."},
]
QUERIES = [{"id": "q1", "text": "high water ferry"}, {"id": "q2", "text": " "}]
KEYWORDS = {"encode_kwargs": {"show_progress_bar": False}, "num_proc": None}
TASK = {"task_metadata": SimpleNamespace(name="Coast Task"), "hf_split": "test", **KEYWORDS}
TASK["hf_subset"] = "default"


@pytest.fixture
def stack(tmp_path):
    path = tmp_path / "stack.yaml"
    path.write_text(STACK)
    return path


@pytest.fixture
def model(stack):
    with MtebSearch(stack) as model:
        model.index(CORPUS, **TASK)
        yield model


def search(model, top_k=10, **keywords):
    return model.search(QUERIES, top_k=top_k, **{**TASK, "top_ranked": None, **keywords})


def test_each_query_gets_its_documents_with_falling_scores(model):
    found = search(model)
    assert list(found) == ["q1", "q2"]
    assert list(found["q1"])[:2] == ["ferry", "twin"]
    assert set(found["q1"]) == {"ferry", "twin", "tides", "seals"}
    scores = np.array(list(found["q1"].values()), dtype=np.float32)
    assert (np.diff(scores) < 0).all(), "the twins' equal scores have to be parted"
    assert found["q2"] == {}


def test_at_most_as_many_documents_as_wanted(model):
    assert search(model, top_k=1) == {
        "q1": dict([next(iter(search(model)["q1"].items()))]),
        "q2": {},
    }


def test_more_passages_are_taken_than_the_engine_would(stack):
    settings = Settings(search={"depth": 1, "keep": 1})
    with MtebSearch(stack, settings=settings) as model:
        model.index(CORPUS, **TASK)
        assert len(search(model)["q1"]) == 4


def test_only_the_given_documents_are_ranked(model):
    given = {"q1": ["seals", "tides", "gone"], "q2": []}
    assert set(search(model, top_ranked=given)["q1"]) == {"seals", "tides"}
    assert search(model, top_ranked={"q1": [], "q2": []})["q1"] == {}


def test_another_corpus_takes_the_place_of_the_first(model):
    model.index(CORPUS[2:3], **TASK)
    assert set(search(model)["q1"]) == {"seals"}


def test_a_named_folder_keeps_the_bundle_and_a_temporary_one_goes(stack, tmp_path):
    with MtebSearch(stack, folder=tmp_path / "kept") as model:
        model.index(CORPUS, **TASK)
    assert (tmp_path / "kept" / "coast-task-default-test" / "bundle" / "manifest.json").is_file()
    model = MtebSearch(stack)
    model.index(CORPUS, **TASK)
    folder = model.folder
    assert folder.is_dir()
    model.close()
    model.close()
    assert not folder.exists()


def test_the_revision_moves_with_the_stack_and_the_settings(stack):
    def fingerprint(**keywords):
        return MtebSearch(stack, **keywords).fingerprint

    assert fingerprint() == fingerprint(folder="elsewhere", name="my/engine")
    assert fingerprint() != fingerprint(sets=["signals.bm25.k1=0.9"])
    assert fingerprint() != fingerprint(settings=Settings(search={"depth": 7}))
    assert fingerprint() == fingerprint(settings=Settings(bundle="elsewhere"))


def test_a_search_before_the_index_a_picture_and_another_source_are_refused(stack, model):
    with pytest.raises(DataError, match="index before search"):
        search(MtebSearch(stack))
    with pytest.raises(DataError, match="Coast Task: document 'd' has no text"):
        model.index([{"id": "d", "image": b""}], **TASK)
    stack.write_text(
        STACK.replace("source.jsonl", "source.files").replace("path: nowhere.jsonl", "")
    )
    with pytest.raises(DataError, match=r"has to be source.jsonl, not source.files"):
        MtebSearch(stack)


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({"text": "high water"}, "high water"),
        ({"text": "high water", "instruction": "Find tides."}, "high water Find tides."),
        ({"text": "high water", "instruction": None}, "high water"),
        ({"text": ["when", "and where"]}, "when; and where"),
        ({"text": [{"role": "user", "content": "when"}]}, "user: when"),
    ],
)
def test_a_query_reads_as_for_any_text_model(row, words):
    assert query_text(row) == words


def test_a_query_without_words_is_refused():
    with pytest.raises(DataError, match="query 'q' has no text"):
        query_text({"id": "q", "image": b""})


@pytest.mark.skipif(importlib.util.find_spec("mteb") is not None, reason="MTEB is installed")
def test_without_mteb_the_extra_is_named(stack):
    with pytest.raises(MissingHarnessError, match="extra `mteb`"):
        _ = MtebSearch(stack).mteb_model_meta
