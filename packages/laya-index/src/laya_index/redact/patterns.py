"""Personal data and secrets that have a recognisable form."""

from __future__ import annotations

import ipaddress
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Literal

import phonenumbers
from laya_signals import Component, ComponentConfig
from stdnum import iban, luhn

from laya_index.redact.base import Finding

Kind = Literal["EMAIL", "PHONE", "IBAN", "CARD", "IP", "SECRET"]

_EMAIL = re.compile(
    r"(?<![\w.+%-])[\w.+%-](?:[\w.+%'-]{0,63})@(?:[\w](?:[\w-]{0,61}\w)?\.)+"
    r"(?:xn--[\w-]{2,58}\w|[^\W\d_]{2,24})(?![\w-])"
)
_GAP = "[ \u00a0\u202f-]?"
_IBAN = re.compile(
    rf"(?<![A-Za-z0-9])[A-Za-z]{{2}}\d{{2}}(?:{_GAP}[A-Za-z0-9]){{11,30}}(?![A-Za-z0-9])"
)
_CARD = re.compile(rf"(?<![A-Za-z\d.])(?:\d{_GAP}){{12,18}}\d(?![A-Za-z\d]|\.\d)")
_IPV4 = re.compile(r"(?<![\d.])(?:\d{1,3}\.){3}\d{1,3}(?![\d]|\.\d)")
_IPV6 = re.compile(r"(?<![A-Za-z0-9_:.])(?:[0-9A-Fa-f]{0,4}:){2,8}[0-9A-Fa-f:.]*(?![A-Za-z0-9_:])")
# Which numbers of which length the card networks issue.
_ISSUED = re.compile(
    r"""
      4(?:\d{12}|\d{15}|\d{18})                                          # Visa
    | 5[1-5]\d{14} | 2(?:22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)\d{12}  # Mastercard
    | 3[47]\d{13} | 35\d{14} | 3(?:0[0-5]|[689]\d)\d{11}                # Amex, JCB, Diners
    | (?:5[06-8]|6\d)\d{11,17}                                         # Maestro, UnionPay, …
    """,
    re.VERBOSE,
)
_PHONE_HINT = re.compile(r"(?:\+|(?<!\d))\(?\d(?:[\s().\u00a0/-]{0,3}\d){6,14}(?!\d)")

