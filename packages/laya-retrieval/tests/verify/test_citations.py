"""The citation report: what each claim cites, quotes and counts, and what was not looked at."""

import dataclasses
import inspect
import sys
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from laya_retrieval.candidate import Candidate
from laya_retrieval.errors import VerificationError
from laya_retrieval.verify.base import Verifier
from laya_retrieval.verify.citations import CitationVerifier, verify_citations
from laya_retrieval.verify.report import CAVEAT
from laya_signals.errors import ConfigError

FIVE = ["one", "two", "three", "four", "five"]


def claims(answer, passages=FIVE):
    return verify_citations(answer, passages).claims


def brackets(answer, passages=FIVE):
    return [
        (item.text, item.numbers, item.out_of_range)
        for claim in claims(answer, passages)
        for item in claim.citations
    ]


# --- citations ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "cited"),
    [
        ("[1]", (1,)),
        ("[1][2]", (1, 2)),
        ("[1] [2]", (1, 2)),
        ("[1, 2]", (1, 2)),
        ("[1,2]", (1, 2)),
        ("[1; 2]", (1, 2)),
        ("[1],[3]", (1, 3)),
        ("[1], [3]", (1, 3)),
        ("[1-3]", (1, 2, 3)),
        ("[1–3]", (1, 2, 3)),
        ("[1 — 3]", (1, 2, 3)),
        ("[3-1]", (1, 2, 3)),
        ("[1, 3-5]", (1, 3, 4, 5)),
        ("[ 2 ]", (2,)),
        ("【2】", (2,)),
        ("[２]", (2,)),
        ("[2, 2]", (2,)),
    ],
)
def test_all_forms_of_a_citation(written, cited):
    (claim,) = claims(f"Revenue grew {written}.")
    assert claim.cited == cited
    assert not claim.out_of_range
    assert not claim.uncited


@pytest.mark.parametrize(
    ("written", "numbers", "out_of_range"),
    [
        ("[0]", (), ("0",)),
        ("[6]", (), ("6",)),
        ("[5, 6]", (5,), ("6",)),
        ("[0-2]", (1, 2), ("0-2",)),
        ("[4-9]", (4, 5), ("4-9",)),
        ("[1-999999999]", (1, 2, 3, 4, 5), ("1-999999999",)),
        ("[999999999999999999]", (), ("999999999999999999",)),
    ],
)
def test_what_names_no_passage_is_out_of_range(written, numbers, out_of_range):
    (claim,) = claims(f"Revenue grew {written}.")
    assert [(c.numbers, c.out_of_range) for c in claim.citations] == [(numbers, out_of_range)]
    assert claim.out_of_range
    assert not claim.uncited


@pytest.mark.parametrize(
    "written",
    [
        "[1](https://example.com)",
        '[1](https://example.com "title")',
        "[[1]](https://example.com)",
        "![1](chart.png)",
        "[1]()",
        "`a[1]`",
        "``x[1]``",
        "[^1]",
        r"\[1]",
        "[a]",
        "[]",
        "[1.5]",
        "<!-- [1] -->",
        "https://example.com/a[1]",
    ],
)
def test_links_footnotes_and_code_are_no_citations(written):
    (claim,) = claims(f"Revenue grew {written} today.")
    assert claim.uncited


def test_code_blocks_are_neither_claims_nor_citations():
    assert claims("```\nx[1] = 2\n```\n\n    y[2] = 3\n") == ()


def test_a_reference_link_is_no_citation():
    answer = "See [the report][1] and [2].\n\n[1]: https://example.com"
    assert brackets(answer) == [("[2]", (2,), ())]
    assert brackets("See [1].\n\n[1]: https://example.com") == []
    assert brackets("See [the report][1].") == [("[1]", (1,), ())]  # no such definition


def test_an_entry_in_a_list_of_sources_leaves_its_number_a_citation():
    answer = "Revenue grew [1].\n\n[1]: Annual report 2023, page 4\n[^2]: A footnote. With 7.\n"
    assert [(claim.text, claim.cited) for claim in claims(answer)] == [("Revenue grew [1].", (1,))]


def test_a_bracket_before_an_aside_is_a_citation():
    assert brackets("Revenue grew [1](as expected by all).") == [("[1]", (1,), ())]


def test_a_citation_after_the_full_stop_belongs_to_the_sentence_before():
    assert [claim.cited for claim in claims("Revenue grew.[1] Tax fell. [2]")] == [(1,), (2,)]


