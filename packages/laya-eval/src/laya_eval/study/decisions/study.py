"""The whole study, set by set: corpora are built, questions asked, and gates measured."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from laya_index.process import Progress
from laya_rag.backend.bundle import BundleBackend
from laya_retrieval.gate.features import SCHEMA_VERSION
from laya_retrieval.gate.laya import LayaGate
from laya_signals.component import fingerprint_of
from laya_signals.decide.base import DecisionModel

from laya_eval.comparison import Comparison
from laya_eval.gate.evidence import EvidencePipeline, EvidenceSettings
from laya_eval.gate.labels import LabelledQuery
from laya_eval.retrieval.checkpoint import Checkpoint
from laya_eval.retrieval.corpus import BUNDLE, build_bundle
from laya_eval.retrieval.report import slug
from laya_eval.study.decisions.corpora import CORPUS_SETS, FITTED, CorpusSet, LabelledCorpus
from laya_eval.study.decisions.data import DATA_SETS, chosen, hashes, reading
from laya_eval.study.decisions.held_out import SALT
from laya_eval.study.decisions.judging import Asked, ask_corpus, ask_pair
from laya_eval.study.decisions.measuring import (
    Card,
    Outcome,
    compared,
    measured_corpus,
    measured_pairs,
    transferred,
)
from laya_eval.study.decisions.pairs import PAIR_SETS, Pair, PairSet
from laya_eval.study.decisions.settings import FEATURES, PAIRS, StudySettings
from laya_eval.writing import write_files

#: Where corpora and bundles go, in the folder of the report.
CORPORA = "corpora"
#: Yields what to call after each of so many steps, under a name.
Counting = Callable[[str, int], AbstractContextManager[Callable[[], None]]]
#: Yields the progress of a bundle of that name.
Indexing = Callable[[str], AbstractContextManager[Progress]]


@dataclass(frozen=True, slots=True)
class PairResult:
    """One set of pairs with its figures."""

    source: PairSet
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class CorpusResult:
    """One corpus with its figures."""

    source: CorpusSet
    corpus: LabelledCorpus
    #: Passages of the bundle, and the SHA-256 of the corpus that it was made of.
    chunks: int
    sha256: str
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class StudyResult:
    """Everything that the report says."""

    settings: StudySettings
    configuration: Mapping[str, Any]
    hashes: Mapping[str, str]
    pairs: tuple[PairResult, ...]
    corpora: tuple[CorpusResult, ...]
    #: The feature gate, by the set that it was fitted on and the one that it is measured on.
    transfers: Mapping[tuple[str, str], Card]
    #: Why nothing could be fitted on a set, by its name.
    untransferred: Mapping[str, str]
    comparisons: Mapping[tuple[str, str, str], Comparison]

    @property
    def fingerprint(self) -> str:
        """Sixteen hex digits of the configuration."""
        return fingerprint_of(self.configuration)


class Study:
    """The study on the data in folder `data`; `out` keeps corpora, bundles and checkpoints.

    Raises `DataError` for a data set that is unknown, missing, or of another shape.
    """

    def __init__(
        self, data: Path, out: Path, settings: StudySettings, model: DecisionModel
    ) -> None:
        self.data = data
        self.out = out
        self.settings = settings
        self.names = chosen(data, settings.only)
        self.hashes = hashes(data, self.names)
        self.gate = LayaGate(
            model=model,
            relevance_threshold=settings.relevance,
            answerability_threshold=settings.threshold,
            evidence_top_k=settings.keep,
        )
        self._checkpoints: list[Checkpoint[Asked]] = []

    def run(self, counting: Counting, indexing: Indexing) -> StudyResult:
        """Ask and measure; what a stopped run has asked is taken from its checkpoints."""
        pairs = tuple(self._pairs(counting))
        corpora: list[CorpusResult] = []
        rows: dict[str, tuple[Sequence[LabelledQuery], Mapping[str, Asked]]] = {}
        pipeline: dict[str, Any] = {}
        for source in CORPUS_SETS:
            if source.folder in self.names:
                corpus = reading(source.name, partial(source.load, *self._where(source)))
                found, asked, pipeline = self._corpus(source, corpus, counting, indexing)
                corpora.append(found)
                rows[source.name] = (corpus.labels, asked)
        fingerprint = fingerprint_of(pipeline)
        transfers: dict[tuple[str, str], Card] = {}
        untransferred: dict[str, str] = {}
        with counting("transfers", len(corpora)) as advance:
            for target in corpora:
                others = {name: known for name, known in rows.items() if name != target.source.name}
                labels, known = rows[target.source.name]
                cards, reasons = transferred(
                    others, (labels, target.corpus.judged, known), fingerprint, self.settings
                )
                untransferred |= reasons
                transfers |= {(name, target.source.name): card for name, card in cards.items()}
                advance()
        return StudyResult(
            settings=self.settings,
            configuration={**self._configuration, "pipeline": pipeline},
            hashes=self.hashes,
            pairs=pairs,
            corpora=tuple(corpora),
            transfers=transfers,
            untransferred=untransferred,
            comparisons=compared({one.source.name: one.outcome for one in corpora}, self.settings),
        )

    def discard_checkpoints(self) -> None:
        """Delete what only a stopped run needs, once the report is written."""
        for checkpoint in self._checkpoints:
            checkpoint.discard()

    @property
    def _configuration(self) -> dict[str, Any]:
        """Everything but the search that decides the figures, as JSON."""
        return {
            "settings": self.settings.model_dump(mode="json"),
            "gate": self.gate.fingerprint,
            "features": list(FEATURES),
            "feature_schema": SCHEMA_VERSION,
            "held_out": SALT,
        }

    def _where(self, source: PairSet | CorpusSet) -> tuple[Path, int]:
        cap = self.settings.cap * (PAIRS if isinstance(source, PairSet) else 1)
        return self.data / source.folder, cap

    def _pairs(self, counting: Counting) -> Iterator[PairResult]:
        for source in PAIR_SETS:
            if source.folder not in self.names:
                continue
            pairs: list[Pair] = reading(source.name, partial(source.load, *self._where(source)))
            by_id = {pair.label.id: pair for pair in pairs}
            checkpoint = self._checkpoint([source.name, self._data_of(source)])
            with counting(f"pairs: {source.name}", len(pairs)) as advance:
                asked = checkpoint.complete(by_id, partial(self._ask, by_id), advance=advance)
            labels = [pair.label for pair in pairs]
            yield PairResult(source, measured_pairs(labels, asked, self.settings))

    def _ask(self, pairs: Mapping[str, Pair], name: str) -> Asked:
        return ask_pair(pairs[name], self.gate)

    def _corpus(
        self,
        source: CorpusSet,
        corpus: LabelledCorpus,
        counting: Counting,
        indexing: Indexing,
    ) -> tuple[CorpusResult, dict[str, Asked], dict[str, Any]]:
        folder = self.out / CORPORA / slug(source.name)
        lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in corpus.documents)
        write_files(folder, {"corpus.jsonl": lines})
        sha256 = hashlib.sha256(lines.encode("utf-8")).hexdigest()
        with indexing(source.name) as progress:
            build_bundle(Path(self.settings.stack), folder, folder / BUNDLE, progress=progress)
        backend = BundleBackend(folder / BUNDLE)
        settings = EvidenceSettings(
            depth=self.settings.depth, candidates=self.settings.candidates, all_tenants=True
        )
        pipeline = EvidencePipeline(backend, settings)
        by_id = {label.id: label for label in corpus.labels}
        checkpoint = self._checkpoint(
            [
                source.name,
                sha256,
                pipeline.description,
                [asdict(label) for label in corpus.labels],
                sorted(corpus.judged),
            ]
        )
        with counting(source.name, len(by_id)) as advance:
            asked = checkpoint.complete(
                by_id,
                lambda name: ask_corpus(
                    by_id[name],
                    pipeline,
                    self.gate,
                    keep=self.settings.keep,
                    judged=name in corpus.judged,
                ),
                advance=advance,
            )
        outcome = measured_corpus(corpus.labels, corpus.judged, asked, self.settings)
        chunks = backend.manifest.counts.chunks
        description = pipeline.description
        backend.close()
        return CorpusResult(source, corpus, chunks, sha256, outcome), asked, description

    def _data_of(self, source: PairSet | CorpusSet) -> dict[str, str]:
        """The hashes of the files that a set is made of."""
        prefix = f"{DATA_SETS[source.folder].folder}/"
        return {name: value for name, value in self.hashes.items() if name.startswith(prefix)}

    def _checkpoint(self, parts: Sequence[Any]) -> Checkpoint[Asked]:
        """Where a set's results so far are kept: another key, another file."""
        asking = ("model", "keep", "depth", "candidates", "relevance", "threshold")
        how = {name: getattr(self.settings, name) for name in asking}
        key = fingerprint_of([*parts, how, self.gate.fingerprint, list(FEATURES), SCHEMA_VERSION])
        checkpoint = Checkpoint(self.out, key, Asked)
        self._checkpoints.append(checkpoint)
        return checkpoint


def capped(settings: StudySettings) -> str:
    """What is left out for time, in one sentence."""
    return (
        f"The decision model judges at most {settings.cap} questions of a corpus, and pairs of at "
        f"most {PAIRS * settings.cap} questions; the feature gate is fitted on at most "
        f"{FITTED * settings.cap} questions of a corpus. All are drawn by a hash of their ids."
    )
