"""Temperatures: what a checkpoint's logits are divided by before the softmax."""

from __future__ import annotations

from laya_signals.decide.base import QuestionType

#: A fitted temperature outside of this range says that the fit failed; it is clamped.
LOWEST, HIGHEST = 0.5, 5.0


def clamped(temperature: float) -> float:
    """A temperature within `LOWEST`..`HIGHEST`."""
    return min(HIGHEST, max(LOWEST, temperature))


def bucket(kind: QuestionType, options: int) -> str:
    """The key in `temperature_by_options`: `choice:2`, `:3-5`, `:6-10` or `:11+`."""
    if options <= 2:
        size = "2"
    elif options <= 5:
        size = "3-5"
    elif options <= 10:
        size = "6-10"
    else:
        size = "11+"
    return f"{kind}:{size}"
