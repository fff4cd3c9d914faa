"""One stack on the sample corpus, in a folder of its own."""

from __future__ import annotations

import json
import logging
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, replace
from functools import cached_property
from pathlib import Path

from laya_index.bundle.cache import cache_folder
from laya_index.document import Skipped, SourceDocument
from laya_index.engine.base import MapEngine
from laya_index.pipeline import Pipeline
from laya_index.process import process
from laya_index.sample import sample_files
from laya_index.source.base import Source
from laya_index.stack import ExportBlock, Stack
from laya_signals import ProviderBlock

from laya_rag.validate.feed import feed

SAMPLE = "sample"


class NotBuiltError(Exception):
    """The stack cannot be built on the sample corpus, so there is nothing to check."""


class Trial:
    """A stack whose source is the sample corpus and whose bundles go below `folder`.

    Everything that a run writes lies in `made`: bundles, their caches, and what it said.
    """

    def __init__(self, stack: Stack, folder: Path, *, seed: int) -> None:
        self.seed = seed
        self.files: Mapping[str, bytes] = sample_files()
        self.made = folder / "made"
        self.made.mkdir(parents=True)
        self._corpora = folder / "corpora"
        self._own = stack
        self._sources: dict[str, ProviderBlock] = {}
        self._first: Path | Exception | None = None
        self.feed(self.files, SAMPLE)

    def feed(self, files: Mapping[str, bytes], corpus: str) -> None:
        """Lay out `files` as the corpus of that name, in place of what it was."""
        source = self._own.model.source
        self._sources[corpus] = feed(source, files, self._corpora / corpus)

    def stack(self, bundle: str, corpus: str = SAMPLE) -> Stack:
        """The stack over the corpus of that name, writing `made/<bundle>`."""
        export = ExportBlock(path=self.made / bundle)
        update = {"source": self._sources[corpus], "export": export}
        return replace(self._own, model=self._own.model.model_copy(update=update))

    def build(
        self,
        bundle: str,
        corpus: str = SAMPLE,
        *,
        workers: int = 1,
        engine: MapEngine | None = None,
        anew: bool = False,
    ) -> Path:
        """Run the stack on a corpus; the bundle's folder. `anew` removes what was there before."""
        if anew:
            self.drop(bundle)
        process(self.stack(bundle, corpus), workers=workers, engine=engine)
        return self.made / bundle

    def copy(self, bundle: Path, name: str) -> None:
        """Give a bundle and its cache a second life as `name`."""
        target = self.made / name
        shutil.copytree(bundle, target)
        shutil.copytree(cache_folder(bundle), cache_folder(target))

    def drop(self, bundle: str) -> None:
        """Remove a bundle and its cache: a copy of another, which need not be scanned twice."""
        shutil.rmtree(self.made / bundle, ignore_errors=True)
        shutil.rmtree(cache_folder(self.made / bundle), ignore_errors=True)

    @property
    def first(self) -> Path:
        """The bundle of a first run over the sample, which everything else is compared with.

        Raises what that run raised, and `NotBuiltError` whenever it is asked for again.
        """
        if self._first is None:
            try:
                self._first = self._run_first()
            except Exception as error:
                self._first = error
                raise
        if isinstance(self._first, Exception):
            raise NotBuiltError("nothing to check: the stack cannot be built") from self._first
        return self._first

    def _run_first(self) -> Path:
        stack = self.stack("first")
        with _everything_logged(self.made / "first.log"):
            report = process(stack, workers=1)
        said = json.dumps(asdict(report), ensure_ascii=False, default=str)
        (self.made / "first.json").write_text(said, encoding="utf-8")
        return stack.model.export.path

    @cached_property
    def documents(self) -> dict[str, SourceDocument]:
        """The documents of the sample as the stack's source gives them, by id."""
        source = self.stack("first").build(("source",), Source)
        return {item.id: item for item in source.read() if not isinstance(item, Skipped)}

    @cached_property
    def pipeline(self) -> Pipeline:
        """The stack's components, as the first run had them."""
        stack = self.stack("first")
        pipeline = Pipeline.of(stack, cache_folder(stack.model.export.path))
        return pipeline.sized_for(len(document.text) for document in self.documents.values())


@contextmanager
def _everything_logged(path: Path) -> Iterator[None]:
    """Write what any logger says, at any level, to `path`."""
    root = logging.getLogger()
    level = root.level
    handler = logging.FileHandler(path, encoding="utf-8")
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    try:
        yield
    finally:
        root.setLevel(level)
        root.removeHandler(handler)
        handler.close()
