"""A few candidates that together say as much as possible."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from laya_signals.tokenize.base import Tokenizer
from laya_signals.tokenize.using import TokenizingComponent, TokenizingConfig
from numpy.typing import NDArray
from pydantic import Field

from laya_retrieval.candidate import Candidate
from laya_retrieval.fuse.weighted import minmax
from laya_retrieval.process.group import document_of
from laya_retrieval.sentences import split_sentences


class CoverConfig(TokenizingConfig):
    """Settings of `processor.cover`."""

    #: How many candidates to keep.
    top_k: int = Field(default=10, ge=1)
    #: λ: 1.0 looks at coverage alone, 0.0 at the incoming scores alone.
    lam: float = Field(default=0.5, ge=0, le=1)
    #: How much the likeness (term Jaccard) to the nearest candidate already picked counts against.
    redundancy: float = Field(default=0.0, ge=0, allow_inf_nan=False)
    #: Start from the best candidate of this many distinct documents.
    seed_documents: int = Field(default=0, ge=0)


class CoverageSelector(TokenizingComponent[CoverConfig]):
    """Keeps `top_k` candidates that cover the pool's sentences, in their incoming order.

    Every sentence of the pool is an atom; a candidate covers an atom by the share of its terms
    that the candidate's closest sentence has, and an atom weighs 1 plus the number of query terms
    in it. The selection greedily raises `λ · covered weight + (1 - λ) · Σ min-max score / top_k
    - redundancy · Σ likeness / top_k`. Coverage is monotone and submodular, so for λ = 1 without
    redundancy the greedy pick reaches at least 63 % of the best possible (Nemhauser, Wolsey and
    Fisher 1978). Source of the objective: Lin and Bilmes, "A Class of Submodular Functions for
    Document Summarization" (ACL 2011).
    """

    Config = CoverConfig

    def process(self, query: str, candidates: Sequence[Candidate]) -> list[Candidate]:
        """At most `top_k` of the candidates."""
        if len(candidates) <= self.config.top_k:
            return list(candidates)
        atoms = Atoms.of(query, [candidate.text for candidate in candidates], self.tokenizer)
        picked: list[int] = []
        documents: set[str] = set()
        for position, candidate in enumerate(candidates):
            if len(picked) == min(self.config.seed_documents, self.config.top_k):
                break
            if document_of(candidate) not in documents:
                documents.add(document_of(candidate))
                picked.append(position)
        self._extend(picked, candidates, atoms)
        return [candidates[position] for position in sorted(picked)]

    def _extend(self, picked: list[int], candidates: Sequence[Candidate], atoms: Atoms) -> None:
        config = self.config
        relevance = np.array(minmax([candidate.score for candidate in candidates]))
        covered = np.zeros(atoms.weights.size)
        likeness = np.zeros(len(candidates))
        free = np.ones(len(candidates), dtype=bool)
        for position in picked:
            covered = np.maximum(covered, atoms.coverage[position])
            likeness = np.maximum(likeness, atoms.likeness(position))
            free[position] = False
        while len(picked) < config.top_k:
            gain = np.maximum(atoms.coverage - covered, 0.0) @ atoms.weights
            value = (
                config.lam * gain
                + ((1 - config.lam) * relevance - config.redundancy * likeness) / config.top_k
            )
            # Rounding keeps equal gains equal, so that ties go to the candidate that came first.
            best = int(np.argmax(np.where(free, np.round(value, 12), -np.inf)))
            picked.append(best)
            free[best] = False
            covered = np.maximum(covered, atoms.coverage[best])
            likeness = np.maximum(likeness, atoms.likeness(best))


class Atoms:
    """The sentences of a pool and how far each candidate covers them.

    `coverage` is `(candidates, sentences)` in 0..1, `weights` `(sentences,)`, summing to 1.
    """

    def __init__(
        self,
        coverage: NDArray[np.float64],
        weights: NDArray[np.float64],
        terms: NDArray[np.float32],
    ) -> None:
        self.coverage = coverage
        self.weights = weights
        self._terms = terms

    @classmethod
    def of(cls, query: str, texts: Sequence[str], tokenizer: Tokenizer) -> Atoms:
        """Split, tokenise and compare; quadratic in the pool's sentences, all of it in numpy."""
        sentences: dict[frozenset[str], int] = {}
        members: list[list[int]] = []
        vocabulary: dict[str, int] = {}
        for text in texts:
            own: list[int] = []
            for sentence in split_sentences(text):
                terms = frozenset(tokenizer.tokenize(sentence.span.of(text)))
                if terms:
                    own.append(sentences.setdefault(terms, len(sentences)))
                    for term in sorted(terms):
                        vocabulary.setdefault(term, len(vocabulary))
            members.append(own)
        matrix = np.zeros((len(sentences), len(vocabulary)), dtype=np.float32)
        for terms, row in sentences.items():
            matrix[row, [vocabulary[term] for term in terms]] = 1.0
        sizes = matrix.sum(axis=1)
        # share[i, j]: which part of sentence j's terms sentence i has.
        share = (matrix @ matrix.T) / np.maximum(sizes, 1.0)
        asked = set(tokenizer.tokenize(query))
        weights = np.array([1.0 + len(asked & terms) for terms in sentences], dtype=np.float64)
        coverage = np.zeros((len(texts), len(sentences)))
        bags = np.zeros((len(texts), len(vocabulary)), dtype=np.float32)
        for row, own in enumerate(members):
            if own:
                coverage[row] = share[own].max(axis=0)
                bags[row] = matrix[own].max(axis=0)
        return cls(coverage, weights / max(float(weights.sum()), 1.0), bags)

    def likeness(self, position: int) -> NDArray[np.float64]:
        """Term Jaccard of every candidate with one of them, `(candidates,)` in 0..1."""
        shared = self._terms @ self._terms[position]
        union = self._terms.sum(axis=1) + self._terms[position].sum() - shared
        jaccard: NDArray[np.float64] = (shared / np.maximum(union, 1.0)).astype(np.float64)
        return jaccard
