"""Progress of a run: bars on a terminal, plain lines elsewhere, or nothing."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

_LINE_EVERY = 10.0


class _Shown:
    """Shows the progress that a subclass makes, while it is entered."""

    _progress: Progress

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._progress.stop()


class Bars(_Shown):
    """One bar a stage: documents done, chunks, rate, time left."""

    def __init__(self, console: Console, stack: str) -> None:
        self._stack = stack
        self._task: TaskID | None = None
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.fields[stack]} {task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("documents, {task.fields[chunks]} chunks, {task.fields[rate]}/s"),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=console,
            transient=True,
        )

    def stage(self, name: str, total: int | None) -> None:
        """Replace the bar by the next stage's."""
        if self._task is not None:
            self._progress.remove_task(self._task)
        self._task = self._progress.add_task(
            name, total=total, stack=self._stack, chunks=0, rate="-"
        )

    def advance(self, documents: int, chunks: int) -> None:
        """Move the bar."""
        if self._task is None:
            return
        task = self._progress.tasks[-1]
        speed = task.speed
        self._progress.update(
            self._task,
            advance=documents,
            chunks=task.fields["chunks"] + chunks,
            rate="-" if speed is None else f"{speed:.0f}",
        )


class Lines:
    """A line when a stage begins, and every ten seconds while it lasts."""

    def __init__(self, console: Console, stack: str) -> None:
        self._console = console
        self._stack = stack
        self._name = ""
        self._total: int | None = None
        self._documents = self._chunks = 0
        self._began = self._said = time.monotonic()

    def __enter__(self) -> Lines:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        pass

    def stage(self, name: str, total: int | None) -> None:
        """Name the stage."""
        self._name, self._total = name, total
        self._documents = self._chunks = 0
        self._began = self._said = time.monotonic()
        ahead = "" if total is None else f" {total} documents"
        self._console.print(f"{self._stack}: {name}{ahead}")

    def advance(self, documents: int, chunks: int) -> None:
        """Say how far it is, now and then."""
        self._documents += documents
        self._chunks += chunks
        now = time.monotonic()
        if now - self._said < _LINE_EVERY:
            return
        self._said = now
        rate = self._documents / (now - self._began)
        left = ""
        if self._total is not None and rate > 0:
            left = f", {(self._total - self._documents) / rate:.0f} s left"
        of = "" if self._total is None else f" of {self._total}"
        self._console.print(
            f"{self._stack}: {self._name} {self._documents}{of} documents, "
            f"{self._chunks} chunks, {rate:.0f}/s{left}"
        )


class Steps(_Shown):
    """One bar over a known number of stages, named after the one that runs."""

    def __init__(self, console: Console, stack: str, steps: int) -> None:
        self._stack = stack
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=console,
            transient=True,
        )
        # The first stage begins with none done.
        self._task = self._progress.add_task(stack, total=steps, completed=-1)

    def stage(self, name: str, total: int | None) -> None:  # noqa: ARG002 - a stage is one step
        """The one before is done."""
        self._progress.update(self._task, advance=1, description=f"{self._stack}: {name}")

    def advance(self, documents: int, chunks: int) -> None:
        """Do nothing: a stage is one step."""


class Quiet(Lines):
    """Nothing at all."""

    def stage(self, name: str, total: int | None) -> None:
        """Do nothing."""

    def advance(self, documents: int, chunks: int) -> None:
        """Do nothing."""
