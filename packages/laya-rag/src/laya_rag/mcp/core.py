"""The server without a transport: a call goes in, a result or one of five errors comes out."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, cast

from laya_retrieval.errors import FilterError
from laya_retrieval.retrieve.backend import Capability, RetrievalBackend
from laya_retrieval.retrieve.query import QueryBundle

from laya_rag.engine import CancelToken, Engine
from laya_rag.errors import AccessError, NotFoundError, OverloadedError, QueryError, StoppedError
from laya_rag.mcp import arguments as given
from laya_rag.mcp.evidence import Evidence
from laya_rag.mcp.results import (
    ContextOutput,
    IndexOutput,
    ResetOutput,
    SearchOutput,
    ToolResult,
)
from laya_rag.mcp.searcher import BackendSearcher, EngineSearcher, Searcher, more_like
from laya_rag.mcp.tools import TOOLS, Tool, ToolSpec, spec_of
from laya_rag.mcp.wording import ServerCopy
from laya_rag.serving import errors
from laya_rag.serving.auth import OWNER, BearerAuth, Caller
from laya_rag.serving.rate import RateLimiter
from laya_rag.serving.source import EngineSource
from laya_rag.serving.writing import Progress, Writing

logger = logging.getLogger(__name__)

#: The legs and filters that a bundle usually has, for a copy written before it is opened.
USUAL = frozenset({Capability.BM25, Capability.DENSE, Capability.FILTER})


class RetrievalServer:
    """Tools over a corpus, for whatever carries the calls. Thread-safe.

    `corpus` is an engine, a source of one, or any `RetrievalBackend`; over the last, only the
    tools that search are there, and `query` makes its queries (`BackendSearcher`). Without `auth`
    every caller is the owner; without `rate` there is no limit; without `writing` no tool changes
    anything. `copy` is what is said of the tools, by default `ServerCopy.build`.
    """

    def __init__(
        self,
        corpus: Engine | EngineSource | RetrievalBackend,
        *,
        auth: BearerAuth | None = None,
        rate: RateLimiter | None = None,
        copy: ServerCopy | None = None,
        writing: Writing | None = None,
        query: Callable[..., QueryBundle] | None = None,
    ) -> None:
        self.auth = auth
        self._rate = rate
        self._writing = writing
        self._evidence: Evidence | None = None
        self._searcher: Searcher
        self._source: EngineSource | None = None
        if isinstance(corpus, Engine):
            corpus = EngineSource(corpus.settings, engine=corpus)
        if isinstance(corpus, EngineSource):
            self._source = corpus
            self._evidence = Evidence(corpus)
            self._searcher = EngineSearcher(corpus.engine)
            capabilities = USUAL
        else:
            self._searcher = BackendSearcher(corpus, query=query)
            capabilities = corpus.capabilities
        self.copy = copy or ServerCopy.build(capabilities)
        self._tools = {name: tool for name, tool in TOOLS.items() if self._has(tool)}

    def list_tools(self, token: str | None = None) -> list[ToolSpec]:
        """The tools that there are for whoever has this token; a fresh list each time.

        It holds nothing of the corpus. Without a token, those that change nothing. Raises
        `UnauthorizedError` for a wrong token.
        """
        writes = self.auth is None
        if self.auth is not None and token is not None:
            writes = "write" in self.auth.caller(token).scopes
        return [
            spec_of(tool, self.copy.tools[name])
            for name, tool in self._tools.items()
            if tool.read_only or writes
        ]

    def call(
        self,
        tool: str,
        arguments: Any = None,
        token: str | None = None,
        *,
        cancel: CancelToken | None = None,
        progress: Progress | None = None,
    ) -> ToolResult:
        """Call a tool.

        Who calls and may is looked at first, then how often, then the arguments; the corpus is
        touched last. `progress` is told how far long work is, in the thread that calls.

        Raises a `CallError`, and `StoppedError` when `cancel` was used.
        """
        known = self._tools.get(tool)
        caller = self._admitted(token, known)
        if known is None:
            raise errors.NotFoundError("there is no such tool")
        parsed = given.parse(known.arguments, {} if arguments is None else arguments)
        try:
            return self._run(
                known, caller, parsed, cancel or CancelToken(), progress or _nobody_looks
            )
        except (errors.CallError, StoppedError):
            raise
        except AccessError:
            raise errors.UnauthorizedError from None
        except NotFoundError:
            raise errors.NotFoundError("no such document or record") from None
        except QueryError as error:
            raise errors.InvalidArgumentsError(str(error)) from None
        except FilterError:
            raise errors.InvalidArgumentsError(
                "filter: this corpus has no such field, or cannot filter by it"
            ) from None
        except OverloadedError:
            raise errors.RateLimitedError(1.0) from None
        except Exception as error:
            # The operator's log has all of it; the caller gets the name of the type.
            logger.exception("the tool %s failed", tool)
            raise errors.BackendFailedError(error) from None

    def has(self, tool: str) -> bool:
        """Whether there is a tool of this name for anybody."""
        return tool in self._tools

    def admit(self, token: str | None) -> Caller:
        """Who calls, without counting it as a call; raises `UnauthorizedError`."""
        if self.auth is None:
            return OWNER
        return self.auth.caller(token)

    def close(self) -> None:
        """Let go of the corpus, if this opened it."""
        if self._source is not None:
            self._source.close()

    def _admitted(self, token: str | None, tool: Tool | None) -> Caller:
        caller = self.admit(token)
        if ("read" if tool is None or tool.read_only else "write") not in caller.scopes:
            raise errors.UnauthorizedError
        if self._rate is not None:
            self._rate.take(caller.name)
        return caller

    def _has(self, tool: Tool) -> bool:
        if tool.needs == "engine":
            return self._evidence is not None
        return tool.needs == "backend" or self._writing is not None

    def _run(
        self,
        tool: Tool,
        caller: Caller,
        parsed: given.Arguments,
        cancel: CancelToken,
        progress: Progress,
    ) -> ToolResult:
        match parsed:
            case given.SearchArguments():
                hits = self._searcher.search(
                    caller, parsed.query, parsed.limit, parsed.filter, cancel
                )
                return SearchOutput.of(hits.candidates, hits.found, hits.legs)
            case given.MoreLikeThisArguments():
                hits = more_like(
                    self._searcher, caller, parsed.record_id, parsed.limit, parsed.filter, cancel
                )
                return SearchOutput.of(hits.candidates, hits.found, hits.legs)
            case given.GetContextArguments():
                found = self._searcher.context(
                    caller, parsed.record_id, parsed.before, parsed.after
                )
                return ContextOutput.of(found.record, found.passages, complete=found.complete)
            case given.IndexDocumentsArguments():
                report = self._write(caller).index(
                    parsed.folder,
                    dry_run=parsed.dry_run,
                    remove_missing=parsed.remove_missing,
                    cancel=cancel,
                    progress=progress,
                )
                return IndexOutput.of(report)
            case given.ResetIndexArguments():
                self._write(caller).reset()
                return ResetOutput(state="deleted")
        return self._ask(tool, caller, parsed, cancel)

    def _ask(
        self, tool: Tool, caller: Caller, parsed: given.Arguments, cancel: CancelToken
    ) -> ToolResult:
        evidence = cast(Evidence, self._evidence)
        match tool.name:
            case "index_status":
                return evidence.index_status(caller, writable=self._writing is not None)
            case "corpus_stats":
                return evidence.corpus_stats(caller)
            case "check_index_integrity":
                return evidence.check_index_integrity(caller)
        method: Callable[[Caller, given.Arguments, CancelToken], ToolResult]
        method = getattr(evidence, tool.name)
        return method(caller, parsed, cancel)

    def _write(self, caller: Caller) -> Writing:
        """How to write, once it is clear that the caller sees the whole corpus."""
        source = self._source
        if source is not None and not source.missing():
            access = caller.access or source.settings.access.access()
            source.engine().backend.view(access)
            if access.tenants:
                raise errors.UnauthorizedError
        return cast(Writing, self._writing)


def _nobody_looks(done: float, total: float | None, what: str) -> None:
    """Progress that is not shown."""
