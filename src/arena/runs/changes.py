"""Waking those who watch a run when something happened to it in this process."""

import asyncio
from uuid import UUID
from weakref import WeakValueDictionary


class Changes:
    """A bell per run. The database tells what happened; this only says: look now."""

    def __init__(self) -> None:
        # Weak: a bell is gone with the last one who listens for it.
        self._bells: WeakValueDictionary[UUID | None, asyncio.Event] = WeakValueDictionary()

    def ring(self, run_id: UUID) -> None:
        """Something about the run has been written down."""
        for key in (run_id, None):
            bell = self._bells.pop(key, None)
            if bell:
                bell.set()

    def bell(self, run_id: UUID | None) -> asyncio.Event:
        """The bell of a run's next change, or (None) of any run's; get it before you look."""
        return self._bells.setdefault(run_id, asyncio.Event())


async def rung(bell: asyncio.Event, seconds: float) -> None:
    """Wait for a bell, but no longer than this."""
    try:
        async with asyncio.timeout(seconds):
            await bell.wait()
    except TimeoutError:
        return
