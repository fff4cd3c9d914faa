"""The engine: search, ask, extract, verify and adjudicate over one corpus."""

from laya_rag.engine.asynchronous import AsyncEngine
from laya_rag.engine.cancel import CancelToken
from laya_rag.engine.engine import Engine, verify_answer
from laya_rag.engine.listing import ChunkPage, CorpusStats, DocumentPage
from laya_rag.engine.passage import Passage
from laya_rag.engine.result import (
    AdjudicateResult,
    AskResult,
    ExtractResult,
    JudgedClaim,
    SearchResult,
    VerifyResult,
)
from laya_rag.engine.second import EvidenceFunnel

__all__ = [
    "AdjudicateResult",
    "AskResult",
    "AsyncEngine",
    "CancelToken",
    "ChunkPage",
    "CorpusStats",
    "DocumentPage",
    "Engine",
    "EvidenceFunnel",
    "ExtractResult",
    "JudgedClaim",
    "Passage",
    "SearchResult",
    "VerifyResult",
    "verify_answer",
]
