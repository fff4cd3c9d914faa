"""Changes of the index: one at a time, once per key, and each on the record."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from starlette.requests import Request

from laya_rag.engine import CancelToken
from laya_rag.errors import OverloadedError, StoppedError
from laya_rag.http.admission import caller_of
from laya_rag.http.failures import problem_of
from laya_rag.http.idempotency import Claim
from laya_rag.http.problems import ProblemError
from laya_rag.http.service import Json, Service, service_of
from laya_rag.serving.auth import Caller
from laya_rag.serving.writing import Progress, Writing

logger = logging.getLogger(__name__)

_RETRY = 5

Action = Literal["index", "reset", "delete"]


@dataclass(frozen=True, slots=True)
class Change:
    """What is to be done, in plain JSON for the record, and how."""

    action: Action
    details: Json
    work: Callable[[Writing, CancelToken, Progress], Json]
    #: Whether it only says what it would do.
    dry_run: bool = False


class ChangeRun:
    """One change for one request: claimed at once, done in the thread that writes.

    Whoever makes one gives up its `claim` in the end, however that comes.
    """

    def __init__(self, request: Request, change: Change, key: str | None) -> None:
        """Raises `ProblemError` where nothing may be changed, and for a key that is taken."""
        self._service: Service = service_of(request)
        self._caller: Caller = caller_of(request)
        self._request_id: str = request.scope["state"]["request_id"]
        self._change = change
        if self._service.writing is None:
            raise ProblemError("read_only", "the operator did not start it with --allow-writes")
        self._writing: Writing = self._service.writing
        self.claim: Claim = self._service.keys.claim(
            self._caller.name, key, {"action": change.action, **change.details}
        )

    @property
    def replayed(self) -> Json | None:
        """The answer to the same request before."""
        return self.claim.answer

    async def run(self, progress: Progress) -> Json:
        """The result; raises `ProblemError` while another change runs, and as the work does.

        It is stopped when this is cancelled; the index is then as it was.
        """
        try:
            return await self._service.writer.stoppable(self._run, progress)
        except OverloadedError:
            raise ProblemError(
                "index_busy", "another change of the index runs", retry_after=_RETRY
            ) from None

    def _run(self, progress: Progress, *, cancel: CancelToken) -> Json:
        if not self.claim.start():
            raise StoppedError("nobody waited for it any more")
        try:
            cancel.check()
            self._whole()
            result = self._recorded(cancel, progress)
        except BaseException:
            self.claim.failed()
            raise
        self.claim.done(result)
        if not self._change.dry_run:
            # The next question finds the new index with its models loaded.
            self._service.readiness.reload()
        return result

    def _whole(self) -> None:
        """Refuse a caller who does not see the whole corpus."""
        source = self._service.source
        access = self._caller.access or source.settings.access.access()
        if not source.missing():
            source.engine().backend.view(access)
        if access.tenants:
            raise ProblemError("forbidden", "writing changes the index of every tenant")

    def _recorded(self, cancel: CancelToken, progress: Progress) -> Json:
        change = self._change
        if change.dry_run:
            return change.work(self._writing, cancel, progress)
        # Before anything is done: what cannot be recorded must not happen.
        self._record("begin", details=change.details)
        try:
            result = change.work(self._writing, cancel, progress)
        except Exception as error:
            code = problem_of(error).code
            outcome = "stopped" if isinstance(error, StoppedError) else "failed"
            self._service.metrics.index_run(change.action, outcome)
            self._record("end", outcome=outcome, code=code)
            raise
        self._service.metrics.index_run(change.action, "done")
        self._record("end", outcome="done", result=_counts(result))
        return result

    def _record(self, phase: str, **more: Any) -> None:
        if self._service.audit is not None:
            self._service.audit.append(
                request_id=self._request_id,
                caller=self._caller.name,
                action=self._change.action,
                phase=phase,
                **more,
            )


def _counts(result: Json) -> Json:
    """The numbers and the state of a result: its lists are in the request's details already."""
    return {key: value for key, value in result.items() if isinstance(value, int | str)}
