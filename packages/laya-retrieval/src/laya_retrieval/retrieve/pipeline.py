"""Level 2: search a backend, withhold what may not be seen, fuse, and process."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from laya_retrieval.candidate import Candidate
from laya_retrieval.errors import OrchestrationError
from laya_retrieval.fuse.base import Fuser
from laya_retrieval.fuse.rrf import RrfFuser
from laya_retrieval.guard import Guard
from laya_retrieval.process.base import Processor
from laya_retrieval.retrieve.backend import Capability, LegResult, Legs, RetrievalBackend
from laya_retrieval.retrieve.query import QueryBundle

#: How much deeper each further search of a guarded query goes.
DEEPENING = 4


@dataclass(frozen=True)
class OrchestrationPipeline:
    """What happens to the legs of one search; holds no state.

    `weights` are fusion weights by leg name, 1.0 where a leg has none; a leg of weight 0 is not
    searched. `guards` apply to every leg before fusion and to the last list too. `final_top_k`
    cuts the result; None keeps all. Raises `OrchestrationError` for a part that does not implement
    its seam, a negative weight, or `final_top_k` below 1.
    """

    fuser: Fuser = field(default_factory=RrfFuser)
    processors: Sequence[Processor] = ()
    final_top_k: int | None = 10
    weights: Mapping[str, float] = field(default_factory=dict)
    guards: Sequence[Guard] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.fuser, Fuser):
            raise OrchestrationError(f"{type(self.fuser).__name__} is no Fuser")
        for processor in self.processors:
            if not isinstance(processor, Processor):
                raise OrchestrationError(f"{type(processor).__name__} is no Processor")
        for guard in self.guards:
            if not isinstance(guard, Guard):
                raise OrchestrationError(f"{type(guard).__name__} is no Guard")
        if self.final_top_k is not None and self.final_top_k < 1:
            raise OrchestrationError(f"final_top_k must be at least 1, not {self.final_top_k}")
        for leg, weight in self.weights.items():
            if not 0 <= weight < float("inf"):
                raise OrchestrationError(f"the weight of leg {leg!r} is {weight!r}, not 0 or more")
        object.__setattr__(self, "processors", tuple(self.processors))
        object.__setattr__(self, "guards", tuple(self.guards))
        object.__setattr__(self, "weights", MappingProxyType(dict(self.weights)))


@dataclass(frozen=True, slots=True)
class StageReport:
    """One stage: how many candidates went in and came out, and how long it took."""

    name: str
    before: int
    after: int
    seconds: float = field(compare=False)


@dataclass(frozen=True, slots=True)
class RetrievalResult:
    """The final candidates and how they came about."""

    #: The result, in the order in which the last processor left it.
    candidates: tuple[Candidate, ...]
    #: The legs that ran, in a fixed order.
    fetched_modes: tuple[str, ...]
    #: What each leg put into fusion: permitted candidates only.
    legs: tuple[LegResult, ...]
    #: Per guard, how many distinct candidates it withheld in the search that was used.
    removed: Mapping[str, int]
    #: The depth of the search that was used, and how many searches led there.
    depth: int
    searches: int
    #: Search, fusion and each processor, in order.
    stages: tuple[StageReport, ...]


def retrieve(
    query: QueryBundle, backend: RetrievalBackend, pipeline: OrchestrationPipeline
) -> RetrievalResult:
    """Search `backend` with every leg that it declares and `query` has a signal for.

    With guards, the search goes four times deeper until each leg has `query.depth` permitted
    candidates or nothing more to give, so that the result is the one that a store holding only the
    permitted rows would have given.

    Raises `OrchestrationError` when the backend cannot serve the query's filter, when no leg can
    run, or when the backend answers with legs that were not asked for; processors and the fuser
    raise their own errors.
    """
    capabilities = backend.capabilities
    if query.filters is not None and Capability.FILTER not in capabilities:
        raise OrchestrationError(
            f"{type(backend).__name__} cannot filter, and a filter is never dropped: "
            "search without one, or use a backend that declares FILTER"
        )
    modes = tuple(leg for leg in query.legs(capabilities) if pipeline.weights.get(leg, 1.0) > 0)
    if not modes:
        raise OrchestrationError(
            f"no leg can run: the query has signals for {', '.join(query.signals()) or 'none'}, "
            f"{type(backend).__name__} serves "
            f"{', '.join(sorted(c.value for c in capabilities)) or 'none'}"
        )
    stages: list[StageReport] = []
    started = time.perf_counter()
    found, removed, depth, searches = _search(replace(query, modes=modes), backend, pipeline)
    legs = tuple(LegResult(mode, tuple(found[mode])) for mode in modes if mode in found)
    fetched = sum(len(leg.candidates) for leg in legs)
    withheld = len({key for keys in removed.values() for key in keys})
    stages.append(StageReport("search", fetched + withheld, fetched, time.perf_counter() - started))

    started = time.perf_counter()
    current = pipeline.fuser.fuse(
        [leg.candidates for leg in legs],
        weights=[pipeline.weights.get(leg.mode, 1.0) for leg in legs],
        names=[leg.mode for leg in legs],
    )
    stages.append(StageReport("fuse", fetched, len(current), time.perf_counter() - started))
    for processor in pipeline.processors:
        before, started = len(current), time.perf_counter()
        current = processor.process(query.text, current)
        stages.append(
            StageReport(
                type(processor).__name__, before, len(current), time.perf_counter() - started
            )
        )
    current = [
        candidate for candidate in current if _permitted(candidate, pipeline.guards, removed)
    ]
    return RetrievalResult(
        candidates=tuple(current[: pipeline.final_top_k]),
        fetched_modes=tuple(leg.mode for leg in legs),
        legs=legs,
        removed=MappingProxyType({name: len(keys) for name, keys in removed.items()}),
        depth=depth,
        searches=searches,
        stages=tuple(stages),
    )


def _search(
    query: QueryBundle, backend: RetrievalBackend, pipeline: OrchestrationPipeline
) -> tuple[dict[str, list[Candidate]], dict[str, set[str]], int, int]:
    depth, searches = query.depth, 0
    while True:
        searches += 1
        raw = _checked(backend.search(query.deeper(depth)), query, backend)
        removed: dict[str, set[str]] = {guard.name: set() for guard in pipeline.guards}
        permitted = {
            mode: [c for c in candidates if _permitted(c, pipeline.guards, removed)][: query.depth]
            for mode, candidates in raw.items()
        }
        wanting = any(
            len(permitted[mode]) < query.depth and len(candidates) >= depth
            for mode, candidates in raw.items()
        )
        if not (pipeline.guards and wanting):
            return permitted, removed, depth, searches
        depth *= DEEPENING


def _checked(found: Legs, query: QueryBundle, backend: RetrievalBackend) -> Legs:
    name = type(backend).__name__
    if not isinstance(found, Mapping):
        raise OrchestrationError(f"{name}.search returned a {type(found).__name__}, not legs")
    for mode, candidates in found.items():
        if query.modes is not None and mode not in query.modes:
            raise OrchestrationError(f"{name}.search returned leg {mode!r}, which nobody asked for")
        for candidate in candidates:
            if not isinstance(candidate, Candidate):
                raise OrchestrationError(
                    f"{name}.search: leg {mode!r} holds a {type(candidate).__name__}, "
                    "not candidates"
                )
    return found


def _permitted(candidate: Candidate, guards: Sequence[Guard], removed: dict[str, set[str]]) -> bool:
    for guard in guards:
        if not guard.permits(candidate):
            removed[guard.name].add(candidate.id)
            return False
    return True
