"""`decision.systemone`: a decision model behind the System One HTTP protocol.

The protocol has two routes. `POST /v1/systemone` takes `{"state", "questions"}` and answers with
`{"answers"}`; `POST /v1/systemone/batch` takes `{"states", "questions"}` and answers with
`{"results": [{"answers"}, …]}`. Questions are an object, definition by id. A key travels as
`Authorization: Bearer …`.
"""

from __future__ import annotations

import json
import random
import threading
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pydantic import Field, SecretStr, field_validator

from laya_signals.component import Component, ComponentConfig
from laya_signals.decide.base import Decision, Questions, State
from laya_signals.decide.errors import QuestionError, ServerError
from laya_signals.decide.question import TypedQuestion, parse_questions
from laya_signals.decide.sequence import plain
from laya_signals.errors import ConfigError
from laya_signals.http import read_key, retry_after, server_address, server_words, without_key

if TYPE_CHECKING:
    import httpx2

#: A server says with these that it is busy: the same request may go through later.
BUSY = frozenset({429, 503})


class SystemOneConfig(ComponentConfig):
    """Settings of `SystemOneDecision`."""

    #: Where the server is, without `/v1/systemone`, as in `http://127.0.0.1:8000`.
    url: str
    #: Sent as bearer token; never dumped, shown, or part of the fingerprint.
    api_key: SecretStr | None = Field(default=None, exclude=True)
    #: Name of an environment variable that holds the key, for settings that live in a file.
    api_key_env: str | None = None
    #: Which of the server's models answers; by default the server chooses.
    model: str | None = None
    #: States in one request; one alone goes to the route for a single state.
    batch_size: int = Field(default=32, ge=1)
    #: Seconds to connect, and between two pieces of an answer.
    timeout: float = Field(default=60.0, gt=0, exclude=True)
    #: Further tries when the server is busy.
    retries: int = Field(default=4, ge=0, exclude=True)
    #: Seconds before the first further try where the server names none; doubles with each.
    backoff: float = Field(default=0.5, ge=0, exclude=True)
    #: The longest wait in seconds; a server that asks for more is given up on.
    max_wait: float = Field(default=30.0, ge=0, exclude=True)

    @field_validator("url")
    @classmethod
    def _is_base(cls, url: str) -> str:
        return server_address(url)


