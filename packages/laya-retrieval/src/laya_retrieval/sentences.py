"""Splits a text into sentences by its punctuation and Markdown structure, keeping every offset.

Rules, not a model: a full stop ends a sentence when what stands before it is no abbreviation,
initial, ordinal or list number, and what follows does not begin in lower case. Headings, list
items, table rows and fenced code are units of their own. The word lists are small and lean
English, with the most frequent German, French, Spanish and Italian forms.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

__all__ = ["Sentence", "SentenceKind", "Span", "split_sentences"]

SentenceKind = Literal["prose", "heading", "code", "rule", "link_definition"]


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A half-open range of characters, `text[start:end]`; offsets count Unicode code points."""

    start: int
    end: int

    def of(self, text: str) -> str:
        """The characters of `text` that this span covers."""
        return text[self.start : self.end]


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence, or one unit that is not prose, with its place in the text.

    `kind` is "prose" for sentences, list items and table rows; "heading"; "code" for a fenced or
    indented block; "rule" for a thematic break or the line under a table's head; and
    "link_definition" for `[label]: target` and `[^label]: footnote` lines.
    """

    span: Span
    kind: SentenceKind


def split_sentences(text: str, *, keep: Sequence[Span] = ()) -> list[Sentence]:
    """The sentences of `text` in order; no sentence ends strictly inside a span of `keep`.

    The spans are verbatim, disjoint and ascending, have no blank at either end, and cover every
    character that is not white space. An empty or blank text gives an empty list.
    """
    kept = sorted(keep)
    sentences: list[Sentence] = []
    for kind, start, end in _blocks(text):
        if kind != "prose":
            sentences.append(Sentence(Span(start, end), kind))
            continue
        sentences.extend(
            Sentence(Span(*piece), "prose") for piece in _split_block(text, start, end, kept)
        )
    return sentences


# --- blocks: the Markdown structure, line by line -------------------------------------------

_FENCE = re.compile(r"[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?(`{3,}|~{3,})([^`\n]*)$")
_ATX = re.compile(r"[ \t>]{0,3}#{1,6}(?:[ \t]|$)")
_SETEXT = re.compile(r" {0,3}(?:=+|-+)[ \t]*$")
_THEMATIC = re.compile(r" {0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$")
_TABLE_RULE = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)+\|?[ \t]*$")
_TABLE_ROW = re.compile(r"[ \t]*\|.*\|[ \t]*$")
_ITEM = re.compile(r"[ \t>]*(?:[-*+•‣◦·–]|\(?\d{1,3}[.)]|\(?[a-zA-Z]\))[ \t]+(?=\S)")
_QUOTED = re.compile(r" {0,3}>")
_DEFINITION = re.compile(r" {0,3}\[[^\]\n]+\]:[ \t]*\S+")
_INDENTED = re.compile(r"(?: {4}|\t)")


def _lines(text: str) -> Iterator[tuple[int, int]]:
    """Start and end of each line, without its line break."""
    start = 0
    for match in re.finditer(r"\r\n|[\n\r\x0b\x0c\x85\u2028\u2029]", text):
        yield start, match.start()
        start = match.end()
    yield start, len(text)


def _blocks(text: str) -> Iterator[tuple[SentenceKind, int, int]]:
    """Blocks in order, trimmed, none of them blank."""
    for kind, start, end in _raw_blocks(text):
        trimmed = _trim(text, start, end)
        if trimmed is not None:
            yield kind, *trimmed


def _raw_blocks(text: str) -> Iterator[tuple[SentenceKind, int, int]]:
    lines = list(_lines(text))
    open_start: int | None = None  # where the running paragraph began
    open_end = 0
    in_list = False
    blank_before = True
    i = 0

    def flush() -> Iterator[tuple[SentenceKind, int, int]]:
        nonlocal open_start
        if open_start is not None:
            yield "prose", open_start, open_end
            open_start = None

    while i < len(lines):
        start, end = lines[i]
        line = text[start:end]
        if not line.strip():
            yield from flush()
            blank_before = True
            i += 1
            continue
        fence = _FENCE.match(line)
        if fence:
            yield from flush()
            last = _closing_fence(text, lines, i, fence.group(1))
            yield "code", start, lines[last][1]
            i = last + 1
        elif _INDENTED.match(line) and blank_before and not in_list and open_start is None:
            last = i
            while last + 1 < len(lines) and _INDENTED.match(text[slice(*lines[last + 1])]):
                last += 1
            yield "code", start, lines[last][1]
            i = last + 1
        elif _ATX.match(line):
            yield from flush()
            yield "heading", start, end
            in_list = False
            i += 1
        elif open_start is not None and _SETEXT.match(line) and not blank_before:
            yield "heading", open_start, end
            open_start = None
            i += 1
        elif _THEMATIC.match(line) or _TABLE_RULE.match(line):
            yield from flush()
            yield "rule", start, end
            i += 1
        elif _DEFINITION.match(line):
            yield from flush()
            yield "link_definition", start, end
            i += 1
        elif _TABLE_ROW.match(line):
            yield from flush()
            yield "prose", start, end
            i += 1
        else:
            item = _ITEM.match(line)
            # A number that merely wrapped to the start of a line ("… in\n1999. Then") is no item:
            # inside a paragraph only 1 may start an ordered list, as CommonMark rules.
            if item and (open_start is None or in_list or not re.search(r"[02-9]", item[0])):
                yield from flush()
                in_list = True
            elif blank_before and not line[0].isspace():
                in_list = False
            if open_start is None:
                open_start = start
            elif _QUOTED.match(line) and not _QUOTED.match(text[open_start:open_end]):
                yield from flush()
                open_start = start
            open_end = end
            i += 1
        blank_before = False
    yield from flush()


def _closing_fence(text: str, lines: Sequence[tuple[int, int]], opened: int, fence: str) -> int:
    """The line that closes the fence of line `opened`; the last line when nothing does."""
    closing = re.compile(rf"[ \t>]*{re.escape(fence[0])}{{{len(fence)},}}[ \t]*$")
    for i in range(opened + 1, len(lines)):
        if closing.match(text[slice(*lines[i])]):
            return i
    return len(lines) - 1


def _trim(text: str, start: int, end: int) -> tuple[int, int] | None:
    """The range without white space at its ends; None when nothing is left."""
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return (start, end) if start < end else None


# --- sentences inside one block ---------------------------------------------------------------

# Terminators that need white space after them, and those that end a sentence by themselves.
_TERMINATOR = re.compile(r"(?P<weak>[.!?…‼⁇⁈⁉]+)|(?P<strong>[。！？｡．؟۔।॥።։။។᠃]+)")
_CLOSERS = re.compile(r"""["'”’»›“)\]}」』）】〉》＂*_~]*""")
_MARKERS = re.compile(r"(?:[ \t]*(?:\[\^?\d[\d\s,;–—‑−-]*\]|【\d[\d\s,;–—‑−-]*】)(?!\())+[.。]?")
_OPENERS = re.compile(r"""[\s"'“”„‘‚«‹»(\[{「『（【〈《*_~¿¡#>-]*""")
_WORD_BEFORE = re.compile(r"[^\W_](?:[^\s()\[\]{}\"“”„«»,;:!?。，、/–—]*[^\s()\[\]{}\"“”„«»,;:])?$")
_WORD = re.compile(r"[\w'’.-]*")
_INLINE_CODE = re.compile(r"(?<!`)(`{1,8})(?!`)(.{1,1000}?)(?<!`)\1(?!`)", re.DOTALL)
_PARENTHESES = re.compile(r"\([^()]{0,300}\)|（[^（）]{0,300}）")

