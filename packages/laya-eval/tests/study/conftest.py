"""Data sets of the study's shapes, with texts of our own."""

from __future__ import annotations

import gzip
import json
import tempfile
from pathlib import Path

import pytest
from laya_eval.study.decisions import held_out

THINGS = ["harbour", "mill", "ferry", "lighthouse", "dyke", "market", "school", "church"]
COLOURS = ["red", "green", "white", "black", "yellow", "blue"]


def write(folder: Path, name: str, rows) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with gzip.open(folder / name, "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)


def write_qrels(folder: Path, pairs) -> None:
    lines = [
        "query-id\tcorpus-id\tscore",
        *(f"{query}\t{document}\t1" for query, document in pairs),
    ]
    (folder / "qrels.tsv").write_text("\n".join(lines) + "\n")


def squad(folder: Path) -> None:
    """Four articles, two held out, of six paragraphs with a question each, and one without."""
    corpus, pairs, qrels = [], [], []
    for article in ("Ctenophora", "Mills", "Normans", "Tides"):
        for number, colour in enumerate(COLOURS):
            name = f"{article}-{number}"
            text = f"In {article} the {THINGS[number]} is {colour}. It stands near the sea."
            corpus.append({"_id": f"p{name}", "title": article, "text": text})
            answer = [{"text": colour, "start": text.index(colour)}]
            query = f"Which colour has the {THINGS[number]} in {article}?"
            row = {"query": query, "passage": text, "group": article, "relevant": 1}
            pairs.append({**row, "query_id": f"q{name}", "answerable": 1, "answers": answer})
            qrels.append((f"q{name}", f"p{name}"))
        row = {"query": f"Who owns {article}?", "passage": text, "group": article, "relevant": 1}
        pairs.append({**row, "query_id": f"x{article}", "answerable": 0})
    write(folder, "corpus.jsonl.gz", corpus)
    write(folder, "pairs.jsonl.gz", pairs)
    queries = [{"_id": row["query_id"], "text": row["query"]} for row in pairs]
    write(folder, "queries.jsonl.gz", queries)
    write_qrels(folder, qrels)


def wikiqa(folder: Path) -> None:
    """Twelve summaries of three sentences, of which half have one that answers."""
    pairs = []
    for number in range(12):
        thing, colour = THINGS[number % 8], COLOURS[number % 6]
        for place, text in enumerate(
            (
                f"The {thing} of island {number} is old .",
                f"It was painted {colour} in spring ." if number % 2 else "Nobody goes there .",
                "Many people like it .",
            )
        ):
            right = int(number % 2 and place == 1)
            pairs.append(
                {
                    "query": f"when was the {thing} of island {number} painted",
                    "passage": text,
                    "relevant": right,
                    "group": f"g{number}",
                    "query_id": f"test-{number}",
                    "query_answerable": number % 2,
                    "split": "test",
                }
            )
    write(folder, "pairs.jsonl.gz", [*pairs, {**pairs[0], "split": "train", "query_id": "train-0"}])


def medquad(folder: Path) -> list[str]:
    """Two aspects of ten held-out entities and of ten others; returns the held-out ones."""
    entities = [f"Fever of {name}" for name in THINGS + COLOURS]
    entities += [f"{name} {n}" for n in range(400) for name in ("Ague", "Gout")]
    kept = [name for name in entities if held_out.medquad(name)][:10]
    others = [name for name in entities if not held_out.medquad(name)][:10]
    rows = [
        {
            "group": name,
            "qtype": kind,
            "question": f"What are the {kind} of {name}?",
            "answer": f"{name} has {kind} that differ from those of others.",
        }
        for name in kept + others
        for kind in ("symptoms", "causes")
    ]
    write(folder, "qa.jsonl.gz", rows)
    return kept


STACK = """
name: lexical
source: {provider: source.jsonl, config: {path: corpus.jsonl}}
trust: {provider: trust.manifest}
signals:
  bm25: {provider: tokenizer.word, config: {stem: english}}
export: {path: bundle}
"""


@pytest.fixture(autouse=True)
def own_lock(tmp_path_factory, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path_factory.mktemp("lock")))


@pytest.fixture
def lexical_stack(tmp_path) -> Path:
    """A stack without an encoder, so that a test need not encode."""
    path = tmp_path / "stack.yaml"
    path.write_text(STACK)
    return path


@pytest.fixture(scope="session")
def study_data(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("study-data")
    squad(folder / "squad2_dev")
    wikiqa(folder / "wikiqa")
    medquad(folder / "medquad_sample")
    return folder
