"""HTML to the text that a reader sees, with its headings, lists, tables and code."""

from __future__ import annotations

from lxml import etree

from laya_index.source.charset import decode_html
from laya_index.source.loaded import Loaded, LoadError
from laya_index.source.rendering import inline_text, render

# What of a page's description is kept as metadata.
_META = frozenset({"author", "date", "description", "keywords"})


def load_html(data: bytes) -> Loaded:
    """Read an HTML file, however malformed; see `render` for what counts as its text.

    The title is that of the `<title>` element, else of the first `<h1>`. Raises `LoadError` for a
    page nested so deeply (2,048 elements) that the parser gives up, and like `decode` for bytes
    that are no text.
    """
    text = decode_html(data)
    parser = etree.HTMLParser(
        encoding="utf-8",
        huge_tree=True,
        no_network=True,
        recover=True,
        remove_comments=True,
        remove_pis=True,
    )
    try:
        root = etree.fromstring(text.encode("utf-8"), parser)
    except etree.XMLSyntaxError as error:
        if parser.error_log.filter_from_fatals():
            raise LoadError("malformed HTML", str(error)) from error
        return Loaded("")  # a comment and nothing else, say
    for problem in parser.error_log.filter_from_fatals():
        # The parser drops all that follows.
        raise LoadError("malformed HTML", f"line {problem.line}: {problem.message}")
    if root is None:
        return Loaded("")
    body = root.find("body")
    title = next((found for e in root.iter("title", "h1") if (found := inline_text(e))), "")
    return Loaded(render(root if body is None else body), title, _metadata(root))


def _metadata(root: etree._Element) -> dict[str, str]:
    found: dict[str, str] = {}
    if language := (root.get("lang") or "").strip():
        found["language"] = language
    for element in root.iter("meta"):
        name = (element.get("name") or "").strip().lower()
        content = " ".join((element.get("content") or "").split())
        if name in _META and content:
            found.setdefault(name, content)
    return found
