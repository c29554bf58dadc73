"""Transactions that are done to their end."""

import asyncio
import functools
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


def whole(function: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, Awaitable[T]]:
    """Let a cancelled caller wait until the transaction has ended, and only then be cancelled.

    A statement cannot be taken back once the driver has it. Left alone in the middle of one, a
    connection is of no use to anybody, and on SQLite it may hold the lock that all others wait for.
    """

    @functools.wraps(function)
    async def done(*args: P.args, **kwargs: P.kwargs) -> T:
        task = asyncio.create_task(function(*args, **kwargs))
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            while not task.done():
                try:
                    await asyncio.wait({task})
                except asyncio.CancelledError:
                    continue  # a second wish to stop makes the database no faster
            if not task.cancelled():
                task.exception()  # read, so that it is not reported as overlooked
            raise

    return done
