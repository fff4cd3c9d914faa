import os
import time
from pathlib import Path

import pytest
from laya_index.engine.base import MapEngine
from laya_index.engine.local import LocalEngine
from laya_index.errors import EngineError


@pytest.mark.parametrize("workers", [1, 2])
def test_results_come_in_the_order_of_the_items(workers: int, providers: Path) -> None:
    import laya_index_fake

    engine = LocalEngine(workers)
    assert isinstance(engine, MapEngine)
    try:
        assert list(engine.map(str, range(20))) == [str(n) for n in range(20)]
        assert list(engine.map(str, [])) == []
        pids = set(engine.map(laya_index_fake.pid, range(4)))
        assert (os.getpid() in pids) == (workers == 1)
        if workers > 1:
            assert list(engine.map(laya_index_fake.threads, range(2))) == ["1", "1"]
        with pytest.raises(ValueError, match="invalid literal"):
            list(engine.map(int, ["1", "x"]))
        if workers > 1:
            taken: list[int] = []
            results = engine.map(str, (taken.append(n) or n for n in range(100)))
            next(results)
            assert len(taken) <= 2 * workers  # the source is not read far ahead
            results.close()
            with pytest.raises(EngineError, match="a worker process died"):
                list(engine.map(laya_index_fake.die, range(2)))
    finally:
        begin = time.monotonic()
        engine.close()
        assert time.monotonic() - begin < 5
    for pid in pids - {os.getpid()}:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_one_worker_is_this_process_and_reads_one_item_at_a_time() -> None:
    taken: list[int] = []
    results = LocalEngine(1).map(str, (taken.append(n) or n for n in range(9)))
    assert (next(results), next(results)) == ("0", "1")
    assert taken == [0, 1]
