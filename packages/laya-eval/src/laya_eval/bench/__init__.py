"""Benchmarks: what `laya bench` runs, each in a module with one function `measure`."""
