import os
import sqlite3
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from laya_index.cache import VectorCache, text_key
from laya_index.errors import BundleError

KEYS = [text_key(str(n)) for n in range(1200)]


def vector(value: float) -> np.ndarray:
    return np.full(3, value, np.float32)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "new" / "vectors.sqlite"


def test_vectors_come_back_as_they_were(path: Path) -> None:
    cache = VectorCache(path, 3)
    cache.put((key, vector(n)) for n, key in enumerate(KEYS))
    cache.put([(KEYS[0], vector(-1))])
    cache.close()
    found = VectorCache(path, 3).get(KEYS)
    assert len(found) == len(KEYS)
    assert found[KEYS[0]].tolist() == [-1, -1, -1]
    assert all(found[key].tolist() == [n] * 3 for n, key in enumerate(KEYS) if n)
    assert found[KEYS[0]].dtype == np.float32


def test_what_is_not_there_or_of_another_width_is_not_found(path: Path) -> None:
    VectorCache(path, 3).put([(KEYS[0], vector(1))])
    assert VectorCache(path, 3).get(KEYS[:2]).keys() == {KEYS[0]}
    assert VectorCache(path, 4).get(KEYS[:2]) == {}
    assert VectorCache(path, 3).get([]) == {}


def test_it_forgets_on_request(path: Path) -> None:
    cache = VectorCache(path, 3)
    cache.put((key, vector(0)) for key in KEYS[:10])
    cache.keep_only([*KEYS[:3], KEYS[99]])
    assert cache.get(KEYS).keys() == set(KEYS[:3])
    assert len(cache) == 3
    cache.clear()
    assert len(cache) == 0


@pytest.mark.parametrize("damage", [b"garbage" * 500, b"", b"SQLite format 3\0" + b"x" * 5000])
def test_a_damaged_file_is_begun_afresh(path: Path, damage: bytes) -> None:
    path.parent.mkdir()
    path.write_bytes(damage)
    cache = VectorCache(path, 3)
    assert cache.get(KEYS[:1]) == {}
    cache.put([(KEYS[0], vector(1))])
    assert cache.get(KEYS[:1])[KEYS[0]].tolist() == [1, 1, 1]


def test_damage_that_shows_only_later_is_mended_too(path: Path) -> None:
    cache = VectorCache(path, 3)
    cache.put((key, vector(0)) for key in KEYS)
    cache.close()
    data = bytearray(path.read_bytes())
    data[4096:] = os.urandom(len(data) - 4096)
    path.write_bytes(data)
    cache = VectorCache(path, 3)
    assert cache.get(KEYS) == {}
    assert len(cache) in (0, len(KEYS))
    cache.put([(KEYS[0], vector(1))])
    cache.put((key, vector(2)) for key in KEYS)
    assert len(VectorCache(path, 3).get(KEYS)) == len(KEYS)


def test_a_reader_sees_what_a_writer_has_committed(path: Path) -> None:
    writer, reader = VectorCache(path, 3), VectorCache(path, 3)
    writer.put([(KEYS[0], vector(1))])
    assert reader.get(KEYS[:1]).keys() == {KEYS[0]}


def test_a_folder_in_its_place_is_an_error_that_says_what_to_do(path: Path) -> None:
    path.mkdir(parents=True)
    with pytest.raises(BundleError, match=r"cannot use the cache .*delete it and run again"):
        VectorCache(path, 3)


def test_a_cache_that_may_not_be_written_is_an_error(
    path: Path, as_nobody: Callable[[Callable[[], object]], str]
) -> None:
    VectorCache(path, 3).close()
    for item in (path, path.parent):
        item.chmod(0o555)
    said = as_nobody(lambda: VectorCache(path, 3).put([(KEYS[0], vector(1))]))
    path.parent.chmod(0o755)
    assert said.startswith("BundleError: cannot use the cache")
    with sqlite3.connect(path) as db:
        assert db.execute("SELECT count(*) FROM vectors").fetchone() == (0,)
