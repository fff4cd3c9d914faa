"""What the report says."""

from __future__ import annotations

import json

import pytest
from laya_eval.inspect.report import report_data, report_json, report_markdown


@pytest.fixture
def data(collection, vectors):
    return report_data(collection, vectors)


def test_means_are_those_of_the_ranks_of_the_labels(data):
    evaluation = data["evaluation"]
    for channel in ("bm25", "dense", "fused"):
        places = []
        for query in evaluation["queries"]:
            top = [hit["id"] for hit in query[channel][:5]]
            place = top.index(query["paragraph"]) + 1 if query["paragraph"] in top else None
            assert query["ranks"][channel] == place
            places.append(place)
        recall = sum(place is not None for place in places) / 24
        mrr = sum(1 / place for place in places if place) / 24
        assert evaluation["means"][channel] == pytest.approx({"Recall@5": recall, "MRR@5": mrr})


def test_a_withheld_answer_is_in_no_file(collection, data):
    answers = {question["id"]: question["answer"] for question in data["questions"]}
    assert answers["wind"]["missing"] == ["ferry-engine"]
    assert answers["wind"]["sentences"] == []
    texts = report_json(data) + report_markdown(data)
    for name, answer in collection.answers.items():
        for sentence in answer.sentences:
            assert (sentence.text in texts) == (name != "wind")


def test_every_vector_and_source_has_its_hash(data):
    assert set(data["sources"]) == {
        *("inspectable.yaml", "corpus.jsonl", "questions.jsonl"),
        *("evaluation.jsonl", "answers.jsonl", "vectors.json"),
    }
    for row in (*data["paragraphs"], *data["questions"], *data["evaluation"]["queries"]):
        assert len(row["vector_sha256"]) == len(row["input_sha256"]) == 64
    assert data["dense"]["fingerprint"]
    assert set(data["dense"]["files"]) >= {"model.onnx", "tokenizer.json"}


def test_no_number_has_more_decimals_than_processors_agree_on(data):
    def numbers(value):
        if isinstance(value, dict):
            value = list(value.values())
        if isinstance(value, list):
            for item in value:
                yield from numbers(item)
        elif isinstance(value, float):
            yield value

    found = list(numbers(json.loads(report_json(data))))
    assert len(found) > 1000
    assert all(number == round(number, 9) for number in found)


def test_the_markdown_has_a_row_for_every_label_and_says_what_is_withheld(data):
    text = report_markdown(data)
    assert all(
        f"| {query['id']} | {query['text']} |" in text for query in data["evaluation"]["queries"]
    )
    assert "withheld: not in the top 5: ferry-engine" in text
