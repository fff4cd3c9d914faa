"""Verification: does an answer's text agree with the passages it cites."""
