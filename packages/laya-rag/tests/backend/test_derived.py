from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from laya_rag.backend.arrays import ArrayFolder, ArrayWriter
from laya_rag.backend.derived import DerivedCache

IDENTITY = "0123456789abcdef" * 4


def filler(value: int = 1) -> Callable[[Path], None]:
    def fill(folder: Path) -> None:
        writer = ArrayWriter(folder)
        writer.put("value", np.full(10, value))
        writer.finish({})

    return fill


def value(arrays: ArrayFolder | None) -> int | None:
    return None if arrays is None else int(arrays["value"][0])


def test_what_was_built_is_opened(tmp_path: Path) -> None:
    cache = DerivedCache(tmp_path / "root", IDENTITY)
    assert cache.open("arrays", ArrayFolder) is None
    assert value(cache.build("arrays", filler(), ArrayFolder)) == 1
    assert value(DerivedCache(tmp_path / "root", IDENTITY).open("arrays", ArrayFolder)) == 1
    assert cache.open("others", ArrayFolder) is None
    assert DerivedCache(tmp_path / "root", "f" * 64).open("arrays", ArrayFolder) is None


def test_a_build_that_fails_leaves_nothing(tmp_path: Path) -> None:
    cache = DerivedCache(tmp_path / "root", IDENTITY)

    def fill(folder: Path) -> None:
        (folder / "half").write_text("half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cache.build("arrays", fill, ArrayFolder)
    assert list((tmp_path / "root").iterdir()) == []


def test_the_second_of_two_builders_leaves_the_firsts_folder(tmp_path: Path) -> None:
    cache = DerivedCache(tmp_path / "root", IDENTITY)

    def fill(folder: Path) -> None:
        filler(2)(folder)
        cache.build("arrays", filler(1), ArrayFolder)

    assert value(cache.build("arrays", fill, ArrayFolder)) == 2
    assert value(cache.open("arrays", ArrayFolder)) == 1
    assert len(list((tmp_path / "root").iterdir())) == 1


def test_a_damaged_folder_is_built_again(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    cache = DerivedCache(tmp_path / "root", IDENTITY)
    cache.build("arrays", filler(1), ArrayFolder)
    [folder] = (tmp_path / "root").iterdir()
    (folder / "value").write_bytes(b"short")
    with caplog.at_level(logging.WARNING):
        assert cache.open("arrays", ArrayFolder) is None
    assert "value" in caplog.text
    assert value(cache.build("arrays", filler(2), ArrayFolder)) == 2
    assert value(cache.open("arrays", ArrayFolder)) == 2


def test_where_it_cannot_be_written_a_temporary_folder_will_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("no folder")
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    cache = DerivedCache(tmp_path / "file" / "root", IDENTITY)
    with caplog.at_level(logging.WARNING):
        arrays = cache.build("arrays", filler(3), ArrayFolder)
    assert value(arrays) == 3
    assert "cannot write" in caplog.text
    assert "temporary folder" in caplog.text
    assert list((tmp_path / "temporary").iterdir()) == []


def test_cleaning_removes_other_states_and_abandoned_builds(tmp_path: Path) -> None:
    root = tmp_path / "root"
    old, new = DerivedCache(root, "a" * 64), DerivedCache(root, "b" * 64)
    kept = old.build("arrays", filler(1), ArrayFolder)
    new.build("arrays", filler(2), ArrayFolder)
    for name, age in (("running", 60), ("abandoned", 3 * 86400)):
        folder = root / f".tmp-{name}"
        folder.mkdir()
        os.utime(folder, (time.time() - age,) * 2)
    new.clean()
    assert {path.name.partition("-")[2] for path in root.iterdir()} == {new.key, "running"}
    assert value(kept) == 1
    assert value(new.open("arrays", ArrayFolder)) == 2
