"""What a composition ends with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from laya_rag.engine import AdjudicateResult, AskResult, VerifyResult
from laya_rag.engine.corpus import SCHEMA_VERSION
from laya_rag.engine.result import flag_json, rounded


class ComposeState(Enum):
    """What became of the answer."""

    #: The model said that it was done.
    COMPOSED = "composed"
    #: There is text, and it is not all of the answer; the reason says why.
    TRUNCATED = "truncated"
    #: No model was asked; the reason says why.
    ABSTAINED = "abstained"


@dataclass(frozen=True, slots=True)
class ComposeResult:
    """An answer that a language model wrote from the evidence, or why there is none."""

    asked: AskResult
    state: ComposeState
    #: The answer without the model's thinking; empty for an abstention.
    text: str
    #: Why it abstained (`not_answerable`, `no_evidence`) or stopped early (`length`, `cut_off`,
    #: `time`, `content_filter`, `unfinished_thinking`, `unknown_finish`); None for a whole answer.
    reason: str | None
    provider: str
    model: str
    #: The server's own word for the end, such as `stop` or `length`; None where it gave none.
    finish: str | None
    #: How many passages the model was shown, the first ones of the evidence.
    shown: int
    #: What in the text agrees with those; None without a text.
    verification: VerifyResult | None
    #: What the corpus supports; None unless it was asked for.
    adjudication: AdjudicateResult | None
    #: What the checks do not establish, and what was not checked.
    caveat: str
    #: As in `AskResult`, and over the model, its settings and the prompt.
    configuration: str
    seconds: Mapping[str, float] = field(compare=False)

    def to_json(self) -> dict[str, Any]:
        """Plain values, ready for JSON; the evidence is that of `asked`."""
        return {
            "version": SCHEMA_VERSION,
            "query": self.asked.query,
            "bundle": self.asked.corpus.to_json(),
            "state": self.state.value,
            "reason": self.reason,
            "text": self.text,
            "unverified": True,
            "caveat": self.caveat,
            "provider": self.provider,
            "model": self.model,
            "finish": self.finish,
            "shown": self.shown,
            "verification": None if self.verification is None else self.verification.to_json(),
            "adjudication": None if self.adjudication is None else self.adjudication.to_json(),
            "flags": [flag_json(flag) for flag in self.asked.flags],
            "configuration": self.configuration,
            "seconds": rounded(self.seconds),
        }
