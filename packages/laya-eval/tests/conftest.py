from __future__ import annotations

import json
from pathlib import Path

import pytest
from laya_index.process import process
from laya_index.stack import parse_stack

PLACES = ["harbour", "mill", "ferry", "lighthouse", "dyke", "market", "school", "church"]
FACTS = ["built in 1820", "painted red", "closed on Sunday", "owned by the parish"]


def stack_text(folder: Path, *, k1: float = 1.2, tenants: bool = False) -> str:
    trust = "trust: {provider: trust.manifest"
    if tenants:
        trust += ', config: {rules: [{match: "**", tier: trusted}], tenants: {acme: ["**"]}}'
    return f"""
name: coast
source: {{provider: source.jsonl, config: {{path: {folder / "corpus.jsonl"}}}}}
{trust}}}
signals:
  bm25: {{provider: tokenizer.word, config: {{stem: english}}, k1: {k1}}}
export: {{path: {folder / "bundle"}}}
"""


def build(folder: Path, **settings: object) -> Path:
    rows = [
        {"_id": f"{place}-{n}", "title": place, "text": f"The {place} of Westeroog was {fact}."}
        for place in PLACES
        for n, fact in enumerate(FACTS)
    ]
    (folder / "corpus.jsonl").write_text("\n".join(json.dumps(row) for row in rows))
    process(parse_stack(stack_text(folder, **settings)))
    return folder / "bundle"


@pytest.fixture(scope="session")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("coast"))


@pytest.fixture(scope="session")
def other_bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("other"), k1=0.9)


@pytest.fixture(scope="session")
def tenant_bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("tenants"), tenants=True)


@pytest.fixture(scope="session")
def labels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Eight groups; answerable when every word of the question is in the corpus."""
    path = tmp_path_factory.mktemp("labels") / "labels.jsonl"
    rows = []
    for place in PLACES:
        for n, fact in enumerate(FACTS):
            query = f"Was the {place} {fact}?"
            rows.append((query, True, place, [f"{place}-{n}"]))
        rows.extend(
            (f"Was a {word} near the {place} sold to Acme?", False, place, [])
            for word in ("zeppelin", "volcano", "casino")
        )
    rows.append(("xylophone quartz", False, "church", []))
    path.write_text(
        "\n".join(
            json.dumps({"query": q, "answerable": a, "group": g, "documents": d})
            for q, a, g, d in rows
        )
    )
    return path


@pytest.fixture(scope="session")
def judged_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A BEIR folder over the same coast: queries with two relevant documents, one without."""
    folder = tmp_path_factory.mktemp("beir")
    corpus, queries, qrels = [], [], ["query-id\tcorpus-id\tscore"]
    for place in PLACES:
        for n, fact in enumerate(FACTS):
            text = f"The {place} of Westeroog was {fact}."
            corpus.append({"_id": f"{place}-{n}", "title": place, "text": text})
            if n % 2 == 0:
                word = fact.split()[-1]
                queries.append({"_id": f"{place}{n}", "text": f"{word} things near the {place}"})
                qrels.append(f"{place}{n}\t{place}-{n}\t2")
                qrels.append(f"{place}{n}\t{place}-{n + 1}\t1")
    queries.append({"_id": "none", "text": "volcano"})
    qrels.append(f"none\t{PLACES[0]}-0\t0")
    for name, rows in (("corpus.jsonl", corpus), ("queries.jsonl", queries)):
        (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "qrels.tsv").write_text("\n".join(qrels) + "\n")
    return folder
