"""The query clock: fuse, gate, rerank, pack and verify candidates from any store."""

from laya_retrieval.candidate import Candidate, ranked

__all__ = ["Candidate", "ranked"]
