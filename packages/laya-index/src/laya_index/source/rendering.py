"""From a parsed HTML tree to Markdown: the little of it that chunkers understand."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lxml import etree

_HEADINGS = {f"h{level}": level for level in range(1, 7)}
#: Elements that no reader sees, or that are no text: controls, drawings, fallbacks.
_UNSEEN = frozenset(
    "annotation annotation-xml applet audio base button canvas datalist embed frame frameset head "
    "iframe input link map meta meter noembed noframes noscript object option output param "
    "progress rp rt script select source style svg template textarea track video".split()
)
#: Elements and roles that lead to other pages.
_NAVIGATION_ROLES = frozenset({"menu", "menubar", "navigation", "search"})
_BLOCKS = frozenset(
    "address article aside blockquote body caption center dd details dialog dir div dl dt "
    "fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr html legend li "
    "main menu ol p pre section summary table tbody td tfoot th thead tr ul".split()
)
_LISTS = frozenset({"dir", "menu", "ol", "ul"})
# A table that holds one of these is there for the layout of the page.
_NOT_IN_TABLES = ("table", "pre", "ul", "ol", "blockquote", *_HEADINGS)
_FRAME = frozenset("caption col colgroup tbody tfoot thead tr".split())
_CELLS = frozenset({"td", "th"})
_HIDDEN = re.compile(r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)\b", re.I)
_BLANKS = re.compile(r"[ \t\n\r\f]+")
# What would be read, at the start of a line, as a heading, a fence, an underline, or HTML that does
# not end with its paragraph.
_MARKUP = re.compile(
    r"^(?=#{1,6}(?:[ \t]|$)|```|~~~|(?:=+|-+)[ \t]*$|<(?:[!?]|(?i:script|style|pre|textarea)\b))",
    re.M,
)
_LANGUAGE = re.compile(r"(?:^|\s)lang(?:uage)?-([\w+#.-]+)")
_INDENT = "    "
# Deeper lists are not indented any further, or indents would outgrow the text.
_DEEPEST = 6


def render(body: etree._Element) -> str:
    """The visible text below `body`: blocks between blank lines, in document order.

    - Headings are `## Heading`; list items `- item` or `1. item`, indented by depth; `<pre>` is a
      fenced block with its language; a table is a Markdown table whose first row is the header.
      A table that holds lists, headings or tables is layout: its cells are blocks.
    - Links are their text, images their `alt`. Entities are decoded, white space is collapsed as
      browsers do; `<br>` is a line break.
    - Left out: scripts, styles, controls, drawings, what is hidden by attribute or inline style,
      and navigation (`<nav>`, roles navigation, menu, search). Headers, footers and asides stay.
    - A backslash is put before text that would be read as Markdown structure at a line's start.
    """
    renderer = _Renderer()
    for event, element, text in _walk(body):
        if event == "text":
            renderer.add(text)
        elif event == "end":
            renderer.end(element)
        elif element.tag == "pre":
            renderer.code(element)
        else:
            renderer.start(element)
    renderer.flush()
    return "".join(renderer.pieces)


def inline_text(element: etree._Element) -> str:
    """The visible text of an element on one line."""
    pieces = []
    for event, inner, text in _walk(element):
        if event == "text":
            pieces.append(text)
        elif inner.tag in _BLOCKS or inner.tag == "br":
            pieces.append(" ")
        elif event == "start" and inner.tag == "img":
            pieces.append(inner.get("alt") or "")
    return _BLANKS.sub(" ", "".join(pieces)).strip(" ")


def _walk(root: etree._Element) -> Iterator[tuple[str, etree._Element, str]]:
    """`start`, `text` and `end` of what is visible below `root`, itself included, in order.

    `<pre>` and tables of data only start: what is in them is read by whoever handles that.
    """
    walker = etree.iterwalk(root, events=("start", "end"))
    skipped = None
    for event, element in walker:
        if event == "start":
            if _is_unseen(element) and element is not root:
                skipped = element
                walker.skip_subtree()
                continue
            yield "start", element, ""
            if (element.tag == "pre" or _is_data(element)) and element is not root:
                skipped = element
                walker.skip_subtree()
            elif element.text:
                yield "text", element, element.text
        else:
            if element is skipped:
                skipped = None
            else:
                yield "end", element, ""
            if element.tail and element is not root:
                yield "text", element, element.tail


def _is_unseen(element: etree._Element) -> bool:
    if element.tag in _UNSEEN or element.tag == "nav" or element.get("hidden") is not None:
        return True
    if element.get("aria-hidden") == "true" or element.get("role") in _NAVIGATION_ROLES:
        return True
    if element.tag == "dialog" and element.get("open") is None:
        return True
    style = element.get("style")
    return style is not None and _HIDDEN.search(style) is not None


def _is_data(element: etree._Element) -> bool:
    """Whether an element is a table of data, not one that lays out the page."""
    if element.tag != "table" or element.get("role") in {"none", "presentation"}:
        return False
    if next(element.iterdescendants(*_NOT_IN_TABLES), None) is not None:
        return False
    cells = list(element.iterdescendants("td", "th"))
    if len(cells) < 2 or any(cell.getparent().tag != "tr" for cell in cells):
        return False
    # What stands beside rows and cells would be lost.
    rows = element.iterdescendants("tr")
    groups = (element, *element.iterdescendants("thead", "tbody", "tfoot"))
    return all(_holds_only(row, _CELLS) for row in rows) and all(
        _holds_only(group, _FRAME) for group in groups
    )


def _holds_only(element: etree._Element, tags: frozenset[str]) -> bool:
    if (element.text or "").strip():
        return False
    return all(child.tag in tags and not (child.tail or "").strip() for child in element)


class _Renderer:
    """Collects inline text until a block ends, and then writes the block."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self._inline: list[str] = []
        self._heading = 0
        #: The running number of every open list; None where items have no number.
        self._lists: list[int | None] = []
        #: What stands before the next line of the open list item; empty after that line.
        self._marker = ""
        self._after_item = False

    def start(self, element: etree._Element) -> None:
        """An element begins."""
        tag = element.tag
        if tag == "br":
            self._inline.append("\n")
        elif tag == "img":
            self.add(element.get("alt") or "")
        elif tag in _BLOCKS:
            self.flush()
            if tag in _HEADINGS:
                self._heading = _HEADINGS[tag]
            elif tag in _LISTS:
                self._lists.append(_first_number(element) if tag == "ol" else None)
            elif tag == "li":
                self._marker = self._next_marker()
            elif _is_data(element):
                self._table(element)

    def end(self, element: etree._Element) -> None:
        """An element ends."""
        tag = element.tag
        if tag in _BLOCKS:
            self.flush()
            if tag in _HEADINGS:
                self._heading = 0
            elif tag in _LISTS and self._lists:
                self._lists.pop()
                self._after_item = self._after_item and bool(self._lists)
            elif tag == "li":
                self._marker = ""

    def add(self, text: str) -> None:
        """Add inline text."""
        self._inline.append(_BLANKS.sub(" ", text))

    def flush(self) -> None:
        """Write the inline text so far as a block of its own, if any of it is visible."""
        text = "".join(self._inline)
        self._inline.clear()
        lines = [re.sub("  +", " ", line).strip(" ") for line in text.split("\n")]
        lines = [line for line in lines if line.strip()]
        if not lines:
            return
        if self._heading:
            self._block(f"{'#' * self._heading} {' '.join(lines)}")
            return
        lines = [_MARKUP.sub(r"\\", line) for line in lines]
        if not self._lists:
            self._block("\n".join(lines))
            return
        indent = _INDENT * (min(len(self._lists), _DEEPEST) - 1)
        if self._marker:
            lines[0] = self._marker + lines[0]
            rest = indent + _INDENT
            self._block(indent + f"\n{rest}".join(lines), tight=True)
            self._marker = ""
        else:
            indent += _INDENT
            self._block(indent + f"\n{indent}".join(lines))

    def code(self, element: etree._Element) -> None:
        """Write a `<pre>` as a fenced block; its white space is kept."""
        self.flush()
        text = _verbatim(element).strip("\n").rstrip()
        if not text.strip():
            return
        longest = max((len(run) for run in re.findall("`+", text)), default=0)
        fence = "`" * max(3, longest + 1)
        self._block(f"{fence}{_language(element)}\n{text}\n{fence}")

    def _table(self, table: etree._Element) -> None:
        for caption in table.iterdescendants("caption"):
            if not _is_unseen(caption) and (text := inline_text(caption)):
                self._block(_MARKUP.sub(r"\\", text))
        rows = []
        for row in table.iterdescendants("tr"):
            seen = (cell for cell in row.iterchildren("td", "th") if not _is_unseen(cell))
            cells = [inline_text(cell).replace("|", r"\|") for cell in seen]
            if any(cells) and not _is_unseen(row) and not _is_unseen(row.getparent()):
                rows.append(f"| {' | '.join(cells)} |")
                if len(rows) == 1:
                    rows.append(f"|{' --- |' * len(cells)}")
        if rows:
            self._block("\n".join(rows))

    def _next_marker(self) -> str:
        if not self._lists:
            return ""
        number = self._lists[-1]
        if number is None:
            return "- "
        self._lists[-1] = number + 1
        return f"{number}. "

    def _block(self, text: str, *, tight: bool = False) -> None:
        if self.pieces:
            self.pieces.append("\n" if tight and self._after_item else "\n\n")
        self.pieces.append(text)
        self._after_item = tight


def _first_number(element: etree._Element) -> int:
    start = (element.get("start") or "").strip()
    return int(start) if start.isascii() and start.isdecimal() and len(start) < 9 else 1


def _verbatim(element: etree._Element) -> str:
    """The visible text in an element with all its white space."""
    pieces = []
    walker = etree.iterwalk(element, events=("start", "end"))
    for event, inner in walker:
        if event == "start":
            if inner is not element and _is_unseen(inner):
                walker.skip_subtree()
            else:
                pieces.append("\n" if inner.tag == "br" else inner.text or "")
        elif inner is not element:
            pieces.append(inner.tail or "")
    return "".join(pieces)


def _language(element: etree._Element) -> str:
    for inner in (element, *element.iterchildren("code")):
        if (match := _LANGUAGE.search(inner.get("class") or "")) is not None:
            return match[1]
    return ""
