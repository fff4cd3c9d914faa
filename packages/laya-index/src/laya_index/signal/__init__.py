"""Signals: what the query clock searches with."""
