import itertools
import random

import pytest
import regex
from hypothesis import example, given, settings
from hypothesis import strategies as st
from laya_index.chunk.base import Chunker, SizedByCorpus, check_spans
from laya_index.chunk.paragraph import ParagraphChunker
from laya_index.document import OffsetMap, RedactedDocument, Span
from laya_index.errors import ChunkError
from laya_signals import ConfigError

MARKDOWN = "text/markdown"


def document(text: str, media_type: str = "text/plain") -> RedactedDocument:
    return RedactedDocument("d", text, "", media_type, "", {}, "", OffsetMap(), {})


def cut(text: str, media_type: str = "text/plain", **settings: int) -> list[Span]:
    chunker = ParagraphChunker({"chars": 60, "overlap": 20, "min_chars": 15, **settings})
    found = document(text, media_type)
    spans = chunker.chunk(found)
    check_spans(found, spans)
    assert spans == chunker.chunk(found)
    return spans


def pieces(text: str, media_type: str = "text/plain", **settings: int) -> list[str]:
    return [text[span.start : span.end] for span in cut(text, media_type, **settings)]


# Texts

CHARACTERS = st.one_of(
    st.characters(codec="utf-8", exclude_characters="\r"),
    st.sampled_from("abc .!?\n\t。！、東京語文のアשלוםمرحبا🎉é\u0301\u200d\u00a0\u2028"),
)
WORDS = st.one_of(
    st.text(CHARACTERS, max_size=12),
    st.sampled_from(
        [
            "word ",
            "Sentence ends. ",
            "\n",
            "\n\n",
            "👩‍👩‍👧‍👦",
            "e\u0301",
            "文書を索引にします。",
            "🇩🇪🇫🇷",
            "नमस्ते ",
        ]
    ),
    st.integers(1, 200).map(lambda n: "x" * n),
    st.integers(1, 60).map(lambda n: "語" * n),
)
PLAIN = st.lists(WORDS, max_size=30).map("".join)
SETTINGS = st.tuples(st.integers(50, 120), st.integers(0, 60), st.integers(1, 60)).map(
    lambda t: {"chars": t[0], "overlap": min(t[1], t[0] // 2), "min_chars": min(t[2], t[0] // 2)}
)

LINES = st.lists(
    st.text(st.sampled_from("ab. #|`-語"), min_size=1, max_size=30), min_size=1, max_size=6
)
BLOCKS = st.one_of(
    PLAIN,
    st.integers(1, 4).flatmap(
        lambda n: st.text(st.sampled_from("AB c"), max_size=40).map(lambda t: f"{'#' * n} {t}")
    ),
    st.sampled_from(
        [
            "Title\n=====",
            "Sub\n---",
            "[a]: http://b.example",
            "> quoted\n> # text",
            "<div>\nhtml\n</div>",
            "***",
        ]
    ),
    LINES.map(lambda lines: "```\n" + "\n".join(lines) + "\n```"),
    LINES.map(lambda lines: "~~~py\n# comment\n" + "\n".join(lines) + "\n~~~"),
    LINES.map(lambda lines: "\n".join(f"- {line}" for line in lines)),
    st.integers(1, 8).map(lambda n: "| a | b |\n|---|---|\n" + "| 1 | 2 |\n" * n),
)
MARKDOWNS = st.lists(BLOCKS, max_size=10).map("\n\n".join)


# Invariants


def check(text: str, media_type: str, config: dict) -> list[Span]:
    spans = cut(text, media_type, **config)  # non-empty, verbatim, covering, in order
    for span in spans:
        assert span.end - span.start <= config["chars"] + config["min_chars"]
    assert bool(spans) == bool(text.strip())
    starts = [span.start for span in spans]
    assert len(set(starts)) == len(starts)
    if len(spans) > 1:
        assert all(one.end < other.end for one, other in itertools.pairwise(spans))
    return spans


@settings(max_examples=100)
@given(PLAIN, SETTINGS)
@example("x" * 1000, {"chars": 50, "overlap": 25, "min_chars": 25})
def test_plain_text_is_cut_into_covering_spans_that_keep_every_fact_whole(
    text: str, config: dict
) -> None:
    spans = check(text, "text/plain", config)
    overlap = config["overlap"]
    for start in [match.start() for match in regex.finditer(r"\X", text)]:
        stretch = text[start : start + overlap].rstrip()
        if stretch and not stretch[0].isspace():
            end = start + len(stretch)
            assert any(span.start <= start and end <= span.end for span in spans)


@settings(max_examples=100)
@given(PLAIN, SETTINGS)
def test_no_cut_falls_inside_a_combined_character(text: str, config: dict) -> None:
    spans = cut(text, **config)
    clusters = [match.span() for match in regex.finditer(r"\X", text)]
    longest = max((end - start for start, end in clusters), default=0)
    if longest <= 12:
        bounds = {0, *(end for _, end in clusters)}
        # A blank that a mark sits on is trimmed all the same: spans have no blank edges.
        for span in spans:
            assert span.start in bounds or text[span.start - 1].isspace()
            assert span.end in bounds or text[span.end].isspace() or text[span.end - 1].isspace()


@settings(max_examples=100)
@given(MARKDOWNS, SETTINGS)
def test_markdown_is_cut_into_covering_spans(text: str, config: dict) -> None:
    check(text, MARKDOWN, config)


FILLER = st.integers(0, 150).map(lambda n: ("Some words. " * 20)[:n].strip())


@settings(max_examples=100)
@given(
    FILLER,
    st.sampled_from(["code", "table", "list"]),
    st.integers(1, 9),
    FILLER,
    st.sampled_from(["", "# Head\n\n", "# A\n\n## " + "B" * 50 + "\n\n"]),
)
def test_code_tables_and_lists_that_fit_are_whole_in_some_chunk(
    before: str, kind: str, rows: int, after: str, heading: str
) -> None:
    block = {
        "code": "```\n" + "# a = 1\n" * rows + "```",
        "table": "| a | b |\n|---|---|\n" + "\n".join(["| 1 | 2 |"] * rows),
        "list": "\n".join(f"- item {n}" for n in range(rows)),
    }[kind]
    text = f"{before}\n\n{heading}{block}\n\n{after}"
    found = pieces(text, MARKDOWN, chars=120, overlap=40, min_chars=20)
    assert len(block) <= 120
    assert any(block in piece for piece in found)


@settings(max_examples=100)
@given(
    st.lists(st.tuples(st.integers(1, 3), st.integers(1, 90), FILLER.filter(bool)), max_size=6),
    SETTINGS,
)
def test_a_heading_is_followed_by_text_in_its_chunk(
    sections: list[tuple[int, int, str]], config: dict
) -> None:
    text = "\n\n".join(f"{'#' * level} {'H' * n}\n\n{body}" for level, n, body in sections)
    for piece in pieces(text, MARKDOWN, **config):
        last = piece.rsplit("\n", 1)[-1]
        # A heading longer than half a chunk may have to be cut.
        if len(last) < config["chars"] // 2:
            assert not last.startswith("#")


# Examples


@pytest.mark.parametrize("text", ["", " \n\t\n "])
def test_a_text_without_visible_characters_has_no_chunks(text: str) -> None:
    assert cut(text) == cut(text, MARKDOWN) == []


def test_a_short_text_is_one_chunk_without_its_blank_edges() -> None:
    assert cut("\n\n  short  \n") == [Span(4, 9)]


def test_paragraphs_are_kept_together_and_cut_between() -> None:
    one, two, three = "First here. " * 3, "Second here. " * 3, "Third here. " * 3
    text = "\n\n".join(item.strip() for item in (one, two, three))
    assert pieces(text, overlap=0) == [one.strip(), two.strip(), three.strip()]


def test_a_long_paragraph_is_cut_between_sentences() -> None:
    text = "One is short. Two is a bit longer than one. Three goes on and on. Four."
    assert pieces(text, overlap=0, min_chars=1) == [
        "One is short. Two is a bit longer than one.",
        "Three goes on and on. Four.",
    ]


def test_text_without_spaces_is_cut_at_its_own_punctuation() -> None:
    text = "文書を索引にします。" * 12
    assert all(piece.endswith("。") for piece in pieces(text, overlap=0))


def test_a_closing_bracket_stays_with_its_sentence() -> None:
    text = "「文書を索引にします。」" * 12
    assert all(piece.endswith("。」") for piece in pieces(text, overlap=0))


def test_a_trailing_piece_that_is_too_short_joins_its_neighbour() -> None:
    text = "word " * 11 + "last. " + "Tiny."
    assert len(text) > 60
    assert pieces(text) == [text]
    headed = "# A\n\n" + "word " * 8 + "\n\n# B\n\nend"
    assert pieces(headed, MARKDOWN) == [headed]


def test_neighbours_overlap_from_the_start_of_a_sentence() -> None:
    text = "".join(f"Sentence {n} is here. " for n in range(10)).strip()
    found = cut(text)
    for one, other in itertools.pairwise(found):
        assert other.start <= one.end + 1 - 20  # the blank at the end was trimmed
        assert text[other.start :].startswith("Sentence")


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("# A\n\n{0}\n\n## B\n\n{0}\n\n# C\n\n{0}", [("A",), ("A", "B"), ("C",)]),
        ("A\n=\n\n{0}\n\nB\n-\n\n{0}\n\n### D\n\n{0}", [("A",), ("A", "B"), ("A", "B", "D")]),
        ("{0}\n\n# A\n\n{0}", [(), ("A",)]),
        ("# A\n\n## B\n\n{0}\n\n## C ##\n\n{0}", [("A", "B"), ("A", "C")]),
        ("# *A* `b`\n\n{0}", [("*A* `b`",)]),
        ("# A\n\n{0}\n\n#\n\n{0}", [("A",), ()]),
        (
            "# A\n\n```\n# not a heading, but a comment that is long enough\n```\n\n{0}",
            [("A",)] * 3,
        ),
        ("# A\n\n> # quoted\n\n{0}", [("A",)]),
        ("# A\n\nshort\n\n# B\n\n{0} {0} {0}", [("A",), ("B",), ("B",)]),
        ("pre\n\n# B\n\n{0} {0} {0}", [(), ("B",), ("B",)]),
    ],
)
def test_the_heading_path_names_the_headings_above(text: str, paths: list[tuple[str, ...]]) -> None:
    filled = text.format("Words that fill a whole chunk of text.")
    found = cut(filled, MARKDOWN, overlap=0, min_chars=1)
    assert [span.heading_path for span in found] == paths


