"""How far a walk over queries is: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from laya_rag.cli.output import console

if TYPE_CHECKING:
    from laya_rag.cli.progress import Bars, Lines, Quiet

_LINE_EVERY = 10.0


@contextmanager
def counting(what: str, total: int, *, quiet: bool = False) -> Iterator[Callable[[], None]]:
    """Yields what to call after each of `total` steps; writes to standard error."""
    screen = console(stderr=True)
    if quiet:
        yield lambda: None
    elif screen.is_terminal:
        from rich.progress import Progress

        with Progress(console=screen, transient=True) as progress:
            task = progress.add_task(what, total=total)
            yield lambda: progress.advance(task)
    else:
        yield _lines(what, total)


@contextmanager
def indexing(what: str, *, quiet: bool = False) -> Iterator[Bars | Lines | Quiet]:
    """Yields the progress of a bundle that is built; writes to standard error."""
    from laya_rag.cli.progress import Bars, Lines, Quiet

    screen = console(stderr=True)
    kind = Quiet if quiet else Bars if screen.is_terminal else Lines
    with kind(screen, what) as progress:
        yield progress


def _lines(what: str, total: int) -> Callable[[], None]:
    screen = console(stderr=True)
    began = said = time.monotonic()
    done = 0

    def advance() -> None:
        nonlocal said, done
        done += 1
        now = time.monotonic()
        if now - said >= _LINE_EVERY:
            said = now
            left = (total - done) * (now - began) / done
            screen.print(f"{what}: {done} of {total}, {left:.0f} s left")

    return advance
