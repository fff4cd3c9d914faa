"""Backends: where candidates come from."""
