"""Sentences: verbatim spans that survive what full stops are also used for."""

import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from laya_retrieval.sentences import Span, split_sentences


def sentences(text, **options):
    return [sentence.span.of(text) for sentence in split_sentences(text, **options)]


def kinds(text):
    return [(sentence.kind, sentence.span.of(text)) for sentence in split_sentences(text)]


SPLITS = {
    "plain": ["Revenue grew.", "Tax fell!", "Did it?", "Yes."],
    "title": ["Dr. Smith met Mrs. Jones.", "They spoke."],
    "latin abbreviation": ["It sells fruit, e.g. Apples, i.e. Granny Smith.", "Good."],
    "reference": ["See Fig. 3 and No. 5, pp. 12 to 14.", "Then stop."],
    "no is also a word": ["No.", "It is not."],
    "company": ["He left Acme Ltd.", "The board stayed."],
    "country inside a sentence": ["The U.S. Army moved."],
    "country at the end": ["He moved to the U.S.", "The army did not."],
    "initials": ["J. K. Rowling and George W. Bush met.", "They spoke."],
    "letter at the end": ["We chose plan B.", "It failed."],
    "decimal": ["Pi is 3.14, or about 3.1.", "Fine."],
    "version": ["Version 1.2.3 is out.", "Update."],
    "address": ["See https://example.com/a.b?c=d.e for more.", "Or not."],
    "file and domain": ["Open notes.txt on example.org.", "Close it."],
    "ellipsis in a sentence": ["Well... maybe he will."],
    "ellipsis at the end": ["He left…", "She stayed."],
    "quote after the stop": ['He said "It rose."', "Then he left."],
    "quote goes on": ['"It fell." he said.', "Then he left."],
    "curly quote": ["“It rose.”", "Then he left."],
    "question in a quote": ['"Did it rise?" he asked.', "It did."],
    "bracketed aside": ["It rose (see Sec. 2. And 3.) and fell.", "Good."],
    "inline code": ["Call `a.b. C.d` first.", "Then stop."],
    "emphasis": ["**It rose.**", "Then it fell."],
    "number at the end": ["It was 5.", "Then it was 6."],
    "year at the end": ["It was founded in 1999.", "Then it grew."],
    "steps in a line": ["The steps: 1. Do this.", "2. Do that."],
    "german ordinal": ["Am 3. Oktober war Feiertag.", "Alle feierten."],
    "german abbreviation": ["Das gilt z.B. Montag.", "Danach nicht."],
    "name in lower case": ["It sold.", "iPhone sales rose."],
    "exclamation in a name": ["Yahoo! is a firm.", "It grew."],
    "citation after the stop": ["Revenue grew.[1]", "Tax fell. [2][3]", "End."],
    "citation that begins a sentence": ["Revenue grew.", "[1] says so."],
    "footnote after the stop": ["Revenue grew.[^1]", "Tax fell."],
    "chinese": ["收入增长。", "利润下降！", "真的吗？", "是的。"],
    "chinese citation": ["收入增长。[1]", "利润下降。[2]"],
    "chinese quote": ["“好。”他说。", "他走了。"],
    "japanese speech": ["「はい。」と言った。", "終わり。"],
    "full-width point in a number": ["円周率は３．１４です。", "はい。"],
    "arabic": ["هل هذا صحيح؟", "نعم.", "هذا صحيح."],
    "urdu": ["یہ درست ہے۔", "وہ غلط ہے۔"],
    "hindi": ["यह सही है।", "वह गलत है।"],
    "all lower case": ["alpha beta e.g. gamma.", "delta."],
}


@pytest.mark.parametrize("expected", SPLITS.values(), ids=SPLITS.keys())
def test_a_sentence_ends_where_a_reader_would_say(expected):
    glue = "" if expected[0][-1] in "。]" and not expected[0].isascii() else " "
    assert sentences(glue.join(expected)) == expected


def test_a_company_name_goes_on_before_a_name_and_ends_before_a_beginning():
    assert sentences("Acme Inc. Chairman Bob left.") == ["Acme Inc. Chairman Bob left."]
    assert sentences("He left Acme Inc. The board stayed.") == [
        "He left Acme Inc.",
        "The board stayed.",
    ]


