"""A run that kills itself: `python -m laya_rag.validate.interrupted STACK MOMENT`."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from laya_index.bundle.manifest import FILE_NAME
from laya_index.process import Silent, process
from laya_index.stack import load_stack

HALF_WAY, AT_COMMIT = MOMENTS = "half-way", "at the commit"


class _DiesHalfWay(Silent):
    """Progress that ends with half of the documents indexed."""

    def __init__(self) -> None:
        self._total: int | None = None
        self._done = 0

    def stage(self, name: str, total: int | None) -> None:  # noqa: ARG002 - the seam's
        """Remember how much is ahead."""
        self._total, self._done = total, 0

    def advance(self, documents: int, chunks: int) -> None:  # noqa: ARG002 - the seam's
        """Count, and die."""
        self._done += documents
        if self._total is not None and 2 * self._done >= self._total:
            os.kill(os.getpid(), signal.SIGKILL)


def _die_at_commit(event: str, arguments: tuple[object, ...]) -> None:
    if event == "os.rename" and Path(os.fsdecode(str(arguments[1]))).name == FILE_NAME:
        os.kill(os.getpid(), signal.SIGKILL)


def main(file: str, moment: str) -> None:
    """Run the stack `file` until `moment`."""
    if moment == AT_COMMIT:
        sys.addaudithook(_die_at_commit)
    process(
        load_stack(Path(file)), workers=1, progress=_DiesHalfWay() if moment == HALF_WAY else None
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
