from __future__ import annotations

import json
from pathlib import Path

import pytest
from laya_index.process import process
from laya_index.stack import parse_stack

ROWS = [
    ("acme/one", "Tide mill", "The mill is driven by the tide."),
    ("acme/two", "Ferry", "The ferry crosses to the island four times a day."),
    ("globex/one", "Tide watch", "When the tide is high the dyke watch is called out."),
    ("inbox/mail", "Offer", "Buy a tide mill today."),
    ("spam/x", "Spam", "tide tide tide tide mill mill mill"),
]


def stack_text(folder: Path, *, embedding: bool, tenants: bool = False) -> str:
    rules = (
        '{match: "acme/**", tier: trusted}, {match: "globex/**", tier: trusted}, '
        '{match: "inbox/**", tier: untrusted}'
    )
    owners = ', tenants: {acme: ["acme/**"], globex: ["globex/**"]}' if tenants else ""
    return f"""
name: coast
source: {{provider: source.jsonl, config: {{path: {folder / "corpus.jsonl"}}}}}
trust: {{provider: trust.manifest, config: {{rules: [{rules}]{owners}}}}}
signals:
  bm25: {{provider: tokenizer.word, config: {{stem: english}}}}
  {"embedding: {provider: encoder.mini}" if embedding else ""}
export: {{path: {folder / "bundle"}}}
"""


def build(folder: Path, *, embedding: bool = True, tenants: bool = False) -> Path:
    lines = [json.dumps({"_id": i, "title": t, "text": x}) for i, t, x in ROWS]
    (folder / "corpus.jsonl").write_text("\n".join(lines))
    process(parse_stack(stack_text(folder, embedding=embedding, tenants=tenants)))
    return folder / "bundle"


@pytest.fixture(scope="session")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("plain"))


@pytest.fixture(scope="session")
def tenant_bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("tenants"), tenants=True)


@pytest.fixture(scope="session")
def lexical_bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("lexical"), embedding=False)
