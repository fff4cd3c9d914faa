"""Processors: a query and candidates to candidates."""

from laya_retrieval.process.base import Processor
from laya_retrieval.process.bm25 import Bm25Rescorer, Bm25Stats
from laya_retrieval.process.cover import CoverageSelector
from laya_retrieval.process.dedup import Deduplicator
from laya_retrieval.process.expand import Expander
from laya_retrieval.process.group import DocumentGroup, group_by_document
from laya_retrieval.process.identity import Identity
from laya_retrieval.process.maxsim import MaxSimReranker, maxsim
from laya_retrieval.process.multihop import MultiHopExpander
from laya_retrieval.process.pack import Packer, PackResult, Skipped
from laya_retrieval.process.quota import DocumentQuota
from laya_retrieval.process.rerank import Reranker

__all__ = [
    "Bm25Rescorer",
    "Bm25Stats",
    "CoverageSelector",
    "Deduplicator",
    "DocumentGroup",
    "DocumentQuota",
    "Expander",
    "Identity",
    "MaxSimReranker",
    "MultiHopExpander",
    "PackResult",
    "Packer",
    "Processor",
    "Reranker",
    "Skipped",
    "group_by_document",
    "maxsim",
]
