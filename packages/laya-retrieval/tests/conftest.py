"""Candidates that the specification's examples share."""

import pytest
from laya_retrieval import Candidate


@pytest.fixture
def reports():
    """R of the specification."""
    return [
        Candidate("a", 0.4, "the annual report covers revenue and tax"),
        Candidate("b", 0.9, "a recipe for sourdough bread"),
        Candidate("c", 0.5, "quarterly revenue grew and tax fell"),
    ]
