"""The table in docs/signals.md: how closely FDE follows MaxSim on real token vectors."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from laya_signals.fde import MuveraFde
from laya_signals.multivector import EncoderMultiVectorEncoder

ROOT = Path(__file__).parents[4]
ROW = re.compile(r"^\| (\d+) \| (\d+) \| (\d+) \| ([\d,]+) \| ([\d.]+) \| (\d+) of 24 \|$", re.M)
TABLE = ROW.findall((ROOT / "docs" / "signals.md").read_text(encoding="utf-8"))

Arrays = list[np.ndarray]


@pytest.fixture(scope="module")
def passages() -> tuple[Arrays, Arrays, np.ndarray]:
    """The inspectable corpus: token vectors of titles, of texts, and their exact MaxSim."""
    lines = (ROOT / "stacks" / "inspectable" / "corpus.jsonl").read_text().splitlines()
    rows = [json.loads(line) for line in lines]
    encoder = EncoderMultiVectorEncoder()
    queries = encoder.encode_documents([row["title"] for row in rows])
    documents = encoder.encode_documents([row["text"] for row in rows])
    exact = [[(q @ d.T).max(axis=1).sum() for d in documents] for q in queries]
    return queries, documents, np.array(exact)


def test_the_page_has_the_table() -> None:
    assert len(TABLE) >= 5


@pytest.mark.parametrize("row", TABLE, ids="-".join)
def test_a_row_of_the_table_holds(
    row: tuple[str, ...], passages: tuple[Arrays, Arrays, np.ndarray]
) -> None:
    queries, documents, exact = passages
    repetitions, k_sim, projection, width, correlation, found = row
    fde = MuveraFde(repetitions=int(repetitions), k_sim=int(k_sim), projection=int(projection))
    assert fde.width(384) == int(width.replace(",", ""))
    encoded = np.stack([fde.encode_document(document) for document in documents])
    scores = np.stack([encoded @ fde.encode_query(query) for query in queries])
    ranks = [np.argsort(np.argsort(table, axis=1), axis=1) for table in (scores, exact)]
    mean = np.mean([np.corrcoef(one, other)[0, 1] for one, other in zip(*ranks, strict=True)])
    # Two processor types may differ in the last bits of a token vector, and so in a rank.
    assert mean == pytest.approx(float(correlation), abs=0.02)
    best = np.argsort(-scores, axis=1)[:, :3] == exact.argmax(axis=1)[:, None]
    assert abs(int(best.any(axis=1).sum()) - int(found)) <= 1
