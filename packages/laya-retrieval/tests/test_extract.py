"""Extraction: sentences of the passages, word for word, or an abstention with its reason."""

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st
from laya_retrieval.candidate import Candidate
from laya_retrieval.errors import VerificationError
from laya_retrieval.extract import AnswerExtractor, extract_answer
from laya_signals.errors import ConfigError
from laya_signals.tokenize.regex import RegexTokenizer

PASSAGES = [
    Candidate("news", 0.9, "Markets were calm. Quarterly revenue grew by 5.5 percent. Tax fell."),
    Candidate("bread", 0.8, "A recipe for sourdough bread needs salt."),
    Candidate("report", 0.7, "Revenue grew. The tax on revenue fell to 12 percent in May."),
]


def texts(extraction):
    return [sentence.text for sentence in extraction.sentences]


def test_the_sentence_with_most_of_the_query_comes_first():
    extraction = extract_answer("How did the tax on revenue change?", PASSAGES)
    assert extraction.sentences[0].text == "The tax on revenue fell to 12 percent in May."
    assert extraction.abstention is None


def test_each_sentence_has_its_number_record_and_offsets():
    extraction = extract_answer("sourdough bread", PASSAGES)
    (sentence,) = extraction.sentences
    assert (sentence.passage, sentence.record_id) == (2, "bread")
    assert sentence.span.of(PASSAGES[1].text) == sentence.text
    assert extraction.text == "A recipe for sourdough bread needs salt. [2]"
    assert sentence.score == pytest.approx(1.0)


def test_a_bare_text_has_no_record_id():
    assert extract_answer("bread", ["Bread needs salt."]).sentences[0].record_id is None


def test_offsets_in_the_document_follow_from_the_start_of_the_chunk():
    document = "Preface. " * 5 + "Bread needs salt. Tax fell."
    start = document.index("Bread")
    chunk = Candidate("c", 1.0, document[start:], {"start": start, "end": len(document)})
    (sentence,) = extract_answer("tax", [chunk]).sentences
    assert sentence.document_span.of(document) == "Tax fell."
    headed = dataclasses.replace(chunk, text="Header: " + chunk.text)  # offsets no longer fit
    assert extract_answer("tax", [headed]).sentences[0].document_span is None
    assert (
        extract_answer("tax", [Candidate("c", 1.0, "Tax fell.")]).sentences[0].document_span is None
    )


@pytest.mark.parametrize(
    ("query", "passages", "reason"),
    [
        ("tax", [], "no_passages"),
        ("", PASSAGES, "no_query_terms"),
        ("?!", PASSAGES, "no_query_terms"),
        ("photosynthesis", PASSAGES, "nothing_qualifies"),
        ("What is the capital of France?", PASSAGES, "nothing_qualifies"),
        ("tax", ["", "```\ntax = 3\n```", "# Tax"], "nothing_qualifies"),
    ],
)
def test_it_abstains_and_says_why(query, passages, reason):
    extraction = extract_answer(query, passages)
    assert (extraction.sentences, extraction.text, extraction.abstention) == ((), "", reason)


def test_one_common_word_is_not_enough():
    assert extract_answer("tax treaty between Norway and Chile", PASSAGES).abstention


def test_a_query_of_function_words_alone_is_looked_for_as_it_is():
    assert texts(extract_answer("to be or not to be", ["To be, or not to be. Yes."])) == [
        "To be, or not to be."
    ]


def test_word_forms_are_found():
    assert texts(extract_answer("taxes falling", ["A tax falls. Bread rises."])) == ["A tax falls."]


def test_chinese_is_found():
    assert texts(extract_answer("收入增长", ["天气很好。收入增长了。"])) == ["收入增长了。"]


def test_a_list_marker_is_not_part_of_the_sentence():
    assert texts(extract_answer("salt", ["Needs:\n\n- Salt and flour\n- Water"])) == [
        "Salt and flour"
    ]


def test_no_more_than_asked_for():
    passages = [f"Tax number {i} fell." for i in range(9)]
    assert len(extract_answer("tax", passages, max_sentences=2).sentences) == 2


def test_equal_scores_stay_in_reading_order():
    assert texts(extract_answer("tax", ["Tax rose. Tax fell.", "Tax stayed."])) == [
        "Tax rose.",
        "Tax fell.",
        "Tax stayed.",
    ]


def test_a_sentence_that_occurs_twice_is_taken_once_from_the_first_passage():
    extraction = extract_answer("tax", ["Bread. Tax fell.", "TAX  fell."])
    assert [(s.text, s.passage) for s in extraction.sentences] == [("Tax fell.", 1)]


REPEATS = [
    "The new tax on revenue fell to 12 percent in May.",
    "In May the tax on revenue fell to 12 percent.",
    "Revenue from tax exports rose in Norway.",
]


def test_by_rank_repeats_come_before_news():
    assert texts(extract_answer("tax on revenue", REPEATS, max_sentences=2)) == REPEATS[:2]


def test_coverage_picks_by_new_facts():
    found = texts(extract_answer("tax on revenue", REPEATS, max_sentences=3, coverage=True))
    assert found == [REPEATS[0], REPEATS[2]]


def test_the_tokenizer_can_be_given():
    exact = RegexTokenizer()
    assert extract_answer("taxes", ["A tax falls."], tokenizer=exact).abstention
    assert AnswerExtractor(tokenizer=exact).fingerprint != AnswerExtractor().fingerprint


@pytest.mark.parametrize("settings", [{"max_sentences": 0}, {"min_score": 0}, {"min_score": 1.1}])
def test_wrong_settings_are_refused(settings):
    with pytest.raises(ConfigError, match=next(iter(settings))):
        extract_answer("q", PASSAGES, **settings)


def test_what_cannot_be_read_is_an_error():
    with pytest.raises(VerificationError, match="the query"):
        extract_answer(None, PASSAGES)
    with pytest.raises(VerificationError, match="passage 1"):
        extract_answer("q", [None])


TEXTS = st.lists(
    st.sampled_from(["Tax fell", "revenue grew", "bread", ". ", "! ", "\n\n- "]), max_size=12
)


@given(TEXTS.map(" ".join), st.lists(TEXTS.map(" ".join), max_size=4), st.booleans())
def test_sentences_are_verbatim_and_the_result_repeatable(query, passages, coverage):
    extraction = extract_answer(query, passages, coverage=coverage, min_score=0.3)
    assert bool(extraction.sentences) == (extraction.abstention is None)
    for sentence in extraction.sentences:
        assert sentence.text == sentence.span.of(passages[sentence.passage - 1])
        assert 0.3 <= sentence.score + 1e-9 <= 1.0 + 1e-9
    assert extract_answer(query, passages, coverage=coverage, min_score=0.3) == extraction
