"""Tokenizers: a text to index terms."""
