"""Questions are checked and come out in one form."""

import pytest
from laya_signals.decide import QuestionError, by_id, parse_questions


def one(**question):
    [parsed] = parse_questions([{"id": "q", "instructions": "Is it?", **question}])
    return parsed


NO, YES = "no, the statement does not hold", "yes, the statement holds"


@pytest.mark.parametrize(
    ("question", "options"),
    [
        ({"type": "noul"}, [f"false: {NO}", f"true: {YES}"]),
        ({"type": "noul", "options": ["nein", "ja"]}, [f"nein: {NO}", f"ja: {YES}"]),
        (
            {"type": "noul", "options": {"no": "it waits", "yes": ""}},
            ["no: it waits", f"yes: {YES}"],
        ),
        ({"type": "noul", "criteria": {"true": "urgent"}}, [f"false: {NO}", "true: urgent"]),
        ({"type": "noul", "criteria": {False: "calm"}}, ["false: calm", f"true: {YES}"]),
        (
            {"type": "noul", "labels": {"true": " ja ", "false": "nein"}},
            [f"nein: {NO}", f"ja: {YES}"],
        ),
        ({"type": "choice", "options": ["a", "b"]}, ["a", "b"]),
        ({"type": "choice", "options": {"a": "first", "b": ""}}, ["a: first", "b"]),
        ({"type": "choice", "criteria": {"a": None, "b": {"x": "ü"}}}, ["a", 'b: {"x": "ü"}']),
        ({"type": "score", "options": ["low", "high"]}, ["level 0: low", "level 1: high"]),
        ({"type": "score", "criteria": [1, "x"]}, ["level 0: 1", "level 1: x"]),
    ],
)
def test_options_read_as_the_format_says(question, options):
    assert list(one(**question).options) == options


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ({"type": "noun"}, "unknown type 'noun'"),
        ({"type": ["noul"]}, "unknown type"),
        ({"type": "noul", "instructions": "  "}, "instructions"),
        ({"type": "noul", "instructions": None}, "instructions"),
        ({"type": "noul", "option": ["a", "b"]}, "unknown key 'option'"),
        ({"type": "noul", "options": ["a"]}, "two labels"),
        ({"type": "noul", "options": ["a", "a"]}, "one label twice"),
        ({"type": "noul", "options": ["a", "b"], "labels": {}}, "options, or criteria"),
        ({"type": "noul", "criteria": {"yes": "x"}}, "'false' and 'true'"),
        ({"type": "noul", "labels": {"true": "x"}}, "'false' and 'true'"),
        ({"type": "choice"}, "needs options"),
        ({"type": "choice", "options": "ab"}, "needs options"),
        ({"type": "choice", "options": []}, "no option"),
        ({"type": "choice", "options": ["a", ""]}, "non-empty text"),
        ({"type": "choice", "options": ["a", 1]}, "non-empty text"),
        ({"type": "choice", "options": ["a", "a"]}, "one label twice"),
        ({"type": "choice", "options": ["a"], "criteria": ["a"]}, "not both"),
        ({"type": "choice", "options": ["a"], "labels": {}}, "only a noul"),
        ({"type": "choice", "options": {"a": {1, 2}}}, "JSON"),
        ({"type": "score"}, "list of levels"),
        ({"type": "score", "options": {"a": "b"}}, "list of levels"),
        ({"type": "score", "options": ["a", None]}, "level 1 has no text"),
    ],
)
def test_what_cannot_be_asked_is_refused_by_name(question, message):
    with pytest.raises(QuestionError, match=f"'q'.*{message}") as caught:
        one(**question)
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize("questions", [[], {}, "noul", ["noul"], [{"type": "noul"}], [{"id": " "}]])
def test_no_questions_and_no_ids_are_refused(questions):
    with pytest.raises(QuestionError):
        parse_questions(questions)


def test_two_questions_with_one_id_are_refused():
    question = {"id": "same", "type": "noul", "instructions": "x"}
    with pytest.raises(QuestionError, match="two questions have the id 'same'"):
        parse_questions([question, question])


@pytest.mark.parametrize(
    "question",
    [
        {"type": "noul"},
        {"type": "noul", "options": {"nein": "falsch", "ja": "richtig"}},
        {"type": "choice", "options": {"a": "first", "b": ""}},
        {"type": "choice", "options": ["a", "b"]},
        {"type": "score", "options": ["low", "", "high"]},
    ],
)
def test_the_form_by_id_asks_the_same(question):
    listed = [{"id": "q", "instructions": {"task": "Größe?"}, **question}]
    [expected], [wired] = parse_questions(listed), parse_questions(by_id(listed))
    assert (wired.options, wired.labels) == (expected.options, expected.labels)
    assert wired.instructions == expected.instructions == '{"task": "Größe?"}'


def test_a_plain_noul_travels_without_options():
    assert by_id([{"id": "q", "type": "noul", "instructions": "x"}]) == {
        "q": {"type": "noul", "instructions": "x"}
    }
