"""Encoders: a text to one dense vector."""
