"""Personal data and secrets that have a recognisable form."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Iterator
from importlib.metadata import version as installed
from typing import Any, Literal

import phonenumbers
from laya_signals import Component, ComponentConfig
from stdnum import iban, luhn

from laya_index.redact.base import Finding
from laya_index.redact.identifiers import PERSONAL, IdentifierKind, identifiers
from laya_index.redact.secrets import secrets

Kind = Literal["EMAIL", "PHONE", "IBAN", "CARD", "IP", "SECRET"] | IdentifierKind

_EMAIL = re.compile(
    r"(?<![\w.+%-])[\w.+%-](?:[\w.+%'-]{0,63})(?:@|%40|&#64;|&#x40;|&commat;)(?:[\w](?:[\w-]{0,61}\w)?\.)+"
    r"(?:xn--[\w-]{2,58}\w|[^\W\d_]{2,24})(?![\w-])"
)
_GAP = "[ \u00a0\u202f-]?"
_IBAN = re.compile(
    rf"(?<![A-Za-z0-9])[A-Za-z]{{2}}\d{{2}}(?:{_GAP}[A-Za-z0-9]){{11,30}}(?![A-Za-z0-9])"
)
_CARD = re.compile(rf"(?<![A-Za-z\d.])(?:\d{_GAP}){{12,18}}\d(?![A-Za-z\d]|\.\d)")
_IPV4 = re.compile(r"(?<![\d.])(?:\d{1,3}\.){3}\d{1,3}(?![\d]|\.\d)")
_IPV6 = re.compile(r"(?<![A-Za-z0-9_:.])(?:[0-9A-Fa-f]{0,4}:){2,8}[0-9A-Fa-f:.]*(?![A-Za-z0-9_:])")
# As cards show them: numbers in a row of a table happen to pass the checksum now and then.
_GROUPED = re.compile(rf"\d+|(?:\d{{4,6}}{_GAP}){{2,4}}\d{{1,6}}")
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


class PatternRedactorConfig(ComponentConfig):
    """Settings of `redact.patterns`.

    `kinds` are the kinds to look for, `also` further ones beside the default. `unlabelled` are
    the kinds of personal numbers that count wherever their check digits are right, also where no
    label ("NHS number") stands by them. `phone_regions` are the countries (ISO 3166) whose
    national notation counts as a telephone number; the international `+…` form always does.
    """

    kinds: tuple[Kind, ...] = ("EMAIL", "PHONE", "IBAN", "CARD", "IP", "SECRET", *PERSONAL)
    also: tuple[Kind, ...] = ()
    unlabelled: tuple[IdentifierKind, ...] = ()
    phone_regions: tuple[str, ...] = ("US",)


class PatternRedactor(Component[PatternRedactorConfig]):
    """E-mail, telephone, IBAN and card numbers, IP addresses, secrets and personal numbers.

    What has a checksum must pass it (ISO 7064 for IBAN, Luhn for cards), a telephone number must
    be valid in its country's numbering plan, and an IP address must parse: a number that merely
    looks like one stays.
    """

    Config = PatternRedactorConfig
    version = 2

    def fingerprint_extra(self) -> Any:
        """The libraries that know numbering plans and bank codes: each release knows others."""
        return {name: installed(name) for name in ("phonenumbers", "python-stdnum")}

    def find(self, text: str) -> list[Finding]:
        """What to replace in `text`, ordered by kind; findings may overlap."""
        finders: dict[str, Callable[[str], Iterator[tuple[int, int]]]] = {
            "SECRET": secrets,
            "EMAIL": _emails,
            "IBAN": _ibans,
            "CARD": _cards,
            "IP": _addresses,
            "PHONE": self._phones,
        }
        kinds = frozenset((*self.config.kinds, *self.config.also))
        found = [
            Finding(start, end, kind)
            for kind, finder in finders.items()
            if kind in kinds
            for start, end in finder(text)
        ]
        if kinds - finders.keys():
            unlabelled = frozenset(self.config.unlabelled)
            found += [Finding(*item) for item in identifiers(text, kinds, unlabelled)]
        return found

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
    if any(at in text for at in ("@", "%40", "&#", "&commat;")):
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
        if _GROUPED.fullmatch(match[0]) and _ISSUED.fullmatch(digits) and luhn.is_valid(digits):
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
