"""Numbers that a state gives to a person, told from other numbers by their check digits.

A check digit alone is weak evidence: one number of eleven passes that of the NHS. So a scheme
whose numbers are plain digits also wants its label nearby ("NHS number: …"); one with letters or
separators of its own, or with strong check digits, does not.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, get_args

from stdnum import luhn
from stdnum.au import tfn
from stdnum.br import cpf
from stdnum.ca import sin
from stdnum.ch import ssn as ahv
from stdnum.de import idnr
from stdnum.es import dni, nie
from stdnum.eu import vat
from stdnum.fi import hetu
from stdnum.fr import nir
from stdnum.gb import nhs
from stdnum.in_ import aadhaar
from stdnum.it import codicefiscale
from stdnum.nl import bsn
from stdnum.no import fodselsnummer
from stdnum.pl import pesel
from stdnum.us import ssn

#: Named as Presidio names them where it knows them.
IdentifierKind = Literal[
    "AU_TFN",
    "BE_NN",
    "BR_CPF",
    "CA_SIN",
    "CH_AHV",
    "DE_TAX_ID",
    "DK_CPR",
    "ES_NIE",
    "ES_NIF",
    "EU_VAT",
    "FI_HETU",
    "FR_NIR",
    "IN_AADHAAR",
    "IT_FISCAL_CODE",
    "NL_BSN",
    "NO_FNR",
    "PL_PESEL",
    "SE_PERSONNUMMER",
    "UK_NHS",
    "US_SSN",
]
#: All but the numbers of companies, which are no secret as a rule.
PERSONAL: tuple[IdentifierKind, ...] = tuple(
    kind for kind in get_args(IdentifierKind) if kind != "EU_VAT"
)

# What every number below holds; one quick look spares most texts the twenty others.
_LIKELY = re.compile(
    r"[0-9](?:[ .+-]?[0-9A-Z]){6}|[0-9]{2}[A-Za-z][0-9]{2}[A-Za-z][0-9]{3}[A-Za-z]"
)
# How far a label may be from its number, in characters that are no digits.
_NEAR = 40
_AFTER = 40


@dataclass(frozen=True)
class _Scheme:
    """How the numbers of a kind are written, which are valid, and what stands beside them.

    Without `labels` (patterns that begin with a few plain letters) the shape and the check digits
    are evidence enough.
    """

    kind: IdentifierKind
    shape: re.Pattern[str]
    valid: Callable[[str], bool]
    labels: tuple[str, ...] = ()

    @cached_property
    def marks(self) -> tuple[str, ...]:
        """What a text with a label holds at least."""
        found = (re.match("[a-zø]{2,}", label) for label in self.labels)
        return tuple(match[0] for match in found if match)

    @cached_property
    def label(self) -> re.Pattern[str]:
        """Any of the labels, in any letter case, with no letter before or after."""
        return re.compile(rf"(?i)(?<![^\W\d_])(?:{'|'.join(self.labels)})(?![^\W\d_])")

    def find(self, text: str, *, labelled: bool) -> Iterator[tuple[int, int]]:
        """The spans of valid numbers; with `labelled`, of those that their label stands by."""
        last = -1
        for match in self.shape.finditer(text):
            start, end = match.span()
            # In a list of numbers the label stands before the first.
            listed = last >= 0 and start - last <= _NEAR and not _digit_in(text[last:start])
            if labelled and not listed and not self._is_labelled(text, start, end):
                continue
            if self.valid(match[0]):
                last = end
                yield start, end

    def _is_labelled(self, text: str, start: int, end: int) -> bool:
        begin = max(0, start - 2 * _NEAR)
        for label in self.label.finditer(text, begin, start):
            between = text[label.end() : start]
            if len(between) <= _NEAR and not _digit_in(between):
                return True
        after = self.label.search(text, end, end + _AFTER)
        return after is not None and not any(map(str.isalnum, text[end : after.start()]))


def identifiers(
    text: str, kinds: frozenset[str], unlabelled: frozenset[str] = frozenset()
) -> Iterator[tuple[int, int, str]]:
    """Start, end and kind of every number of these kinds in `text`, ordered by kind.

    Those of the kinds in `unlabelled` count without a label too.
    """
    if not _LIKELY.search(text):
        return
    lower = text.lower()
    for scheme in _SCHEMES:
        if scheme.kind not in kinds:
            continue
        labelled = bool(scheme.labels) and scheme.kind not in unlabelled
        # Most texts hold no label, and looking for a plain string is almost free.
        if labelled and not any(mark in lower for mark in scheme.marks):
            continue
        for start, end in scheme.find(text, labelled=labelled):
            yield start, end, scheme.kind


def _shape(pattern: str) -> re.Pattern[str]:
    """The pattern where it is no part of a longer word or number."""
    # A comma also stands between the cells of a table, a point only within a number.
    return re.compile(rf"(?<![A-Za-z0-9])(?<![0-9]\.)(?:{pattern})(?![A-Za-z0-9]|\.[0-9])")


def _digit_in(text: str) -> bool:
    return any(map(str.isdigit, text))


def _digits(number: str) -> str:
    return re.sub(r"[^0-9]", "", number)


def _is_ssn(number: str) -> bool:
    return bool(ssn.is_valid(_digits(number)))


def _is_day(day: str, month: str) -> bool:
    return 1 <= int(day) <= 31 and 1 <= int(month) <= 12


# The libraries' own checks of these five compare with today's date: the same text would be
# redacted otherwise tomorrow.
def _is_personnummer(number: str) -> bool:
    """Luhn over ten digits, of which the first six are a date (day + 60 in another series)."""
    digits = _digits(number)[-10:]
    day = int(digits[4:6])
    return _is_day(str(day - 60 if day > 60 else day), digits[2:4]) and bool(luhn.is_valid(digits))


def _is_rijksregisternummer(number: str) -> bool:
    """97 less the first nine digits modulo 97; a 2 goes before them since the year 2000."""
    digits = _digits(number)
    return any(97 - int(f"{lead}{digits[:9]}") % 97 == int(digits[9:]) for lead in ("", "2"))


def _is_fodselsnummer(number: str) -> bool:
    """Two check digits, each modulo 11."""
    digits = _digits(number)
    first, second = fodselsnummer.calc_check_digit1, fodselsnummer.calc_check_digit2
    return bool(first(digits) == digits[9] and second(digits) == digits[10])


def _is_cpr(number: str) -> bool:
    """A date and four digits: since 2007 there is no check digit."""
    return _is_day(number[:2], number[2:4])


_EU = "AT|BE|BG|CY|CZ|DE|DK|EE|EL|ES|FI|FR|HR|HU|IE|IT|LT|LU|LV|MT|NL|PL|PT|RO|SE|SI|SK|XI"
_SCHEMES: tuple[_Scheme, ...] = (
    _Scheme(
        "AU_TFN",
        _shape(r"[0-9]{3} ?[0-9]{3} ?[0-9]{2,3}"),
        tfn.is_valid,
        ("tfn", r"tax[ _-]?file(?:[ _-]?(?:number|no\.?))?"),
    ),
    _Scheme(
        "BE_NN", _shape(r"(?:[0-9]{2}\.){2}[0-9]{2}-[0-9]{3}\.[0-9]{2}"), _is_rijksregisternummer
    ),
    _Scheme("BR_CPF", _shape(r"[0-9]{3}\.[0-9]{3}\.[0-9]{3}-[0-9]{2}"), cpf.is_valid),
    _Scheme("BR_CPF", _shape(r"[0-9]{11}"), cpf.is_valid, ("cpf",)),
    _Scheme(
        "CA_SIN",
        _shape(r"[0-9]{3}[ -]?[0-9]{3}[ -]?[0-9]{3}"),
        sin.is_valid,
        ("sin", r"social[ _-]?insurance(?:[ _-]?(?:number|no\.?))?"),
    ),
    _Scheme("CH_AHV", _shape(r"756[. ]?[0-9]{4}[. ]?[0-9]{4}[. ]?[0-9]{2}"), ahv.is_valid),
    _Scheme(
        "DE_TAX_ID",
        _shape(r"[1-9][0-9] ?[0-9]{3} ?[0-9]{3} ?[0-9]{3}"),
        idnr.is_valid,
        (
            r"steuer-?\s?id(?:entifikationsnummer|-?nr|-?nummer)?",
            r"steuerliche\s+identifikationsnummer",
            *("idnr", "tin", r"tax[ _-]?id"),
        ),
    ),
    _Scheme("DK_CPR", _shape(r"[0-9]{6}-?[0-9]{4}"), _is_cpr, (r"cpr(?:-?nr|-?nummer)?",)),
    _Scheme("ES_NIE", _shape(r"[XYZ]-?[0-9]{7}-?[A-HJ-NP-TV-Z]"), nie.is_valid),
    _Scheme("ES_NIF", _shape(r"[0-9]{8}-?[A-HJ-NP-TV-Z]"), dni.is_valid),
    _Scheme("EU_VAT", _shape(rf"(?:{_EU}) ?[0-9A-Z](?:[ .-]?[0-9A-Z]){{6,11}}"), vat.is_valid),
    _Scheme("FI_HETU", _shape(r"[0-9]{6}[-+A-FU-Y][0-9]{3}[0-9A-FHJ-NPR-Y]"), hetu.is_valid),
    _Scheme(
        "FR_NIR",
        _shape(
            r"[12][ .]?[0-9]{2}[ .]?(?:0[1-9]|1[0-2]|[2-9][0-9])[ .]?(?:[0-9]{2}|2[ABab])"
            r"[ .]?[0-9]{3}[ .]?[0-9]{3}[ .]?[0-9]{2}"
        ),
        nir.is_valid,
    ),
    _Scheme(
        "IN_AADHAAR",
        _shape(r"[2-9][0-9]{3}[ -]?[0-9]{4}[ -]?[0-9]{4}"),
        aadhaar.is_valid,
        ("aadhaar", "aadhar", "uidai"),
    ),
    _Scheme(
        "IT_FISCAL_CODE",
        _shape(
            r"(?=[A-Za-z]*[0-9])[A-Za-z]{6}[0-9L-NP-Vl-np-v]{2}[A-EHLMPR-Ta-ehlmpr-t]"
            r"[0-9L-NP-Vl-np-v]{2}[A-Za-z][0-9L-NP-Vl-np-v]{3}[A-Za-z]"
        ),
        codicefiscale.is_valid,
    ),
    _Scheme(
        "NL_BSN",
        _shape(r"[0-9]{4}\.?[0-9]{2}\.?[0-9]{2,3}"),
        bsn.is_valid,
        ("bsn", r"burgerservicenummer", r"sofi-?nummer"),
    ),
    _Scheme(
        "NO_FNR",
        _shape(r"[0-9]{6} ?[0-9]{5}"),
        _is_fodselsnummer,
        ("fødselsnummer", "fodselsnummer", "personnummer", "fnr"),
    ),
    _Scheme("PL_PESEL", _shape(r"[0-9]{11}"), pesel.is_valid, ("pesel",)),
    _Scheme(
        "SE_PERSONNUMMER",
        _shape(r"(?:19|20)?[0-9]{6}[-+]?[0-9]{4}"),
        _is_personnummer,
        ("personnummer", "pnr", "samordningsnummer"),
    ),
    _Scheme(
        "UK_NHS",
        _shape(r"[0-9]{3}[ -]?[0-9]{3}[ -]?[0-9]{4}"),
        nhs.is_valid,
        ("nhs", r"nhs[ _-]?(?:number|no\.?)"),
    ),
    _Scheme(
        "US_SSN",
        _shape(r"[0-9]{3}-[0-9]{2}-[0-9]{4}|[0-9]{3} [0-9]{2} [0-9]{4}|[0-9]{9}"),
        _is_ssn,
        ("ssn", "ssns", r"social[ _-]?security(?:[ _-]?(?:number|no\.?))?"),
    ),
)