def test_headings_rules_and_a_closing_list_of_sources_are_no_claims():
    answer = "# Results [1]\n\nRevenue grew [1].\n\n---\n\n## Sources\n\n[1] Annual report 2023\n"
    assert [claim.text for claim in claims(answer)] == ["Revenue grew [1]."]
    assert [claim.text for claim in claims("Tax fell [2].\n\nSources:\n[2] A report, p. 7")] == [
        "Tax fell [2]."
    ]
    assert [claim.text for claim in claims("Tax fell [2].\n\nSources: [2], [3]")] == [
        "Tax fell [2]."
    ]


def test_list_items_and_table_rows_are_claims():
    answer = "- Revenue grew [1]\n- Tax fell\n\n| a | b [2] |\n|---|---|\n"
    assert [claim.cited for claim in claims(answer)] == [(1,), (), (2,)]


# --- quotes ---------------------------------------------------------------------------------------


def quote_states(answer, passages):
    return [item.state for claim in claims(answer, passages) for item in claim.quotes]


@pytest.mark.parametrize("marks", ['"{}"', "“{}”", "«{}»", "„{}“", "'{}'", "「{}」"])
def test_a_quote_is_found_in_the_passage_it_cites(marks):
    answer = f"The chair said {marks.format('revenue GREW')} [2]."
    (claim,) = claims(answer, ["nothing", "So: “Revenue\n grew” again"])
    (quote,) = claim.quotes
    assert quote.state == "found"
    assert quote.span.of(answer) == quote.text == "revenue GREW"
    (place,) = quote.places
    assert (place.passage, place.record_id) == (2, None)
    assert place.span.of("So: “Revenue\n grew” again") == "Revenue\n grew"


def test_a_quote_only_in_another_passage_is_elsewhere():
    assert quote_states('He said "it rose" [1].', ["it fell", "it rose"]) == ["elsewhere"]


def test_a_quote_in_no_passage_is_missing():
    assert quote_states('He said "it rose" [1].', ["it did rise"]) == ["missing"]


def test_without_a_citation_any_passage_will_do():
    assert quote_states('He said "it rose". And "it fell" [9].', ["it rose, it fell"]) == [
        "found",
        "found",
    ]


def test_a_quote_of_two_sentences_is_one_claim():
    (claim,) = claims('He said "It rose. It fell." [1]', ["It rose.  It fell."])
    assert [item.state for item in claim.quotes] == ["found"]
    assert claim.cited == (1,)


# --- numbers --------------------------------------------------------------------------------------


def number_states(answer, passages):
    return [item.state for claim in claims(answer, passages) for item in claim.numbers]


@pytest.mark.parametrize(
    ("answer", "passage", "state"),
    [
        ("Revenue was $1,200.00 [1].", "Revenue: 1200", "found"),
        ("Revenue was 1200.0 [1].", "Revenue: $1,200.00", "found"),
        ("Revenue was 1 234 567 [1].", "Revenue: 1,234,567", "found"),
        ("Revenue was 1201 [1].", "Revenue: 1200", "missing"),
        ("Revenue was 1,234 [1].", "Revenue: 1.234", "unclear"),
        ("It grew by 3 points [1].", "see [3]", "missing"),  # a marker in the passage is no 3
        ("It was founded in 2023 [1].", "Founded 2023-05-01", "found"),
        ("It was founded on 2023-05-01 [1].", "Founded May 1, 2023", "unclear"),
        ("In group 12 345 took part [1].", "12 groups, 345 people", "unclear"),
        ("In group 12 there were 345 [1].", "12 345 people", "unclear"),
        ("3万5000人 [1]", "35000人", "unclear"),
    ],
)
def test_numbers_by_value(answer, passage, state):
    assert set(number_states(answer, [passage])) == {state}


def test_a_number_only_in_another_passage_is_elsewhere_and_its_place_is_told():
    answer = "Revenue was 7 [1]."
    (claim,) = claims(answer, [Candidate("a", 1.0, "5"), Candidate("b", 1.0, "or 7.0")])
    (number,) = claim.numbers
    assert number.state == "elsewhere"
    assert [(p.passage, p.record_id, p.span.of("or 7.0")) for p in number.places] == [
        (2, "b", "7.0")
    ]
    assert number.span.of(answer) == "7"


def test_citation_numbers_and_list_numbers_are_not_numbers_of_the_claim():
    assert number_states("1. Revenue grew [1].\n2. Tax fell [2, 3].", FIVE) == []


