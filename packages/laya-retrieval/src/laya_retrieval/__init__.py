"""The query clock of Laya's retrieval toolkit: fuse, gate, rerank, pack and verify candidates from any store."""
