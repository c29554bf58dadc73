"""Waits while the database does not respond, unless the worker stops."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from typing import ParamSpec, TypeVar

from arena.store.database import StoreUnavailable

log = logging.getLogger(__name__)
P = ParamSpec("P")
T = TypeVar("T")

AWAY_SECONDS = 0.5
"""The delay before the next attempt."""
STOP_SECONDS = 15.0
"""How long a worker that stops waits for the database."""


class Patience:
    """Tries again whatever the database does not answer."""

    def __init__(self) -> None:
        self._stopping_since: float | None = None

    @property
    def is_stopping(self) -> bool:
        """Whether the worker stops."""
        return self._stopping_since is not None

    def stop(self) -> None:
        """The worker stops: wait no longer than a moment."""
        self._stopping_since = time.monotonic()

    async def wait_for(
        self, work: Callable[P, Awaitable[T]], *args: P.args, **named: P.kwargs
    ) -> T:
        """Do something with the database, again and again while it does not respond."""
        has_failed = False
        while True:
            try:
                return await work(*args, **named)
            except StoreUnavailable as error:
                since = self._stopping_since
                if since is not None and time.monotonic() - since > STOP_SECONDS:
                    raise
                if not has_failed:  # once: it is tried twice a second, however long that takes
                    log.warning("%s; trying again until it responds", error.message)
                has_failed = True
            await asyncio.sleep(AWAY_SECONDS)
