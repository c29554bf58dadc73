"""Waking those who watch a run when something happened to it in this process."""

import asyncio
from uuid import UUID
from weakref import WeakValueDictionary


class Changes:
    """A bell per run. The database tells what happened; this only says: look now."""

    def __init__(self) -> None:
        # Weak: a bell is gone with the last one who listens for it.
        self._bells: WeakValueDictionary[UUID, asyncio.Event] = WeakValueDictionary()

    def ring(self, run_id: UUID) -> None:
        """Something about the run has been written down."""
        bell = self._bells.pop(run_id, None)
        if bell:
            bell.set()

    def bell(self, run_id: UUID) -> asyncio.Event:
        """The bell that rings at the run's next change; get it before you look."""
        return self._bells.setdefault(run_id, asyncio.Event())
