"""Models whose answers can be worked out by hand."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import numpy as np
from laya_signals.decide.base import Decision, Question, Questions, State
from laya_signals.multivector.hashing import HashingMultiVectorEncoder
from numpy.typing import NDArray

_WORD = re.compile(r"\w+")


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.casefold()))


class FakeCrossEncoder:
    """Scores a pair by how many distinct words of the query the text has.

    Like a sentence-transformers `CrossEncoder` it takes a list of pairs of texts, refuses anything
    else with `TypeError`, and returns a float32 array, empty for an empty list. `calls` holds every
    batch.
    """

    def __init__(self) -> None:
        self.calls: list[list[tuple[str, str]]] = []

    def predict(self, sentences: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        """`(n,)` float32."""
        pairs = list(sentences)
        for pair in pairs:
            if (
                isinstance(pair, str)
                or len(pair) != 2
                or not all(isinstance(side, str) for side in pair)
            ):
                raise TypeError(f"a pair is two texts, not {pair!r}")
        self.calls.append(pairs)
        return np.array([len(_words(q) & _words(text)) for q, text in pairs], dtype=np.float32)


class FakeMultiVectorEmbedder(HashingMultiVectorEncoder):
    """Token vectors of 16 signs each, by hash; refuses anything but texts with `TypeError`."""

    def __init__(self, dimension: int = 16) -> None:
        super().__init__(dimension=dimension)

    def encode_query(self, text: str) -> NDArray[np.float32]:
        """`(tokens, dimension)` float32, unit rows."""
        if not isinstance(text, str):
            raise TypeError(f"a text is needed, not {type(text).__name__}")
        return super().encode_query(text)


class FakeDecisionModel:
    """Answers a noul question with the share of the query's words that the rest of the state has.

    `noul` replaces that rule by a function of state and question. Refuses what a decision model
    refuses, with `ValueError`: no questions, a question without id, type or instructions, two with
    one id, a state that is neither text, mapping nor list. It only knows `noul`. `calls` holds
    every batch.
    """

    def __init__(
        self,
        noul: Callable[[State, Question], float] | None = None,
        *,
        fingerprint: str = "fake0000fake0000",
    ) -> None:
        self._noul = noul or _overlap
        self.fingerprint = fingerprint
        self.calls: list[tuple[list[State], list[Question]]] = []

    def predict_batch(self, states: Sequence[State], questions: Questions) -> list[Decision]:
        """One decision per state; confidence is the distance of the probability from a coin's."""
        questions = _listed(questions)
        _check_questions(questions)
        for state in states:
            if not isinstance(state, str | Mapping | list | tuple):
                raise ValueError(f"a state is a text, mapping or list, not {type(state).__name__}")
        self.calls.append((list(states), list(questions)))
        return [
            {"answers": {question["id"]: self._answer(state, question) for question in questions}}
            for state in states
        ]

    def _answer(self, state: State, question: Question) -> dict[str, Any]:
        probability = float(self._noul(state, question))
        return {"noul": probability, "confidence": max(probability, 1 - probability)}


def _listed(questions: Questions) -> list[Question]:
    """Questions given by id as a list."""
    if isinstance(questions, Mapping):
        return [cast(Question, {"id": key, **value}) for key, value in questions.items()]
    return list(questions)


def _check_questions(questions: Sequence[Question]) -> None:
    if not questions:
        raise ValueError("ask at least one question")
    seen: set[str] = set()
    for question in questions:
        for key in ("id", "type", "instructions"):
            value = question.get(key)
            if not isinstance(value, str) or not value:
                raise ValueError(f"a question needs a non-empty {key}: {dict(question)}")
        if question["type"] != "noul":
            raise ValueError(f"the fake answers noul questions only, not {question['type']!r}")
        if question["id"] in seen:
            raise ValueError(f"two questions have the id {question['id']!r}")
        seen.add(question["id"])


def _overlap(state: State, question: Question) -> float:  # noqa: ARG001
    if not isinstance(state, Mapping):
        return 0.0
    asked = _words(str(state.get("query", "")))
    text = " ".join(str(value) for key, value in state.items() if key != "query")
    return len(asked & _words(text)) / len(asked) if asked else 0.0
