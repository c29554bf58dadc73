"""Keeps to what an agent allows: so many questions at once, so many a minute."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from arena.agents.agent import Limits


class Limiter:
    """Gives out turns to ask one agent; shared by all who ask it in this process.

    The time until a turn comes does not count: a question's time-out begins when it is asked.
    """

    def __init__(self, limits: Limits, *, window_seconds: float = 60.0) -> None:
        self._slots = asyncio.Semaphore(limits.max_concurrency)
        self._per_window = limits.per_minute
        self._window_seconds = window_seconds
        self._begun: deque[float] = deque()
        self._queue = asyncio.Lock()

    @asynccontextmanager
    async def turn(self) -> AsyncGenerator[None]:
        """Wait until the agent may be asked; others wait until the block ends."""
        async with self._slots:
            if self._per_window is not None:
                await self._wait_for_window(self._per_window)
            yield

    async def _wait_for_window(self, per_window: int) -> None:
        """Until fewer than `per_window` questions began in the window that ends now."""
        loop = asyncio.get_running_loop()
        async with self._queue:  # first come, first served
            while len(self._begun) >= per_window:
                wait = self._begun[0] + self._window_seconds - loop.time()
                if wait > 0:
                    await asyncio.sleep(wait)
                self._begun.popleft()
            self._begun.append(loop.time())
