"""Others' harness over our engine: MTEB's search protocol.

`mteb.evaluate(MtebSearch("stack.yaml"), tasks)` indexes the corpus of each retrieval task as the
stack says, searches it with the engine, and lets MTEB do the scoring. Needs the extra `mteb`, which
brings PyTorch; nothing here uses that.
"""

from __future__ import annotations

import json
import math
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from laya_index.stack import load_stack
from laya_rag.config import Settings
from laya_rag.engine import Engine
from laya_retrieval.process.group import document_of
from laya_signals.component import fingerprint_of

from laya_eval.cli.progress import counting, indexing
from laya_eval.errors import DataError, MissingHarnessError
from laya_eval.retrieval.corpus import BUNDLE, build_bundle
from laya_eval.retrieval.report import slug


class MtebSearch:
    """The engine as MTEB's `SearchProtocol`: `index`, `search` and `mteb_model_meta`.

    `stack` is a stack file that reads JSON lines, `sets` changes its settings as in `laya process`,
    `settings` are the engine's. Bundles are built in `folder`, one for each task, subset and split,
    and brought up to date when they are there; without one they lie in a temporary folder until
    `close`. `name` is what MTEB calls the results.

    Raises `DataError` for a stack with another source, and as `load_stack` does.
    """

    def __init__(
        self,
        stack: str | Path,
        *,
        settings: Settings | None = None,
        sets: Sequence[str] = (),
        folder: str | Path | None = None,
        name: str = "laya/engine",
    ) -> None:
        self.stack = Path(stack)
        self.sets = tuple(sets)
        self.settings = settings or Settings()
        self.name = name
        model = load_stack(self.stack, sets=self.sets)
        if model.model.source.provider != "source.jsonl":
            raise DataError(
                f"{stack}: the corpus of a task comes as JSON lines, so the stack's source has to "
                f"be source.jsonl, not {model.model.source.provider}"
            )
        engine = self.settings.model_dump(mode="json", exclude={"bundle", "access", "cache"})
        #: Sixteen hex digits over the stack and the engine's settings: MTEB's `revision`.
        self.fingerprint = fingerprint_of([model.hash, engine])
        self._temporary = tempfile.TemporaryDirectory() if folder is None else None
        self.folder = Path(self._temporary.name if self._temporary else str(folder))
        self._engine: Engine | None = None

    def index(
        self,
        corpus: Iterable[Mapping[str, Any]],
        *,
        task_metadata: Any,
        hf_split: str,
        hf_subset: str,
        encode_kwargs: Mapping[str, Any] | None = None,
        **_: Any,
    ) -> None:
        """Build the bundle of a corpus with the columns `id`, `text` and perhaps `title`.

        Raises `DataError` for a corpus without texts, and what building a bundle raises.
        """
        self._let_go()
        place = self.folder / slug(f"{task_metadata.name}-{hf_subset}-{hf_split}")
        place.mkdir(parents=True, exist_ok=True)
        with (place / "corpus.jsonl").open("w", encoding="utf-8", newline="\n") as file:
            for row in corpus:
                if not isinstance(row.get("text"), str):
                    raise DataError(f"{task_metadata.name}: document {row.get('id')!r} has no text")
                line = {"_id": row["id"], "title": row.get("title") or "", "text": row["text"]}
                file.write(json.dumps(line, ensure_ascii=False) + "\n")
        with indexing(task_metadata.name, quiet=_quiet(encode_kwargs)) as progress:
            build_bundle(self.stack, place, place / BUNDLE, sets=self.sets, progress=progress)
        self._engine = Engine.open(place / BUNDLE, self.settings)

    def search(
        self,
        queries: Sequence[Mapping[str, Any]],
        *,
        top_k: int,
        encode_kwargs: Mapping[str, Any] | None = None,
        top_ranked: Mapping[str, list[str]] | None = None,
        **_: Any,
    ) -> dict[str, dict[str, float]]:
        """Query id to document id to score, the `top_k` best documents of each query.

        A document has the score of its best passage; equal scores are parted in single precision,
        since the evaluator would order them by id. At least `top_k` passages are taken from each
        leg. `top_ranked` are the only documents wanted, by query. Raises `DataError` before `index`
        was called, and as `Engine.search` does.
        """
        engine = self._engine
        if engine is None:
            raise DataError("there is no corpus to search: MTEB calls index before search")
        depth = max(self.settings.search.depth, top_k)
        settings = self.settings.updated(
            {"search.depth": depth, "search.keep": depth * max(1, len(engine.stats().legs))}
        )
        found: dict[str, dict[str, float]] = {}
        with counting("queries", len(queries), quiet=_quiet(encode_kwargs)) as advance:
            for row in queries:
                query, text = str(row["id"]), query_text(row)
                wanted = None if top_ranked is None else top_ranked[query]
                if text.strip() and wanted != []:
                    filters = None if wanted is None else {"document_id": {"in": list(wanted)}}
                    result = engine.search(text, settings=settings, filters=filters)
                    candidates = [passage.candidate for passage in result.passages]
                    scores = {document_of(one): one.score for one in reversed(candidates)}
                    ranked = dict.fromkeys(map(document_of, candidates))
                    found[query] = _parted({name: scores[name] for name in ranked}, top_k)
                else:
                    found[query] = {}
                advance()
        return found

    @property
    def mteb_model_meta(self) -> Any:
        """What MTEB files the results under; raises `MissingHarnessError` without MTEB."""
        try:
            from mteb.models import ModelMeta
        except ImportError as error:
            raise MissingHarnessError(
                "MTEB is not installed: install laya-eval with its extra `mteb`"
            ) from error
        return ModelMeta.create_empty(
            {"name": self.name, "revision": self.fingerprint, "model_type": ["hybrid"]}
        )

    def close(self) -> None:
        """Close the engine and delete a temporary folder; a second time does nothing."""
        self._let_go()
        if self._temporary is not None:
            self._temporary.cleanup()

    def __enter__(self) -> MtebSearch:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _let_go(self) -> None:
        if self._engine is not None:
            self._engine.close()
            self._engine = None


def query_text(row: Mapping[str, Any]) -> str:
    """A query's words as MTEB's own text models read them.

    The text, and the instruction behind it where there is one; a conversation is its turns in
    order, `role: content` where they have a role, parted by semicolons. Raises `DataError` for a
    query that is neither.
    """
    text = row.get("text")
    if isinstance(text, list) and text:
        turns = [
            f"{turn['role']}: {turn['content']}" if isinstance(turn, Mapping) else str(turn)
            for turn in text
        ]
        text = "; ".join(turns)
    if not isinstance(text, str):
        raise DataError(f"query {row.get('id')!r} has no text")
    return f"{text} {row['instruction']}" if row.get("instruction") else text


def _parted(scores: Mapping[str, float], top_k: int) -> dict[str, float]:
    """The first `top_k`, each score below the one before as single precision tells them apart."""
    parted: dict[str, float] = {}
    before = np.float32(math.inf)
    for document, score in list(scores.items())[:top_k]:
        before = min(np.float32(score), np.nextafter(before, np.float32(-math.inf)))
        parted[document] = float(before)
    return parted


def _quiet(encode_kwargs: Mapping[str, Any] | None) -> bool:
    return not (encode_kwargs or {}).get("show_progress_bar", True)
