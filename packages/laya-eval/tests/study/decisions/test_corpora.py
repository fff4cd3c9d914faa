"""Corpora that lack something, and what their questions are labelled."""

from __future__ import annotations

import pytest
from laya_eval.study.decisions import corpora
from laya_eval.study.decisions.corpora import Question, labelled

DOCUMENTS = [{"_id": name, "title": "", "text": name} for name in "abcd"]


def question(name, answers, held_out=True):
    return Question(name, f"{name}?", tuple(answers), "g", held_out)


def test_a_question_is_labelled_by_what_is_left():
    asked = [question("1", "a"), question("2", "b"), question("3", "ab"), question("4", "cd")]
    found = labelled(DOCUMENTS, [*asked, question("5", "")], 10, missing={"b"})
    assert {(label.id, label.answerable, label.documents) for label in found.labels} == {
        ("1", True, ("a",)),
        ("2", False, ()),
        ("4", True, ("c", "d")),
        ("5", False, ()),
    }
    assert found.ambiguous == 1
    assert [row["_id"] for row in found.documents] == ["a", "c", "d"]


def test_only_held_out_questions_are_judged_and_others_are_there_to_fit_on():
    asked = [question(str(n), "a", held_out=n % 2 == 0) for n in range(100)]
    found = labelled(DOCUMENTS, asked, 10, missing=())
    assert len(found.judged) == 10
    assert all(int(name) % 2 == 0 for name in found.judged)
    assert len(found.labels) == 40
    assert found.judged < {label.id for label in found.labels}


@pytest.mark.parametrize("load", [corpora.squad_articles, corpora.squad_paragraphs])
def test_a_squad_question_is_answerable_when_its_paragraph_is_there(study_data, load):
    found = load(study_data / "squad2_dev", 100)
    texts = " ".join(row["text"] for row in found.documents)
    assert len(found.labels) == 24
    assert len(found.judged) == 12
    for label in found.labels:
        thing, article = label.query.removesuffix("?").split(" the ")[1].split(" in ")
        assert label.answerable == (f"In {article} the {thing} is" in texts)
    assert 0 < sum(label.answerable for label in found.labels) < 24


def test_every_second_article_is_missing_whole(study_data):
    found = corpora.squad_articles(study_data / "squad2_dev", 100)
    assert {row["title"] for row in found.documents} == {"Ctenophora", "Normans"}


def test_nothing_is_taken_out_of_wikiqa(study_data):
    found = corpora.wikiqa(study_data / "wikiqa", 100)
    assert len(found.documents) == 12
    assert sum(label.answerable for label in found.labels) == 6
    assert found.documents[0]["text"].count(" .") == 3


def test_another_answer_on_the_same_entity_stays(study_data):
    found = corpora.medquad(study_data / "medquad_sample", 100)
    gone = [label for label in found.labels if not label.answerable]
    texts = [row["text"] for row in found.documents]
    assert 0 < len(gone) < 20
    assert any(label.group in text for label in gone for text in texts)
