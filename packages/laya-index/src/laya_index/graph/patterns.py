"""Entities that have a recognisable form."""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Literal, NamedTuple

import regex
from laya_signals import Component, ComponentConfig
from laya_signals.tokenize.stopwords import ENGLISH
from pydantic import Field

from laya_index.graph.acronym import ROMAN, acronym, long_form_start, most_words
from laya_index.graph.entity import ACRONYM, CODE, LINK, NAME, Mention, canonical_key

Kind = Literal["name", "acronym", "code", "link"]

# How far each pattern is to be trusted, in order; no probabilities.
_CONFIDENCE = {
    "defined acronym": 0.95,
    "link": 0.9,
    "quoted code": 0.9,
    "several words": 0.8,
    "code": 0.7,
    "acronym": 0.7,
    "one word": 0.6,
}

# Every pattern reads a character a bounded number of times, whatever the text: no repetition
# inside another, a word begins where no word character stands before it, and lengths are limited.
_WORD = regex.compile(r"[\p{L}\p{N}_](?:[\p{L}\p{M}\p{N}_]|['’\-](?=[\p{L}\p{N}]))*+")
_DOTTED = regex.compile(
    r"(?<![\p{L}\p{N}_.@/\-])[\p{L}_][\p{L}\p{N}_/\-]*+(?:\.[\p{L}_][\p{L}\p{N}_]*+)++"
    r"(?![@\p{L}\p{N}_])"
)
_QUOTED = regex.compile(r"(?<!`)`([^`\n]{1,120})`(?!`)")
_QUOTED_NAME = regex.compile(r"[@.$\-]{0,2}([\p{L}\p{N}_][\p{L}\p{N}_.:/\-]*+)(?:\(.*\))?")
_TARGET = regex.compile(r"(?<=\]\(\s?)<?([^\s()<>\[\]]{1,2048})>?")
_ADDRESS = regex.compile(r"https?://[^\s<>()\[\]{}\"'`|]{1,2048}", regex.IGNORECASE)
_FENCE = regex.compile(r" {0,3}(`{3,}|~{3,})")
_HEADING = regex.compile(r" {0,3}#{1,6}(?:\s|$)")
_CAMEL = regex.compile(r"\p{L}[\p{L}\p{N}]*")
_HUMP = regex.compile(r"\p{Ll}\p{Lu}")
_SNAKE = regex.compile(r"[\p{L}\p{N}]_+[\p{L}\p{N}]")
_POSSESSIVE = ("'s", "’s")
_PARENTHESIS = regex.compile(r"\(([\p{L}\p{N}\-]{2,13})\)")

_LONGEST = 80
_MOST_WORDS = 6
# More words in capitals than this in a row is shouting.
_SHOUTING = 3
# A longer word in capitals at the start of a sentence is a label: RESULTS, WARNING.
_LONGEST_OPENING = 5
# What ends a sentence, or the like of it, between two words.
_ENDS = frozenset(".!?:;…|#>•。！？")
# A wider gap than this parts sentences, whatever stands in it.
_WIDE = 64
_LIST_MARKS = ("-", "*", "+")

# Words that name nothing, however they are written.
_FUNCTION = ENGLISH | frozenset(
    "i we he she you me him her us my our your his its who whom whose which what when where why "
    "how while since because although though after before during until unless than so also only "
    "from over under about between through without within against per via each every either "
    "neither both all any some many most more few several other another such same one two three "
    "first second third here now then yes do does did has have had can could may might must shall "
    "should would been being were let see use "
    "january february march april may june july august september october november december "
    "monday tuesday wednesday thursday friday saturday sunday".split()
)
# Words in small letters that a name may hold: University of Oxford, Ludwig van Beethoven.
_CONNECTORS = frozenset("of de del della der den des di da du la le van von zu bin ibn y".split())

_TEXT, _HEAD, _BLOCK, _TAKEN = range(4)


class PatternExtractorConfig(ComponentConfig):
    """Settings of `graph.patterns`.

    `kinds` are the kinds to look for; `ignore` are names that are never entities, in any case.
    """

    kinds: tuple[Kind, ...] = Field(default=("name", "acronym", "code", "link"), min_length=1)
    ignore: tuple[str, ...] = ()


