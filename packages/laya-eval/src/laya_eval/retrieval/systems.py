"""What is compared: legs, their fusions, and steps over the best fused candidates.

A system is written `BASE` or `BASE+STEP+STEP`:

- a leg: `bm25`, `dense`, `dense:NAME`, `sparse`, `multivector`;
- a fusion of all legs: `rrf@K` (`rrf` is `rrf@60`), `minmax`, `zscore`, `theoretical`, `log-odds`.
  All but `rrf` take a weight, `minmax@0.7`: that share for the legs other than BM25, the rest for
  BM25; without one, legs weigh the same;
- a step: `head` does nothing, `filter` keeps what the decision model finds relevant, `order` sorts
  by its probability, `cover` keeps a few candidates that cover the rest.

A step reads the first few candidates (20, unless told otherwise), and nothing behind them comes
back, as in `laya ask`. `head` is therefore the control that the others are compared with.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from laya_retrieval.candidate import Candidate
from laya_retrieval.fuse.base import Fuser
from laya_retrieval.fuse.log_odds import LogOddsFuser
from laya_retrieval.fuse.rrf import RrfFuser
from laya_retrieval.fuse.weighted import WeightedFuser
from laya_retrieval.gate.laya import LayaGate
from laya_retrieval.process.base import Processor
from laya_retrieval.process.cover import CoverageSelector
from laya_retrieval.process.identity import Identity
from laya_retrieval.registry import retrieval
from laya_retrieval.retrieve.backend import Capability
from laya_signals.decide.base import DecisionModel

from laya_eval.errors import UnknownSystemError

#: Steps that need the decision model.
GATES = ("filter", "order")
_LEGS = tuple(c.value for c in Capability if c is not Capability.FILTER)
#: Fusions that take a weight.
_WEIGHED: Mapping[str, Callable[[], Fuser]] = {
    "minmax": partial(WeightedFuser, normalize="minmax"),
    "zscore": partial(WeightedFuser, normalize="zscore"),
    "theoretical": partial(WeightedFuser, normalize="theoretical"),
    "log-odds": LogOddsFuser,
}
_NAME = re.compile(r"[a-z][a-z0-9_-]*")


@dataclass(frozen=True, slots=True)
class System:
    """A system's name in its parts."""

    name: str
    #: A leg's name, or a fuser's.
    base: str
    #: What stands behind the base's `@`.
    parameter: float | None
    steps: tuple[str, ...]

    @property
    def is_leg(self) -> bool:
        """Whether the base is one leg."""
        return self.base.partition(":")[0] in _LEGS


def parse_system(name: str) -> System:
    """The parts of a system's name; raises `UnknownSystemError` when it is not of that form."""
    base, *steps = name.split("+")
    base, at, raw = base.partition("@")
    try:
        parameter = float(raw) if at else None
    except ValueError:
        raise UnknownSystemError(f"system {name!r}: {raw!r} behind the @ is no number") from None
    if not base or not all(_NAME.fullmatch(step) for step in steps):
        raise UnknownSystemError(f"system {name!r} is not BASE, BASE@NUMBER or BASE+STEP")
    system = System(name, base, parameter, tuple(steps))
    if system.is_leg and parameter is not None:
        raise UnknownSystemError(f"system {name!r}: a leg takes no number")
    return system


def default_systems(legs: Sequence[str]) -> tuple[str, ...]:
    """Every leg, and their usual fusions where there are several."""
    fusions = ("rrf@60", "rrf@5", "minmax", "log-odds") if len(legs) > 1 else ()
    return (*legs, *fusions)


