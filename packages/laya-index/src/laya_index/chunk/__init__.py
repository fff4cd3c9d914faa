"""Chunkers: a document to passages."""
