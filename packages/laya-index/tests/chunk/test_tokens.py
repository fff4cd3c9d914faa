import itertools
import pickle
import random
from collections.abc import Callable, Sequence

import numpy as np
import pytest
import regex
from hypothesis import example, given, settings
from hypothesis import strategies as st
from laya_index.chunk.base import Chunker, check_spans
from laya_index.chunk.tokens import TokensChunker
from laya_index.document import OffsetMap, RedactedDocument, Span
from laya_index.errors import ChunkError
from laya_signals import ConfigError, EncodeError, Encoder
from laya_signals.encode.mini import MiniEncoder
from laya_signals.passage import titled
from numpy.typing import NDArray

MARKDOWN = "text/markdown"


class Counting:
    """An encoder that only counts."""

    fingerprint = "counting"
    dimension = 1
    max_tokens = 32

    def __init__(self, count: Callable[[str], int]) -> None:
        self.count = count

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [2 + self.count(text) for text in texts]

    def encode_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        raise NotImplementedError

    encode_queries = encode_documents


def merging(text: str) -> int:
    # Words of up to six characters are one token, so a cut inside a word makes more of them, and
    # a blank counts unless a short word follows it: nothing adds up.
    return sum(1 + len(word) // 7 for word in text.split()) + len(
        regex.findall(r"\s(?=\S{7})", text)
    )


COUNTERS = {
    "words": lambda text: len(text.split()),
    "bytes": lambda text: len(text.encode()) // 3,
    "merging": merging,
    "unknown": lambda text: sum(1 if len(w) > 20 else len(w) for w in text.split()),
}
MINI = MiniEncoder(max_tokens=40)


def document(text: str, media_type: str = "text/plain", title: str = "") -> RedactedDocument:
    return RedactedDocument("d", text, title, media_type, "", {}, "", OffsetMap(), {})


def cut(chunker: TokensChunker, found: RedactedDocument) -> list[Span]:
    spans = chunker.chunk(found)
    check_spans(found, spans)
    assert spans == chunker.chunk(found)
    texts = [titled(found.title, found.text[span.start : span.end]) for span in spans]
    assert max(chunker.encoder.count_tokens(texts), default=0) <= chunker.max_tokens
    return spans


def pieces(text: str, media_type: str = "text/plain", **settings: int) -> list[str]:
    chunker = TokensChunker(
        encoder=Counting(COUNTERS["words"]), **{"overlap": 0, "min_tokens": 1, **settings}
    )
    return [text[span.start : span.end] for span in cut(chunker, document(text, media_type))]


TEXTS = st.lists(
    st.one_of(
        st.text(st.characters(codec="utf-8", exclude_characters="\r"), max_size=10),
        st.sampled_from(
            [
                "word ",
                "Sentence ends. ",
                "\n\n",
                "👩‍👩‍👧‍👦",
                "文書を索引にします。",
                "नमस्ते ",
                "# Head\n\n",
                "- item\n",
                "```\ncode here\n```\n\n",
                "[SEP] <|endoftext|> ",
                "שלום ",
            ]
        ),
        st.integers(1, 400).map(lambda n: "語" * n),
        st.integers(1, 400).map(lambda n: ("aGVsbG8+d29ybGQ/" * 25)[:n]),
    ),
    max_size=25,
).map("".join)


@settings(max_examples=60)
@given(
    TEXTS,
    st.sampled_from(sorted(COUNTERS)),
    st.sampled_from(["text/plain", MARKDOWN]),
    st.sampled_from(["", "T", "A title"]),
    st.integers(0, 8),
)
@example("\u0301" * 500, "bytes", "text/plain", "", 8)
@example("x" * 5000, "words", "text/plain", "", 8)
@example("x" * 5000, "bytes", "text/plain", "T", 8)
def test_no_chunk_overflows_whatever_counts(
    text: str, counter: str, media_type: str, title: str, overlap: int
) -> None:
    chunker = TokensChunker(encoder=Counting(COUNTERS[counter]), overlap=overlap, min_tokens=4)
    spans = cut(chunker, document(text, media_type, title))
    assert bool(spans) == bool(text.strip())
    assert all(one.end < other.end for one, other in itertools.pairwise(spans))


@settings(max_examples=40)
@given(TEXTS, st.sampled_from(["", "The title"]))
def test_no_chunk_overflows_the_embedded_encoder(text: str, title: str) -> None:
    cut(TokensChunker(encoder=MINI, overlap=8, min_tokens=4), document(text, title=title))


@settings(max_examples=60)
@given(TEXTS)
def test_no_cut_falls_inside_a_combined_character(text: str) -> None:
    chunker = TokensChunker(encoder=Counting(COUNTERS["bytes"]), overlap=4, min_tokens=1)
    clusters = [match.span() for match in regex.finditer(r"\X", text)]
    if max((end - start for start, end in clusters), default=0) <= 12:
        bounds = {0, *(end for _, end in clusters)}
        for span in cut(chunker, document(text)):
            assert span.start in bounds or text[span.start - 1].isspace()
            assert span.end in bounds or text[span.end].isspace() or text[span.end - 1].isspace()


@pytest.mark.parametrize(
    "run",
    ["語" * 3000, "aGVsbG8+" * 1000, "x" * 3000, "👩‍👩‍👧‍👦" * 300, "a\u0301" * 2000, "٣" * 2000],
)
def test_a_run_without_a_blank_fits_all_the_same(run: str) -> None:
    for encoder in (MINI, Counting(COUNTERS["bytes"])):
        spans = cut(TokensChunker(encoder=encoder, overlap=8, min_tokens=4), document(run))
        assert spans[0].start == 0
        assert spans[-1].end == len(run)


