"""Thread pools that teams share by turns, one for each kind of work.

Short reads (files, content, the judge's cache) use `asyncio.to_thread`; `share_threads` makes its
pool a fair one. Everything that takes longer has a pool of its own, so that a read never waits
behind it.
"""

import asyncio
import os
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from threading import Lock
from typing import Any, ParamSpec, TypeVar
from weakref import WeakKeyDictionary

from arena.pools.rounds import Rounds
from arena.team import current_team

P = ParamSpec("P")
T = TypeVar("T")

Job = tuple[Future[Any], Callable[[], Any]]


class FairThreads(ThreadPoolExecutor):
    """`count` threads for every team, and `spare` more that one team alone cannot take."""

    def __init__(self, name: str, count: int, *, spare: int) -> None:
        super().__init__(max_workers=count + spare, thread_name_prefix=name)
        self._per_team = count
        self._lock = Lock()
        self._running: Counter[str] = Counter()
        self._rounds: Rounds[Job] = Rounds()

    async def run(self, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Like `asyncio.to_thread`, in this pool."""
        call = partial(copy_context().run, function, *args, **kwargs)
        return await asyncio.get_running_loop().run_in_executor(self, call)

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Run `fn` when it is its team's turn."""
        future: Future[T] = Future()
        with self._lock:
            self._rounds.add(current_team(), (future, partial(fn, *args, **kwargs)))
        # The pool's own queue is first come, first served, so it holds no work: a thread that is
        # woken takes the job whose turn it is.
        super().submit(self._work)
        return future

    def _work(self) -> None:
        """Run jobs until none is left that may run."""
        # A job that may not run yet is taken by a thread of its own team that ends a job.
        while (taken := self._take()) is not None:
            team, (future, call) = taken
            try:
                _run(future, call)
            finally:
                with self._lock:
                    self._running[team] -= 1
            del taken, future, call  # or an idle thread would keep the last result alive

    def _take(self) -> tuple[str, Job] | None:
        with self._lock:
            taken = self._rounds.take(lambda team: self._running[team] < self._per_team)
            if taken is not None:
                self._running[taken[0]] += 1
            return taken


def _run(future: Future[Any], call: Callable[[], Any]) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        result = call()
    except BaseException as error:
        # Whoever waits for the result gets the error, as with any executor.
        future.set_exception(error)
    else:
        future.set_result(result)


CORES = os.cpu_count() or 1

CHECKS = FairThreads("check", CORES, spare=1)
"""Reading standards, and validators that take longer than a moment: patterns release the GIL."""
WRITES = FairThreads("write", 4, spare=2)
"""Storing content and records, which waits for the disk."""
NETWORK = FairThreads("network", 4, spare=2)
"""Looking for content in the network and publishing it, which waits for other machines."""

_shared: WeakKeyDictionary[asyncio.AbstractEventLoop, FairThreads] = WeakKeyDictionary()


def share_threads() -> None:
    """Make the pool of `asyncio.to_thread` in the running event loop fair."""
    loop = asyncio.get_running_loop()
    if loop not in _shared:
        # As many as Python would use. The loop shuts it down when it closes.
        _shared[loop] = FairThreads("read", min(30, CORES + 4), spare=2)
        loop.set_default_executor(_shared[loop])