# Never the end of a sentence: something always follows.
_TITLES = frozenset(
    """mr mrs ms mx dr prof rev hon gen col sgt lt capt cmdr adm gov sen rep pres supt st mt ft
    messrs mlle mme hr fr frl sig sra srta dott ing e.g i.e viz cf vs resp approx ca z.b d.h bzw
    vgl sog p.ex evtl ggf inkl zzgl""".split()
)
# The end of a sentence unless a number follows ("No. 5", but "No. It is not.").
_NUMBERED = frozenset(
    """no nos nr nrs num art fig figs abb tab sec sect ch chap vol p pp pg par para eq eqs ref refs
    app ex bd s kap v op ver jan feb mar apr jun jul aug sep sept oct nov dec okt dez""".split()
)
# The end of a sentence only when a word that begins sentences follows.
_MAYBE_END = frozenset(
    """inc ltd co corp bros llc plc jr sr etc al esq ph.d m.d b.a m.a b.sc m.sc a.m p.m u.a usw dept
    univ est ed eds trans min max avg gmbh ag cie ave blvd rd""".split()
)
_STARTERS = frozenset(
    """a after all also although an and another any as at because before both but by despite during
    each even every few finally first for from he her here his how however i if in indeed instead
    it its last later many more moreover most my neither next no none nor not now of on once one
    only or other our overall over several she since so some still such that the their then there
    therefore these they this those though thus to today together under until we what when where
    whether which while who why with without yet you your
    der die das ein eine er sie es wir ihr im in auch aber und diese dieser dieses nach seit
    le la les un une il elle ils nous vous ce cette ces mais et dans el los las uno una pero en
    """.split()
)
_MONTHS = frozenset(
    """januar jänner februar märz april mai juni juli august september oktober november dezember
    january february march may june july october december""".split()
)
_ROMAN = re.compile(r"[VX]|[IVXLC]{2,}")  # "I" alone is the pronoun
_DOTTED = re.compile(r"(?:[^\W\d_]\.)+[^\W\d_]")


