from __future__ import annotations

from collections.abc import Iterator

import pytest
from laya_rag.compose.testing import ChatServer
from laya_rag.engine import Engine
from laya_rag.testing import MemoryCorpus, chunk
from laya_retrieval.testing import FakeDecisionModel

ROWS = [
    chunk("mill#chunk-0", "The mill is driven by the tide.", title="Tide mill"),
    chunk("mill#chunk-1", "The mill stands since 1782.", title="Tide mill", start=60),
    chunk("ferry#chunk-0", "The ferry crosses four times a day.", title="Ferry"),
]


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer() as running:
        yield running


@pytest.fixture
def engine() -> Engine:
    """Finds everything relevant, and takes everything for an answer."""
    return Engine(MemoryCorpus(ROWS), model=FakeDecisionModel(lambda state, question: 0.9))
