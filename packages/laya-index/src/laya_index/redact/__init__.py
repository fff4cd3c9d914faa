"""Redactors: what must not reach any artifact."""
