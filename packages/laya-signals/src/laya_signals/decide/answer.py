"""From logits to typed answers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from laya_signals.decide.base import Decision, Usage
from laya_signals.decide.question import TypedQuestion
from laya_signals.decide.sequence import BuiltSequence
from laya_signals.errors import ModelError


@dataclass(frozen=True)
class Platt:
    """A correction of a noul's log-odds that was fitted for one question: slope and offset."""

    slope: float = 1.0
    offset: float = 0.0


def probabilities(
    logits: NDArray[np.float32], temperature: float, platt: Platt | None = None
) -> NDArray[np.float64]:
    """Softmax of `(k,)` logits divided by the temperature: `(k,)` float64, sum 1.

    `platt` corrects the log-odds of the second against the first of two. Raises `ModelError` for
    logits that are not finite.
    """
    scaled = logits.astype(np.float64) / temperature
    if not np.isfinite(scaled).all():
        raise ModelError("the model gives logits that are not finite")
    if platt is not None:
        log_odds = platt.slope * (scaled[1] - scaled[0]) + platt.offset
        scaled = np.array([0.0, log_odds])
    odds = np.exp(scaled - scaled.max())
    result: NDArray[np.float64] = odds / odds.sum()
    return result


def answer(question: TypedQuestion, chances: NDArray[np.float64]) -> dict[str, Any]:
    """A question's typed answer from the probability of each option.

    Every answer has `type`, `confidence` in 0..1 and `answer_confidence`, the probability of the
    likeliest option. For a noul, confidence is that too; for the others it is one minus the
    entropy, relative to that of a uniform guess.
    """
    best = float(chances.max())
    if question.type == "noul":
        return {
            "type": "noul",
            "noul": float(chances[1]),
            "confidence": best,
            "answer_confidence": best,
        }
    shared = {
        "probabilities": dict(zip(question.labels, chances.tolist(), strict=True)),
        "confidence": _certainty(chances),
        "answer_confidence": best,
    }
    if question.type == "choice":
        return {"type": "choice", "choice": question.labels[int(chances.argmax())], **shared}
    return {
        "type": "score",
        "score": float(np.arange(len(chances)) @ chances),
        "legend": dict(zip(question.labels, map(str, question.descriptions), strict=True)),
        **shared,
    }


def decision(
    sequences: Sequence[BuiltSequence], answers: Mapping[str, Mapping[str, Any]]
) -> Decision:
    """The answers about one state, each saying whether the model saw all of it, and the usage."""
    usage: Usage = {
        "input_tokens": sum(len(sequence.ids) for sequence in sequences),
        "state_tokens": sequences[0].state_tokens,
        "state_tokens_dropped": max(sequence.state_tokens_dropped for sequence in sequences),
        "truncated": any(sequence.truncated for sequence in sequences),
        "truncated_questions": [s.question.id for s in sequences if s.truncated],
    }
    marked = {
        sequence.question.id: {
            **answers[sequence.question.id],
            "truncated": sequence.truncated,
        }
        for sequence in sequences
    }
    return {"answers": marked, "usage": usage}


def _certainty(chances: NDArray[np.float64]) -> float:
    if len(chances) < 2:
        return 1.0
    entropy = -float((chances * np.log(np.clip(chances, 1e-12, 1.0))).sum())
    return min(1.0, max(0.0, 1.0 - entropy / math.log(len(chances))))
