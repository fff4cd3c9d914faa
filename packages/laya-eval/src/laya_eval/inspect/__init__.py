"""Retrieval that can be inspected: a small corpus on which every rank and score can be traced."""
