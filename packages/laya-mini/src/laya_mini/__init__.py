"""The embedded default models of Laya's retrieval toolkit: data only, no code."""
