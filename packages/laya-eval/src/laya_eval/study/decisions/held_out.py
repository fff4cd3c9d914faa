"""Which texts no step of the embedded decision model's training saw.

The rule is that of its recipe (`packages/laya-mini/recipe/decision/sources.py`): a hash of the
name of the article, entity, abstract or question decides, so it can be looked up without the
training data.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import TypeVar

Item = TypeVar("Item")

SALT = "laya-mini-decision-1"

#: SQuAD 2.0's articles that the recipe keeps for testing.
SQUAD_ARTICLES = frozenset(
    {
        "Ctenophora",
        "European_Union_law",
        "Fresno,_California",
        "Normans",
        "Packet_switching",
        "Private_school",
    }
)
#: The share of MedQuAD's entities and of PubMedQA's abstracts that are kept for testing.
TEST_SHARE = 0.12
#: The share of anthropic_docs' questions, which are kept with all their sections.
DOCS_SHARE = 0.5


def rank(name: str) -> float:
    """A number in 0..1 that stands for `name`, the recipe's."""
    digest = hashlib.sha256(f"{SALT}/{name}".encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64


def squad(article: str) -> bool:
    """Whether a SQuAD article, by its title or its name in the pairs, is held out."""
    return article.replace(" ", "_") in SQUAD_ARTICLES


def medquad(entity: str) -> bool:
    """Whether the questions on an entity of MedQuAD are held out."""
    return rank("medquad/" + entity.lower().split("(")[0].strip()) < TEST_SHARE


def pubmedqa(abstract: str) -> bool:
    """Whether an abstract of PubMedQA is held out."""
    return rank("pubmedqa/" + abstract) < TEST_SHARE


def anthropic_docs(question: str) -> bool:
    """Whether a question of anthropic_docs, and the sections that answer it, are held out."""
    return rank("anthropic_docs" + question) < DOCS_SHARE


def drawn(items: Sequence[Item], count: int, key: Callable[[Item], str]) -> list[Item]:
    """`count` of the items, chosen by the hash of their key, in their order; all if they are few.

    The prefix keeps the choice apart from the splits, which are a hash of names too.
    """
    if len(items) <= count:
        return list(items)
    order = sorted(range(len(items)), key=lambda at: (rank("drawn/" + key(items[at])), at))
    return [items[at] for at in sorted(order[:count])]