class PatternExtractor(Component[PatternExtractorConfig]):
    """Capitalised phrases, acronyms, identifiers and links.

    - `name`: words that begin with a capital, up to six in a row. A single word at the start of a
      sentence, and any phrase in a heading, counts only if the same document has it inside a
      sentence; the first word of a sentence is no part of a phrase if the document has it in
      small letters too.
    - `acronym`: two capitals or more. `Reciprocal Rank Fusion (RRF)` and `RRF (reciprocal rank
      fusion)` give the long form.
    - `code`: `snake_case`, `CamelCase`, dotted names, and single words in back-ticks. In a fenced
      block nothing else is looked for.
    - `link`: web addresses, and the targets of Markdown links.
    """

    Config = PatternExtractorConfig

    def find(self, text: str) -> list[Mention]:
        """The mentions in `text`, by position."""
        page = _Page(text)
        found = [*page.links(), *page.quoted(), *page.dotted()]
        defined = {mention.start: mention for mention in page.definitions()}
        longs = [mention for mention in defined.values() if mention.type == NAME]
        found += defined.values()
        found += (mention for mention in page.words() if mention.start not in defined)
        inside = _Spans(longs)
        found += (mention for mention in page.names() if not inside.touches(mention))
        ignored = self._ignored
        return sorted(
            (
                mention
                for mention in found
                if mention.type in self.config.kinds
                and len(mention.name) <= (2048 if mention.type == LINK else _LONGEST)
                and canonical_key(NAME, mention.name) not in ignored
            ),
            key=lambda mention: (mention.start, mention.end, mention.type),
        )

    @cached_property
    def _ignored(self) -> frozenset[str]:
        return frozenset(canonical_key(NAME, name) for name in self.config.ignore)


class _Word(NamedTuple):
    """A word; `fresh` where a sentence begins with it."""

    start: int
    end: int
    text: str
    fresh: bool
    place: int

    @property
    def capital(self) -> bool:
        return self.text[0].isupper() or self.text[0].istitle()


