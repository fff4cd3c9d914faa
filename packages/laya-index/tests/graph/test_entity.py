import pytest
from hypothesis import given
from hypothesis import strategies as st
from laya_index.graph.acronym import acronym, long_form_start, most_words
from laya_index.graph.entity import canonical_key, node_id
from laya_index.graph.link import canonical_link


@pytest.mark.parametrize(
    ("word", "short"),
    [
        ("RRF", "RRF"),
        ("BM25", "BM25"),
        ("BM25F", "BM25F"),
        ("FDEs", "FDE"),
        ("COVID-19", "COVID-19"),
        ("mRNAs", "mRNA"),
        ("eBay", None),
        ("ÖPNV", "ÖPNV"),
        ("ПО", "ПО"),
        ("XIV", None),
        ("A1", None),
        ("Word", None),
        ("word", None),
        ("WORDwithMore", None),
        ("A", None),
        ("A-", None),
        ("ABCDEFGHIJKLM", None),
    ],
)
def test_what_is_an_acronym(word: str, short: str | None) -> None:
    assert acronym(word) == short


@pytest.mark.parametrize(
    ("short", "text", "long"),
    [
        ("RRF", "we use Reciprocal Rank Fusion", "Reciprocal Rank Fusion"),
        ("BM25", "as in Best Matching 25", "Best Matching 25"),
        ("FDE", "a fixed-dimensional encoding", "fixed-dimensional encoding"),
        ("HMM", "a (Hidden Markov Model", "Hidden Markov Model"),
        ("TF-1", "of Thyroid factor 1", "Thyroid factor 1"),
        ("RRF", "something else", None),
        ("ABC", "abc", None),
        ("ABC", "", None),
        ("RRF", "the RRF for rich fusion", None),
        ("AB", "the AB", None),
        ("MZ", "the marginal zone", "marginal zone"),
        ("CO", "of Collins", None),
    ],
)
def test_long_forms(short: str, text: str, long: str | None) -> None:
    start = long_form_start(short, text)
    assert (None if start is None else text[start:]) == long


@given(st.from_regex(r"[A-Z]{2,6}", fullmatch=True), st.text(max_size=60))
def test_a_long_form_holds_the_letters_in_order(short: str, text: str) -> None:
    start = long_form_start(short, text)
    if start is not None:
        letters = iter(text[start:].casefold())
        assert all(letter in letters for letter in short.casefold())
        assert start == 0 or not text[start - 1].isalnum()


def test_each_letter_may_have_to_begin_a_word() -> None:
    assert long_form_start("USA", "University of Southern Alaska", initials=True) == 0
    assert long_form_start("USA", "University of Colorado at Denver", initials=True) is None
    assert long_form_start("BM25", "Best Matching 25", initials=True) == 0


def test_a_long_form_has_few_words() -> None:
    assert (most_words("AB"), most_words("RRF"), most_words("ABCDEFGH")) == (4, 6, 13)


@pytest.mark.parametrize(
    ("target", "document", "link"),
    [
        ("HTTPS://Example.com/A/#top", "", "https://example.com/A"),
        ("http://example.com", "", "http://example.com"),
        ("https://jane:secret@example.com/x?q=1", "", "https://example.com/x?q=1"),
        ("../adr/0001.md#why", "docs/bundle.md", "adr/0001.md"),
        ("bundle.md", "docs/stacks.md", "docs/bundle.md"),
        ("./a.md", "b.md", "a.md"),
        ("/top.md", "docs/a.md", "top.md"),
        ("#section", "a.md", None),
        ("mailto:x@example.com", "a.md", None),
        ("//host/x", "a.md", None),
        ("http://[bad", "a.md", None),
        ("", "a.md", None),
    ],
)
def test_links_have_one_form(target: str, document: str, link: str | None) -> None:
    assert canonical_link(target, document) == link


def test_spellings_of_one_entity_share_a_node() -> None:
    composed, decomposed = "Gro\u00dfmu\u0308nster  Z\u00fcrich", "GROSSM\u00dcNSTER ZU\u0308RICH"
    assert canonical_key("name", composed) == canonical_key("name", decomposed)
    assert canonical_key("code", "Foo") != canonical_key("code", "foo")
    assert node_id("name", "x") != node_id("code", "x")


@given(st.text())
def test_a_key_is_its_own_key(name: str) -> None:
    for kind in ("name", "code"):
        key = canonical_key(kind, name)
        assert canonical_key(kind, key) == key
