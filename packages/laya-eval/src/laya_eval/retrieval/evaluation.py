"""Every system on every judged query, and what the measures say."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from laya_rag.engine.probes import probes
from laya_retrieval.candidate import Candidate
from laya_retrieval.fuse.weighted import WeightedFuser
from laya_retrieval.process.group import document_of
from laya_signals.component import fingerprint_of
from laya_signals.decide.base import DecisionModel

from laya_eval.beir import Judged
from laya_eval.bootstrap import Interval, mean_interval
from laya_eval.comparison import Comparison, Contest, compare, mean
from laya_eval.errors import DataError, MeasureError, UnknownSystemError
from laya_eval.metrics import cutoff, drop_identical, membership, per_query
from laya_eval.nuggets import Nuggets
from laya_eval.retrieval.answer import Answering, Answers, measure_answers
from laya_eval.retrieval.checkpoint import Checkpoint, Retrieved
from laya_eval.retrieval.corpus import Corpus
from laya_eval.retrieval.pool import PoolDepth, best_places, pool_by_depth
from laya_eval.retrieval.second_hop import SecondHop, second_hop
from laya_eval.retrieval.settings import Settings
from laya_eval.retrieval.split_halves import SplitHalves, choose_by_split_halves
from laya_eval.retrieval.systems import Contestants, Remembering, default_systems

#: What a comparison calls the choice by split halves.
CHOSEN = "chosen by split halves"


@dataclass(frozen=True, slots=True)
class Measured:
    """One system's measures: by name, the value of every query, the mean and its interval."""

    values: Mapping[str, Mapping[str, float]]
    means: Mapping[str, float]
    intervals: Mapping[str, Interval]


@dataclass(frozen=True, slots=True)
class Evaluation:
    """All that a report says about the systems."""

    #: The queries that every mean averages over, in the order of the judgements.
    queries: tuple[str, ...]
    #: Judged queries left out: nothing is relevant to them.
    without_relevant: tuple[str, ...]
    #: Of how many queries `queries` is a sample; None when it is all of them.
    sampled_from: int | None
    #: System to query to ranked documents.
    runs: Mapping[str, Mapping[str, list[str]]]
    systems: Mapping[str, Measured]
    #: On the first measure, one family; empty without a baseline.
    comparisons: tuple[Comparison, ...]
    pool: tuple[PoolDepth, ...]
    #: None where no query has several relevant documents of which the first hop misses one.
    second_hop: SecondHop | None
    #: By system; empty unless gold nuggets were given.
    answers: Mapping[str, Answers]
    #: Among the systems without steps, on the first measure; None where there is no choice.
    split_halves: SplitHalves | None


def rank_documents(candidates: Iterable[Candidate]) -> list[str]:
    """Document ids by their best passage, in order."""
    return list(dict.fromkeys(document_of(candidate) for candidate in candidates))


