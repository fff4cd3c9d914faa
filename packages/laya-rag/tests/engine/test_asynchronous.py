from __future__ import annotations

import asyncio
import threading

import pytest
from laya_rag.config import Settings
from laya_rag.engine import AsyncEngine, Engine
from laya_rag.errors import OverloadedError, StoreError
from laya_rag.testing import HeldModel, MemoryCorpus, chunk
from laya_retrieval.testing import FakeDecisionModel

ROWS = [chunk(f"d{n}#chunk-0", f"tide mill {n}") for n in range(6)]


def engine(model: FakeDecisionModel, **options: int) -> AsyncEngine:
    settings = Settings().updated({"gate.batch": 1})
    return AsyncEngine(Engine(MemoryCorpus(ROWS), settings, model=model), **options)


async def until(event: threading.Event) -> None:
    assert await asyncio.to_thread(event.wait, 10)


def test_every_method_answers_as_its_blocking_one() -> None:
    async def main() -> None:
        async with engine(FakeDecisionModel()) as one:
            blocking = one.engine
            assert await one.search("tide") == blocking.search("tide")
            assert await one.ask("tide") == blocking.ask("tide")
            assert await one.extract("tide") == blocking.extract("tide")
            assert await one.verify("[1]", query="tide") == blocking.verify("[1]", query="tide")
            assert await one.adjudicate("The tide.") == blocking.adjudicate("The tide.")
            assert await one.documents(limit=2) == blocking.documents(limit=2)
            assert await one.chunks("d0") == blocking.chunks("d0")
            assert await one.stats() == blocking.stats()
            with pytest.raises(StoreError):
                await one.integrity()

    asyncio.run(main())


def test_the_loop_goes_on_while_a_model_works() -> None:
    async def main() -> None:
        model = HeldModel()
        async with engine(model) as one:
            asked = asyncio.create_task(one.ask("tide mill"))
            await until(model.began)
            turns = 0
            while turns < 100:
                await asyncio.sleep(0)
                turns += 1
            assert not asked.done()
            model.go.set()
            assert (await asked).evidence

    asyncio.run(main())


def test_cancelling_stops_the_work() -> None:
    async def main() -> None:
        model = HeldModel()
        one = engine(model, workers=1)
        asked = asyncio.create_task(one.ask("tide mill"))
        await until(model.began)
        asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked
        model.go.set()
        await one.close()  # waits for the thread
        assert model.count == 1  # of six passages

    asyncio.run(main())


def test_a_call_that_still_waits_is_never_begun() -> None:
    async def main() -> None:
        model = HeldModel()
        one = engine(model, workers=1)
        first = asyncio.create_task(one.ask("tide mill"))
        await until(model.began)
        corpus = one.engine.backend
        assert isinstance(corpus, MemoryCorpus)
        before = len(corpus.searches)
        second = asyncio.create_task(one.ask("mill"))
        await asyncio.sleep(0)
        second.cancel()
        model.go.set()
        await first
        with pytest.raises(asyncio.CancelledError):
            await second
        await one.close()
        assert len(corpus.searches) == before

    asyncio.run(main())


def test_what_is_too_much_is_refused_and_room_comes_back() -> None:
    async def main() -> None:
        model = HeldModel()
        async with engine(model, workers=1, waiting=1) as one:
            running = [asyncio.create_task(one.ask("tide mill")) for _ in range(2)]
            await until(model.began)
            with pytest.raises(OverloadedError):
                await one.search("tide")
            model.go.set()
            await asyncio.gather(*running)
            assert (await one.search("tide")).passages

    asyncio.run(main())
