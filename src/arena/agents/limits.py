"""Keeps to what an agent allows: so many questions at once, so many a minute."""

import asyncio
from collections import deque

from arena.agents.agent import Limits
from arena.agents.connector import Answer, Connector, Question


class Limited:
    """A connector that never asks more than `limits` allow; others wait their turn.

    The time a question waits here does not count: its time-out begins when it is asked.
    """

    def __init__(
        self, connector: Connector, limits: Limits, *, window_seconds: float = 60.0
    ) -> None:
        self._connector = connector
        self._slots = asyncio.Semaphore(limits.max_concurrency)
        self._per_window = limits.per_minute
        self._window_seconds = window_seconds
        self._begun: deque[float] = deque()
        self._turn = asyncio.Lock()

    async def answer(self, question: Question) -> Answer:
        """Wait for a free slot, then ask."""
        async with self._slots:
            if self._per_window is not None:
                await self._wait_for_turn(self._per_window)
            return await self._connector.answer(question)

    async def close(self) -> None:
        """Close the connector."""
        await self._connector.close()

    async def _wait_for_turn(self, per_window: int) -> None:
        """Until fewer than `per_window` questions began in the window that ends now."""
        loop = asyncio.get_running_loop()
        async with self._turn:  # first come, first served
            while len(self._begun) >= per_window:
                wait = self._begun[0] + self._window_seconds - loop.time()
                if wait > 0:
                    await asyncio.sleep(wait)
                self._begun.popleft()
            self._begun.append(loop.time())
