"""The libraries that we are compared with: which version is installed, or how to get it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib import import_module, metadata
from typing import Any

from laya_eval.bench.row import Row
from laya_eval.errors import MissingPeerError

# Haystack reports its use to its makers unless told not to; a benchmark tells nobody anything.
os.environ.setdefault("HAYSTACK_TELEMETRY_ENABLED", "False")


@dataclass(frozen=True, slots=True)
class Peer:
    """A library: the distribution that has it, and the command that installs it."""

    distribution: str
    module: str
    get: str

    @property
    def name(self) -> str:
        """The distribution with its version where it is installed."""
        try:
            return f"{self.distribution} {metadata.version(self.distribution)}"
        except metadata.PackageNotFoundError:
            return self.distribution

    def load(self, module: str | None = None) -> Any:
        """The peer's module, or another one of its; raises `MissingPeerError`."""
        try:
            return import_module(module or self.module)
        except ImportError as error:
            raise MissingPeerError(f"{self.distribution} is not installed; {self.get}") from error

    def missing(self, task: str, unit: str, ours: float | None, error: MissingPeerError) -> Row:
        """The row of a task that the peer could not run."""
        return Row(task, unit, ours, self.name, note=str(error))


def _group(name: str) -> str:
    return f"`uv sync --group {name}`"


BM25S = Peer("bm25s", "bm25s", _group("oracles"))
RANK_BM25 = Peer("rank-bm25", "rank_bm25", _group("oracles"))
RANX = Peer("ranx", "ranx", _group("oracles"))
HIGHS = Peer("highspy", "highspy", _group("oracles"))
CHONKIE = Peer("chonkie", "chonkie", _group("peers"))
SPLITTERS = Peer("langchain-text-splitters", "langchain_text_splitters", _group("peers"))
LANGCHAIN = Peer("langchain-classic", "langchain_classic.retrievers", _group("peers"))
FAISS = Peer("langchain-community", "langchain_community.vectorstores", _group("peers"))
TOKENIZERS = Peer("tokenizers", "tokenizers", "`pip install laya-signals` brings it")
FAISS_CPU = Peer("faiss-cpu", "faiss", "`pip install laya-rag[approximate]`")
HAYSTACK = Peer("haystack-ai", "haystack", _group("adapters"))
# It needs torch, which no dependency group brings.
SENTENCE_TRANSFORMERS = Peer(
    "sentence-transformers",
    "sentence_transformers",
    "`uv run --with sentence-transformers laya bench NAME` brings it and torch for one run",
)
