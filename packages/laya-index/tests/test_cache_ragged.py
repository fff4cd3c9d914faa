import sqlite3
from pathlib import Path

import numpy as np
from laya_index.cache import VectorCache


def test_any_number_of_vectors_comes_back_in_its_shape(tmp_path: Path) -> None:
    cache = VectorCache(tmp_path / "c.sqlite", 3, ragged=True)
    arrays = {bytes([n]): np.arange(3 * n, dtype=np.float32).reshape(n, 3) for n in (0, 1, 5)}
    cache.put(arrays.items())
    found = cache.get([*arrays, b"absent"])
    assert found.keys() == arrays.keys()
    for key, array in arrays.items():
        assert found[key].shape == array.shape
        assert np.array_equal(found[key], array)
    cache.close()


def test_what_is_no_whole_number_of_vectors_is_not_there(tmp_path: Path) -> None:
    cache = VectorCache(tmp_path / "c.sqlite", 3, ragged=True)
    cache.put([(b"k", np.ones((2, 3), np.float32))])
    with sqlite3.connect(tmp_path / "c.sqlite") as db:
        db.execute("UPDATE vectors SET vector = zeroblob(16)")
    assert cache.get([b"k"]) == {}
    cache.close()