def test_structure_separates_what_punctuation_does_not():
    text = (
        "# A title. Really\n\nOne. Two\nwraps.\n- item one\n- item two. More\n1. first\n2) second"
        "\n\n> quoted\n\n| a | b |\n|---|---|\n| c | d |\n\nUnder\n=====\n\n[1]: https://x.y\n***\nend"
    )
    assert kinds(text) == [
        ("heading", "# A title. Really"),
        ("prose", "One."),
        ("prose", "Two\nwraps."),
        ("prose", "- item one"),
        ("prose", "- item two."),
        ("prose", "More"),
        ("prose", "1. first"),
        ("prose", "2) second"),
        ("prose", "> quoted"),
        ("prose", "| a | b |"),
        ("rule", "|---|---|"),
        ("prose", "| c | d |"),
        ("heading", "Under\n====="),
        ("link_definition", "[1]: https://x.y"),
        ("rule", "***"),
        ("prose", "end"),
    ]


def test_a_number_that_wrapped_to_the_start_of_a_line_is_no_list():
    assert sentences("It was founded in\n1999. Then it grew.") == [
        "It was founded in\n1999.",
        "Then it grew.",
    ]


@pytest.mark.parametrize("fence", ["```", "~~~", "````"])
def test_fenced_code_is_one_piece(fence):
    text = f"Before.\n{fence}py\nx = 1. Y\n\nz. W\n{fence}\nAfter."
    assert [kind for kind, _ in kinds(text)] == ["prose", "code", "prose"]


def test_an_unclosed_fence_runs_to_the_end():
    assert [kind for kind, _ in kinds("Before.\n```\nx. Y\n\nz.")] == ["prose", "code"]


def test_indented_code_is_code_only_after_a_blank_line_outside_a_list():
    assert kinds("Before.\n\n    x. Y\n    z\n\nAfter.")[1] == ("code", "x. Y\n    z")
    assert all(kind == "prose" for kind, _ in kinds("- item\n\n    more of it. Yes"))


def test_nothing_ends_inside_what_the_caller_keeps():
    text = 'He said "One. Two." Then he left.'
    assert sentences(text) == ['He said "One.', 'Two."', "Then he left."]
    assert sentences(text, keep=[Span(9, 18)]) == ['He said "One. Two."', "Then he left."]


@pytest.mark.parametrize("text", ["", " ", "\n\t\n", "\u3000"])
def test_nothing_gives_nothing(text):
    assert split_sentences(text) == []


CHARACTERS = "aB1 .!?…。？،؟।\n\"'“”«»「」()[]#-*`>|~:=\té中😀"
SNIPPETS = ["\r\n", "\u2028", "\n\n", "```", "Dr. ", "[1]", "e.g. ", "3.14", "http://a.b", "1. "]
SNIPPETS += ["- ", "---\n", "| a |\n", "[1]: x\n"]
PIECES = st.sampled_from([*CHARACTERS, *SNIPPETS])


@given(st.lists(PIECES, max_size=40).map("".join) | st.text(max_size=60))
@example("1. a\n\n\n    b")
def test_spans_are_verbatim_ordered_disjoint_and_cover_all_but_blanks(text):
    covered = set()
    end = 0
    for sentence in split_sentences(text):
        assert end <= sentence.span.start < sentence.span.end <= len(text)
        end = sentence.span.end
        piece = sentence.span.of(text)
        assert piece == piece.strip()
        covered.update(range(sentence.span.start, sentence.span.end))
    assert all(place in covered or character.isspace() for place, character in enumerate(text))


@pytest.mark.parametrize("unit", ["a. ", "(", "[1].", "`", "``` ", '"', "...", "1. ", "- a\n", "|"])
def test_time_grows_with_length_and_not_with_its_square(unit):
    started = time.perf_counter()
    split_sentences(unit * (50_000 // len(unit)))
    assert time.perf_counter() - started < 5
