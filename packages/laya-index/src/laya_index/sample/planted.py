"""The personal data and secrets that the sample corpus holds: nobody's, but of the right form.

Credentials are drawn when asked for, so that no file of this repository looks as if it held one.
"""

from __future__ import annotations

import hashlib
import string
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

_WORD = string.ascii_letters + string.digits


@cache
def planted_values() -> Mapping[str, str]:
    """The values by the name that stands for each in the corpus (`{{email_office}}`).

    Numbers with a checksum pass it; telephone numbers are those that regulators keep for fiction,
    addresses those that are kept for documentation.
    """
    return MappingProxyType(
        {
            "email_office": "zandorquix@moorvax.example",
            "email_pilot": "brimtolk.duty@pellharx.example",
            "email_keeper": "ostralumk@keepvolk.example",
            "email_guest": "agnezpolk+ticket@postvarx.example",
            "phone_us": "(202) 555-0143",
            "phone_intl": "+44 20 7946 0958",
            "iban_plain": "DE89370400440532013000",
            "iban_spaced": "GB82 WEST 1234 5698 7654 32",
            "card_plain": "4111111111111111",
            "card_spaced": "5555 5555 5555 4444",
            "id_ssn": "536-90-4399",
            "id_nhs": "943 476 5919",
            "id_fiscal": "RSSMRA85T10A562S",
            "ipv4": "203.0.113.77",
            "ipv6": "2001:db8:85a3::8a2e:370:7334",
            "secret_aws": "AKIA" + _drawn("aws", 16, string.ascii_uppercase + string.digits),
            "secret_github": "ghp_" + _drawn("github", 36),
            "secret_jwt": f"eyJ{_drawn('head', 15)}.eyJ{_drawn('claims', 24)}.{_drawn('sign', 27)}",
            "secret_assigned": _drawn("assigned", 24),
            "url_password": _drawn("url", 16),
        }
    )


@cache
def planted_pieces() -> Mapping[str, str]:
    """Words that occur in the planted values alone, by name: what a tokenizer makes of a value."""
    return MappingProxyType(
        {
            f"a word of {name}, {word!r}": word
            for name, words in {
                "email_office": ("zandorquix", "moorvax"),
                "email_pilot": ("brimtolk", "pellharx"),
                "email_keeper": ("ostralumk", "keepvolk"),
                "email_guest": ("agnezpolk", "postvarx"),
            }.items()
            for word in words
        }
    )


def _drawn(name: str, length: int, alphabet: str = _WORD) -> str:
    """The same `length` characters for the same name, with a digit among them."""
    digest = b"".join(hashlib.sha256(f"{name} {part}".encode()).digest() for part in range(2))
    return "".join(alphabet[byte % len(alphabet)] for byte in digest[: length - 1]) + "7"
