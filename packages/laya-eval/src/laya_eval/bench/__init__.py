"""Benchmarks: `python -m laya_eval.bench.<name>` prints what it measured."""
