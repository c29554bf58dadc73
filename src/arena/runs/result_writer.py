"""Writes the results of a run to the database in batches."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable

from arena.runs.item import Executed

BATCH_RESULTS = 500
BATCH_CHARACTERS = 4_000_000
FLUSH_SECONDS = 0.2
"""How long a finished result may wait to be written in a batch."""


class ResultWriter:
    """Writes results in batches; `add` waits if the database is behind."""

    def __init__(self, write: Callable[[list[Executed]], Awaitable[None]]) -> None:
        self._write = write
        self._batch: list[Executed] = []
        self._size = 0
        self._writing = asyncio.Lock()

    async def add(self, executed: Executed) -> None:
        """Add a result; it is in the database after the next `flush`."""
        self._batch.append(executed)
        self._size += executed.result.size
        if len(self._batch) >= BATCH_RESULTS or self._size >= BATCH_CHARACTERS:
            await self.flush()

    async def flush(self) -> None:
        """Write all added results."""
        async with self._writing:
            batch, self._batch, self._size = self._batch, [], 0
            if batch:
                await self._write(batch)

    async def keep_flushing(self, until: asyncio.Event) -> None:
        """Flush periodically until the event, and once more at the end."""
        while not until.is_set():
            await pause(FLUSH_SECONDS, until)
            await self.flush()


async def pause(seconds: float, until: asyncio.Event) -> None:
    """Wait for some seconds, or until the event."""
    # An event rather than cancelling the task, which may be in the middle of a transaction.
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await until.wait()
