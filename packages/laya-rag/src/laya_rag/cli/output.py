"""What every subcommand needs to talk to a person or a program."""

from __future__ import annotations

import functools
import json
import re
import sys
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

import typer
from rich.console import Console

P = ParamSpec("P")
R = TypeVar("R")

INTERRUPTED = 130
#: With `--exit-code`: the answer is no, or there is none.
NEGATIVE = 3

# A passage is data: what it holds must not move the reader's cursor or recolour the terminal.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def console(*, stderr: bool = False) -> Console:
    """A console that leaves text alone: no markup, no emoji codes, no guessing at numbers."""
    return Console(stderr=stderr, markup=False, emoji=False, highlight=False)


def printable(text: str) -> str:
    """`text` without control characters."""
    return _CONTROL.sub("\N{REPLACEMENT CHARACTER}", text)


def print_json(data: Any) -> None:
    """One JSON document on standard output."""
    json.dump(data, sys.stdout, ensure_ascii=False, indent=2, allow_nan=False)
    sys.stdout.write("\n")


def counted(count: int, what: str) -> str:
    """`1 claim`, `2 claims`."""
    return f"{count} {what}{'' if count == 1 else 's'}"


def size(count: int) -> str:
    """So many bytes, in the unit that reads best."""
    amount = float(count)
    for unit in ("B", "kB", "MB"):
        if amount < 1000:
            return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"
        amount /= 1000
    return f"{amount:.1f} GB"


def fail(message: str) -> None:
    """An error on standard error."""
    typer.echo(f"laya: {printable(message)}", err=True)


def reporting_errors(command: Callable[P, R]) -> Callable[P, R]:
    """Turn the toolkit's own errors into a message and exit code 1, and Ctrl-C into 130."""

    @functools.wraps(command)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> R:
        from laya_index.errors import IndexingError
        from laya_retrieval.errors import RetrievalError
        from laya_signals.errors import SignalError

        from laya_rag.errors import AccessError, RagError

        try:
            return command(*args, **kwargs)
        except (IndexingError, RetrievalError, SignalError, RagError) as error:
            hint = "; see --tenant and --all-tenants" if isinstance(error, AccessError) else ""
            fail(f"{error}{hint}")
            raise typer.Exit(1) from error
        except KeyboardInterrupt:
            fail("interrupted")
            raise typer.Exit(INTERRUPTED) from None
        except BrokenPipeError:
            # `laya search … | head`: the reader has seen enough.
            sys.stderr.close()
            raise typer.Exit(0) from None

    return wrapped
