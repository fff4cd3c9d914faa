import re
import time

import lxml.html
import pytest
from hypothesis import given
from hypothesis import strategies as st
from laya_index.chunk.blocks import blocks_of
from laya_index.source.decode import BinaryContentError
from laya_index.source.html import load_html
from laya_index.source.loaded import LoadError


def text(html: str) -> str:
    return load_html(html.encode()).text


def kinds(html: str) -> list[tuple[str, str]]:
    found = text(html)
    blocks = blocks_of(found, "text/html")
    return [(block.kind, found[block.start : block.end]) for block in blocks]


# What a reader sees


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("", ""),
        ("just text", "just text"),
        ("<p>a</p>b<p>c", "a\n\nb\n\nc"),
        ("<div>a<div>b</div>c</div>", "a\n\nb\n\nc"),
        ("<p>a  <b>b</b>\n\t<i> c</i>,d</p>", "a b c,d"),
        ("<p>a<br>  b <br/> c", "a\nb\nc"),
        ("<p>&lt;b&gt; &amp;amp; &eacute;&nbsp;&#x1F600;&#8364;", "<b> &amp; é\u00a0😀€"),
        ("<p>&lt;div&gt;</p><h1>H</h1>", "<div>\n\n# H"),
        ("<p>a &unknown; &amp b", "a &unknown; & b"),
        (
            '<a href="http://x.example">link</a> and <img alt="a picture" src=x>',
            "link and a picture",
        ),
        ("<h1>A <em>b</em></h1>text", "# A b\n\ntext"),
        ("<h3>A<br>b</h3><h6> </h6>", "### A b"),
        ("<ul><li>a<li>b<br>c</ul>", "- a\n- b\n    c"),
        ("<ol><li>a</li><li>b</li></ol><p>c", "1. a\n2. b\n\nc"),
        ("<ol start=7><li>a</ol><ol start=x><li>b</ol>", "7. a\n\n1. b"),
        ("<ul><li>a<ol><li>b</li></ol></li><li>c</ul>", "- a\n    1. b\n- c"),
        ("<ul><li><p>a</p><p>b</p></li></ul>", "- a\n\n    b"),
        ("<li>stray", "stray"),
        ("<dl><dt>a<dd>b</dl>", "a\n\nb"),
        ("<pre>\n  a\n\n b </pre>", "```\n  a\n\n b\n```"),
        ('<pre><code class="x language-c++">a<br>b</code></pre>', "```c++\na\nb\n```"),
        ("<pre>```</pre>", "````\n```\n````"),
        ("<pre> </pre>", ""),
        (
            "<table><caption>C</caption><tr><th>a<th>b<tr><td>1<td>x|<p>y</table>",
            "C\n\n| a | b |\n| --- | --- |\n| 1 | x\\| y |",
        ),
        ("<table><tr><td>a</td></tr></table>", "a"),
        (
            "<table><tr hidden><td>x<td>y<tr><td>a<td>b<td hidden>c</table>",
            "| a | b |\n| --- | --- |",
        ),
        ("<table><tr><td><h2>H</h2>a</td><td><ul><li>b</ul></table>", "## H\n\na\n\n- b"),
        (
            "<table><tr><td>a<table><tr><td>1<td>2</table><td>b</table>",
            "a\n\n| 1 | 2 |\n| --- | --- |\n\nb",
        ),
        ("<table>x<tr><td>a<td>b</table>", "x\n\na\n\nb"),
        ("<table><tr><td>a<td>b</tr><p>x</table>", "a\n\nb\n\nx"),
        ("<table><td>a<td>b</table>", "a\n\nb"),
        ("<ruby>漢<rt>かん</rt>字<rt>じ</rt></ruby>", "漢字"),
        ("<p>a<custom-tag>b</custom-tag><blink>c</blink></p>", "abc"),
    ],
)
def test_html_becomes_markdown(html: str, expected: str) -> None:
    assert text(html) == expected


