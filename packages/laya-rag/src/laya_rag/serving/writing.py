"""What a server may change of the index, and the folders that it keeps to."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from laya_index.bundle.cache import cache_folder
from laya_index.bundle.lock import writer_lock
from laya_index.bundle.manifest import read_manifest
from laya_index.delete import DeleteReport, delete
from laya_index.process import RunReport, process
from laya_index.stack import load_stack

from laya_rag.engine import CancelToken
from laya_rag.engine.cancel import StoppingProgress
from laya_rag.serving.errors import InvalidArgumentsError, NotFoundError, ServerSetupError

#: Told how much is done, of how much if that is known, and what is being done.
Progress = Callable[[float, float | None, str], None]


@dataclass(frozen=True, slots=True)
class Writing:
    """Whether and how a server may write: which bundle, by which stack, from which folders.

    The stack is the operator's, for a stack names code to run. Raises `ServerSetupError` for a
    root or a stack that is not there.
    """

    bundle: Path
    stack: Path | None
    roots: tuple[Path, ...] = ()

    def __post_init__(self) -> None:
        for root in self.roots:
            if not root.is_dir():
                raise ServerSetupError(f"--root {str(root)!r} is no folder")
        if self.stack is not None and not self.stack.is_file():
            raise ServerSetupError(f"--stack {str(self.stack)!r} is no file")

    def confined(self, folder: str) -> Path:
        """The folder, which must lie in a root once every link is followed.

        A relative one is looked for in each root. Raises `InvalidArgumentsError`, with the same
        message for a folder elsewhere and for one that does not exist.
        """
        refused = InvalidArgumentsError("folder: lies in none of the folders that may be indexed")
        if "\0" in folder:
            raise refused
        for root in self.roots:
            base = root.resolve()
            try:
                real = (base / folder).resolve(strict=True)
            except (OSError, RuntimeError):
                continue
            if real.is_relative_to(base) and real.is_dir():
                return real
        raise refused

    def index(
        self,
        folder: str | None,
        *,
        dry_run: bool,
        remove_missing: bool,
        cancel: CancelToken,
        progress: Progress,
    ) -> RunReport:
        """Build or update the bundle.

        Raises `InvalidArgumentsError` for a folder that is not allowed, and where documents would
        leave the index without `remove_missing`; `StoppedError` when cancelled, and then the
        bundle stays as it was; and as `laya_index.process`.
        """
        root = None if folder is None else self.confined(folder)
        if self.stack is None:
            raise NotFoundError("the operator named no stack to index with")
        stack = load_stack(self.stack, root=root, out=self.bundle)
        steps = _Steps(cancel, progress)
        report = process(stack, dry_run=True, progress=steps)
        if dry_run:
            return report
        if report.removed and not remove_missing:
            raise InvalidArgumentsError(
                f"remove_missing: {report.removed} indexed documents are not in the source and "
                "would leave the index; pass true only if the user agrees"
            )
        return process(stack, progress=steps)

    def delete(
        self,
        ids: Sequence[str],
        patterns: Sequence[str],
        *,
        next_run: bool,
        dry_run: bool,
        cancel: CancelToken,
        progress: Progress,
    ) -> DeleteReport:
        """Take documents out of the bundle and keep them out.

        Raises `StoppedError` when cancelled, and then the bundle stays as it was; and as
        `laya_index.delete.delete`.
        """
        return delete(
            self.bundle,
            ids,
            patterns=patterns,
            next_run=next_run,
            dry_run=dry_run,
            progress=_Steps(cancel, progress),
        )

    def reset(self) -> None:
        """Delete the bundle and what was derived from it.

        Deletes nothing but a folder with a readable manifest; raises as `read_manifest` and
        `writer_lock`.
        """
        cache = cache_folder(self.bundle)
        with writer_lock(cache, self.bundle):
            read_manifest(self.bundle)
            shutil.rmtree(self.bundle)
            for part in cache.iterdir():
                if part.is_dir():
                    shutil.rmtree(part)


class _Steps(StoppingProgress):
    """The progress of a run, and where it is stopped."""

    def __init__(self, cancel: CancelToken, progress: Progress) -> None:
        super().__init__(cancel)
        self._progress = progress
        self._name = ""
        self._done = 0
        self._total: int | None = None
        # Steps before the stage's own: a client is promised that progress only grows.
        self._before = 0

    def stage(self, name: str, total: int | None) -> None:
        """A stage begins."""
        super().stage(name, total)
        self._before += self._done
        self._name, self._total, self._done = name, total, 0
        self._tell()

    def advance(self, documents: int, chunks: int) -> None:
        """So many more are done."""
        super().advance(documents, chunks)
        self._done += documents
        self._tell()

    def _tell(self) -> None:
        total = None if self._total is None else float(self._before + self._total)
        self._progress(float(self._before + self._done), total, self._name)


def writing_from(
    bundle: str, stack: Path | None, roots: Sequence[Path], *, allowed: bool
) -> Writing | None:
    """What a server may write; None where it may not.

    Raises `ServerSetupError` for roots or a stack without `allowed`, and for a bundle in a store.
    """
    if not allowed:
        if roots or stack is not None:
            raise ServerSetupError("--root and --stack are for indexing: give --allow-writes too")
        return None
    if "://" in bundle:
        raise ServerSetupError("a store is written by `laya push`: --allow-writes wants a bundle")
    return Writing(Path(bundle), stack, tuple(roots))
