"""Fitting and judging gates on labelled queries."""
