from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from laya_index.process import process
from laya_index.stack import parse_stack

sys.path.append(str(Path(__file__).parent / "providers"))

HASHED = "laya_rag_hashed:HashedEncoder"

#: One leg of every kind; the encoder has few vectors, so that there are ties.
SIGNALS: dict[str, Any] = {
    "bm25": {"provider": "tokenizer.whitespace"},
    "embedding": {"provider": HASHED, "config": {"distinct": 5}},
    "embedding_half": {"provider": HASHED, "dtype": "float16"},
    "sparse": {"provider": "sparse.hashing"},
    "multivector": {"provider": "multivector.hashing", "config": {"dimension": 16}},
    "fde": {"provider": "fde.muvera", "config": {"repetitions": 2, "k_sim": 2, "projection": 4}},
}

SHORT = {"chars": 50, "overlap": 10, "min_chars": 10}

Make = Callable[..., Path]


def make_bundle(
    folder: Path,
    rows: Mapping[str, str],
    *,
    signals: Mapping[str, Any] = SIGNALS,
    tenants: Mapping[str, Sequence[str]] | None = None,
    tiers: Mapping[str, str] | None = None,
    graph: Mapping[str, Any] | None = None,
) -> Path:
    """A bundle of the texts in `rows` by document id; `tenants` and `tiers` are by pattern."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps({"_id": i, "title": i, "text": text}) for i, text in rows.items()]
    (folder / "corpus.jsonl").write_text("\n".join(lines))
    trust: dict[str, Any] = {"default_tier": "untrusted"}
    if tiers is not None:
        trust["rules"] = [{"match": match, "tier": tier} for match, tier in tiers.items()]
    if tenants is not None:
        trust["tenants"] = {name: list(patterns) for name, patterns in tenants.items()}
    stack = {
        "name": "test",
        "source": {"provider": "source.jsonl", "config": {"path": str(folder / "corpus.jsonl")}},
        "chunk": {"provider": "chunker.paragraph", "config": SHORT},
        "trust": {"provider": "trust.manifest", "config": trust},
        "signals": dict(signals),
        "export": {"path": str(folder / "bundle")},
    }
    if graph is not None:
        stack["graph"] = dict(graph)
    process(parse_stack(json.dumps(stack)), workers=1)
    return folder / "bundle"


@pytest.fixture(scope="session")
def make() -> Make:
    """`make(folder, rows, signals=…, tenants=…, tiers=…)` builds a bundle."""
    return make_bundle


@pytest.fixture(scope="session")
def signals() -> dict[str, Any]:
    """One leg of every kind, as a stack names them."""
    return dict(SIGNALS)