class _Page:
    """A text, and what each of its characters belongs to."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.places = bytearray(len(text))
        self._blocks()

    def _blocks(self) -> None:
        """Mark headings and fenced blocks."""
        fence = ""
        start = 0
        for line in self.text.splitlines(keepends=True):
            mark = _FENCE.match(line)
            if fence:
                self._mark(start, start + len(line), _BLOCK)
                if mark and mark[1].startswith(fence) and not line[mark.end() :].strip(" `~\n"):
                    fence = ""
            elif mark:
                fence = mark[1]
                self._mark(start, start + len(line), _TAKEN)
            elif _HEADING.match(line):
                self._mark(start, start + len(line), _HEAD)
            start += len(line)

    def _mark(self, start: int, end: int, place: int) -> None:
        self.places[start:end] = bytes([place]) * (end - start)

    def links(self) -> Iterator[Mention]:
        """Addresses and link targets, which nothing else is looked for in."""
        for pattern, group in ((_TARGET, 1), (_ADDRESS, 0)):
            for match in pattern.finditer(self.text):
                start, end = match.span(group)
                if self.places[start] in (_BLOCK, _TAKEN):
                    continue
                target = match[group].rstrip(".,;:!?*_")
                self._mark(start, end, _TAKEN)
                if target:
                    yield Mention(start, start + len(target), LINK, target, _CONFIDENCE["link"])

    def quoted(self) -> Iterator[Mention]:
        """Single words in back-ticks, without the arguments of a call."""
        for match in _QUOTED.finditer(self.text):
            start, end = match.span(1)
            if self.places[start] in (_BLOCK, _TAKEN):
                continue
            self._mark(start, end, _TAKEN)
            name = _QUOTED_NAME.fullmatch(match[1].strip())
            if name is None or not any(char.isalpha() for char in name[1]) or len(name[1]) < 2:
                continue
            said = name[1].rstrip(".:/-")
            if (short := acronym(said)) is not None:
                yield Mention(start, end, ACRONYM, short, _CONFIDENCE["acronym"])
            else:
                yield Mention(start, end, CODE, said, _CONFIDENCE["quoted code"])

    def dotted(self) -> Iterator[Mention]:
        """Dotted names, but no sentence whose space was forgotten: `module.name`, `Class.name`."""
        for match in _DOTTED.finditer(self.text):
            start, end = match.span()
            if self.places[start] == _TAKEN:
                continue
            parts = match[0].split(".")
            if any(len(part) < 2 for part in parts):
                continue
            if not (any(map(_is_code, parts)) or all(part[0].islower() for part in parts[1:])):
                continue
            self._mark(start, end, _TAKEN)
            yield Mention(start, end, CODE, match[0], _CONFIDENCE["code"])

    @cached_property
    def _words(self) -> list[_Word]:
        """Every word outside links, back-ticks and dotted names."""
        found: list[_Word] = []
        last = 0
        for match in _WORD.finditer(self.text):
            start, end = match.span()
            if self.places[start] != _TAKEN:
                said = match[0]
                if said.endswith(_POSSESSIVE):
                    said = said[:-2]
                fresh = (
                    not found or found[-1].place != self.places[start] or self._parted(last, start)
                )
                found.append(_Word(start, start + len(said), said, fresh, self.places[start]))
            last = end
        return found

    def _parted(self, start: int, end: int) -> bool:
        """Whether a sentence ends in what stands between two words."""
        if end - start > _WIDE:
            return True
        gap = self.text[start:end]
        if gap == " ":
            return False
        lines = gap.split("\n")
        if len(lines) > 2 or (len(lines) == 2 and lines[1].strip()[:1] in _LIST_MARKS):
            return True
        return any(
            char in _ENDS and place != _TAKEN
            for char, place in zip(gap, self.places[start:end], strict=True)
        )

    @cached_property
    def _starts(self) -> list[int]:
        return [word.start for word in self._words]

    def definitions(self) -> Iterator[Mention]:
        """Acronyms with a long form beside them, and those long forms."""
        for match in _PARENTHESIS.finditer(self.text):
            short = acronym(match[1])
            if short is None or self.places[match.start(1)] not in (_TEXT, _HEAD):
                continue
            words = self._before(match.start(), most_words(short))
            if not words:
                continue
            start, end = words[0].start, words[-1].end
            if (offset := long_form_start(short, self.text[start:end])) is not None:
                yield from _defined(match.start(1), short, start + offset, self.text, end)
        for index, word in enumerate(self._words):
            short = acronym(word.text) if word.place in (_TEXT, _HEAD) else None
            opened = self.text[word.end : word.end + 2] == " ("
            if short is None or not opened:
                continue
            words = self._inside(index + 1, most_words(short))
            if not words:
                continue
            start, end = words[0].start, words[-1].end
            if start != word.end + 2:
                continue
            # The long form has nothing before it to be told from: be strict.
            if long_form_start(short, self.text[start:end], initials=True) == 0:
                yield from _defined(word.start, short, start, self.text, end)

    def _before(self, position: int, limit: int) -> list[_Word]:
        """Up to `limit` words right before `position`, all of one sentence."""
        index = bisect.bisect_left(self._starts, position)
        found: list[_Word] = []
        after = position
        while index > 0 and len(found) < limit:
            index -= 1
            word = self._words[index]
            if self.text[word.end : after].strip(" \n*_~\"'“”’") or after - word.end > 8:
                break
            found.append(word)
            after = word.start
            if word.fresh:
                break
        return found[::-1]

    def _inside(self, index: int, limit: int) -> list[_Word]:
        """The words from `index` up to the `)` that closes; none if it does not close in time."""
        found: list[_Word] = []
        for word in self._words[index : index + limit]:
            found.append(word)
            if self.text[word.end : word.end + 1] == ")":
                return found
            if self.text[word.end : word.end + 1] not in {" ", "-", "\n"}:
                break
        return []

    def words(self) -> Iterator[Mention]:
        """Acronyms and identifiers that are single words."""
        words = self._words
        for index, word in enumerate(words):
            if _is_code(word.text) and acronym(word.text) is None:
                name = word.text.strip("_") if word.place == _TEXT else word.text
                yield Mention(word.start, word.end, CODE, name, _CONFIDENCE["code"])
            elif word.place != _BLOCK and index not in self._shouted:
                short = acronym(word.text)
                if short is not None and not self._is_word(word, short):
                    end = word.start + len(short)
                    yield Mention(word.start, end, ACRONYM, short, _CONFIDENCE["acronym"])

    @cached_property
    def _shouted(self) -> frozenset[int]:
        """The places of words in capitals that stand in a row of more than a few."""
        found: set[int] = set()
        row: list[int] = []
        for index, word in enumerate(self._words):
            loud = word.text.isupper() and len(word.text) > 1
            if not loud or (
                row and not self.text[self._words[index - 1].end : word.start].isspace()
            ):
                if len(row) > _SHOUTING:
                    found.update(row)
                row = []
            if loud:
                row.append(index)
        if len(row) > _SHOUTING:
            found.update(row)
        return frozenset(found)

    @cached_property
    def _small(self) -> set[str]:
        """Every word that the text has in small letters."""
        return {word.text for word in self._words if not word.capital}

    def _is_word(self, word: _Word, short: str) -> bool:
        """Whether what is written like an acronym is some other word in capitals."""
        lower = short.casefold()
        if lower in _FUNCTION or lower in self._small:
            return True
        return word.fresh and _is_label(short)

    def names(self) -> Iterator[Mention]:
        """Capitalised phrases."""
        sure: set[str] = set()
        waiting: list[Mention] = []
        found: list[Mention] = []
        for run in self._runs():
            words = _trimmed(run, self._small)
            if not words:
                continue
            start, end = words[0].start, words[-1].end
            several = len(words) > 1
            if not several and not _is_name(words[0].text):
                continue
            name = " ".join(word.text for word in words)
            sort = "several words" if several else "one word"
            mention = Mention(start, end, NAME, name, _CONFIDENCE[sort])
            head = words[0].place == _HEAD
            if head or (words[0].fresh and not several):
                waiting.append(mention)
            else:
                found.append(mention)
                sure.add(canonical_key(NAME, name))
        yield from found
        yield from (item for item in waiting if canonical_key(NAME, item.name) in sure)

    def _runs(self) -> Iterator[list[_Word]]:
        """Capitalised words that stand side by side, connectors between them included."""
        words = self._words
        index = 0
        while index < len(words):
            if not self._starts_run(index):
                index += 1
                continue
            run = [words[index]]
            index += 1
            while index < len(words) and self._joined(index):
                if self._starts_run(index):
                    run.append(words[index])
                    index += 1
                elif (
                    words[index].text in _CONNECTORS
                    and index + 1 < len(words)
                    and self._joined(index + 1)
                    and self._starts_run(index + 1)
                ):
                    run += words[index : index + 2]
                    index += 2
                else:
                    break
            if len(run) <= _MOST_WORDS and not all(acronym(word.text) for word in run):
                yield run

    def _starts_run(self, index: int) -> bool:
        word = self._words[index]
        return word.capital and word.place in (_TEXT, _HEAD) and index not in self._shouted

    def _joined(self, index: int) -> bool:
        """Whether only white space parts a word from the one before."""
        before, word = self._words[index - 1], self._words[index]
        return not word.fresh and self.text[before.end : word.start].isspace()


class _Spans:
    """Spans of a text, none inside another."""

    def __init__(self, mentions: Iterable[Mention]) -> None:
        self._spans = sorted({(mention.start, mention.end) for mention in mentions})

    def touches(self, mention: Mention) -> bool:
        """Whether `mention` shares a character with one of them."""
        index = bisect.bisect_left(self._spans, (mention.end, 0))
        return index > 0 and self._spans[index - 1][1] > mention.start


def _defined(place: int, short: str, start: int, text: str, end: int) -> Iterator[Mention]:
    long = " ".join(text[start:end].split())
    sure = _CONFIDENCE["defined acronym"]
    yield Mention(place, place + len(short), ACRONYM, short, sure, long)
    yield Mention(start, end, NAME, long, sure)


def _is_code(word: str) -> bool:
    """`snake_case` or `CamelCase`."""
    if "_" in word and _SNAKE.search(word):
        return True
    if word.islower():
        return False
    return _HUMP.search(word) is not None and _CAMEL.fullmatch(word) is not None


def _trimmed(run: list[_Word], small: set[str]) -> list[_Word]:
    """`run` without what only stands there because of where it stands."""
    fresh = run[0].fresh
    while run and (
        _is_function(run[0].text)
        or (fresh and (run[0].text.casefold() in small or _is_label(run[0].text)))
    ):
        fresh = False
        run = run[1:]
        while run and run[0].text in _CONNECTORS:
            run = run[1:]
    while run and _is_function(run[-1].text):
        run = run[:-1]
    return run


def _is_name(word: str) -> bool:
    """Whether a capitalised word may name something on its own."""
    written_otherwise = acronym(word) or word in ROMAN or _is_code(word)
    return len(word) > 1 and not written_otherwise


def _is_label(word: str) -> bool:
    return len(word) > _LONGEST_OPENING and word.isalpha() and word.isupper()


def _is_function(word: str) -> bool:
    """Whether it names nothing; `I'm` is as good as `I`."""
    return word.casefold().replace("’", "'").partition("'")[0] in _FUNCTION
