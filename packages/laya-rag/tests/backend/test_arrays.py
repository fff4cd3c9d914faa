from __future__ import annotations

import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from laya_rag.backend.arrays import BLOCK, INDEX, ArrayFolder, ArrayWriter
from laya_rag.errors import CacheError

MATRIX = np.arange(3 * BLOCK * 2, dtype=np.float32).reshape(-1, 2)


def write(folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    writer = ArrayWriter(folder)
    writer.put("matrix", MATRIX)
    writer.put("empty", np.empty((0, 4), np.float16))
    with writer.stream("numbers", np.int64) as stream:
        stream.append(np.arange(3))
        stream.append(np.arange(2))
    filled = writer.scratch("filled", np.uint32, 4)
    filled[::-1] = np.arange(4)
    filled.flush()
    writer.foreign("note.txt").write_text("hello")
    writer.finish({"norms": {"matrix": 2.5}})
    return folder


def test_what_was_written_is_read(tmp_path: Path) -> None:
    arrays = ArrayFolder(write(tmp_path / "a"))
    assert np.array_equal(arrays["matrix"], MATRIX)
    assert arrays["empty"].shape == (0, 4)
    assert arrays["empty"].dtype == np.float16
    assert arrays["numbers"].tolist() == [0, 1, 2, 0, 1]
    assert arrays["filled"].tolist() == [3, 2, 1, 0]
    assert arrays.facts == {"norms": {"matrix": 2.5}}
    assert arrays.get("absent") is None


def test_arrays_cannot_be_written_to(tmp_path: Path) -> None:
    arrays = ArrayFolder(write(tmp_path / "a"))
    with pytest.raises(ValueError, match="read-only"):
        arrays["matrix"][0] = 1


def test_blocks_cover_a_matrix_and_may_be_read_again_after_release(tmp_path: Path) -> None:
    arrays = ArrayFolder(write(tmp_path / "a"))
    for _ in range(2):
        parts = [(start, block.copy()) for start, block in arrays.blocks("matrix")]
        assert [start for start, _ in parts] == [0, BLOCK, 2 * BLOCK]
        assert np.array_equal(np.concatenate([block for _, block in parts]), MATRIX)
        arrays.release()
    assert np.array_equal(arrays["matrix"], MATRIX)


def test_an_open_folder_survives_its_removal(tmp_path: Path) -> None:
    arrays = ArrayFolder(write(tmp_path / "a"))
    shutil.rmtree(tmp_path / "a")
    arrays.release()
    assert np.array_equal(arrays["matrix"], MATRIX)


def test_a_folder_without_an_index_is_none(tmp_path: Path) -> None:
    write(tmp_path / "a")
    (tmp_path / "a" / INDEX).unlink()
    with pytest.raises(FileNotFoundError):
        ArrayFolder(tmp_path / "a")


@pytest.mark.parametrize("name", ["matrix", "numbers", "note.txt"])
@pytest.mark.parametrize("damage", ["shorter", "longer", "changed", "gone"])
def test_damage_is_found_and_named(tmp_path: Path, name: str, damage: str) -> None:
    path = write(tmp_path / "a") / name
    data = path.read_bytes()
    if damage == "gone":
        path.unlink()
    else:
        changed = {"shorter": data[:-1], "longer": data + b"x", "changed": b"?" + data[1:]}
        path.write_bytes(changed[damage])
        os.utime(path, ns=(0, 0))
    with pytest.raises((CacheError, FileNotFoundError), match=name):
        ArrayFolder(tmp_path / "a")


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"facts": {}}', '{"facts": {}, "files": {"a": {}}}']
)
def test_a_damaged_index_is_named(tmp_path: Path, text: str) -> None:
    (write(tmp_path / "a") / INDEX).write_text(text)
    with pytest.raises(CacheError, match=INDEX):
        ArrayFolder(tmp_path / "a")


def test_a_faithful_copy_is_as_good_whatever_its_times(tmp_path: Path) -> None:
    write(tmp_path / "a")
    shutil.copytree(tmp_path / "a", tmp_path / "b", copy_function=shutil.copyfile)
    for path in (tmp_path / "b").iterdir():
        os.utime(path, ns=(0, 0))
    assert np.array_equal(ArrayFolder(tmp_path / "b")["matrix"], MATRIX)
