"""The orchestrator of Laya's retrieval toolkit: the laya command and the bundle backend."""