@pytest.mark.parametrize(
    "unseen",
    [
        "<script>gone()</script>",
        "<script>document.write('<p>gone</p>')</script>",
        "<style>.gone {}</style>",
        "<!-- gone -->",
        "<![CDATA[gone]]>",
        "<?php gone ?>",
        "<template><p>gone</p></template>",
        "<noscript>gone</noscript>",
        "<nav><ul><li>gone</ul></nav>",
        "<div role=navigation>gone</div>",
        "<div hidden>gone</div>",
        "<div aria-hidden=true>gone</div>",
        "<div style='color: red; display: none'>gone</div>",
        "<svg><title>gone</title><text>gone</text></svg>",
        "<button>gone</button><select><option>gone</select><textarea>gone</textarea>",
        "<iframe>gone</iframe><object>gone</object><video>gone</video>",
        "<dialog>gone</dialog>",
    ],
)
def test_what_no_reader_sees_is_left_out_and_what_follows_is_not(unseen: str) -> None:
    found = text(f"<p>before</p>{unseen} after<p>end</p>")
    assert "gone" not in found
    assert found.split() == ["before", "after", "end"]
    assert "gone" not in text(f"<table><tr><td>a<td>b{unseen}</table><h2>h{unseen}</h2>")


@pytest.mark.parametrize("tag", ["header", "footer", "aside", "main", "article", "section"])
def test_what_a_reader_sees_stays(tag: str) -> None:
    assert text(f"<{tag}>seen</{tag}>") == "seen"
    assert text("<dialog open>seen</dialog>") == "seen"


@pytest.mark.parametrize(
    "line",
    ["# no heading", "#", "```", "~~~ x", "====", "---", "<Script> x", "<!-- x", "<?x", "<pre"],
)
def test_text_that_looks_like_structure_is_not_taken_for_it(line: str) -> None:
    escaped = line.replace("&", "&amp;").replace("<", "&lt;")
    found = kinds(f"<p>text<br>{escaped}</p><h2>Real</h2><p>{escaped}</p><h2>Too</h2>")
    assert found == [
        ("paragraph", f"text\n\\{line}"),
        ("heading", "## Real"),
        ("paragraph", f"\\{line}"),
        ("heading", "## Too"),
    ]


def test_structure_is_what_the_chunkers_see() -> None:
    assert kinds(
        "<h1>A</h1><p>p<ul><li>x<ul><li>y</ul><li>z</ul><h2>B</h2><pre># no heading\n\nx</pre>"
        "<table><tr><th>a<th>b<tr><td>1<td>2</table>"
    ) == [
        ("heading", "# A"),
        ("paragraph", "p"),
        ("list", "- x\n    - y\n- z"),
        ("heading", "## B"),
        ("code", "```\n# no heading\n\nx\n```"),
        ("table", "| a | b |\n| --- | --- |\n| 1 | 2 |"),
    ]


# Title and metadata


@pytest.mark.parametrize(
    ("html", "title"),
    [
        ("<title> A &amp;\n b </title><h1>H</h1>", "A & b"),
        ("<title> </title><h2>no</h2><h1>H <i>i</i></h1><h1>J</h1>", "H i"),
        ("<p>x", ""),
    ],
)
def test_the_title_is_that_of_the_page_or_its_first_heading(html: str, title: str) -> None:
    assert load_html(html.encode()).title == title


def test_the_title_is_not_text() -> None:
    assert text("<html><head><title>T</title></head><body>x</body></html>") == "x"


def test_the_description_of_a_page_is_metadata() -> None:
    html = (
        '<html lang="de"><meta name=Description content=" some\n text ">'
        "<meta name=viewport content=x><meta name=author content=A>"
        "<meta name=author content=B><meta name=keywords content=''>x"
    )
    expected = {"language": "de", "description": "some text", "author": "A"}
    assert load_html(html.encode()).metadata == expected


# Encodings

UMLAUTS = "<p>Größe über Straße</p>"


