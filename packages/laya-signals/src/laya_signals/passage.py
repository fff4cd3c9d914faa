"""How a passage is shown to a model that reads one text."""

from __future__ import annotations


def titled(title: str, content: str) -> str:
    """The passage after its document's title, on a line of its own, unless it opens with that."""
    if not title or content.lstrip("# ").startswith(title):
        return content
    return f"{title}\n{content}"
