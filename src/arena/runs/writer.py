"""Results on their way to the database: written in batches, soon, and never reported before."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable

from arena.runs.run import Result

BATCH_RESULTS = 250
BATCH_CHARACTERS = 4_000_000
SOON_SECONDS = 0.1
"""How long a finished result may wait for others to be written with it."""

Write = Callable[[list[Result]], Awaitable[None]]


class ResultWriter:
    """Collects results and writes them; `add` waits where the database is behind."""

    def __init__(self, write: Write) -> None:
        self._write = write
        self._waiting: list[Result] = []
        self._size = 0
        self._writing = asyncio.Lock()

    async def add(self, result: Result) -> None:
        """Take a result; it is in the database once `flush` came by."""
        self._waiting.append(result)
        self._size += result.size
        if len(self._waiting) >= BATCH_RESULTS or self._size >= BATCH_CHARACTERS:
            await self.flush()

    async def flush(self) -> None:
        """Write all that waits."""
        async with self._writing:
            batch, self._waiting, self._size = self._waiting, [], 0
            if batch:
                await self._write(batch)

    async def keep_flushing(self, until: asyncio.Event) -> None:
        """Write what has arrived, soon after it has, and all of it before it ends."""
        while not until.is_set():
            await pause(SOON_SECONDS, until)
            await self.flush()


async def pause(seconds: float, until: asyncio.Event) -> None:
    """Wait so long, or until the event; nothing is cancelled that may be half done."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await until.wait()