def test_chunks_are_nearly_full() -> None:
    rng = random.Random(0)
    text = "".join(f"{rng.choice(['Short', 'Unbelievably'])} {n}. " for n in range(2000))
    chunker = TokensChunker(encoder=MiniEncoder(), overlap=0)
    spans = cut(chunker, document(text, title="A title"))
    counts = chunker.encoder.count_tokens(
        [titled("A title", text[span.start : span.end]) for span in spans]
    )
    assert chunker.max_tokens == 256
    assert min(counts[:-1]) > 240


# Examples


def test_whole_paragraphs_then_sentences_then_words() -> None:
    assert pieces("a b c d. " * 5 + "\n\n" + "e f g h. " * 5) == [
        ("a b c d. " * 5).strip(),
        ("e f g h. " * 5).strip(),
    ]
    assert pieces("a b c d. " * 10) == [("a b c d. " * 7).strip(), ("a b c d. " * 3).strip()]
    assert pieces("w " * 45) == [("w " * 30).strip(), ("w " * 15).strip()]


def test_neighbours_share_at_least_the_overlap() -> None:
    found = pieces("".join(f"Sentence {n} here. " for n in range(40)), overlap=6)
    for one, other in itertools.pairwise(found):
        shared = [k for k in range(1, 30) if one.split()[-k:] == other.split()[:k]]
        assert shared
        assert 6 <= max(shared) <= 9
        assert other.startswith("Sentence")


def test_headings_code_and_lists_are_treated_as_by_the_paragraph_chunker() -> None:
    code = "```\n" + "x = 1\n" * 4 + "```"
    text = f"# A\n\n{'w ' * 20}\n\n## B\n\n{code}"
    chunker = TokensChunker(encoder=Counting(COUNTERS["words"]), overlap=0, min_tokens=1)
    spans = cut(chunker, document(text, MARKDOWN))
    assert [span.heading_path for span in spans] == [("A",), ("A", "B")]
    assert text[spans[1].start : spans[1].end] == f"## B\n\n{code}"


def test_the_title_takes_room_from_the_passage() -> None:
    chunker = TokensChunker(encoder=Counting(COUNTERS["words"]), overlap=0, min_tokens=1)
    plain = cut(chunker, document("w " * 30))
    titled = cut(chunker, document("w " * 30, title="a b c d e"))
    assert (len(plain), len(titled)) == (1, 2)


def test_a_reserve_stays_free() -> None:
    for reserve, expected in ((0, 1), (8, 2)):
        chunker = TokensChunker(
            encoder=Counting(COUNTERS["words"]), overlap=0, min_tokens=1, reserve=reserve
        )
        assert len(cut(chunker, document("w " * 30))) == expected


def test_a_title_that_leaves_no_room_still_gives_chunks() -> None:
    chunker = TokensChunker(encoder=Counting(COUNTERS["words"]), overlap=0, min_tokens=1)
    found = document("w " * 30, title="t " * 40)
    spans = chunker.chunk(found)
    check_spans(found, spans)
    assert [span.end - span.start for span in spans] == [31, 27]


@pytest.mark.parametrize("text", ["", " \n "])
def test_a_text_without_visible_characters_has_no_chunks(text: str) -> None:
    assert pieces(text) == []


@pytest.mark.parametrize(
    ("settings_", "problem"),
    [
        ({"max_tokens": 33}, "max_tokens is 33, but the encoder takes 32"),
        ({"max_tokens": 8}, "max_tokens"),
        ({"overlap": 9}, r"overlap \(9\) may be at most a quarter of max_tokens \(32\)"),
        ({"overlap": 0, "min_tokens": 9}, r"min_tokens \(9\)"),
        ({"overlap": 4, "reserve": 9}, r"reserve \(9\)"),
        ({"overlap": -1}, "overlap"),
        ({"chars": 100}, "chars"),
    ],
)
def test_settings_that_leave_no_room_are_refused(settings_: dict, problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        TokensChunker(encoder=Counting(len), **{"overlap": 4, "min_tokens": 4, **settings_})


def test_a_text_that_cannot_be_counted_is_named() -> None:
    def refuse(text: str) -> int:
        raise EncodeError("text 0 is odd")

    with pytest.raises(ChunkError, match="d: its tokens cannot be counted: text 0 is odd"):
        TokensChunker(encoder=Counting(refuse), overlap=4, min_tokens=4).chunk(document("x"))


def test_the_encoder_is_named_in_the_settings_and_decides_the_fingerprint() -> None:
    block = {"provider": "encoder.mini", "config": {"max_tokens": 128}}
    built, default = TokensChunker({"encoder": block, "overlap": 32}), TokensChunker()
    assert isinstance(built, Chunker)
    assert isinstance(built.encoder, Encoder)
    assert (built.max_tokens, default.max_tokens) == (128, 256)
    assert built.fingerprint == TokensChunker(encoder=block, overlap=32).fingerprint
    assert built.fingerprint != default.fingerprint
    copy = pickle.loads(pickle.dumps(default))
    assert copy.fingerprint == default.fingerprint
    assert copy.chunk(document("some words")) == [Span(0, 10)]


def test_a_long_text_takes_no_time_to_speak_of() -> None:
    chunker = TokensChunker(encoder=MiniEncoder())
    for text in ("語" * 100_000, "word and another one. " * 10_000, "x" * 100_000):
        assert len(cut(chunker, document(text))) > 40