def _split_block(text: str, start: int, end: int, kept: Sequence[Span]) -> list[tuple[int, int]]:
    block = text[start:end]
    guarded = _guarded(block, start, kept)
    lower_only = block == block.lower()
    pieces: list[tuple[int, int]] = []
    begin = 0
    for match in _TERMINATOR.finditer(block):
        if match.start() < begin:
            continue
        cut = _boundary(block, begin, match, lower_only)
        if cut is None or cut >= len(block) or _inside(guarded, cut):
            continue
        trimmed = _trim(text, start + begin, start + cut)
        if trimmed is not None:
            pieces.append(trimmed)
            begin = cut
    trimmed = _trim(text, start + begin, end)
    if trimmed is not None:
        pieces.append(trimmed)
    return pieces


def _guarded(block: str, start: int, kept: Iterable[Span]) -> list[tuple[int, int]]:
    """Ranges of the block that no sentence may end in: what the caller keeps, code, brackets."""
    ranges = [
        (span.start - start, span.end - start)
        for span in kept
        if span.end > start and span.start < start + len(block)
    ]
    if "`" in block:
        ranges.extend(match.span() for match in _INLINE_CODE.finditer(block))
    if "(" in block or "（" in block:
        ranges.extend(match.span() for match in _PARENTHESES.finditer(block))
    return _united(ranges)


def _united(ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The ranges ascending and disjoint; those that overlap become one."""
    united: list[tuple[int, int]] = []
    for left, right in sorted(ranges):
        if united and left < united[-1][1]:
            united[-1] = (united[-1][0], max(right, united[-1][1]))
        else:
            united.append((left, right))
    return united


def _inside(ranges: Sequence[tuple[int, int]], cut: int) -> bool:
    """Whether `cut` lies strictly inside one of the ascending, disjoint ranges."""
    place = bisect_left(ranges, (cut, 0)) - 1
    return place >= 0 and cut < ranges[place][1]


def _boundary(block: str, begin: int, match: re.Match[str], lower_only: bool) -> int | None:
    """Where the sentence that `match` may terminate ends; None when it does not end there."""
    closed = _CLOSERS.match(block, match.end())
    after = closed.end() if closed else match.end()
    # A bracket right after the stop may open a citation rather than close something.
    markers = _MARKERS.match(block, after)
    if match.lastgroup == "strong":
        return _strong_boundary(block, match, after, markers)
    if markers is not None and not _begins_lower(block, markers.end(), lower_only):
        glued = markers.end() == len(block) or block[markers.end()].isspace()
        return markers.end() if glued and _ends_sentence(block, begin, match, "") else None
    if after < len(block) and not block[after].isspace():
        return None
    if _begins_lower(block, after, lower_only):
        return None
    return after if _ends_sentence(block, begin, match, _next_word(block, after)) else None


def _strong_boundary(
    block: str, match: re.Match[str], after: int, markers: re.Match[str] | None
) -> int | None:
    if match.group() == "．" and _digit_at(block, match.start() - 1) and _digit_at(block, after):
        return None
    if markers is not None:
        return markers.end()
    # 「はい。」と言った: speech that goes on after its closing mark.
    if after > match.end() and after < len(block) and block[after].isalnum():
        return None
    return after


def _digit_at(block: str, place: int) -> bool:
    return 0 <= place < len(block) and block[place].isdigit()


def _next_word(block: str, after: int) -> str:
    opened = _OPENERS.match(block, after)
    word = _WORD.match(block, opened.end() if opened else after)
    return word.group() if word else ""


def _begins_lower(block: str, after: int, lower_only: bool) -> bool:
    """Whether the next word begins in lower case, brand names such as iPhone excepted."""
    if lower_only:
        return False
    word = _next_word(block, after)
    return word[:1].islower() and word == word.lower()


def _ends_sentence(block: str, begin: int, match: re.Match[str], following: str) -> bool:
    """Whether the terminator ends a sentence, judged by the word before and the word after it."""
    if match.group() != ".":
        return True
    before = _WORD_BEFORE.search(block, max(begin, match.start() - 60), match.start())
    if before is None:
        return True
    word = before.group()
    lowered = word.lower()
    starter = following.lower().rstrip(".'’") in _STARTERS and following[:1].isupper()
    if word.isdigit():
        return _number_ends(block, begin, before.start(), word, following)
    if lowered in _TITLES:
        return False
    if lowered in _NUMBERED:
        return not (following[:1].isdigit() or _ROMAN.fullmatch(following))
    if lowered in _MAYBE_END or _DOTTED.fullmatch(word):
        return following == "" or starter
    if len(word) == 1 and word.isupper():  # an initial, unless a sentence clearly begins
        return following == "" or starter
    return True


def _number_ends(block: str, begin: int, place: int, word: str, following: str) -> bool:
    if len(word) > 3:
        return True
    lead = block[begin:place].strip(" \t\r\n*_>(#-–•|")
    if not lead or lead.endswith((":", ";")):  # "1. Do this", "steps: 1. Do this"
        return False
    return not (len(word) <= 2 and following.lower().rstrip(".") in _MONTHS)  # "am 3. Oktober"
