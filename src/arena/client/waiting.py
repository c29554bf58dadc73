"""Waits for a server that is away."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from arena.backoff import backoff_seconds
from arena.errors import InfrastructureError

T = TypeVar("T")

FIRST_SECONDS = 0.5
MAX_SECONDS = 30.0


async def until_reachable(call: Callable[[], Awaitable[T]], report: Callable[[str], None]) -> T:
    """The result of the call; while the server is away it is repeated, with one report.

    A refused token, a bad address and an answer that is not Arena's are errors at once.
    """
    failures = 0
    while True:
        try:
            result = await call()
        except InfrastructureError as error:
            if not error.retryable:
                raise
            failures += 1
            if failures == 1:
                report(f"{error.message}; waiting until the server responds (stop with Ctrl-C)")
            await asyncio.sleep(backoff_seconds(FIRST_SECONDS, failures, most_seconds=MAX_SECONDS))
        else:
            if failures:
                report("the server responds again")
            return result
