from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from laya_rag.engine.lru import Lru


def test_what_was_used_least_recently_goes_first() -> None:
    cache: Lru[str, int] = Lru(2)
    made: list[str] = []

    def get(key: str) -> None:
        cache.get(key, lambda: made.append(key) or len(made))

    for key in ("a", "b", "a", "c", "a", "b"):
        get(key)
    assert made == ["a", "b", "c", "b"]


def test_a_cache_of_size_zero_keeps_nothing() -> None:
    cache: Lru[str, int] = Lru(0)
    assert [cache.get("a", lambda: 1), cache.get("a", lambda: 2)] == [1, 2]
    assert len(cache) == 0


def test_threads_may_share_it() -> None:
    cache: Lru[int, int] = Lru(8)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda n: cache.get(n % 16, lambda: n % 16), range(2000)))
    assert found == [n % 16 for n in range(2000)]
    assert len(cache) == 8
