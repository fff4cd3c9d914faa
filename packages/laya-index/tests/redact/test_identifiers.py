import random
from typing import Any

import pytest
from laya_index.document import SourceDocument
from laya_index.redact.base import redact
from laya_index.redact.identifiers import PERSONAL, identifiers
from laya_index.redact.patterns import PatternRedactor
from laya_signals import ConfigError
from stdnum.be import nn
from stdnum.no import fodselsnummer
from stdnum.se import personnummer


def redacted(text: str, **settings: object) -> str:
    return redact(SourceDocument("d", text), PatternRedactor(**settings)).text


# Numbers with a form of their own, and how else they are written.
ALONE = {
    "BE_NN": ["85.07.30-033.28", "00.01.25-567.77"],
    "BR_CPF": ["390.533.447-05"],
    "CH_AHV": ["756.9217.0769.85", "7569217076985", "756 9217 0769 85"],
    "ES_NIE": ["X-2482300W", "X2482300W"],
    "ES_NIF": ["54362315-K", "54362315K"],
    "FI_HETU": ["131052-308T"],
    "FR_NIR": ["2 95 10 99 126 111 93", "295109912611193"],
    "IT_FISCAL_CODE": ["RCCMNL83S18D969H", "rccmnl83s18d969h"],
}
# Plain digits, and labels that people write beside them.
LABELLED = {
    "AU_TFN": (["123 456 782", "123456782"], ["TFN", "Tax File Number"]),
    "BR_CPF": (["39053344705"], ["CPF", "cpf nº"]),
    "CA_SIN": (["123-456-782", "123 456 782"], ["SIN", "Social Insurance Number"]),
    "DE_TAX_ID": (
        ["36 574 261 809", "36574261809"],
        ["Steuer-ID", "Steuer-ID-Nr.", "steuerliche Identifikationsnummer", "tax_id", "IdNr."],
    ),
    "DK_CPR": (["211062-5629", "2110625629"], ["CPR", "CPR-nr.", "cpr-nummer"]),
    "IN_AADHAAR": (["2341 2341 2346", "234123412346"], ["Aadhaar", "aadhaar number", "UIDAI"]),
    "NL_BSN": (["1112.22.333", "111222333"], ["BSN", "burgerservicenummer"]),
    "NO_FNR": (["151086 95088", "15108695088"], ["Fødselsnummer", "fnr."]),
    "PL_PESEL": (["44051401359"], ["PESEL"]),
    "SE_PERSONNUMMER": (["880320-0016", "198803200016"], ["personnummer", "Personnummer"]),
    "UK_NHS": (["401 023 2137", "401-023-2137", "4010232137"], ["NHS number", "NHS no.", "nhs"]),
    "US_SSN": (["536-90-4399", "536 90 4399", "536904399"], ["SSN", "social security number"]),
}
FRAMES = [
    "{label}: {number}",
    '{{"{label}": "{number}"}}',
    "{number} ({label})",
    "{label}\n{number}.",
]


@pytest.mark.parametrize(("kind", "number"), [(k, n) for k, ns in ALONE.items() for n in ns])
@pytest.mark.parametrize("frame", ["{}", "see {}.", "({})", "a|{}|b", "x\n{}\ny"])
def test_a_number_with_a_form_of_its_own_needs_no_label(kind: str, number: str, frame: str) -> None:
    assert redacted(frame.format(number)) == frame.format(f"[{kind}]")


@pytest.mark.parametrize(
    ("kind", "number", "label"),
    [(k, n, w) for k, (ns, ws) in LABELLED.items() for n in ns for w in ws],
)
@pytest.mark.parametrize("frame", FRAMES)
def test_plain_digits_need_their_label(kind: str, number: str, label: str, frame: str) -> None:
    text = frame.format(label=label, number=number)
    assert redacted(text) == frame.format(label=label, number=f"[{kind}]")


@pytest.mark.parametrize(("kind", "number"), [(k, ns[0]) for k, (ns, _) in LABELLED.items()])
def test_a_label_can_be_done_without(kind: str, number: str) -> None:
    settings = {"kinds": [kind]}
    assert redacted(f"no {number} here", **settings) == f"no {number} here"
    settings["unlabelled"] = [kind]
    assert redacted(f"no {number} here", **settings) == f"no [{kind}] here"


def test_a_label_counts_for_a_list_of_numbers() -> None:
    text = "SSNs: 536-90-4399, 536-90-4398 and 536-90-4397; order 536904396 of 2020"
    wanted = "SSNs: [US_SSN], [US_SSN] and [US_SSN]; order [US_SSN] of 2020"
    assert redacted(text) == wanted
    far = f"SSNs are secret. {'Nothing more of it. ' * 4} 536-90-4399"
    assert redacted(far) == far


@pytest.mark.parametrize(
    "text",
    [
        # the check digit is wrong
        "85.07.30-033.29",
        "390.533.447-06",
        "756.9217.0769.84",
        "X2482301W",
        "54362315L",
        "131052-308U",
        "295109912611194",
        "RCCMNL83S18D969I",
        "NHS number: 401 023 2138",
        "BSN 111222334",
        "SSN 666-12-3456",
        "SSN 000-12-3456",
        "CPR 991362-5629",
        # another number stands between, or the letters are part of a word
        "NHS 12 trusts of 4010232137 people",
        "className = 536904399",
        "using 123456782",
        "classNumber 111222333",
        # part of something longer
        "A54362315K",
        "54362315KM",
        "1.54362315-K",
        "0295109912611193",
        # years, pages, versions, hashes
        "1914–1918, pages 1021-1030, v2024.10.31",
        "sha 3f786850e387550fdab836ed7e6dc881de23001b",
        "DE136695976",
    ],
)
def test_what_only_looks_alike_stays(text: str) -> None:
    assert redacted(text) == text


def test_numbers_of_companies_have_to_be_asked_for() -> None:
    text = "USt-IdNr. DE 136695976, FR 40 303265045 and ATU13585627; not DE 136695977"
    assert redacted(text, also=["EU_VAT"], kinds=[]) == (
        "USt-IdNr. [EU_VAT], [EU_VAT] and [EU_VAT]; not DE 136695977"
    )


def test_kinds_are_told_by_name() -> None:
    assert set(PERSONAL) == ALONE.keys() | LABELLED.keys()
    with pytest.raises(ConfigError, match="also"):
        PatternRedactor(also=["DE_SSN"])
    with pytest.raises(ConfigError, match="unlabelled"):
        PatternRedactor(unlabelled=["EMAIL"])


@pytest.mark.parametrize(
    ("kind", "form", "checks", "library"),
    [
        ("BE_NN", "{:02}.{:02}.{:02}-{:03}.{:02}", 99, nn),
        ("NO_FNR", "{2:02}{1:02}{0:02} {3:03}{4:02}", 99, fodselsnummer),
        ("SE_PERSONNUMMER", "{:02}{:02}{:02}-{:03}{}", 9, personnummer),
    ],
)
def test_what_the_library_takes_for_valid_today_is_always_found(
    kind: str, form: str, checks: int, library: Any
) -> None:
    rng = random.Random(1)
    found = checked = 0
    for _ in range(40_000):
        spans = ((0, 99), (1, 12), (1, 28), (0, 999), (0, checks))
        number = form.format(*(rng.randint(*span) for span in spans))
        if library.is_valid(number):
            checked += 1
            kinds = frozenset([kind])
            found += bool(list(identifiers(number, kinds, kinds)))
    assert found == checked > 20
