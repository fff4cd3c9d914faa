"""Two sets of gate labels from SQuAD 2.0 questions that have been laid out like a BEIR data set.

`python -m laya_eval.gate.squad DATA --out DIR` reads `corpus.jsonl.gz`, `pairs.jsonl.gz`,
`queries.jsonl.gz` and `qrels.tsv` and writes

- `labels.jsonl`: every question. The unanswerable ones were written by people who had the paragraph
  before them, so that they look as if it answered them. The hard case: the topic is always right.
- `half-corpus.jsonl`, `half-labels.jsonl`: every second article by title, and the answerable
  questions on all of them. A question on an article that is not there is unanswerable. The usual
  case: the corpus is about something else.

The group of a question is its article.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from laya_eval.beir import load_judged


def kept_articles(titles: Iterable[str]) -> frozenset[str]:
    """Every second article by title: those of which the half corpus has all paragraphs."""
    return frozenset(sorted(set(titles))[::2])


def make_labels(data: Path, out: Path) -> None:
    """Write the three files into folder `out`; raises `OSError` or `ValueError` for odd input."""
    corpus = _read(data / "corpus.jsonl.gz")
    titles = {row["_id"]: row["title"] for row in corpus}
    kept = kept_articles(titles.values())
    qrels = load_judged(data).qrels
    labels: list[dict[str, Any]] = []
    half: list[dict[str, Any]] = []
    for pair in _read(data / "pairs.jsonl.gz"):
        label = {
            "id": pair["query_id"],
            "query": pair["query"],
            "answerable": bool(pair["answerable"]),
            "group": pair["group"],
            "documents": list(qrels.get(pair["query_id"], {})),
        }
        labels.append(label)
        if label["documents"]:
            title = titles[label["documents"][0]]
            there = {**label, "group": title, "answerable": title in kept}
            half.append(there if title in kept else {**there, "documents": []})
    out.mkdir(parents=True, exist_ok=True)
    _write(out / "labels.jsonl", labels)
    _write(out / "half-labels.jsonl", half)
    _write(out / "half-corpus.jsonl", (row for row in corpus if row["title"] in kept))


def _read(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def _write(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def main() -> None:
    """Write the labels."""
    parser = argparse.ArgumentParser(description="Gate labels from SQuAD 2.0.")
    parser.add_argument("data", type=Path, help="folder with corpus, pairs and qrels")
    parser.add_argument("--out", type=Path, required=True, help="folder for the labels")
    arguments = parser.parse_args()
    make_labels(arguments.data, arguments.out)


if __name__ == "__main__":
    main()