# The published shapes of common credentials, then "name = value" where the value looks random.
_SECRETS = re.compile(
    r"""
      -----BEGIN[ ](?:[A-Z ]+[ ])?PRIVATE[ ]KEY(?:[ ]BLOCK)?-----[\s\S]*?
        (?:-----END[ ][A-Z ]*PRIVATE[ ]KEY(?:[ ]BLOCK)?-----|\Z)
    | \b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b
    | \bgh[pousr]_[A-Za-z0-9]{36,255}\b
    | \bgithub_pat_[A-Za-z0-9_]{22,255}\b
    | \bglpat-[A-Za-z0-9_-]{20,}
    | \bxox[abeoprs]-[A-Za-z0-9-]{10,}
    | \bsk-(?:ant-|proj-|live-|test-)?[A-Za-z0-9_-]{20,}
    | \b(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{16,}
    | \bAIza[A-Za-z0-9_-]{35}
    | \bhf_[A-Za-z0-9]{30,}\b
    | \bpypi-[A-Za-z0-9_-]{50,}
    | \bnpm_[A-Za-z0-9]{36}\b
    | \beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}
    """,
    re.VERBOSE,
)
_SECRET_MARKS = (
    *("-----BEGIN", "AKIA", "ASIA", "ABIA", "ACCA", "github_pat_", "glpat-", "AIza", "eyJ"),
    *("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "xox", "sk-", "sk_", "rk_", "pk_", "hf_"),
    *("pypi-", "npm_"),
)
_SECRET_NAMES = ("pass", "secret", "token", "key", "auth")
_ASSIGNED = re.compile(
    r"""(?ix) (?:pass(?:word|wd|phrase)?|secret|token|api[_-]?key|access[_-]?key|auth)
        [\w-]{0,20} ["']? \s* [:=] \s* ["']? (?:(?:bearer|basic|token)\s+)?
        (?P<value>[A-Za-z0-9_/+=.~-]{12,200})"""
)
_URL_PASSWORD = re.compile(r"\b[a-z][a-z0-9+.-]{1,20}://[^\s:/@]{0,64}:(?P<value>[^\s/]{1,128})@")
_RANDOM_BITS = 3.0


class PatternRedactorConfig(ComponentConfig):
    """Settings of `redact.patterns`.

    `kinds` are the kinds to look for. `phone_regions` are the countries (ISO 3166) whose national
    notation counts as a telephone number; the international `+…` form always does.
    """

    kinds: tuple[Kind, ...] = ("EMAIL", "PHONE", "IBAN", "CARD", "IP", "SECRET")
    phone_regions: tuple[str, ...] = ("US",)


class PatternRedactor(Component[PatternRedactorConfig]):
    """E-mail, telephone, IBAN and card numbers, IP addresses and secrets.

    What has a checksum must pass it (ISO 7064 for IBAN, Luhn for cards), a telephone number must
    be valid in its country's numbering plan, and an IP address must parse: a number that merely
    looks like one stays.
    """

    Config = PatternRedactorConfig

    def find(self, text: str) -> list[Finding]:
        """What to replace in `text`, ordered by kind; findings may overlap."""
        finders: dict[str, Callable[[str], Iterator[tuple[int, int]]]] = {
            "SECRET": _secrets,
            "EMAIL": _emails,
            "IBAN": _ibans,
            "CARD": _cards,
            "IP": _addresses,
            "PHONE": self._phones,
        }
        return [
            Finding(start, end, kind)
            for kind, finder in finders.items()
            if kind in self.config.kinds
            for start, end in finder(text)
        ]

    def _phones(self, text: str) -> Iterator[tuple[int, int]]:
        for hint in _PHONE_HINT.finditer(text):
            # What stands right before and after decides too (a unit, a longer number).
            begin = max(0, hint.start() - 3)
            window = text[begin : hint.end() + 12]
            for region in (None, *self.config.phone_regions):
                for match in phonenumbers.PhoneNumberMatcher(window, region):
                    # Ten digits in a row are far more often a count or an identifier.
                    found = match.raw_string
                    if found.startswith("+") or not found.isdigit():
                        unclosed = found.startswith("(") and found.count("(") > found.count(")")
                        yield begin + match.start + unclosed, begin + match.end


def _emails(text: str) -> Iterator[tuple[int, int]]:
    if "@" in text:
        for match in _EMAIL.finditer(text):
            yield match.span()


def _ibans(text: str) -> Iterator[tuple[int, int]]:
    for match in _IBAN.finditer(text):
        # The pattern may run on into the next words: the longest valid prefix is the number.
        candidate = match[0]
        for end in range(len(candidate), 14, -1):
            at_edge = end == len(candidate) or not candidate[end].isalnum()
            if at_edge and iban.is_valid(candidate[:end]):
                yield match.start(), match.start() + end
                break


def _cards(text: str) -> Iterator[tuple[int, int]]:
    for match in _CARD.finditer(text):
        digits = re.sub(r"\D", "", match[0])
        if _ISSUED.fullmatch(digits) and luhn.is_valid(digits):
            yield match.span()


def _addresses(text: str) -> Iterator[tuple[int, int]]:
    for pattern, parse in ((_IPV4, ipaddress.IPv4Address), (_IPV6, ipaddress.IPv6Address)):
        for match in pattern.finditer(text):
            candidate = match[0].rstrip(".:" if match[0][-2:] != "::" else ".")
            try:
                address = parse(candidate)
            except ValueError:
                continue
            # `::` and 127.0.0.1 identify nobody, nor does a block that nobody was ever given:
            # that is a slice (`[1::2]`) or a name (`abc::def`) in a program.
            unassigned = address.version == 6 and address.is_reserved and not address.ipv4_mapped
            if not (address.is_unspecified or address.is_loopback or unassigned):
                yield match.start(), match.start() + len(candidate)


def _secrets(text: str) -> Iterator[tuple[int, int]]:
    # Most texts hold none of these marks, and looking for a plain string is almost free.
    if any(mark in text for mark in _SECRET_MARKS):
        for match in _SECRETS.finditer(text):
            yield match.span()
    if "://" in text:
        for match in _URL_PASSWORD.finditer(text):
            yield match.span("value")
    lower = text.lower()
    if any(name in lower for name in _SECRET_NAMES):
        for match in _ASSIGNED.finditer(text):
            if _looks_random(match["value"]):
                yield match.span("value")


def _looks_random(value: str) -> bool:
    """Whether digits and letters mix and the characters carry `_RANDOM_BITS` bits each or more."""
    if not (any(char.isdigit() for char in value) and any(char.isalpha() for char in value)):
        return False
    counts = Counter(value).values()
    bits = -sum(count / len(value) * math.log2(count / len(value)) for count in counts)
    return bits >= _RANDOM_BITS
