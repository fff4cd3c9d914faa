"""A small stack with every signal, and its trial on the sample corpus."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from laya_index.bundle.manifest import Manifest, read_manifest
from laya_index.bundle.schema import write_table
from laya_index.stack import Stack, parse_stack
from laya_rag.validate.trial import Trial

PROVIDERS = Path(__file__).parent / "providers"
BROKEN = "laya_rag_broken"


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> str:
    """The module of broken components, which this process and its children find."""
    monkeypatch.syspath_prepend(PROVIDERS)
    return BROKEN


def stack_text(**changes: Any) -> str:
    """A stack file; `changes` replace its top-level keys, and signals by `signals_<name>`."""
    data: dict[str, Any] = {
        "name": "trial",
        "source": {"provider": "source.files", "config": {"root": "nowhere"}},
        "chunk": {"provider": "chunker.paragraph", "config": {"chars": 600, "overlap": 100}},
        "redact": {"provider": "redact.patterns"},
        "signals": {"bm25": {"provider": "tokenizer.word"}},
        "export": {"path": "nowhere/out"},
    }
    for key, value in changes.items():
        if key.startswith("signals_"):
            data["signals"][key.removeprefix("signals_")] = value
        else:
            data[key] = value
    return yaml.safe_dump({key: value for key, value in data.items() if value is not None})


@pytest.fixture
def stack_of() -> Callable[..., Stack]:
    return lambda **changes: parse_stack(stack_text(**changes))


@pytest.fixture
def trial_of(tmp_path: Path) -> Iterator[Callable[..., Trial]]:
    def build(**changes: Any) -> Trial:
        return Trial(parse_stack(stack_text(**changes)), tmp_path / "trial", seed=0)

    yield build
    shutil.rmtree(tmp_path / "trial", ignore_errors=True)


EVERYTHING: dict[str, Any] = {
    "signals_embedding": {"provider": f"{BROKEN}:Words"},
    "signals_sparse": {"provider": "sparse.hashing"},
    "signals_multivector": {"provider": "multivector.hashing", "config": {"dimension": 8}},
    "signals_fde": {"provider": "fde.muvera", "config": {"repetitions": 1, "k_sim": 1}},
    "graph": {"provider": "graph.patterns"},
}


@pytest.fixture(scope="session")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Trial]:
    """A trial of every signal and a graph, built once; do not change its files."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(PROVIDERS)
        trial = Trial(parse_stack(stack_text(**EVERYTHING)), tmp_path_factory.mktemp("all"), seed=0)
        assert read_manifest(trial.first).counts.chunks > 50
        _ = trial.pipeline
        yield trial


@pytest.fixture
def copied(everything: Trial, tmp_path: Path) -> Path:
    """A copy of the session's bundle, to be tampered with."""
    return Path(shutil.copytree(everything.first, tmp_path / "copied"))


def change_manifest(bundle: Path, edit: Callable[[dict[str, Any]], object]) -> None:
    """Apply `edit` to the manifest as plain data, and write it as the run does."""
    path = bundle / "manifest.json"
    data = json.loads(path.read_text())
    edit(data)
    path.write_text(Manifest.model_validate(data).to_json())


def change_rows(bundle: Path, kind: str, edit: Callable[[pa.Table], pa.Table]) -> None:
    """Apply `edit` to the first file of a kind."""

    def in_manifest(data: dict[str, Any]) -> None:
        entry = next(entry for entry in data["files"] if entry["kind"] == kind)
        path = bundle / entry["path"]
        table = edit(pq.read_table(path))
        write_table(table, path)
        content = path.read_bytes()
        entry |= {
            "bytes": len(content),
            "rows": table.num_rows,
            "sha256": hashlib.sha256(content).hexdigest(),
        }

    change_manifest(bundle, in_manifest)


def set_value(column: str, row: int, value: Any) -> Callable[[pa.Table], pa.Table]:
    """An edit of one value; a function is given the old one."""

    def edit(table: pa.Table) -> pa.Table:
        values = table[column].to_pylist()
        values[row] = value(values[row]) if callable(value) else value
        index = table.schema.get_field_index(column)
        field = table.schema.field(column)
        return table.set_column(index, field, pa.array(values, field.type))

    return edit


@pytest.fixture(scope="session")
def tamper() -> SimpleNamespace:
    """`change_manifest`, `change_rows` and `set_value`, which keep the manifest in step."""
    return SimpleNamespace(
        change_manifest=change_manifest, change_rows=change_rows, set_value=set_value
    )
