"""Asking every question about every state: what all runtimes share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from laya_signals.decide.answer import answer, decision
from laya_signals.decide.base import Decision, Questions, State
from laya_signals.decide.errors import QuestionError
from laya_signals.decide.question import TypedQuestion, parse_questions
from laya_signals.decide.sequence import BuiltSequence, SequenceBuilder, is_turns


class Row(NamedTuple):
    """What a runtime computes logits from."""

    #: Row of the question's type: choice 0, score 1, noul 2.
    kind: int
    ids: tuple[int, ...]
    #: Positions of the options' markers.
    markers: tuple[int, ...]


#: Logits of rows that all differ: for each row `(k,)` float32, one for each marker.
LogitsOf = Callable[[Sequence[Row]], Sequence[NDArray[np.float32]]]
#: The probability of each option from a question's logits: `(k,)` float64.
ChancesOf = Callable[[TypedQuestion, NDArray[np.float32]], NDArray[np.float64]]


def decide(
    states: Sequence[State],
    questions: Questions,
    sequences: SequenceBuilder,
    logits_of: LogitsOf,
    chances_of: ChancesOf,
) -> list[Decision]:
    """One decision per state, in order, with an answer to each question.

    Equal rows are computed once. Raises `QuestionError`, naming the question or the position of the
    state, before anything runs.
    """
    asked = parse_questions(questions)
    if isinstance(states, str):
        raise QuestionError("give a list of states, not one text")
    heads = [sequences.head(question) for question in asked]
    built: list[list[BuiltSequence]] = []
    for position, state in enumerate(states):
        try:
            ids = sequences.state_ids(state)
        except QuestionError as error:
            raise QuestionError(f"state {position}: {error}") from error
        left = is_turns(state)
        built.append([sequences.join(head, ids, from_left=left) for head in heads])
    rows = list(dict.fromkeys(_row(sequence) for state in built for sequence in state))
    logits = dict(zip(rows, logits_of(rows) if rows else (), strict=True))
    return [
        decision(
            state,
            {
                s.question.id: answer(s.question, chances_of(s.question, logits[_row(s)]))
                for s in state
            },
        )
        for state in built
    ]


def _row(sequence: BuiltSequence) -> Row:
    return Row(sequence.question.index, sequence.ids, sequence.markers)
