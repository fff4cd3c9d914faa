"""Measuring for Laya's retrieval toolkit: dataset loaders, IR metrics and benchmarks."""
