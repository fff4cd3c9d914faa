"""Errors of this package on the command line."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar

import typer
from laya_rag.cli.output import fail, reporting_errors

P = ParamSpec("P")
R = TypeVar("R")


def reporting_eval_errors(command: Callable[P, R]) -> Callable[P, R]:
    """As `reporting_errors`, for `EvalError` and files that cannot be written too."""

    @functools.wraps(command)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> R:
        from laya_eval.errors import EvalError

        try:
            return reporting_errors(command)(*args, **kwargs)
        except (EvalError, OSError) as error:
            fail(str(error))
            raise typer.Exit(1) from error

    return wrapped
