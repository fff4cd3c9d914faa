"""From a question to a draft: evidence, verdict, a language model's text, and the checks of it."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

from laya_retrieval.gate.verdict import GateState
from laya_signals.component import fingerprint_of

from laya_rag.access import Access
from laya_rag.compose.chat import truncation
from laya_rag.compose.errors import ComposeOffError, ModelServerError
from laya_rag.compose.event import ComposeEvent, ErrorEvent, EvidenceEvent, ResultEvent, TextEvent
from laya_rag.compose.prompt import prompt
from laya_rag.compose.result import ComposeResult, ComposeState
from laya_rag.compose.server import ModelServer
from laya_rag.compose.thinking import AnswerText
from laya_rag.compose.wire import DeadlineError
from laya_rag.config import ComposeSettings, Settings
from laya_rag.engine import AskResult, CancelToken, Engine, Passage, VerifyResult, verify_answer
from laya_rag.engine.clock import Clock
from laya_rag.engine.engine import AnyFilter

#: What every draft says beside its text.
CAVEAT = (
    "A language model wrote this, and nobody has read it. That citations, quotations and numbers "
    "agree with the passages does not establish that a passage supports a sentence, that a "
    "sentence is true, or that nothing is missing."
)
_ABSTAINED = "No language model was asked."
_NOT_JUDGED = "The gate was off: nothing measured whether the passages answer the question."
_FORCED = (
    "The gate did not find that the passages answer the question; a language model was asked all "
    "the same."
)
_CUT = "The answer is not whole."

# What decides nothing about the answer, or must not be seen even in a hash.
_NOT_CONFIGURATION = {
    *("api_key", "api_key_env", "plain_http", "timeout", "idle_timeout", "retries"),
}


def describe(settings: Settings) -> dict[str, Any]:
    """Whether there is composition, and by which model: `available`, `provider` and `model`."""
    table = settings.compose
    on = table.provider != "none"
    return {"available": on, "provider": table.provider, "model": table.model if on else None}


def compose(
    engine: Engine,
    query: str,
    *,
    access: Access | None = None,
    filters: AnyFilter | None = None,
    settings: Settings | None = None,
    adjudicate: bool = False,
    cancel: CancelToken | None = None,
) -> Generator[ComposeEvent, None, None]:
    """An answer to `query` as it is written: the evidence, pieces of text, and the result.

    No model is asked where the gate says that the evidence does not answer (unless `compose.when`
    is `always`), nor where there is no evidence; the result is then an abstention. The text is
    checked against the passages that the model was shown, with `adjudicate` against the corpus too.
    Closing the generator closes the connection to the model.

    The last event is a result, or the error of the model's server. Before the first event it raises
    `ComposeOffError`, `ConfigError` where the key's variable is not set, and as `Engine.ask`; and
    at any time `StoppedError`, soon after `cancel` was used.
    """
    settings = settings or engine.settings
    if settings.compose.provider == "none":
        raise ComposeOffError
    clock = Clock(cancel)
    server = ModelServer(settings.compose)
    with clock.stage("ask"):
        asked = engine.ask(
            query, access=access, filters=filters, settings=settings, cancel=clock.cancel
        )
    yield EvidenceEvent(asked)
    draft = _Draft("", None, _abstention(asked, settings.compose))
    verification = adjudication = None
    shown: tuple[Passage, ...] = ()
    if draft.reason is None:
        try:
            shown = _shown(asked, settings.compose)
            with clock.stage("compose"):
                draft = yield from _written(server, query, shown, clock.cancel)
        except ModelServerError as error:
            yield ErrorEvent(error)
            return
        verification = _verified(draft.text, asked, shown, clock)
        if adjudicate:
            with clock.stage("adjudicate"):
                adjudication = engine.adjudicate(
                    draft.text,
                    access=access,
                    filters=filters,
                    settings=settings,
                    cancel=clock.cancel,
                )
    state = ComposeState.ABSTAINED
    if shown:
        state = ComposeState.COMPOSED if draft.reason is None else ComposeState.TRUNCATED
    yield ResultEvent(
        ComposeResult(
            asked=asked,
            state=state,
            text=draft.text,
            reason=draft.reason,
            provider=settings.compose.provider,
            model=settings.compose.model or "",
            finish=draft.finish,
            shown=len(shown),
            verification=verification,
            adjudication=adjudication,
            caveat=_caveat(asked, state),
            configuration=_configuration(asked, settings.compose),
            seconds=clock.seconds(),
        )
    )


@dataclass(frozen=True, slots=True)
class _Draft:
    """What was written, the server's word for its end, and why it is not whole, if it is not."""

    text: str
    finish: str | None
    reason: str | None


