"""Events as they happen, for many watchers: they share one query of the database.

Other processes write events too, so the database must be polled. One of the waiting watchers polls
and the others take what it found, so a hundred watchers cost as much as one.
"""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence

from arena.market.call import MarketEvent

POLL_SECONDS = 0.25
"""How often the database is polled."""
RECENT = 1000
"""Events kept for all watchers; one that is further behind reads its own."""

Read = Callable[..., Awaitable[Sequence[MarketEvent]]]
"""A team's events after an id (`since`), at most `limit`, in order."""
Last = Callable[[str], Awaitable[int]]
"""The id of a team's newest event."""


class Feeds:
    """The feed of each team that somebody watches."""

    def __init__(self, read: Read, last: Last) -> None:
        self._read = read
        self._last = last
        self._feeds: dict[str, _Feed] = {}

    async def watch(self, team_id: str, since: int) -> AsyncGenerator[MarketEvent]:
        """A team's events after `since`, each once and in order, without end."""
        feed = self._feeds.setdefault(team_id, _Feed(team_id, self._read, self._last))
        feed.watchers += 1
        try:
            while True:
                for event in await feed.after(since):
                    yield event
                    since = event.id
        finally:
            feed.watchers -= 1
            if not feed.watchers:
                # A later watcher must not start with all that happened in between.
                del self._feeds[team_id]


class _Feed:
    def __init__(self, team_id: str, read: Read, last: Last) -> None:
        self.watchers = 0
        self._team_id = team_id
        self._read = read
        self._newest = last
        self._lock = asyncio.Lock()
        self._recent: deque[MarketEvent] = deque()
        # All events after `_floor`, up to `_last`, are in `_recent`; None before the first poll.
        self._floor: int | None = None
        self._last = 0

    async def after(self, since: int) -> Sequence[MarketEvent]:
        """The next events after `since`; waits until there are some."""
        while True:
            if self._floor is not None and since < self._floor:
                older = await self._read(self._team_id, since=since, limit=RECENT)
                if older:
                    return older
                since = self._floor
            if newer := self._seen_after(since):
                return newer
            # One polls; the others wait for the lock and find what it saw.
            async with self._lock:
                if not self._seen_after(since) and not await self._poll():
                    await _pause()

    def _seen_after(self, since: int) -> list[MarketEvent]:
        return [event for event in self._recent if event.id > since] if since < self._last else []

    async def _poll(self) -> bool:
        """Query the database; returns whether there may be something at once."""
        if self._floor is None:
            self._floor = self._last = await self._newest(self._team_id)
            return True
        events = await self._read(self._team_id, since=self._last, limit=RECENT)
        self._recent.extend(events)
        if events:
            self._last = events[-1].id
        while len(self._recent) > RECENT:
            self._floor = self._recent.popleft().id
        return bool(events)


async def _pause() -> None:
    await asyncio.sleep(POLL_SECONDS)
