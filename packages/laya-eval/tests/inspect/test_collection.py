"""The demo's content, and what is refused."""

from __future__ import annotations

import pytest
from laya_eval.errors import DataError
from laya_eval.inspect.collection import load_collection

from .conftest import STACK, edit


def test_it_has_the_promised_size(collection):
    assert len(collection.paragraphs) == 24
    assert len(collection.questions) == 4
    assert len(collection.evaluation) == 24
    labels = [question.paragraph for question in collection.evaluation]
    assert sorted(labels) == sorted(paragraph.id for paragraph in collection.paragraphs)


def test_the_stack_has_the_promised_settings(collection):
    bm25 = collection.bm25
    assert (bm25.k1, bm25.b, bm25.title_weight) == (1.2, 0.75, 3)
    assert collection.embedding.provider == "encoder.mini"


def test_a_paragraph_is_encoded_with_its_title(collection):
    paragraph = collection.paragraphs[0]
    assert paragraph.encoded == f"{paragraph.title}\n{paragraph.text}"


def test_a_question_is_no_copy_of_an_other(collection):
    texts = [query.text for query in collection.queries]
    assert len(set(texts)) == len(texts)


@pytest.mark.parametrize(
    ("name", "before", "after", "words"),
    [
        ("corpus.jsonl", '"tide-mill-repair"', '"tide-mill-wheel"', "jsonl:2: .* is there twice"),
        ("corpus.jsonl", '"title": "What the mill grinds"', '"title": ""', "jsonl:3: title"),
        ("evaluation.jsonl", '"paragraph": "salt-marsh"', '"paragraph": "marsh"', "no paragraph"),
        ("evaluation.jsonl", ', "paragraph": "salt-marsh"', "", "e18 has no label"),
        ("evaluation.jsonl", '"e01"', '"wind"', "'wind' is in questions.jsonl too"),
        ("answers.jsonl", '"needs": ["ferry-timetable", ', '"needs": [', "the paragraphs of its"),
        ("answers.jsonl", '"ferry-fares"]', '"ferry-fares", "fog-bell"]', "the paragraphs of its"),
        ("answers.jsonl", '"ferry-fares"]', '"ferry-fare"]', "'ferry-fare' is no paragraph"),
        ("answers.jsonl", '"question": "wind"', '"question": "rain"', "one question, one answer"),
        ("answers.jsonl", '"needs"', '"nedes"', r"answers.jsonl:1: "),
        ("questions.jsonl", '{"_id": "ticket"', "[", "questions.jsonl:1: no JSON"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(folder, name, before, after, words):
    edit(folder / name, before, after)
    with pytest.raises(DataError, match=words):
        load_collection(STACK)


def test_an_empty_file_is_refused(folder):
    (folder / "questions.jsonl").write_text("")
    with pytest.raises(DataError, match=r"questions\.jsonl: it is empty"):
        load_collection(STACK)


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ("embedding:\n    provider: encoder.mini", "columns: {}", "needs the signals bm25"),
        (
            "source.jsonl\n  config: {path: ",
            "source.files\n  config: {root: ",
            "reads source.jsonl",
        ),
        ("    title_weight: 3", "    bm25f: {title: {weight: 3}}", "without fields"),
    ],
)
def test_a_stack_that_does_not_fit_is_refused(demo, before, after, words):
    edit(demo / STACK, before, after)
    with pytest.raises(DataError, match=words):
        load_collection(STACK)
