"""What an operator watches, for Prometheus: counts and times, never a name, a token or a text."""

from __future__ import annotations

import time

from laya_retrieval.gate.verdict import GateState, Verdict
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from laya_rag.http.layer import Layer

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
#: The status of a request whose client left before it was answered; nobody is sent it.
LEFT = 499


class Metrics:
    """The numbers of one server, in a registry of their own."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._requests = Counter(
            "laya_http_requests",
            "Requests that ended, by the template of their route.",
            ("route", "method", "status"),
            registry=self.registry,
        )
        self._seconds = Histogram(
            "laya_http_request_seconds",
            "Seconds from a request to the end of its answer.",
            ("route", "method"),
            buckets=_BUCKETS,
            registry=self.registry,
        )
        self._running = Gauge(
            "laya_http_requests_in_flight",
            "Requests that are being answered.",
            registry=self.registry,
        )
        self._refused = Counter(
            "laya_queue_refusals",
            "Requests that were refused because too much waited already.",
            registry=self.registry,
        )
        self._verdicts = Counter(
            "laya_verdicts",
            "Verdicts on the evidence.",
            ("state",),
            registry=self.registry,
        )
        self._runs = Counter(
            "laya_index_runs",
            "Changes of the index, by what became of them.",
            ("action", "outcome"),
            registry=self.registry,
        )

    def verdict(self, verdict: Verdict) -> None:
        """Count a verdict."""
        state = verdict.state.value
        if verdict.state is GateState.MEASURED:
            state = "answerable" if verdict.answerable else "not_answerable"
        self._verdicts.labels(state).inc()

    def refusal(self) -> None:
        """Count a request that the queue refused."""
        self._refused.inc()

    def index_run(self, action: str, outcome: str) -> None:
        """Count a change of the index."""
        self._runs.labels(action, outcome).inc()

    def exposition(self) -> bytes:
        """All of it, in the text format of Prometheus."""
        return generate_latest(self.registry)


class Observed(Layer):
    """Counts and times every request."""

    def __init__(self, app: ASGIApp, *, metrics: Metrics) -> None:
        super().__init__(app)
        self._metrics = metrics

    async def http(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See `Layer`."""
        status = LEFT
        begun = time.perf_counter()

        async def noting(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        with self._metrics._running.track_inprogress():
            try:
                await self.app(scope, receive, noting)
            finally:
                self._count(scope, status, time.perf_counter() - begun)

    def _count(self, scope: Scope, status: int, seconds: float) -> None:
        # The template, for a path may hold the id of a document; bounded in number too.
        route = getattr(scope.get("route"), "path", "unmatched")
        method = scope["method"] if scope["method"] in _METHODS else "other"
        self._metrics._requests.labels(route, method, str(status)).inc()
        self._metrics._seconds.labels(route, method).observe(seconds)
