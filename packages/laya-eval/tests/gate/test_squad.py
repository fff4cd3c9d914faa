"""Gate labels from SQuAD 2.0's questions."""

from __future__ import annotations

import gzip
import json

from laya_eval.gate.labels import load_labels
from laya_eval.gate.squad import make_labels


def test_a_question_on_an_article_that_is_left_out_is_unanswerable(tmp_path):
    data = {
        "corpus": [{"_id": f"p{t}", "title": t, "text": t} for t in "ABC"],
        "queries": [{"_id": f"q{t}", "text": f"{t}?"} for t in "ABC"],
        "pairs": [
            *({"query_id": f"q{t}", "query": f"{t}?", "answerable": 1, "group": t} for t in "ABC"),
            {"query_id": "x", "query": "x?", "answerable": 0, "group": "A"},
        ],
    }
    for name, rows in data.items():
        with gzip.open(tmp_path / f"{name}.jsonl.gz", "wt") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)
    (tmp_path / "qrels.tsv").write_text(
        "q\td\tscore\n" + "".join(f"q{t}\tp{t}\t1\n" for t in "ABC")
    )
    make_labels(tmp_path, tmp_path / "out")
    hard = load_labels(tmp_path / "out" / "labels.jsonl").queries
    assert [(q.id, q.answerable) for q in hard] == [
        ("qA", True),
        ("qB", True),
        ("qC", True),
        ("x", False),
    ]
    half = load_labels(tmp_path / "out" / "half-labels.jsonl").queries
    assert [(q.id, q.answerable, q.documents) for q in half] == [
        ("qA", True, ("pA",)),
        ("qB", False, ()),
        ("qC", True, ("pC",)),
    ]
    rows = (tmp_path / "out" / "half-corpus.jsonl").read_text().splitlines()
    assert [json.loads(row)["_id"] for row in rows] == ["pA", "pC"]