class Measurement:
    """One corpus, one set of judged queries, one set of settings.

    Raises `UnknownSystemError` for systems that cannot be run here, `MeasureError` for measures
    that do not exist or look deeper than rankings are kept, and `DataError` when the ids
    of queries and documents cannot be of one kind although the settings say so, or none of the
    queries has one of the `nuggets`.
    """

    def __init__(
        self,
        corpus: Corpus,
        judged: Judged,
        settings: Settings,
        *,
        model: Callable[[], DecisionModel] | None = None,
        nuggets: Nuggets | None = None,
    ) -> None:
        self.corpus = corpus
        self.judged = judged
        self.settings = settings
        self.legs = corpus.chosen(settings.legs)
        names = settings.systems or default_systems(self.legs)
        self.contestants = self.build(
            names, None if model is None else lambda: Remembering(model())
        )
        for system in self.contestants.systems:
            if system.is_leg and system.base not in self.legs:
                raise UnknownSystemError(
                    f"system {system.name!r} needs the leg {system.base!r}; "
                    f"this corpus is searched by {', '.join(self.legs)}"
                )
        for measure in settings.measures:
            if (cutoff(measure) or 0) > settings.results:
                raise MeasureError(
                    f"{measure} looks at more documents than the {settings.results} that are "
                    "kept of a ranking: keep more with --results"
                )
        self.baseline = _baseline(settings.baseline, names)
        if not settings.keep_identical_ids:
            _check_ids(judged)
        members = membership(judged.qrels)
        self.queries = tuple(_sampled(members, settings.sample, settings.seed))
        self.sampled_from = len(members) if len(self.queries) < len(members) else None
        self.model = model
        self.answering = None if nuggets is None else Answering(corpus, nuggets, self.queries)

    def build(self, names: Sequence[str], model: Callable[[], DecisionModel] | None) -> Contestants:
        """Systems with these settings; raises as `Contestants`."""
        settings = self.settings
        return Contestants(
            names,
            candidates=settings.candidates,
            relevance=settings.relevance,
            keep=settings.keep,
            define=settings.define,
            model=model,
        )

    @property
    def configuration(self) -> dict[str, Any]:
        """Everything but corpus and data that decides the report, as JSON."""
        components = self.contestants.description
        if self.answering is not None:
            components["extractor"] = self.answering.extractor.fingerprint
        return {
            "settings": self.settings.model_dump(mode="json"),
            "systems": [system.name for system in self.contestants.systems],
            "baseline": self.baseline,
            "legs": list(self.legs),
            "components": components,
        }

    @property
    def fingerprint(self) -> str:
        """Sixteen hex digits of `configuration`."""
        return fingerprint_of(self.configuration)

    def checkpoint(self, folder: Path, data: Mapping[str, str]) -> Checkpoint[Retrieved]:
        """Where results so far are kept; `data` are the hashes of the data's files."""
        key = fingerprint_of([self.configuration, self.corpus.identity, dict(data)])
        return Checkpoint(folder, key, Retrieved)

    def retrieve(self, query: str) -> Retrieved:
        """What every system finds for the query with this id."""
        text = self.judged.queries[query]
        legs = self.search(text, self.legs)
        ranked = self.contestants.rank(text, legs)
        answers = {}
        if self.answering is not None and query in self.answering.nuggets:
            answers = {
                name: self.answering.extract(query, text, candidates)
                for name, candidates in ranked.items()
            }
        return Retrieved(
            rankings={
                name: self._documents(query, candidates)[: self.settings.results]
                for name, candidates in ranked.items()
            },
            places=self._places(query, legs),
            probed={
                name: best_places(self._places(query, self.search(f"{text} {name}", self.legs)))
                for name in self._probes(text, legs)
            },
            answers=answers,
        )

    def search(self, text: str, legs: Sequence[str]) -> Mapping[str, Sequence[Candidate]]:
        """Each leg's passages for the words `text`, best first."""
        view = self.corpus.view
        return view.search(view.query(text, depth=self.settings.depth, modes=tuple(legs)))

    def run(
        self,
        checkpoint: Checkpoint[Retrieved] | None = None,
        *,
        advance: Callable[[], None] = lambda: None,
    ) -> dict[str, Retrieved]:
        """What every query found, by its id; `advance` is called after each.

        Queries that the checkpoint has are taken from there, the others are added to it.
        """
        if checkpoint is None:
            found: dict[str, Retrieved] = {}
            for query in self.queries:
                found[query] = self.retrieve(query)
                advance()
            return found
        return checkpoint.complete(self.queries, self.retrieve, advance=advance)

    def measure(self, found: Mapping[str, Retrieved]) -> Evaluation:
        """The measures, comparisons and diagnostics of what was found."""
        settings = self.settings
        qrels = {query: self.judged.qrels[query] for query in self.queries}
        runs = {
            system.name: {query: list(found[query].rankings[system.name]) for query in self.queries}
            for system in self.contestants.systems
        }
        systems: dict[str, Measured] = {}
        for name, run in runs.items():
            values = per_query(run, qrels, settings.measures)
            systems[name] = Measured(
                values=values,
                means={measure: mean(column) for measure, column in values.items()},
                intervals={
                    measure: mean_interval(
                        list(column.values()), resamples=settings.resamples, seed=settings.seed
                    )
                    for measure, column in values.items()
                },
            )
        first = settings.measures[0]
        choice = {
            system.name: systems[system.name].values[first]
            for system in self.contestants.systems
            if not system.steps
        }
        halves = None
        if len(choice) > 1 and len(self.queries) > 1:
            halves = choose_by_split_halves(choice, seed=settings.seed)
        return Evaluation(
            queries=self.queries,
            without_relevant=tuple(self.judged.without_relevant),
            sampled_from=self.sampled_from,
            runs=runs,
            systems=systems,
            comparisons=self._comparisons(systems, halves),
            pool=tuple(
                pool_by_depth(
                    {query: one.places for query, one in found.items()},
                    qrels,
                    self.queries,
                    deepest=settings.depth,
                )
            ),
            second_hop=second_hop(found, qrels, self.queries),
            answers={}
            if self.answering is None
            else measure_answers(
                found,
                self.answering.nuggets,
                resamples=settings.resamples,
                seed=settings.seed,
            ),
            split_halves=halves,
        )

    def _comparisons(
        self, systems: Mapping[str, Measured], halves: SplitHalves | None
    ) -> tuple[Comparison, ...]:
        if self.baseline is None:
            return ()
        first = self.settings.measures[0]
        base = systems[self.baseline].values[first]
        family = [
            Contest(name, self.baseline, first, measured.values[first], base)
            for name, measured in systems.items()
            if name != self.baseline
        ]
        if halves is not None:
            family.append(Contest(CHOSEN, self.baseline, first, halves.values, base))
        return tuple(
            compare(
                family,
                resamples=self.settings.resamples,
                permutations=self.settings.permutations,
                seed=self.settings.seed,
            )
        )

    def _places(
        self, query: str, legs: Mapping[str, Sequence[Candidate]]
    ) -> dict[str, dict[str, int]]:
        """Leg to relevant document to its place."""
        grades = self.judged.qrels[query]
        return {
            leg: {
                document: place
                for place, document in enumerate(self._documents(query, candidates), start=1)
                if grades.get(document, 0) > 0
            }
            for leg, candidates in legs.items()
        }

    def _probes(self, text: str, legs: Mapping[str, Sequence[Candidate]]) -> list[str]:
        """What `search.iterate` would search for again."""
        if not self.settings.probes:
            return []
        fused = WeightedFuser().fuse(list(legs.values()), names=list(legs))
        return probes(text, fused, self.settings.probes)

    def _documents(self, query: str, candidates: Iterable[Candidate]) -> list[str]:
        documents = rank_documents(candidates)
        return documents if self.settings.keep_identical_ids else drop_identical(documents, query)


def _baseline(wanted: str | None, names: tuple[str, ...]) -> str | None:
    if wanted is not None and wanted not in names:
        raise UnknownSystemError(
            f"the baseline {wanted!r} is not among the systems: {', '.join(names)}"
        )
    if wanted is None and len(names) > 1:
        return "rrf@60" if "rrf@60" in names else names[0]
    return wanted


def _sampled(members: list[str], count: int | None, seed: int) -> list[str]:
    if count is None or count >= len(members):
        return members
    drawn = np.random.default_rng(seed).choice(len(members), size=count, replace=False)
    return [members[row] for row in sorted(drawn.tolist())]


def _check_ids(judged: Judged) -> None:
    for query, grades in judged.qrels.items():
        if grades.get(query, 0) > 0:
            raise DataError(
                f"document {query!r} is judged relevant to the query of the same id: the ids of "
                "queries and documents are not of one kind here; pass --keep-identical-ids"
            )
