"""Nothing happens."""

from __future__ import annotations

from collections.abc import Sequence

from laya_signals.component import Component, ComponentConfig

from laya_retrieval.candidate import Candidate


class Identity(Component[ComponentConfig]):
    """Returns the candidates as they came: the placeholder of a stack, the control of a study."""

    def process(self, query: str, candidates: Sequence[Candidate]) -> list[Candidate]:  # noqa: ARG002
        """A new list of the same candidates in the same order."""
        return list(candidates)