class SystemOneDecision(Component[SystemOneConfig]):
    """Answers typed questions through a server that speaks the System One protocol.

    A busy server (429, 503) is asked again after the time it names, or after a growing pause.
    Everything else that is no answer raises `ServerError`, which has the HTTP `status` and the
    server's own words, and never the key. Safe to share between threads; pickles by its settings.

    The fingerprint covers the address and the model's name, not what the server runs.
    """

    Config = SystemOneConfig

    def __init__(
        self, config: Mapping[str, Any] | ComponentConfig | None = None, /, **settings: Any
    ) -> None:
        super().__init__(config, **settings)
        if self.config.api_key is not None and self.config.api_key_env is not None:
            raise ConfigError("SystemOneDecision: give api_key or api_key_env, not both")
        self._opening = threading.Lock()
        self._client: httpx2.Client | None = None

    def __reduce__(self) -> tuple[type[SystemOneDecision], tuple[SystemOneConfig]]:
        return type(self), (self.config,)

    def predict_batch(self, states: Sequence[State], questions: Questions) -> list[Decision]:
        """One decision per state, in order, as the server gives them.

        Raises `QuestionError` (also a `ValueError`) for a question or a state that cannot be asked,
        before anything is sent, `ConfigError` when the key's variable is not set, and `ServerError`
        when the server gives no answer to every question about every state.
        """
        asked = parse_questions(questions)
        if isinstance(states, str):
            raise QuestionError("give a list of states, not one text")
        shared: dict[str, Any] = {"questions": {question.id: question.wire() for question in asked}}
        if self.config.model is not None:
            shared["model"] = self.config.model
        size = self.config.batch_size
        plains = [_checked(state, position) for position, state in enumerate(states)]
        requests = [(start, plains[start : start + size]) for start in range(0, len(plains), size)]
        bodies = [_body(shared, batch, start) for start, batch in requests]
        decisions: list[Decision] = []
        for (start, batch), (route, body) in zip(requests, bodies, strict=True):
            content = self._post(route, body)
            results = [content] if len(batch) == 1 else content.get("results")
            if not isinstance(results, list) or len(results) != len(batch):
                count = len(results) if isinstance(results, list) else "no"
                raise ServerError(
                    f"{self._where(route)} gave {count} results for {len(batch)} states"
                )
            decisions += [
                _decision(result, asked, f"{self._where(route)}, state {start + offset}")
                for offset, result in enumerate(results)
            ]
        return decisions

    def close(self) -> None:
        """Close the connections; the next call opens new ones."""
        with self._opening:
            if self._client is not None:
                self._client.close()
                self._client = None

    def _post(self, route: str, body: bytes) -> dict[str, Any]:
        import httpx2

        key = read_key(self.config.api_key, self.config.api_key_env, type(self).__name__)
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if key:
            headers["Authorization"] = f"Bearer {key}"
        where = self._where(route)
        for attempt in range(self.config.retries + 1):
            # Errors of the client hold the request, and that the key: none is kept as a cause.
            try:
                answer = self._http().post(self.config.url + route, content=body, headers=headers)
            except httpx2.TimeoutException:
                raise ServerError(
                    f"{where} gave no answer within {self.config.timeout:g} seconds"
                ) from None
            except httpx2.HTTPError as error:
                words = without_key(key, str(error)) or type(error).__name__
                raise ServerError(f"cannot reach {where}: {words}") from None
            if answer.status_code not in BUSY or attempt == self.config.retries:
                break
            asked_for = retry_after(answer.headers.get("Retry-After"))
            if asked_for is not None and asked_for > self.config.max_wait:
                raise ServerError(
                    f"{where} is busy ({answer.status_code}) and asks to come back in "
                    f"{asked_for:.0f} seconds, longer than max_wait",
                    answer.status_code,
                )
            time.sleep(self._pause(attempt) if asked_for is None else asked_for)
        return self._content(answer, where, key)

    def _content(self, answer: httpx2.Response, where: str, key: str | None) -> dict[str, Any]:
        status = answer.status_code
        if status in (401, 403):
            hint = "the key was refused" if key else "give api_key or api_key_env"
            raise ServerError(f"{where} asks for a key ({status}): {hint}", status)
        if status in BUSY:
            tries = self.config.retries + 1
            raise ServerError(f"{where} is still busy ({status}) after {tries} tries", status)
        if status != 200:
            words = server_words(answer.text, "detail", key)
            raise ServerError(f"{where} answered {status}{': ' if words else ''}{words}", status)
        try:
            content = json.loads(answer.content)
        except ValueError:
            raise ServerError(f"{where} answered with no JSON", status) from None
        if not isinstance(content, dict):
            raise ServerError(f"{where} answered with JSON that is no object", status)
        return content

    def _pause(self, attempt: int) -> float:
        # Spread, so that clients that were refused together do not come back together.
        spread = random.uniform(0.75, 1.25)  # noqa: S311 - no secret hangs on it
        return min(self.config.max_wait, self.config.backoff * 2.0**attempt * spread)

    def _where(self, route: str) -> str:
        return self.config.url + route

    def _http(self) -> httpx2.Client:
        with self._opening:
            if self._client is None:
                import httpx2

                self._client = httpx2.Client(timeout=self.config.timeout, follow_redirects=False)
            return self._client


def _checked(state: State, position: int) -> Any:
    try:
        return plain(state)
    except QuestionError as error:
        raise QuestionError(f"state {position}: {error}") from error


def _body(shared: Mapping[str, Any], batch: Sequence[Any], start: int) -> tuple[str, bytes]:
    """The route and the body of a request."""
    if len(batch) == 1:
        route, content = "/v1/systemone", {**shared, "state": batch[0]}
    else:
        route, content = "/v1/systemone/batch", {**shared, "states": list(batch)}
    try:
        text = json.dumps(content, ensure_ascii=False, allow_nan=False)
        return route, text.encode()
    except UnicodeEncodeError as error:
        why = "a lone surrogate, which is no text"
        raise QuestionError(f"a question or a state from {start} on has {why}") from error
    except (TypeError, ValueError) as error:
        raise QuestionError(
            f"a state from {start} on cannot be written as JSON: {error}"
        ) from error


def _decision(result: Any, asked: Sequence[TypedQuestion], where: str) -> Decision:
    answers = result.get("answers") if isinstance(result, dict) else None
    if not isinstance(answers, dict):
        raise ServerError(f"{where}: there are no answers")
    for question in asked:
        found = answers.get(question.id)
        if not isinstance(found, dict):
            raise ServerError(f"{where}: there is no answer to {question.id!r}")
        _check_value(found.get(question.type), question, where)
        if question.type == "noul":
            # A strict server leaves the confidence out; it follows from the probability.
            found.setdefault("confidence", max(found["noul"], 1 - found["noul"]))
    decision: Decision = {"answers": answers}
    if isinstance(result.get("usage"), dict):
        decision["usage"] = result["usage"]
    return decision


def _check_value(value: Any, question: TypedQuestion, where: str) -> None:
    if question.type == "choice":
        wrong = "none of its labels" if value not in question.labels else None
    elif not isinstance(value, int | float) or isinstance(value, bool):
        wrong = "no number"
    elif question.type == "noul" and not 0 <= value <= 1:
        wrong = "no probability"
    else:
        wrong = None
    if wrong is not None:
        raise ServerError(f"{where}: the answer to {question.id!r} is {wrong}")