@pytest.mark.parametrize(
    ("head", "body", "encoding"),
    [
        ("", UMLAUTS, "utf-8"),
        ("", UMLAUTS, "utf-8-sig"),
        ("", UMLAUTS, "utf-16"),
        ("<meta charset=iso-8859-1>", UMLAUTS, "cp1252"),
        ("<meta charset=latin1>", "<p>“quoted” €</p>", "cp1252"),  # as browsers read it
        ('<META http-equiv=x content="text/html; charset=windows-1252">', UMLAUTS, "cp1252"),
        ('<?xml version="1.0" encoding="windows-1252"?>', UMLAUTS, "cp1252"),
        ("<!-- <meta charset=koi8-r> --><meta charset='windows-1252'>", UMLAUTS, "cp1252"),
        ("<meta charset=Shift_JIS>", "<p>日本語の文章</p>", "cp932"),
        ("<meta charset=euc-kr>", "<p>한국어 똠방각하</p>", "cp949"),
        ("<meta charset=gb2312>", "<p>简体中文 镕</p>", "gb18030"),
        ("<meta charset=iso-2022-jp>", "<p>日本語</p>", "iso2022_jp"),
        ("<meta charset=koi8-r>", "<p>Привет</p>", "koi8-r"),
        ("<meta charset=iso-8859-1>", UMLAUTS, "utf-8"),  # declared wrongly
        ("<meta charset=utf-16>", UMLAUTS, "utf-8"),
        ("<meta charset=unicode_escape>", UMLAUTS, "utf-8"),
        ("<meta charset=base64>", "<p>\\u0041</p>", "ascii"),
        ("<meta charset=no-such>", UMLAUTS, "utf-8"),
    ],
)
def test_the_encoding_is_found(head: str, body: str, encoding: str) -> None:
    expected = body.removeprefix("<p>").removesuffix("</p>")
    assert load_html((head + "\r\n" + body).encode(encoding)).text == expected


def test_bytes_that_are_no_text_are_refused() -> None:
    with pytest.raises(BinaryContentError):
        load_html(b"<meta charset=windows-1252>\x01\x02\xff" + bytes(range(256)))


# Malformed, deep, huge


@pytest.mark.parametrize(
    "html",
    [
        "<p>seen<b><i>x</b></i></div></p></table>",
        "<table><p>seen</table>",
        "<a href='x>y'>seen",
        "seen<",
        "seen<a",
        "seen</",
        "seen<!",
        "<html><html><body><body>seen</html>",
        "<p>seen<p" + " a=1" * 1000,
        "\ufffe\x0b seen \x01",
    ],
)
def test_malformed_html_is_read_as_far_as_it_goes(html: str) -> None:
    assert "seen" in text(html)


MARKUP = (
    "<p> </p> <ul> <li> <table> <tr> <td> <pre> <h2> <br> <nav> <!-- --> < > \" ' = & # x <b> </b> "
    "</ul> </table> <script> </pre> - ` |"
).split(" ")


@given(st.lists(st.sampled_from([*MARKUP, " ", "\n"]), max_size=40).map("".join))
def test_any_markup_gives_text_without_blank_edges(html: str) -> None:
    found = text(html)
    assert found == found.strip("\n")
    assert found == text(html)
    list(blocks_of(found, "text/html"))


@given(st.lists(st.sampled_from([*MARKUP, "w"]), max_size=40))
def test_no_visible_word_is_lost(markup: list[str]) -> None:
    html = "".join(f"word{n} " if item == "w" else item for n, item in enumerate(markup))
    parser = lxml.html.HTMLParser(encoding="utf-8", remove_comments=True)
    root = lxml.html.document_fromstring(f"<p>{html}", parser=parser)
    for element in root.xpath("//script | //nav | //head"):
        element.drop_tree()
    assert re.findall(r"word\d+", text(f"<p>{html}")) == re.findall(r"word\d+", root.text_content())


def test_a_page_nested_too_deeply_is_refused_not_cut() -> None:
    assert "deep" in text("<div>" * 1000 + "deep")
    for tag in ("<div>", "<b a=1>", "<table><tr><td>", "<ul><li>"):
        with pytest.raises(LoadError, match=r"malformed HTML: line 1: Excessive depth"):
            load_html((tag * 50_000 + "deep").encode())


@pytest.mark.parametrize(
    "unit",
    [
        "<!--", "<a ", '<a b="', "</a ", "&", "&#", "<", "<p>x", "<br>", "<script>", "<pre>",
        "<p>x</p><h2>y</h2>", "<table><tr><td>1<td>2</table>", "<ul><li>x</ul>", "x ", "<b></b>",
        "<table><tr><td>1<td><h2>h</h2></table>", "`", "<pre>`</pre>", "\n",
    ],
)  # fmt: skip
def test_time_grows_with_size_only(unit: str) -> None:
    begin = time.perf_counter()
    try:
        text(unit * (300_000 // len(unit)))
    except LoadError:
        assert unit == "<pre>"
    assert time.perf_counter() - begin < 10


def test_lists_in_lists_do_not_outgrow_the_page() -> None:
    html = "<ul><li>x" * 900
    assert len(text(html)) < 6 * len(html)
