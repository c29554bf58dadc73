"""Events as they happen, for many who watch: the database is asked for all of them together.

Other processes write events too, so it must be asked. One of those who wait looks, and the others
take what it saw; so a hundred watchers ask as often as one.
"""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence

from arena.market.events import Event

LOOK_SECONDS = 0.25
"""How often the database is asked."""
RECENT = 1000
"""So many events are kept; whoever is further behind reads them for itself."""

Read = Callable[[str, int, int], Awaitable[Sequence[Event]]]
"""A team's events after an id, so many at most, in order."""
Last = Callable[[str], Awaitable[int]]
"""The id of a team's newest event."""


class Feeds:
    """The feed of each team that somebody watches."""

    def __init__(self, read: Read, last: Last) -> None:
        self._read = read
        self._last = last
        self._feeds: dict[str, _Feed] = {}

    async def watch(self, team_id: str, since: int) -> AsyncGenerator[Event]:
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
                # Whoever comes later must not begin with all that happened meanwhile.
                del self._feeds[team_id]


class _Feed:
    def __init__(self, team_id: str, read: Read, last: Last) -> None:
        self.watchers = 0
        self._team_id = team_id
        self._read = read
        self._newest = last
        self._lock = asyncio.Lock()
        self._recent: deque[Event] = deque()
        # All events after `_floor`, up to `_last`, are in `_recent`; None before the first look.
        self._floor: int | None = None
        self._last = 0

    async def after(self, since: int) -> Sequence[Event]:
        """The next events after `since`; waits until there are some."""
        while True:
            if self._floor is not None and since < self._floor:
                older = await self._read(self._team_id, since, RECENT)
                if older:
                    return older
                since = self._floor
            if newer := self._seen_after(since):
                return newer
            # One looks; to the others it is as if they had.
            async with self._lock:
                if not self._seen_after(since) and not await self._look():
                    await _pause()

    def _seen_after(self, since: int) -> list[Event]:
        return [event for event in self._recent if event.id > since] if since < self._last else []

    async def _look(self) -> bool:
        """Ask the database; whether there is anything to be had at once."""
        if self._floor is None:
            self._floor = self._last = await self._newest(self._team_id)
            return True
        events = await self._read(self._team_id, self._last, RECENT)
        self._recent.extend(events)
        if events:
            self._last = events[-1].id
        while len(self._recent) > RECENT:
            self._floor = self._recent.popleft().id
        return bool(events)


async def _pause() -> None:
    await asyncio.sleep(LOOK_SECONDS)
