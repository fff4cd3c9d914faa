"""Faithful fakes: they refuse what the real thing refuses."""