def test_headings_mean_nothing_outside_markdown() -> None:
    assert [span.heading_path for span in cut("# A\n\ntext")] == [()]


def test_nested_and_unclosed_markdown_is_survived() -> None:
    for text in (">" * 500 + " deep", "- " * 300 + "deep", "```\nnever closed\n# x", "[" * 2000):
        assert "".join(pieces(text, MARKDOWN, overlap=0)).replace("\n", "").replace(" ", "")


@pytest.mark.parametrize(
    ("settings_", "key"),
    [
        ({"chars": 10}, "chars"),
        ({"chars": "all"}, "chars"),
        ({"chars": "auto", "overlap": 601}, "overlap"),
        ({"chars": 100, "overlap": 51}, "overlap"),
        ({"chars": 100, "overlap": 0, "min_chars": 51}, "min_chars"),
        ({"overlap": -1}, "overlap"),
        ({"size": 100}, "size"),
    ],
)
def test_settings_that_leave_no_room_are_refused(settings_: dict, key: str) -> None:
    with pytest.raises(ConfigError, match=key):
        ParagraphChunker(settings_)


def test_it_is_a_chunker() -> None:
    assert isinstance(ParagraphChunker(), Chunker)
    assert isinstance(ParagraphChunker(), SizedByCorpus)


