"""Calls what a user gave the loop: a plain function or an async one."""

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from concurrent.futures import Executor
from contextvars import copy_context
from functools import partial
from typing import TypeVar, cast

Given = TypeVar("Given")
Taken = TypeVar("Taken")


async def called(
    function: Callable[[Taken], Awaitable[Given] | Given],
    taken: Taken,
    *,
    threads: Executor | None = None,
) -> Given:
    """What the function gives. A plain one runs in a thread: everything else goes on meanwhile."""
    if _is_async(function):
        given = function(taken)
    else:
        # As asyncio.to_thread does it, which does not let its threads be chosen.
        run = copy_context().run
        given = await asyncio.get_running_loop().run_in_executor(
            threads, lambda: run(_run, function, taken)
        )
    # A plain function may still give something to wait for: a lambda around an async one.
    return await given if inspect.isawaitable(given) else cast("Given", given)


def _is_async(function: Callable[..., object]) -> bool:
    while isinstance(function, partial):
        function = function.func
    # An object may be called like a function; what is called then is its class's.
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
        type(function).__call__
    )


def _run(function: Callable[[Taken], Given], taken: Taken) -> Given:
    try:
        return function(taken)
    except StopIteration as wrong:
        # No future takes it: whoever waits for the thread would wait for ever.
        raise RuntimeError("it raised StopIteration") from wrong
