"""Personal data planted in every kind of field reaches nothing that a run writes or says."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from laya_index.document import Skipped, SourceDocument
from laya_index.errors import IndexingError
from laya_index.leaks import find_leaks, leaks_in
from laya_index.process import process
from laya_index.redact.identifiers import PERSONAL
from laya_index.redact.patterns import PatternRedactor
from laya_index.stack import Stack, StackModel, parse_stack
from laya_signals import SignalError

pytestmark = pytest.mark.slow

# How values of a kind are written, after their label if they need one: # a digit, ? a letter.
FORMS = {
    "EMAIL": ("", "zq????????@keld????????.example"),
    "PHONE": ("", "+1 415-555-2###"),
    "IBAN": ("", "DE## 3704 0044 05## #### ##"),
    "CARD": ("", "4532 01## #### ####"),
    "IP": ("", "203.0.113.1##"),
    "SECRET": ("", "ghp_" + "?#" * 18),
    "AU_TFN": ("TFN", "### ### ###"),
    "BE_NN": ("", "85.07.30-###.##"),
    "BR_CPF": ("", "###.###.###-##"),
    "CA_SIN": ("SIN", "###-###-###"),
    "CH_AHV": ("", "756.####.####.##"),
    "DE_TAX_ID": ("Steuer-ID", "## ### ### ###"),
    "DK_CPR": ("CPR", "2110##-####"),
    "ES_NIE": ("", "X-#######R"),
    "ES_NIF": ("", "########-K"),
    "FI_HETU": ("", "131052-###T"),
    "FR_NIR": ("", "2 95 10 99 ### ### ##"),
    "IN_AADHAAR": ("Aadhaar", "2### #### ####"),
    "IT_FISCAL_CODE": ("", "RCCMNL83S1#D###H"),
    "NL_BSN": ("BSN", "####.##.###"),
    "NO_FNR": ("fnr", "1510## #####"),
    "PL_PESEL": ("PESEL", "440514#####"),
    "SE_PERSONNUMMER": ("personnummer", "8803##-####"),
    "UK_NHS": ("NHS number", "401 02# ####"),
    "US_SSN": ("SSN", "536-##-####"),
}
IN_MARKDOWN = {
    "front matter": "",
    "front matter key": "",
    "front matter list": "",
    "title": "# About {}",
    "heading": "## Of {}",
    "paragraph": "Plain words, {}, and more.",
    "emphasis": "It **is {} now** and *was {}*.",
    "link target": "[here](https://x.example/?{})",
    "link text": "[{}](https://x.example/)",
    "link title": '[there](https://x.example/ "{}")',
    "image": "![{}](a.png)",
    "code fence": "```python\ncall({})\n```",
    "inline code": "`{}`",
    "table": "| a | b |\n|---|---|\n| 1 | {} |",
    "list": "- one\n  - {}",
    "quote": "> {}",
    "comment": "<!-- {} -->",
    "attribute": '<a title="{}" href="https://x.example/?{}">x</a>',
    "footnote": "See[^1].\n\n[^1]: {}",
}
IN_HTML = {
    "title": "<title>{}</title>",
    "description": '<meta name="description" content="{}">',
    "author": '<meta name="author" content="{}">',
    "heading": "<h2>{}</h2>",
    "paragraph": "<p>Plain {} words.</p>",
    "href": '<a href="https://x.example/?{}">x</a>',
    "attribute": '<p title="{}" data-x="{}">x</p>',
    "alt": '<img alt="{}" src="a.png">',
    "comment": "<!-- {} -->",
    "script": "<script>var x = '{}';</script>",
    "hidden": "<p hidden>{}</p>",
    "table": "<table><tr><th>a</th></tr><tr><td>{}</td></tr></table>",
    "code": "<pre><code>{}</code></pre>",
    "entity": "<p>{}</p>",
}
IN_ROWS = ("title", "text", "metadata", "metadata key", "nested")


class Planter:
    """Draws values that the redactor knows for what they are, and remembers where they went."""

    def __init__(self) -> None:
        self.rng = random.Random(7)
        self.planted: dict[str, str] = {}
        self.next = 0

    def fill(self, place: str, form: str) -> str:
        """`form` with a value of the next kind in every `{}`; in an address, as a parameter."""
        while "{}" in form:
            label, value = self.value(place)
            before = form.partition("{}")[0]
            if before.endswith("/?"):
                label, value = label.replace(" ", "_"), value.replace(" ", "")
                written = f"{label or 'q'}={value}"
            else:
                written = f"{label} {value}".strip()
            form = form.replace("{}", written, 1)
        return form

    def value(self, place: str) -> tuple[str, str]:
        kind = list(FORMS)[self.next % len(FORMS)]
        self.next += 1
        label, form = FORMS[kind]
        redactor = PatternRedactor(kinds=[kind])
        while True:
            value = re.sub("[#?]", self._drawn, form)
            if {(f.start, f.end) for f in redactor.find(f"{label} {value}")} == {
                (len(label) + 1, len(label) + 1 + len(value))
            }:
                break
        self.planted[f"{kind} in {place}"] = value
        if kind == "EMAIL":
            for part in re.split("@|[.]", value)[:2]:
                self.planted[f"{part[:2]}… of EMAIL in {place}"] = part
        return label, value

    def _drawn(self, match: re.Match[str]) -> str:
        return self.rng.choice("0123456789" if match[0] == "#" else "bcdfghjkmnpqrstvwz")


def markdown(planter: Planter) -> str:
    place = "front matter of Markdown"
    matter = {
        "contact": planter.fill(place, "{}"),
        planter.fill(f"key of {place}", "{}"): "a key",
        "people": [planter.fill(f"list of {place}", "{}") for _ in range(2)],
    }
    parts = [f"---\n{yaml.safe_dump(matter, allow_unicode=True, width=1000)}---"]
    for field, form in IN_MARKDOWN.items():
        parts += [planter.fill(f"{field} of Markdown", form) for _ in range(3) if form]
    return "\n\n".join(parts)


def html(planter: Planter) -> str:
    parts = []
    for field, form in IN_HTML.items():
        for _ in range(1 if field == "title" else 3):
            part = planter.fill(f"{field} of HTML", form)
            parts.append(part.replace("@", "&#64;") if field == "entity" else part)
    return f"<html><body>{' '.join(parts)}</body></html>"


def row(planter: Planter, number: int) -> dict[str, Any]:
    filled = {name: planter.fill(f"{name} of row {number}", "{} words {}") for name in IN_ROWS}
    return {
        "_id": f"row-{number}",
        "title": filled["title"],
        "text": filled["text"],
        "note": filled["metadata"],
        filled["metadata key"]: "a key",
        "nested": {"deep": [filled["nested"]]},
        "ssn": 536904399 + number,
    }


class Said:
    """Everything that a run reports while it works."""

    def __init__(self) -> None:
        self.words: list[str] = []

    def stage(self, name: str, total: int | None) -> None:
        self.words.append(f"{name} {total}")

    def advance(self, documents: int, chunks: int) -> None:
        self.words.append(f"{documents} {chunks}")


SIGNALS = {
    "bm25": {"provider": "tokenizer.word", "config": {"stem": "english"}, "title_weight": 3},
    "embedding": {"provider": "encoder.fake"},
    "embedding_half": {"provider": "encoder.fake", "config": {"seed": 1}, "dtype": "float16"},
    "sparse": {
        "provider": "sparse.hashing",
        "compose": {"entities": {"provider": "graph.patterns"}, "metadata": ["note", "contact"]},
    },
    "multivector": {"provider": "multivector.hashing", "config": {"dimension": 16}},
    "fde": {"provider": "fde.reference"},
}


def stack_of(source: dict[str, Any], out: Path, **more: Any) -> Stack:
    data = {
        "name": "planted",
        "source": source,
        "chunk": {"provider": "chunker.paragraph", "config": {"chars": 200, "overlap": 60}},
        "context": {"provider": "context.breadcrumb"},
        "redact": {"provider": "redact.patterns"},
        "signals": SIGNALS,
        "graph": {"provider": "graph.patterns"},
        "export": {"path": str(out)},
    }
    return parse_stack(yaml.safe_dump({**data, **more}, sort_keys=False))


def test_every_signal_is_wired() -> None:
    """A stage that comes later has to come here too."""
    assert {"context", "redact", "graph", "signals"} <= StackModel.model_fields.keys()
    signals = StackModel.model_fields["signals"].annotation
    assert signals is not None
    assert signals.model_fields.keys() - {"columns"} == SIGNALS.keys() - {"embedding_half"}
    assert set(FORMS) == {"EMAIL", "PHONE", "IBAN", "CARD", "IP", "SECRET", *PERSONAL}


@pytest.fixture
def planter() -> Planter:
    return Planter()


def sources(planter: Planter, folder: Path) -> dict[str, dict[str, Any]]:
    files = folder / "files"
    files.mkdir(parents=True)
    (files / "a.md").write_text(markdown(planter))
    (files / "b.html").write_text(html(planter))
    (files / "c.py").write_text(planter.fill("source code", "# {}\nx = '{}'\n"))
    (files / "d.json").write_text(json.dumps({"a": planter.fill("JSON file", "{}")}))
    broken = planter.fill("broken file", "{}").encode("utf-16")[:-1]
    (files / "e.txt").write_bytes(b"\xff\xfe\x00\xd8" + broken)
    (files / "f.pdf").write_text(planter.fill("damaged PDF", "%PDF-1.4 {}"))
    rows = [row(planter, number) for number in range(12)]
    (folder / "rows.jsonl").write_text("".join(json.dumps(item) + "\n" for item in rows))
    flat = [{name: item[name] for name in ("_id", "title", "text", "note", "ssn")} for item in rows]
    pq.write_table(pa.Table.from_pylist(flat), folder / "rows.parquet")
    return {
        "files": {"provider": "source.files", "config": {"root": str(files)}},
        "jsonl": {"provider": "source.jsonl", "config": {"path": str(folder / "rows.jsonl")}},
        "parquet": {
            "provider": "source.parquet",
            "config": {"path": str(folder / "rows.parquet"), "id_column": "_id"},
        },
    }


@pytest.mark.parametrize("kind", ["files", "jsonl", "parquet"])
def test_what_is_planted_is_in_no_artifact_and_in_no_word(
    kind: str,
    planter: Planter,
    tmp_path: Path,
    providers: Path,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    source = sources(planter, tmp_path / "in")[kind]
    planted = {**planter.planted, **{f"ssn {n}": str(536904399 + n) for n in range(12)}}
    said = Said()
    (tmp_path / "made").mkdir()
    with caplog.at_level("INFO"):
        report = process(stack_of(source, tmp_path / "made" / "b"), progress=said, workers=1)
    assert report.chunks > 5
    kinds = {path.suffix for path in (tmp_path / "made").rglob("*") if path.is_file()}
    assert {".parquet", ".json", ".sqlite"} <= kinds
    assert find_leaks(tmp_path / "made", planted) == []
    words = "\n".join([*said.words, caplog.text, *capfd.readouterr(), repr(report)])
    assert leaks_in(words, planted) == []
    # The same scanner finds them where nothing is redacted, and in the source.
    bare = stack_of(source, tmp_path / "bare" / "b", redact=None)
    process(bare, workers=1)
    found = {leak.name for leak in find_leaks(tmp_path / "bare", planted)}
    assert len(found) > len(planted) / (4 if kind == "files" else 3)
    assert sum(report.redactions.values()) >= 40
    assert set(report.redactions) <= set(FORMS)


# Where an id may stand: it is what queries and deletions name a document by.
IDENTITIES = {"document_id", "record_id", "uri", "provenance"}
OF_THE_GRAPH = {"documents", "chunks", "source_documents", "evidence", "doc_id", "record_ids"}


def test_an_id_stays_what_it_is_and_no_signal_reads_it(tmp_path: Path, providers: Path) -> None:
    mail = "zqarblefox@keldmoor.example"
    root = tmp_path / "in" / mail
    root.mkdir(parents=True)
    (root / "page.md").write_text("# A page\n\nThe Tide Mill stands at the Old Harbour. " * 4)
    (root / "note.txt").write_text("The Tide Mill again.")
    (root / "other.bin").write_bytes(b"\0\1")
    source = {"provider": "source.files", "config": {"root": str(tmp_path / "in")}}
    report = process(stack_of(source, tmp_path / "made" / "b"), workers=1)
    assert report.redactions == {}
    planted = {"all": mail, "mailbox": "zqarblefox", "domain": "keldmoor"}
    leaks = find_leaks(tmp_path / "made", planted)
    columns = {leak.place.removeprefix("column ") for leak in leaks if leak.place != "bytes"}
    assert IDENTITIES & columns == {"document_id", "record_id", "uri", "provenance"}
    assert columns <= IDENTITIES | OF_THE_GRAPH, columns
    # A file that holds no id holds none of it, not even in its bytes.
    with_ids = {leak.path for leak in leaks if leak.place != "bytes"}
    assert {leak.path for leak in leaks} == with_ids
    assert not any("bm25" in path or "sqlite" in path or "json" in path for path in with_ids)


@pytest.mark.parametrize(
    ("lines", "more"),
    [
        (['{"_id": "x", "text": 7, "note": "{}"}'], {}),
        (['{"_id": "x", "txt": "{}"}'], {}),
        (['{"_id": "x", "text": "{}"'], {}),
        (['{"_id": ["{}"], "text": "{}"}'], {}),
        (
            ['{"_id": "x", "text": "refuse {}"}'],
            {
                "signals": {
                    "embedding": {"provider": "encoder.fake", "config": {"refuse": "refuse"}}
                }
            },
        ),
    ],
)
def test_an_error_repeats_nothing_of_a_document(
    lines: list[str], more: dict, planter: Planter, tmp_path: Path, providers: Path
) -> None:
    text = "".join(planter.fill("row", line) + "\n" for line in lines)
    (tmp_path / "rows.jsonl").write_text(text)
    source = {"provider": "source.jsonl", "config": {"path": str(tmp_path / "rows.jsonl")}}
    with pytest.raises((IndexingError, SignalError)) as raised:
        process(stack_of(source, tmp_path / "made" / "b", **more), workers=1)
    chain: list[str] = []
    error: BaseException | None = raised.value
    while error is not None:
        chain.append(str(error))
        error = error.__cause__
    assert leaks_in("\n".join(chain), planter.planted) == []
    if (tmp_path / "made").exists():
        assert find_leaks(tmp_path / "made", planter.planted) == []


class Loose:
    """A source whose loader repeats what it read when it gives up."""

    def __init__(self, detail: str) -> None:
        self.detail = detail

    def read(self) -> list[SourceDocument | Skipped]:
        return [Skipped("x", "unreadable .pdf", self.detail, 3, "0" * 64)]


def test_the_words_of_a_loader_are_redacted_too(
    planter: Planter, tmp_path: Path, providers: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    detail = planter.fill("detail", "ParserError: what is {}?")
    build = Stack.build

    def loose(self: Stack, place: Any, seam: Any) -> Any:
        return Loose(detail) if place == ("source",) else build(self, place, seam)

    monkeypatch.setattr(Stack, "build", loose)
    source = {"provider": "source.files", "config": {"root": str(tmp_path)}}
    report = process(stack_of(source, tmp_path / "made" / "b"), workers=1)
    assert report.skips[0].detail == "ParserError: what is [EMAIL]?"
    assert find_leaks(tmp_path / "made", planter.planted) == []
