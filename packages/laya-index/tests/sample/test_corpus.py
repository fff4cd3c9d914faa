import dataclasses
from pathlib import Path

import pytest
from laya_index.document import Skipped, SourceDocument
from laya_index.leaks import find_leaks, leaks_in
from laya_index.redact.base import redact
from laya_index.redact.patterns import PatternRedactor
from laya_index.sample import planted_pieces, planted_values, questions, sample_files
from laya_index.source.files import FilesSource


@pytest.fixture
def documents(tmp_path: Path) -> list[SourceDocument | Skipped]:
    for name, content in sample_files().items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return list(FilesSource(root=tmp_path).read())


def test_it_takes_more_than_one_batch_and_leaves_some_files_out(
    documents: list[SourceDocument | Skipped],
) -> None:
    skipped = {item.id: item.reason for item in documents if isinstance(item, Skipped)}
    assert skipped == {"museum/mast.png": "binary", "notes/empty.txt": "empty"}
    assert len(documents) - len(skipped) > 40


def test_it_holds_what_a_source_may_meet() -> None:
    files = sample_files()
    assert b"\r\n" in files["letters/complaint.txt"]
    assert files["museum/gannets.md"].startswith(b"\xef\xbb\xbf")
    assert files["letters/invoice.txt"].startswith((b"\xff\xfe", b"\xfe\xff"))
    assert files["copies/ferry.md"] == files["harbour/ferry.md"]
    assert max(map(len, files["harbour/log-1911.txt"].split(b"\n"))) > 3_000
    assert {name.rpartition(".")[2] for name in files} >= {"md", "txt", "html", "csv", "sql", "rs"}
    text = b"".join(files.values()).decode("utf-8", "replace")
    assert all(word in text for word in ("灯台", "منارة", "เรือ", "\N{FERRY}", "Cafe\u0301"))


def test_every_name_is_filled_in_and_every_value_is_planted() -> None:
    text = b"\n".join(sample_files().values()).decode("utf-8", "replace")
    assert "{{" not in text
    found = {leak.name for leak in leaks_in(text, {**planted_values(), **planted_pieces()})}
    assert found >= {*planted_values(), *planted_pieces()} - {"iban_spaced", "card_spaced"}


def test_values_are_planted_in_text_title_headings_and_metadata(
    documents: list[SourceDocument | Skipped],
) -> None:
    found = [item for item in documents if isinstance(item, SourceDocument)]
    planted = planted_values()
    for name in ("title", "text"):
        assert leaks_in("\n".join(getattr(item, name) for item in found), planted), name
    keys = "\n".join(key for item in found for key in item.metadata)
    values = "\n".join(value for item in found for value in item.metadata.values())
    headings = "\n".join(
        line for item in found for line in item.text.splitlines() if line.startswith("#")
    )
    for text in (keys, values, headings):
        assert leaks_in(text, planted)


def test_the_redactor_that_ships_leaves_none(
    documents: list[SourceDocument | Skipped], tmp_path: Path
) -> None:
    redactor = PatternRedactor()
    for item in documents:
        if isinstance(item, SourceDocument):
            made = redact(item, redactor)
            texts = [made.text, made.title, *made.metadata, *made.metadata.values()]
            assert not leaks_in("\n".join(texts), {**planted_values(), **planted_pieces()}), item.id


def test_no_file_of_the_package_holds_a_planted_secret() -> None:
    import laya_index.sample

    secrets = {
        name: value
        for name, value in planted_values().items()
        if name.startswith(("secret", "url"))
    }
    assert len(secrets) == 5
    assert not find_leaks(Path(laya_index.sample.__file__).parent, secrets)


@pytest.mark.parametrize("question", questions(), ids=lambda question: question.text)
def test_the_answer_to_a_question_is_in_the_corpus(question: object) -> None:
    answer = dataclasses.asdict(question)["answer"]
    assert any(answer.encode() in content for content in sample_files().values())
