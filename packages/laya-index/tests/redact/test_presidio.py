"""Presidio itself, on a small spaCy pipeline of rules that is made here.

`tests/parity` runs this file in an environment that has the extra.
"""

import logging
import pickle
from collections.abc import Callable
from pathlib import Path

import pytest
from laya_index.document import SourceDocument
from laya_index.redact.base import Redactor, redact
from laya_index.redact.presidio import PresidioRedactor
from laya_signals import ConfigError
from laya_signals.errors import ModelError

pytestmark = pytest.mark.slow

spacy = pytest.importorskip("spacy")
pytest.importorskip("presidio_analyzer")

RULES = [
    {"label": "PERSON", "pattern": "Ada Lovelace"},
    {"label": "PERSON", "pattern": "Grace Hopper"},
    {"label": "PERSON", "pattern": "Hopper DE89"},
    {"label": "ORG", "pattern": "Acme Widgets"},
    {"label": "BADGE", "pattern": [{"TEXT": {"REGEX": "^B-[0-9]{4}$"}}]},
    {"label": "CARDINAL", "pattern": "seven"},
]


def build(folder: Path, rules: list[dict]) -> str:
    pipeline = spacy.blank("en")
    pipeline.add_pipe("entity_ruler").add_patterns(rules)
    pipeline.to_disk(folder)
    return str(folder)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    return build(tmp_path_factory.mktemp("spacy") / "rules", RULES)


@pytest.fixture
def redacted(model: str) -> Callable[..., str]:
    def of(text: str, **settings: object) -> str:
        redactor = PresidioRedactor(model=model, **settings)
        return redact(SourceDocument("d", text), redactor).text

    return of


TEXT = "Ada Lovelace (ada@example.com) of Acme Widgets, badge B-1234, wrote seven letters."


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, "[PERSON] ([EMAIL]) of Acme Widgets, badge B-1234, wrote seven letters."),
        (
            {"patterns": False},
            "[PERSON] (ada@example.com) of Acme Widgets, badge B-1234, wrote seven letters.",
        ),
        (
            {"patterns": {"kinds": []}},
            "[PERSON] (ada@example.com) of Acme Widgets, badge B-1234, wrote seven letters.",
        ),
        (
            {"entities": ["ORGANIZATION", "BADGE"]},
            "Ada Lovelace ([EMAIL]) of [ORGANIZATION], badge [BADGE], wrote seven letters.",
        ),
        (
            {"threshold": 0.9},
            "Ada Lovelace ([EMAIL]) of Acme Widgets, badge B-1234, wrote seven letters.",
        ),
    ],
)
def test_names_are_replaced_beside_what_has_a_form(
    redacted: Callable[..., str], settings: dict, expected: str
) -> None:
    assert redacted(TEXT, **settings) == expected


def test_recognisers_of_presidio_itself_can_be_asked_for(redacted: Callable[..., str]) -> None:
    text = "wallet 16Yeky6GMjeNkAiNcBY7ZhrLoMSgg1BoyZ"
    assert redacted(text, entities=["PERSON", "CRYPTO"]) == "wallet [CRYPTO]"


def test_where_findings_overlap_all_of_it_goes(redacted: Callable[..., str]) -> None:
    text = "to Hopper DE89 3704 0044 0532 0130 00 today"
    assert redacted(text) == "to [PERSON] today"
    assert redacted(text, patterns=False) == "to [PERSON] 3704 0044 0532 0130 00 today"


def test_a_long_text_is_read_whole_and_never_cut_inside_a_name(
    redacted: Callable[..., str],
) -> None:
    paragraph = "One paragraph of a report by Ada Lovelace and Grace Hopper.\n\n"
    result = redacted(paragraph * 2000)
    assert result == "One paragraph of a report by [PERSON] and [PERSON].\n\n" * 2000


def test_title_and_metadata_are_read_too(model: str) -> None:
    document = SourceDocument(
        "Ada Lovelace", "", "By Ada Lovelace", metadata={"author": "Grace Hopper", "n": "1"}
    )
    found = redact(document, PresidioRedactor(model=model))
    assert (found.title, dict(found.metadata)) == ("By [PERSON]", {"author": "[PERSON]", "n": "1"})
    assert (found.id, dict(found.redactions)) == ("Ada Lovelace", {"PERSON": 2})


def test_nothing_is_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    with caplog.at_level(logging.WARNING):
        PresidioRedactor(model=build(tmp_path / "new", RULES)).find(TEXT)
    assert caplog.records == []
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("settings", "error", "problem"),
    [
        ({"entities": ["PERSN"]}, ConfigError, r"nothing finds 'PERSN' in 'en' .* BADGE, .*PERSON"),
        ({"entities": ["LOCATION"]}, ConfigError, "nothing finds 'LOCATION'"),
        ({"language": "English"}, ConfigError, "language"),
        ({"entities": []}, ConfigError, "entities"),
        ({"entities": ["EMAIL_ADDRESS"]}, ConfigError, "EMAIL_ADDRESS needs the network"),
        ({"model": "xx_no_such_model"}, ModelError, "python -m spacy download xx_no_such_model"),
        ({"model": "pydantic"}, ModelError, "'pydantic' is no spaCy pipeline"),
        ({"patterns": {"kind": []}}, ConfigError, "kind"),
    ],
)
def test_what_is_wrong_is_told_before_anything_is_read(
    model: str, settings: dict, error: type[Exception], problem: str
) -> None:
    with pytest.raises(error, match=problem):
        PresidioRedactor({"model": model, **settings})


def test_a_folder_without_a_pipeline_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="no spaCy pipeline"):
        PresidioRedactor(model=str(tmp_path))


def test_the_fingerprint_knows_the_model_and_the_patterns(model: str, tmp_path: Path) -> None:
    first = PresidioRedactor(model=model)
    other = build(tmp_path / "other", RULES[:1])
    prints = {
        first.fingerprint,
        PresidioRedactor(model=other).fingerprint,
        PresidioRedactor(model=model, threshold=0.4).fingerprint,
        PresidioRedactor(model=model, patterns={"kinds": ["IP"]}).fingerprint,
        PresidioRedactor(model=model, patterns=False).fingerprint,
    }
    assert len(prints) == 5
    facts = first.fingerprint_extra()
    assert {"presidio-analyzer", "spacy", "model"} <= facts.keys()
    assert facts["model"]["name"] == "en_pipeline"


def test_it_is_a_redactor_that_travels_to_workers(model: str) -> None:
    redactor = PresidioRedactor(model=model)
    assert isinstance(redactor, Redactor)
    copy = pickle.loads(pickle.dumps(redactor))
    assert copy.fingerprint == redactor.fingerprint
    assert copy.find(TEXT) == redactor.find(TEXT)