# --- the whole ------------------------------------------------------------------------------------


def test_the_counts():
    report = verify_citations(
        'Revenue was 5 [1]. He said "so" [2]. Tax fell [9]. "No," he said. It was 4.',
        ["5 and no", "four"],
    )
    counts = dataclasses.asdict(report.counts)
    assert counts == {
        "claims": 5,
        "cited": 3,
        "uncited": 2,
        "unchecked": 1,
        "claims_out_of_range": 1,
        "citations": 3,
        "citations_out_of_range": 1,
        "quotes": 2,
        "quotes_found": 1,
        "quotes_elsewhere": 0,
        "quotes_missing": 1,
        "numbers": 2,
        "numbers_found": 1,
        "numbers_elsewhere": 0,
        "numbers_unclear": 0,
        "numbers_missing": 1,
    }
    assert report.passages == 2


def test_the_report_says_what_it_does_not_establish():
    report = verify_citations("Revenue grew [1].", FIVE)
    assert report.caveat == CAVEAT
    assert "does not establish" in report.caveat


def test_it_never_says_verified():
    package = sys.modules["laya_retrieval.verify.citations"].__package__
    for name, module in sorted(sys.modules.items()):
        if name.startswith(f"{package}."):
            assert "verified" not in inspect.getsource(module).lower()


def test_an_empty_answer_and_no_passages():
    assert verify_citations("", []).claims == ()
    assert verify_citations(" \n", FIVE).counts.claims == 0
    (claim,) = claims('It was 5, "so" [1].', [])
    assert claim.out_of_range
    assert [item.state for item in (*claim.quotes, *claim.numbers)] == ["missing", "missing"]


def test_results_cannot_be_changed():
    report = verify_citations("Revenue grew [1].", FIVE)
    with pytest.raises(dataclasses.FrozenInstanceError):
        report.passages = 3


@pytest.mark.parametrize(
    ("answer", "passages", "message"),
    [
        (None, [], "the answer is NoneType"),
        (b"x", [], "the answer is bytes"),
        ("x", "one text", "sequence of candidates or texts"),
        ("x", ["fine", 3], "passage 2 is int"),
    ],
)
def test_what_cannot_be_read_is_an_error(answer, passages, message):
    with pytest.raises(VerificationError, match=message):
        verify_citations(answer, passages)


def test_comparisons_can_be_turned_off():
    verifier = CitationVerifier(quotes=False, numbers=False)
    assert isinstance(verifier, Verifier)
    (claim,) = verifier.verify('It was "so", 5 [1].', FIVE).claims
    assert (claim.quotes, claim.numbers, claim.cited) == ((), (), (1,))
    with pytest.raises(ConfigError, match="fuzzy"):
        CitationVerifier(fuzzy=True)


WORDS = ["Revenue", "grew", "tax", "fell", '"so"', "«x»", "1,234", "5%", "[1]", "[0]", "[1-9]"]
WORDS += ["[2](u)", "`c[1]`", "\n\n", "\n- ", ".", "!", "。", "# ", "```\n", "“", "'", "[1]: u\n"]


@given(st.lists(st.sampled_from(WORDS), max_size=30), st.lists(st.sampled_from(WORDS), max_size=8))
def test_every_offset_is_verbatim_and_inside_its_claim(answer_words, passage_words):
    answer = " ".join(answer_words)
    passages = [" ".join(passage_words), "Revenue 1234 so x"]
    report = verify_citations(answer, passages)
    end = 0
    for claim in report.claims:
        assert claim.text == claim.span.of(answer)
        assert end <= claim.span.start
        end = claim.span.end
        for item in (*claim.citations, *claim.quotes, *claim.numbers):
            assert item.text == item.span.of(answer)
            assert claim.span.start <= item.span.start < item.span.end <= claim.span.end
        for item in (*claim.quotes, *claim.numbers):
            assert (item.state == "missing") <= (not item.places)
            for place in item.places:
                assert place.span.of(passages[place.passage - 1])
    counts = report.counts
    assert counts.claims == counts.cited + counts.uncited == len(report.claims)
    assert verify_citations(answer, passages) == report


@pytest.mark.parametrize("unit", ["[1] ", "[", "[1](", "`", '"a ', "<", "[a][b] ", "1,", "("])
def test_hostile_answers_do_not_take_forever(unit):
    started = time.perf_counter()
    verify_citations(unit * (10_000 // len(unit)), FIVE)
    assert time.perf_counter() - started < 5