@pytest.mark.parametrize(
    ("lengths", "chars"),
    [
        ([], 1200),
        ([5], 1200),
        ([1500], 1500),
        ([9_000] * 10, 2000),
        ([100] * 8 + [1300, 9000], 1300),  # the ninth of ten
        ([9000, 1300] + [100] * 8, 1300),
        ([100] * 9 + [1300, 9000], 1300),  # the tenth of eleven: 9.9, rounded up
        (range(1, 2001), 1800),
    ],
)
def test_auto_takes_the_90th_percentile_of_document_lengths(lengths: list, chars: int) -> None:
    auto = ParagraphChunker(chars="auto", overlap=300)
    sized = auto.sized_for(iter(lengths))
    assert sized.config == ParagraphChunker(chars=chars, overlap=300).config
    assert sized.fingerprint == ParagraphChunker(chars=chars, overlap=300).fingerprint
    assert sized.sized_for([1999]) is sized


def test_auto_without_the_lengths_is_refused() -> None:
    with pytest.raises(ChunkError, match="d: chars is auto"):
        ParagraphChunker(chars="auto").chunk(document("x"))


def test_a_very_long_line_takes_no_time_to_speak_of() -> None:
    rng = random.Random(0)
    text = "".join(rng.choices("abcdefg ", k=300_000))
    assert len(cut(text, chars=1200, overlap=400, min_chars=80)) > 300
    assert len(cut("語" * 300_000, chars=1200, overlap=400, min_chars=80)) > 300
