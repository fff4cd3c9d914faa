"""Engines: where the map stages run."""
