from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from laya_eval.inspect.collection import Collection, load_collection
from laya_eval.inspect.site import site_files
from laya_eval.inspect.vectors import Vectors, load_vectors
from laya_eval.writing import write_files

ROOT = Path(__file__).parents[4]
STACK = Path("stacks/inspectable.yaml")
SITE = Path("site")


@pytest.fixture
def demo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the demo's sources in the working folder, to be changed."""
    shutil.copytree(ROOT / "stacks" / "inspectable", tmp_path / "stacks" / "inspectable")
    shutil.copy(ROOT / STACK, tmp_path / STACK)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def folder(demo: Path) -> Path:
    """Where the copy's questions, answers and vectors are."""
    return demo / "stacks" / "inspectable"


@pytest.fixture
def collection(demo: Path) -> Collection:
    return load_collection(STACK)


@pytest.fixture
def vectors(collection: Collection) -> Vectors:
    return load_vectors(collection)


@pytest.fixture
def site(collection: Collection, vectors: Vectors) -> Path:
    """The page, built from the copy."""
    write_files(SITE, site_files(collection, vectors))
    return SITE


def edit(path: Path, before: str, after: str) -> None:
    """Replace the first `before`, which has to be there."""
    text = path.read_text(encoding="utf-8")
    assert before in text
    path.write_text(text.replace(before, after, 1), encoding="utf-8", newline="\n")
