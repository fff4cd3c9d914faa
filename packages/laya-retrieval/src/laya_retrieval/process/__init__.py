"""Processors: a query and candidates to candidates."""
