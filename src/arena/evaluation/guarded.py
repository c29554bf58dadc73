"""Checks of what an agent sent: the event loop does only what takes a moment."""

from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from arena.evaluation.pattern import NotQuick, only_quick
from arena.pools.threads import CHECKS
from arena.pools.workers import heavy

V = TypeVar("V")
R = TypeVar("R")


async def guarded(check: Callable[[V], R], value: V, *, is_small: bool, is_slow: bool) -> R:
    """What `check` returns for the value; raises `TooMuchWork` if it takes too long.

    A small value is checked at once, or in a thread if the check may be slow; what takes longer,
    and a large value, is checked in a worker process.
    """
    if is_small:
        if not is_slow:
            return check(value)
        with suppress(NotQuick):
            return await CHECKS.run(_quick, check, value)
    return await heavy(check, value)


def _quick(check: Callable[[V], R], value: V) -> R:
    with only_quick():
        return check(value)
