"""Every benchmark runs, at a size where no number means anything."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from laya_eval.bench import peers
from laya_eval.bench.packing import Instance, random_instance
from laya_eval.bench.query import agree
from laya_eval.bench.rivals import RIVALS
from laya_eval.bench.row import Row
from laya_eval.bench.setup import Setup, Size
from laya_eval.bench.suite import NAMES, about, checked, measure
from laya_eval.errors import BenchError, DataError
from laya_rag.engine.engine import Engine

#: The peers that a benchmark has, apart from those of the environment with torch.
PEERS = {
    "query": {"langchain-classic", "haystack-ai"},
    "ingest": {"langchain-classic", "haystack-ai"},
    "memory": {"langchain-classic", "haystack-ai"},
    "approximate": {"ours, exact"},
    "bm25": {"bm25s", "rank-bm25"},
    "fusion": {"ranx", "langchain-classic"},
    "packing": {"highspy"},
    "tokens": {"tokenizers"},
    "gate": {"sentence-transformers"},
    "verification": set(),
    "chunking": {"langchain-text-splitters", "chonkie"},
    "stages": {"langchain-text-splitters", "bm25s", "sentence-transformers"},
}


def distribution(row: Row) -> str:
    return row.peer if row.peer.startswith("ours") else row.peer.split(" ")[0]


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_every_benchmark_runs_beside_its_peers(name: str, tmp_path: Path) -> None:
    rows = list(measure(name, Setup(tmp_path, Size.TINY)))
    assert {distribution(row) for row in rows if row.peer} == PEERS[name]
    for row in rows:
        if row.theirs is None and row.peer:
            assert row.peer == "sentence-transformers", row
            assert "uv run --with sentence-transformers" in row.note
        assert row.ours is not None


@pytest.mark.slow
@pytest.mark.parametrize("name", ["verification", "packing"])
def test_a_peer_that_is_not_there_leaves_ours(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    forget(monkeypatch)
    rows = list(measure(name, Setup(tmp_path, Size.TINY)))
    assert all(row.theirs is None and row.ours is not None for row in rows)


@pytest.mark.parametrize("name", ["fusion", "bm25", "ingest", "query"])
def test_a_missing_peer_is_in_the_rows(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    forget(monkeypatch)
    rows = list(measure(name, Setup(tmp_path, Size.TINY)))
    lacking = [row for row in rows if row.peer]
    assert {row.peer.split(" ")[0] for row in lacking} == PEERS[name]
    assert all(row.theirs is None and "uv sync --group" in row.note for row in lacking)


def forget(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if no peer were installed."""

    def absent(name: str) -> object:
        raise ModuleNotFoundError(name)

    monkeypatch.setattr(peers, "import_module", absent)


class _Other:
    """A system that finds something else."""

    def __init__(self, names: list[str]) -> None:
        self._names = names

    def search(self, query: str) -> list[str]:
        return self._names[:5]

    def dense(self, query: str, count: int) -> list[str]:
        return self._names[:count]


@pytest.mark.parametrize(
    ("names", "message"),
    [([f"x{n}" for n in range(20)], "finds other passages"), (["x"], "returns 1 passages")],
)
def test_a_system_that_finds_something_else_is_not_timed(
    names: list[str], message: str, tmp_path: Path
) -> None:
    corpus = Setup(tmp_path, Size.TINY).corpus(60)
    with Engine.open(corpus.bundle) as engine, pytest.raises(BenchError, match=message):
        agree(engine, _Other(names), corpus.questions[:2], "peer 1.0")


def test_data_takes_the_place_of_the_synthetic_corpus(judged_data: Path, tmp_path: Path) -> None:
    corpus = Setup(tmp_path, Size.TINY, judged_data).corpus(5)
    rows = (judged_data / "corpus.jsonl").read_text().splitlines()[:5]
    wanted = {row["_id"]: f"{row['title']}\n{row['text']}" for row in map(json.loads, rows)}
    assert corpus.texts == wanted
    assert "volcano" in corpus.questions


def test_data_of_another_layout_is_refused(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    with pytest.raises(DataError, match=r"corpus\.jsonl"):
        Setup(tmp_path, Size.TINY, tmp_path / "data").corpus(5)


def test_a_corpus_is_made_once(tmp_path: Path) -> None:
    setup = Setup(tmp_path, Size.TINY)
    assert setup.corpus(5) is setup.corpus(5)


@pytest.mark.parametrize(("size", "wanted"), [(Size.FULL, 3), (Size.QUICK, 2), (Size.TINY, 1)])
def test_a_size_chooses(size: Size, wanted: int, tmp_path: Path) -> None:
    assert Setup(tmp_path, size).of(3, 2, 1) == wanted


def test_names_are_checked_and_run_in_one_order() -> None:
    assert checked([]) == list(NAMES)
    assert checked(["gate", "query"]) == ["query", "gate"]
    with pytest.raises(BenchError, match="no benchmark 'qery'; there are query, "):
        checked(["qery"])


@pytest.mark.parametrize("name", NAMES)
def test_every_benchmark_says_what_it_measures(name: str) -> None:
    assert about(name).endswith(".")


def test_instances_are_reproducible() -> None:
    make: Callable[[], Instance] = lambda: random_instance(3, 0.1, 0.3, 12)  # noqa: E731
    assert (make().penalties == make().penalties).all()
    assert len(RIVALS) == 2
