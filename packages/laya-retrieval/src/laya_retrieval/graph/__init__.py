"""Graph sources: who neighbours whom."""

from laya_retrieval.graph.base import GraphSource
from laya_retrieval.graph.duckdb import DuckDbGraphSource
from laya_retrieval.graph.memory import MemoryGraphSource
from laya_retrieval.graph.neo4j import Neo4jGraphSource
from laya_retrieval.graph.networkx import NetworkxGraphSource

__all__ = [
    "DuckDbGraphSource",
    "GraphSource",
    "MemoryGraphSource",
    "Neo4jGraphSource",
    "NetworkxGraphSource",
]
