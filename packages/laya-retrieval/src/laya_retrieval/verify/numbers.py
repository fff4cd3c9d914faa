"""Reads the numbers in a text by value, with every reading that their form allows.

`1,234` may be one thousand two hundred and thirty-four or one and a bit; which of them, a text
often shows elsewhere (`3.5` or `1,234.50`). Where it does, the other reading is kept as doubtful;
where it does not, both stand. Nothing is ever read that the form does not allow: no rounding, no
word numbers, no arithmetic.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import pairwise
from typing import Literal

from laya_retrieval.sentences import Span
from laya_retrieval.verify.brackets import BRACKET
from laya_retrieval.verify.digits import AMBIGUOUS, Digits, read_run, shifted, shown_decimal
from laya_retrieval.verify.markup import MASK

__all__ = ["Agreement", "Number", "NumberKind", "agreement", "find_numbers"]

NumberKind = Literal["number", "date", "time", "fraction", "version", "decade"]
Agreement = Literal["sure", "doubtful", "none"]


@dataclass(frozen=True, slots=True)
class Number:
    """A number in a text.

    `readings` are the values that its form allows, `doubtful` those that it allows only against
    the habit of the text or by a guess at its notation. `unit` is "%", "‰", "pp" (percentage
    points) or ""; currencies and measures are not compared. A date, time, fraction, version or
    decade has no readings and is compared by its `form`, the parts as written without leading
    zeros. `parts` are the year of a date, or the numbers that a grouping (`12 345`, `1,2`) falls
    into if it is none.
    """

    text: str
    span: Span
    readings: tuple[Decimal, ...]
    unit: str = ""
    kind: NumberKind = "number"
    form: str = ""
    doubtful: tuple[Decimal, ...] = ()
    parts: tuple[Number, ...] = ()


def agreement(one: Number, other: Number) -> Agreement:
    """Whether two numbers are the same: for sure, only by a guess, or not at all."""
    if one.kind != "number" or other.kind != "number":
        return "sure" if (one.kind, one.form) == (other.kind, other.form) else "none"
    if one.unit != other.unit:
        return "none"
    if set(one.readings) & set(other.readings):
        return "sure" if _settled(one, other) else "doubtful"
    if {*one.readings, *one.doubtful} & {*other.readings, *other.doubtful}:
        return "doubtful"
    return "none"


def _settled(one: Number, other: Number) -> bool:
    """Whether the reading that two numbers share follows from their forms without a guess."""
    if one.form == other.form or len(one.readings) == len(other.readings) == 1:
        return True
    # `1,234` against `1.234`: equal only if the two texts write numbers differently, which
    # nobody can tell while one of them still has both readings.
    return not (AMBIGUOUS.fullmatch(one.form) and AMBIGUOUS.fullmatch(other.form))


# --- forms ----------------------------------------------------------------------------------------

_THIN = "\u00a0\u202f\u2007\u2008\u2009"
_TOKEN = re.compile(
    rf"""
      (?P<date>(?<![\d.,/-])(?:
          [12]\d\d\d(?P<iso>[-/.])\d{{1,2}}(?P=iso)\d{{1,2}}
        | \d{{1,2}}(?P<dmy>[-/])\d{{1,2}}(?P=dmy)(?:\d{{4}}|\d\d)
        | \d{{1,2}}\.\d{{1,2}}\.[12]\d\d\d)(?![\d/-]|[.,]\d))
    | (?P<time>(?<![\d:])\d{{1,2}}:\d\d(?::\d\d)?(?![\d:]))
    | (?P<fraction>(?<![\d/])\d{{1,9}}/\d{{1,9}}(?![\d/]))
    | (?P<grouped>(?<!\d)\d{{1,3}}(?P<mark>[{_THIN}'’\x20])\d{{3}}(?:(?P=mark)\d{{3}})*
          (?P<rest>[.,]\d+)?(?![\d]|[.,]\d))
    | (?P<arabic>\d{{1,3}}(?:٬\d{{3}})+(?:٫\d+)?(?!\d)|\d+٫\d+)
    | (?P<run>\d+(?:[.,]\d+)*)
    | (?P<point>(?<![\w.,])\.\d+(?![.,]?\d))
    """,
    re.VERBOSE,
)
_KINDS = ("date", "time", "fraction", "grouped", "arabic", "run", "point")
_AS_WRITTEN: dict[str, NumberKind] = {"date": "date", "time": "time", "fraction": "fraction"}
_YEAR = re.compile(r"[12]\d\d\d")

# Holding no number of their own: citations, the numbers of a list, addresses.
_LIST_MARKER = re.compile(r"^[ \t>]*(?:[-*+•][ \t]+)?\(?\d{1,3}[.)](?=[ \t])", re.MULTILINE)
_URL = re.compile(r"(?:https?://|www\.)[^\s<>\"')\]]+")


def find_numbers(text: str) -> list[Number]:
    """The numbers of `text` in order; those in citation brackets, list numbers and names are none.

    Digits of any script; grouping by comma, point, apostrophe or (narrow, no-break) space, and
    Indian grouping; decimal comma or point; signs; per cent and per mille; powers of ten
    (`1.2e-5`, `3 × 10⁵`); scale words and signs (million, Mrd, lakh, 万, `$5M`). Digits inside
    words and identifiers (`COVID-19`, `A4`, `sha256`) are no numbers.
    """
    scanned = text
    for pattern in (BRACKET, _LIST_MARKER, _URL):
        scanned = pattern.sub(lambda match: MASK * len(match.group()), scanned)
    tokens = [
        match
        for match in _TOKEN.finditer(scanned)
        if _kind(match) in ("date", "time") or not _in_name(scanned, match)
    ]
    decimal = _decimal_habit(tokens)
    found: list[tuple[Number, int]] = []
    for match in tokens:
        # The 10 of a power of ten is part of the number before it.
        if not found or match.start() >= found[-1][0].span.end:
            found.extend(_read(text, scanned, match, decimal))
    return [number for number, _ in _share_units(scanned, found)]


def _kind(match: re.Match[str]) -> str:
    return next(kind for kind in _KINDS if match[kind] is not None)


def _decimal_habit(tokens: list[re.Match[str]]) -> str:
    """The decimal mark that the text's own unmistakable numbers use; "" if none, or both."""
    habits = set()
    for match in tokens:
        if match["run"]:
            habits.add(shown_decimal(_ascii(match.group())))
        elif match["rest"]:
            habits.add(match["rest"][0])
    habits.discard("")
    return habits.pop() if len(habits) == 1 else ""


def _ascii(digits: str) -> str:
    """Digits of any script as ASCII; other characters stay."""
    if digits.isascii():
        return digits
    return "".join(
        str(unicodedata.decimal(character)) if character.isdecimal() else character
        for character in digits
    )


# --- names ----------------------------------------------------------------------------------------

_UNSPACED = re.compile(
    r"[\u0e00-\u0eff\u1100-\u11ff\u2e80-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff]"
)
_LETTERS_BEFORE = re.compile(r"[^\W\d_]+$")
_LETTERS = re.compile(r"[^\W\d_]+")
_CURRENCY_CODES = frozenset(
    "usd us eur chf gbp jpy cny rmb inr aud cad nzd sgd hkd sek nok dkk krw brl mxn zar rs".split()
)
# What may be glued to a number without making it a name: ordinals, measures, currencies.
_SUFFIXES = frozenset(
    """st nd rd th er re ème eme x kg g mg µg μg t lb lbs oz km m cm mm nm µm μm mi ft yd ha l ml
    cl dl s ms µs μs ns h hr hrs min mins d y yr yrs w v kv mv kw mw gw kwh mwh gwh twh wh j kj mj
    hz khz mhz ghz thz b kb mb gb tb pb kib mib gib tib bit bits px pt em rem dpi fps mph kmh kph
    pa kpa hpa mpa bar psi k c f mol mmol ma mah db bp bps am pm p usd eur chf gbp jpy inr kr
    e""".split()
)


def _is_letter(character: str) -> bool:
    """A letter of a script that sets spaces between words, or an underscore."""
    return character == "_" or (character.isalpha() and not _UNSPACED.match(character))


def _in_name(scanned: str, match: re.Match[str]) -> bool:
    """Whether the digits belong to a word or an identifier."""
    start, end = match.span()
    before = scanned[max(0, start - 12) : start]
    if before and _is_letter(before[-1]):
        letters = _LETTERS_BEFORE.search(before)
        code = letters.group() if letters else ""
        version = code in ("v", "V") and match.group().count(".") > 1
        if not version and (code.lower() not in _CURRENCY_CODES or code.islower()):
            return True
    hyphenated = before[-1:] in ("-", "‐", "‑") and len(before) > 1 and _is_letter(before[-2])
    if hyphenated and not _YEAR.fullmatch(match.group()):  # COVID-19, but mid-2020
        return True
    return _begins_name(scanned, end)


def _begins_name(scanned: str, end: int) -> bool:
    after = scanned[end : end + 1]
    if after in ("-", "‐", "‑"):  # 10-K, but 5-year
        return bool(re.match(r"[A-Z](?![^\W\d_])", scanned[end + 1 : end + 3]))
    if not after or not _is_letter(after):
        return False
    letters = _LETTERS.match(scanned, end)
    if letters is None or _POWER.match(scanned, end):
        return letters is None
    word = letters.group()
    following = scanned[letters.end() : letters.end() + 1]
    if following.isdigit() or following == "_":
        return True
    return not (word.lower() in _SUFFIXES or word.lower() in _SCALES or word in _LETTER_SCALES)


# --- one token ------------------------------------------------------------------------------------

_CURRENCY_BEFORE = re.compile(r"(?:[A-Z]{0,3}[$€£¥₹₩₽₺฿₱₪₫]|\b(?:[A-Z]{3}|Rs\.?))[ \u00a0\u202f]?$")
_MINUS = "-−﹣－"

_SCALES = {
    word: power
    for power, words in {
        2: "hundred hundert",
        3: "thousand tausend tsd",
        5: "lakh lakhs lac",
        6: "million millions millionen mio mn mln millones millón milhão milhões milioni milione",
        7: "crore crores",
        9: "billion billions bn bln mrd milliarde milliarden milliard milliards miliardi miljard",
        12: "trillion trillions tn trn billionen billones",
    }.items()
    for word in words.split()
}
_UNSPACED_SCALES = {"千": 3, "천": 3, "万": 4, "萬": 4, "만": 4, "亿": 8, "億": 8, "억": 8}
# Glued to a number; a scale for sure behind a currency sign, and a guess elsewhere ("5M").
_LETTER_SCALES = {"k": 3, "K": 3, "M": 6, "m": 6, "B": 9, "b": 9, "T": 12}

_SCALE_WORD = re.compile(r"([ \u00a0\u202f-]?)([^\W\d_]+)\.?")
_UNSPACED_SCALE = re.compile("[ \u00a0]?([" + "".join(_UNSPACED_SCALES) + "])")
_STEPS = re.compile(r"[千万萬亿億천만억][\d千万萬亿億천만억]+")
_POWER = re.compile(
    r"[eE]([+\-−]?\d{1,4})(?![\w])"
    r"|\s?[×x·*]\s?10(?:\^|\*\*)\{?([+\-−]?\d{1,4})\}?"
    r"|\s?[×x·*]\s?10([⁺⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,4})"
)
_SUPERSCRIPTS = str.maketrans("⁺⁻⁰¹²³⁴⁵⁶⁷⁸⁹−", "+-0123456789-")
_PERCENT = re.compile(
    r"[ \u00a0\u202f-]?(?:(?P<pp>percentage points?\b|pp\b)|(?P<mille>‰)"
    r"|(?P<percent>[%％٪]|(?:per ?cent|pct|prozent|procent|pour ?cent|por ?ciento|per ?cento)\b))",
    re.IGNORECASE,
)
_UNITS = {"pp": "pp", "mille": "‰", "percent": "%"}


def _read(
    text: str, scanned: str, match: re.Match[str], decimal: str
) -> Iterator[tuple[Number, int]]:
    """The numbers of one token, each with the power of ten that its scale word added."""
    kind = _kind(match)
    start = match.start()
    written = _ascii(match.group())
    if kind in _AS_WRITTEN:
        yield _written(match.group(), start, written, _AS_WRITTEN[kind]), 0
        return
    pieces = _pieces(match, kind, written, decimal)
    for i, piece in enumerate(pieces):
        first, last = i == 0, i == len(pieces) - 1
        yield _in_context(text, scanned, start, piece, sign=first, suffix=last)


def _written(text: str, start: int, written: str, kind: NumberKind) -> Number:
    """A date, time or fraction, compared as written; a date has its year as a part."""
    form = " ".join(str(int(field)) for field in re.findall(r"\d+", written))
    years = [
        Number(year.group(), Span(start + year.start(), start + year.end()), (Decimal(year[0]),))
        for year in _YEAR.finditer(written if kind == "date" else "")
    ]
    span = Span(start, start + len(text))
    return Number(text, span, (), kind=kind, form=form, parts=tuple(years[:1]))


def _pieces(match: re.Match[str], kind: str, written: str, decimal: str) -> list[Digits]:
    if kind == "run":
        return read_run(written, decimal)
    length = len(written)
    if kind == "grouped":
        mark, rest = match["mark"], _ascii(match["rest"] or "").replace(",", ".")
        whole = written[: length - len(rest)]
        value = Decimal(whole.replace(mark, "") + rest)
        parts: tuple[Digits, ...] = ()
        if mark == " " and whole.count(mark) == 1:  # `chapter 12 345 people`: perhaps two numbers
            cut = whole.index(mark)
            parts = (
                Digits(0, cut, whole[:cut], (Decimal(whole[:cut]),)),
                Digits(cut + 1, length, written[cut + 1 :], (Decimal(whole[cut + 1 :] + rest),)),
            )
        return [Digits(0, length, str(value), (value,), parts=parts)]
    plain = written.replace("٬", "").replace("٫", ".")
    return [Digits(0, length, plain, (Decimal(plain),))]


def _in_context(
    text: str, scanned: str, offset: int, piece: Digits, *, sign: bool, suffix: bool
) -> tuple[Number, int]:
    """The piece with the sign before it and the scale and unit behind it."""
    start, end = offset + piece.start, offset + piece.end
    if not piece.readings:
        span = Span(start, end)
        return Number(span.of(text), span, (), kind="version", form=piece.form), 0
    readings, doubtful = piece.readings, piece.doubtful
    steps = _STEPS.match(scanned, end) if suffix else None
    if steps:  # 3万5000: written in two steps, which is not read
        span = Span(start, steps.end())
        return Number(span.of(text), span, (), form=piece.form), 0
    currency = _CURRENCY_BEFORE.search(scanned, max(0, start - 6), start) if sign else None
    power = 0
    unit = ""
    if suffix:
        if _is_decade(scanned, start, end):
            span = Span(start, end + 1)
            return Number(span.of(text), span, (), kind="decade", form=piece.form), 0
        power, guess, end = _scale(scanned, end, currency is not None)
        if guess:
            doubtful = (*doubtful, *(shifted(value, guess) for value in readings))
        percent = _PERCENT.match(scanned, end)
        if percent:
            unit = _UNITS[percent.lastgroup or "percent"]
            end = percent.end()
    readings = tuple(shifted(value, power) for value in readings)
    doubtful = tuple(shifted(value, power) for value in doubtful)
    if sign:
        start, readings, doubtful = _signed(scanned, start, end, currency, readings, doubtful)
    span = Span(start, end)
    parts = tuple(
        Number(
            text[offset + part.start : offset + part.end],
            Span(offset + part.start, offset + part.end),
            part.readings,
            form=part.form,
        )
        for part in piece.parts
    )
    number = Number(
        span.of(text), span, readings, unit, form=piece.form, doubtful=doubtful, parts=parts
    )
    return number, power


def _is_decade(scanned: str, start: int, end: int) -> bool:
    """`1990s`, `1990's`: ten years, not the number."""
    if not _YEAR.fullmatch(scanned[start:end]) or scanned[end - 1] != "0":
        return False
    return bool(re.match(r"(?:s|er)\b", scanned[end : end + 3]))


def _scale(scanned: str, end: int, currency: bool) -> tuple[int, int, int]:
    """The power of ten behind a number, one that is only a guess, and where the scale ends."""
    power = _POWER.match(scanned, end)
    if power:
        exponent = next(group for group in power.groups() if group is not None)
        return int(_ascii(exponent.translate(_SUPERSCRIPTS))), 0, power.end()
    unspaced = _UNSPACED_SCALE.match(scanned, end)
    if unspaced:
        return _UNSPACED_SCALES[unspaced[1]], 0, unspaced.end()
    match = _SCALE_WORD.match(scanned, end)
    if match is None:
        return 0, 0, end
    gap, word = match.groups()
    if word.lower() in _SCALES:
        # A German "Billion" is a million millions; capitals may also come from a title.
        long_scale = 3 if word == "Billion" else 0
        return _SCALES[word.lower()], long_scale, match.end(2)
    if word in _LETTER_SCALES and (currency or (not gap and word != "k")):
        if currency:
            return _LETTER_SCALES[word], 0, match.end(2)
        return 0, _LETTER_SCALES[word], match.end(2)
    if word == "k" and not gap:
        return 3, 0, match.end(2)
    return 0, 0, end


def _signed(
    scanned: str,
    start: int,
    end: int,
    currency: re.Match[str] | None,
    readings: tuple[Decimal, ...],
    doubtful: tuple[Decimal, ...],
) -> tuple[int, tuple[Decimal, ...], tuple[Decimal, ...]]:
    """Start, readings and doubtful readings with the sign that stands before the number."""
    outer = currency.start() if currency else start
    for place in (outer, start):
        mark = scanned[place - 1 : place] if place else ""
        before = scanned[place - 2 : place - 1] if place > 1 else " "
        if before.isalnum() or before in ".,)]%" + MASK or mark not in (*_MINUS, "–"):
            continue
        negative = tuple(value.copy_negate() for value in readings)
        if mark == "–":  # more often a dash
            return outer, readings, (*doubtful, *negative)
        negative_doubtful = tuple(value.copy_negate() for value in doubtful)
        return min(outer, place - 1), negative, (*negative_doubtful, *readings)
    if scanned[outer - 1 : outer] == "(" and scanned[end : end + 1] == ")":
        # A bookkeeper's minus, or a number that happens to stand in brackets.
        doubtful = (*doubtful, *(value.copy_negate() for value in readings))
    return outer, readings, doubtful


_DASH = re.compile(r"\s?[-–—~〜～]\s?")
_TO = re.compile(r"\s(?:to|bis|à)\s")


def _share_units(scanned: str, found: list[tuple[Number, int]]) -> list[tuple[Number, int]]:
    """In `5–10 %`, `5 to 10 %` and `2–3 million`, gives the first number what the second has.

    Only a smaller, bare number is the first of a range. Its scale is not taken over across a
    word: `from 500 to 2 million` begins at five hundred, so the scaled value is only doubtful.
    """
    shared = list(found)
    for i, ((first, power), (second, second_power)) in enumerate(pairwise(found)):
        between = scanned[first.span.end : second.span.start]
        dash = _DASH.fullmatch(between) is not None
        bare = first.readings and second.readings and not first.unit and not power
        if not bare or not (dash or _TO.fullmatch(between)):
            continue
        scaled = tuple(shifted(value, second_power) for value in first.readings)
        if max(scaled) >= max(second.readings):
            continue
        if second.unit:
            first = replace(first, unit=second.unit)
        if second_power and dash:
            first = replace(first, readings=scaled, doubtful=(*first.doubtful, *first.readings))
        elif second_power:
            first = replace(first, doubtful=(*first.doubtful, *scaled))
        shared[i] = (first, power)
    return shared