class Contestants:
    """The systems of one measurement, built and ready to rank.

    `define` adds fusers and processors under names of their own, as provider blocks. `model` gives
    the decision model when a system has a gate. Raises `UnknownSystemError` for a system that is
    misspelt or given twice.
    """

    def __init__(
        self,
        names: Sequence[str],
        *,
        candidates: int = 20,
        relevance: float = 0.5,
        keep: int = 10,
        define: Mapping[str, Mapping[str, Any]] | None = None,
        model: Callable[[], DecisionModel] | None = None,
    ) -> None:
        self.systems = tuple(parse_system(name) for name in names)
        self._candidates = candidates
        self._define = dict(define or {})
        twice = sorted({name for name in names if list(names).count(name) > 1})
        if twice or not names:
            raise UnknownSystemError(f"system {twice[0]!r} twice" if twice else "no system to run")
        wanted = {step for system in self.systems for step in system.steps}
        judge: DecisionModel | None = None
        if model is not None and wanted & set(GATES):
            judge = model()
        makers: dict[str, Callable[[], Processor]] = {
            "head": Identity,
            "cover": partial(CoverageSelector, top_k=keep),
            "filter": partial(LayaGate, model=judge, relevance_threshold=relevance),
            "order": partial(LayaGate, model=judge, relevance_threshold=0.0, order="relevance"),
        }
        self._steps = {step: self._step(step, makers) for step in sorted(wanted)}
        bases = {(system.base, system.parameter): system for system in self.systems}
        self._fusers = {
            key: self._fuser(system) for key, system in bases.items() if not system.is_leg
        }

    def rank(
        self, query: str, legs: Mapping[str, Sequence[Candidate]]
    ) -> dict[str, list[Candidate]]:
        """Each system's candidates for `query`, best first, by its name.

        `legs` is what a search returned; a leg that did not run has no candidates.
        """
        fused: dict[tuple[str, float | None], list[Candidate]] = {}
        ranked: dict[str, list[Candidate]] = {}
        for system in self.systems:
            key = (system.base, system.parameter)
            if key not in fused:
                fused[key] = self._base(system, legs)
            current = fused[key]
            if system.steps:
                current = current[: self._candidates]
            for step in system.steps:
                current = self._steps[step].process(query, current)
            ranked[system.name] = current
        return ranked

    @property
    def description(self) -> dict[str, Any]:
        """Fingerprints of everything that takes part, as JSON."""
        parts: dict[str, Any] = {step: _fingerprint(part) for step, part in self._steps.items()}
        for (base, parameter), fuser in self._fusers.items():
            name = base if parameter is None else f"{base}@{parameter:g}"
            parts[name] = _fingerprint(fuser)
        return dict(sorted(parts.items()))

    def _base(self, system: System, legs: Mapping[str, Sequence[Candidate]]) -> list[Candidate]:
        if system.is_leg:
            return list(legs.get(system.base, ()))
        names = list(legs)
        share = system.parameter if system.base != "rrf" else None
        return self._fusers[system.base, system.parameter].fuse(
            list(legs.values()),
            weights=None if share is None else leg_weights(names, share),
            names=names,
        )

    def _fuser(self, system: System) -> Fuser:
        name, parameter = system.base, system.parameter
        if name in self._define:
            return retrieval.resolve(self._define[name], Fuser)
        if name == "rrf":
            return RrfFuser(k=60.0 if parameter is None else parameter)
        if name not in _WEIGHED:
            raise UnknownSystemError(
                f"system {system.name!r}: {name!r} is no leg ({', '.join(_LEGS)}) and no fusion "
                f"(rrf, {', '.join(_WEIGHED)}, or one that is defined)"
            )
        if parameter is not None and not 0 < parameter < 1:
            raise UnknownSystemError(
                f"system {system.name!r}: a weight between 0 and 1 is wanted, not {parameter:g}"
            )
        return _WEIGHED[name]()

    def _step(self, step: str, makers: Mapping[str, Callable[[], Processor]]) -> Processor:
        if step in self._define:
            return retrieval.resolve(self._define[step], Processor)
        if step not in makers:
            raise UnknownSystemError(
                f"no step {step!r}: known are {', '.join(sorted(makers))}, and those that are "
                "defined"
            )
        return makers[step]()


class Remembering:
    """A decision model that is asked the same question about the same state only once.

    Two gates over the same candidates then cost as much as one.
    """

    def __init__(self, model: DecisionModel) -> None:
        from laya_signals.decide.base import model_fingerprint

        self._model = model
        self._known: dict[str, Any] = {}
        self.fingerprint = model_fingerprint(model)

    def predict_batch(self, states: Sequence[Any], questions: Any) -> list[Any]:
        """The model's decisions, those already made from memory."""
        from laya_signals.component import fingerprint_of

        keys = [fingerprint_of([state, questions]) for state in states]
        fresh = {key: s for key, s in zip(keys, states, strict=True) if key not in self._known}
        if fresh:
            made = self._model.predict_batch(list(fresh.values()), questions)
            self._known.update(zip(fresh, made, strict=True))
        return [self._known[key] for key in keys]


def leg_weights(legs: Sequence[str], share: float) -> list[float]:
    """The fusion weight of each leg: `share` over those other than BM25, the rest for BM25.

    Without a BM25 leg, or with nothing else, legs weigh the same.
    """
    others = sum(leg != Capability.BM25.value for leg in legs)
    if others in (0, len(legs)):
        return [1.0] * len(legs)
    return [1 - share if leg == Capability.BM25.value else share / others for leg in legs]


def _fingerprint(part: object) -> str | None:
    found = getattr(part, "fingerprint", None)
    return found if isinstance(found, str) else None
