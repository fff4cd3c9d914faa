"""What families of embedding models want before a text, and how they pool.

From the models' own cards. A model is told by its name; where its folder says what it wants, that
goes first.
"""

from __future__ import annotations

import re
from typing import NamedTuple


class Family(NamedTuple):
    """What stands before a query and before a passage; `cls` when the first state is the vector."""

    query: str = ""
    document: str = ""
    cls: bool = False


_SEARCHING = "Represent this sentence for searching relevant passages: "
_TASK = (
    "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:"
)

# Read top to bottom: the first pattern found in a model's name, in small letters, decides.
_FAMILIES = (
    (r"\be5-.*instruct", Family(f"{_TASK} ")),
    (r"\be5-", Family("query: ", "passage: ")),
    (r"\bbge-m3", Family(cls=True)),
    (r"\bbge-.*-zh", Family("为这个句子生成表示以用于检索相关文章：", cls=True)),
    (r"\bbge-", Family(_SEARCHING, cls=True)),
    (r"\bnomic-embed|\bmodernbert-embed", Family("search_query: ", "search_document: ")),
    (r"\barctic-embed.*v2", Family("query: ", cls=True)),
    (r"\barctic-embed|\bmxbai-embed", Family(_SEARCHING, cls=True)),
    (r"\bgte-qwen2.*instruct", Family(f"{_TASK} ")),
    (r"\bgte-(?:modernbert|.*v1\.5)", Family(cls=True)),
    (r"\bqwen3-embedding", Family(_TASK)),
)


def family_of(model: str) -> Family:
    """The family of a model, by the last part of its name or folder; one without prefixes else."""
    name = model.rstrip("/").rpartition("/")[2].lower()
    for pattern, family in _FAMILIES:
        if re.search(pattern, name):
            return family
    return Family()
