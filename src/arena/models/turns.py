"""Keeps to what is allowed at a place: so many at once, so many a minute, none while it rests."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from weakref import WeakKeyDictionary


class Turns:
    """Gives out turns; shared by all who ask at one place in this process.

    The time until a turn comes does not count: a time-out begins with the turn.
    """

    def __init__(
        self, *, max_concurrency: int, per_minute: int | None = None, window_seconds: float = 60.0
    ) -> None:
        self._slots = asyncio.Semaphore(max_concurrency)
        self._per_window = per_minute
        self._window_seconds = window_seconds
        self._begun: deque[float] = deque()
        self._queue = asyncio.Lock()
        self._rests_until = 0.0

    @asynccontextmanager
    async def turn(self) -> AsyncGenerator[None]:
        """Wait until it is one's turn; others wait until the block ends."""
        async with self._slots:
            if self._per_window is None:
                await self._wait_for_rest()
            else:
                await self._wait_for_window(self._per_window)
            yield

    def rest(self, seconds: float) -> None:
        """Give out no turn for so long: whoever is there has asked to be left alone."""
        until = asyncio.get_running_loop().time() + seconds
        self._rests_until = max(self._rests_until, until)

    async def _wait_for_rest(self) -> None:
        loop = asyncio.get_running_loop()
        while (wait := self._rests_until - loop.time()) > 0:
            await asyncio.sleep(wait)

    async def _wait_for_window(self, per_window: int) -> None:
        """Until fewer than `per_window` turns began in the window that ends now."""
        loop = asyncio.get_running_loop()
        async with self._queue:  # first come, first served
            while len(self._begun) >= per_window:
                wait = self._begun[0] + self._window_seconds - loop.time()
                if wait > 0:
                    await asyncio.sleep(wait)
                self._begun.popleft()
            # Last of all: a rest may have been asked for during that wait.
            await self._wait_for_rest()
            self._begun.append(loop.time())


# What waits in one event loop cannot be woken by another, so each has its own.
_turns: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, Turns]] = WeakKeyDictionary()


def turns_at(place: str, *, max_concurrency: int, per_minute: int | None) -> Turns:
    """The turns that everybody in this process shares at `place`; who comes first sets them."""
    here = _turns.setdefault(asyncio.get_running_loop(), {})
    if place not in here:
        here[place] = Turns(max_concurrency=max_concurrency, per_minute=per_minute)
    return here[place]
