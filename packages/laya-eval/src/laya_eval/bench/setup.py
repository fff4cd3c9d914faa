"""How large a benchmark is, and the corpora that it works on."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from laya_index.process import RunReport, process
from laya_index.stack import parse_stack

from laya_eval.beir import corpus_file, load_judged
from laya_eval.bench import synthetic
from laya_eval.reading import json_objects

T = TypeVar("T")

#: What every side may use.
THREADS = 2
#: A document is a passage.
WHOLE = {"provider": "chunker.document"}


class Size(StrEnum):
    """`tiny` is for tests: every step runs, no number means anything."""

    TINY = "tiny"
    QUICK = "quick"
    FULL = "full"


@dataclass(frozen=True)
class Corpus:
    """Texts by id in a file of JSON lines, questions about them, and a bundle made of them.

    Every document is one passage and has no title, so that all systems index the same text.
    """

    path: Path
    questions: tuple[str, ...]

    @cached_property
    def texts(self) -> dict[str, str]:
        """Text by document id, in the order of the file."""
        return {row["_id"]: row["text"] for _, row in json_objects(self.path)}

    def stack(
        self,
        out: Path,
        *,
        encoder: str | None = synthetic.ENCODER,
        chunker: Mapping[str, Any] = WHOLE,
    ) -> str:
        """A stack that indexes the texts into `out`: BM25, and vectors unless `encoder` is None."""
        signals: dict[str, Any] = {"bm25": {"provider": "tokenizer.whitespace"}}
        if encoder is not None:
            signals["embedding"] = {"provider": encoder}
        return json.dumps(
            {
                "name": "bench",
                "source": {"provider": "source.jsonl", "config": {"path": str(self.path)}},
                "chunk": chunker,
                "signals": signals,
                "export": {"path": str(out)},
            }
        )

    def index(self, out: Path, *, encoder: str | None = synthetic.ENCODER) -> RunReport:
        """Build or update the bundle at `out` in this process."""
        return process(parse_stack(self.stack(out, encoder=encoder)), workers=1)

    @cached_property
    def bundle(self) -> Path:
        """The bundle beside the file, with both signals; made at the first use."""
        out = self.path.with_name("bundle")
        process(parse_stack(self.stack(out)))
        return out


@dataclass(frozen=True)
class Setup:
    """What all benchmarks of one run share: a folder for what they make, and how large they are.

    `data` is a BEIR folder whose documents take the place of the synthetic ones.
    """

    folder: Path
    size: Size = Size.FULL
    data: Path | None = None
    _made: dict[int, Corpus] = field(default_factory=dict)

    def of(self, full: T, quick: T, tiny: T) -> T:
        """The value for this size."""
        return {Size.FULL: full, Size.QUICK: quick, Size.TINY: tiny}[self.size]

    def corpus(self, documents: int) -> Corpus:
        """At most `documents` documents of the data, or as many synthetic ones; made once.

        Raises `DataError` for a folder of another layout.
        """
        if documents not in self._made:
            folder = self.folder / str(documents)
            folder.mkdir(parents=True, exist_ok=True)
            path = folder / "corpus.jsonl"
            if self.data is None:
                synthetic.write_corpus(path, documents)
                questions = synthetic.queries(path, 400)
            else:
                _copy(self.data, path, documents)
                questions = list(load_judged(self.data).queries.values())
            self._made[documents] = Corpus(path, tuple(questions))
        return self._made[documents]


def _copy(data: Path, path: Path, documents: int) -> None:
    with path.open("w", encoding="utf-8") as file:
        for _, row in islice(json_objects(corpus_file(data)), documents):
            text = "\n".join(part for part in (row.get("title", ""), row["text"]) if part)
            # So that splitting at spaces gives the same words everywhere.
            text = unicodedata.normalize("NFC", text)
            file.write(json.dumps({"_id": str(row["_id"]), "text": text}) + "\n")