def _judged(asked: AskResult) -> bool:
    return asked.verdict.state is not GateState.NOT_MEASURED


def _abstention(asked: AskResult, settings: ComposeSettings) -> str | None:
    """Why no model is asked, or None. A gate that is off says nothing against it."""
    if not asked.evidence:
        return "no_evidence"
    if settings.when == "answerable" and _judged(asked) and not asked.verdict.answerable:
        return "not_answerable"
    return None


def _shown(asked: AskResult, settings: ComposeSettings) -> tuple[Passage, ...]:
    """The passages that the model gets: all that were packed, else the first ones that fit.

    The first, and no others behind a gap, so that a number beyond them is one that does not exist.
    """
    if asked.packed is not None:
        return asked.evidence
    left = settings.evidence
    count = 0
    for passage in asked.evidence:
        left -= len(passage.candidate.text)
        if left < 0:
            break
        count += 1
    if count == 0:
        raise ModelServerError(
            "evidence_too_long",
            f"the first passage alone has {len(asked.evidence[0].candidate.text)} characters, and "
            f"compose.evidence allows {settings.evidence}: raise it",
        )
    return asked.evidence[:count]


def _written(
    server: ModelServer, query: str, shown: Sequence[Passage], cancel: CancelToken
) -> Generator[TextEvent, None, _Draft]:
    """Pieces of the answer; then all of it. Raises `ModelServerError` also where there is none."""
    answer, parts = AnswerText(), []
    finish: str | None = None
    reason: str | None = "cut_off"
    try:
        with closing(server.pieces(prompt(query, shown), cancel)) as pieces:
            for piece in pieces:
                if text := answer.feed(piece.text):
                    parts.append(text)
                    yield TextEvent(text)
                if piece.ended:
                    finish, reason = piece.finish, truncation(piece.finish)
    except DeadlineError:
        if not parts:
            raise
        reason = "time"
    if text := answer.close():
        parts.append(text)
        yield TextEvent(text)
    if answer.thinking and reason is None:
        reason = "unfinished_thinking"
    if not parts:
        raise _nothing(reason)
    return _Draft("".join(parts), finish, reason)


def _nothing(reason: str | None) -> ModelServerError:
    if reason == "cut_off":
        return ModelServerError(
            "cut_off", "the language model's server closed the connection before it wrote anything"
        )
    hint = ""
    if reason in ("length", "unfinished_thinking"):
        hint = ", for its thinking took all of compose.max_tokens: raise it, or switch thinking off"
    return ModelServerError("no_answer", f"the language model ended without an answer{hint}")


def _verified(text: str, asked: AskResult, shown: Sequence[Passage], clock: Clock) -> VerifyResult:
    inner = Clock(clock.cancel)
    with clock.stage("verify"), inner.stage("verify"):
        result = verify_answer(text, [passage.candidate for passage in shown])
    return replace(result, corpus=asked.corpus, asked=asked, seconds=inner.seconds())


def _caveat(asked: AskResult, state: ComposeState) -> str:
    if state is ComposeState.ABSTAINED:
        return _ABSTAINED
    parts = [CAVEAT]
    if state is ComposeState.TRUNCATED:
        parts.insert(0, _CUT)
    if not _judged(asked):
        parts.append(_NOT_JUDGED)
    elif not asked.verdict.answerable:
        parts.append(_FORCED)
    return " ".join(parts)


def _configuration(asked: AskResult, settings: ComposeSettings) -> str:
    """As in `AskResult`, and over everything of ours that decides the answer."""
    table = settings.model_dump(mode="json", exclude=_NOT_CONFIGURATION)
    return fingerprint_of([asked.configuration, table, prompt("", ())])
