"""A client that goes away stops the work that it caused."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from starlette.types import Receive

from laya_rag.errors import StoppedError

R = TypeVar("R")


class ClientGoneError(StoppedError):
    """The client went away before it was answered; there is nobody to tell."""


async def disconnected(receive: Receive) -> None:
    """Wait until the client is gone; whatever else it still sends is dropped."""
    while (await receive())["type"] != "http.disconnect":
        pass


async def while_connected(receive: Receive, work: Coroutine[Any, Any, R]) -> R:
    """The result of `work`, which is cancelled when the client goes; the body must be read.

    Raises `ClientGoneError` when it went, after `work` was cancelled.
    """
    task = asyncio.ensure_future(work)
    gone = asyncio.ensure_future(disconnected(receive))
    try:
        await asyncio.wait({task, gone}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return task.result()
        raise ClientGoneError("the client went away")
    finally:
        left = {pending for pending in (task, gone) if not pending.done()}
        for pending in left:
            pending.cancel()
        if left:
            await asyncio.wait(left)
        if task.done() and not task.cancelled():
            task.exception()  # looked at: nobody else will
