"""One feed for everything that can be watched: runs, a team, its market, its reviews.

Other processes write to the database too, so it must be polled. Only one watcher of a topic polls
at a time and the others share what it read, so that a hundred watchers cost as much as one. A
change made in this process is read right away.
"""

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Hashable
from typing import Any, TypeVar
from weakref import WeakValueDictionary

GAP_SECONDS = 0.05
"""The minimum time between two reads of a topic, however many changes there are."""

State = TypeVar("State")
Read = Callable[[State | None], Awaitable[State]]
"""Reads the state of a topic, given the previously read state."""


class _Topic:
    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.changed = asyncio.Event()
        self.state: Any = None
        self.reads = 0
        self.read_at = 0.0


class Feed:
    """The watched topics."""

    def __init__(self) -> None:
        # Weak: a topic is dropped with its last watcher, and the next one starts with a fresh read.
        self._topics: WeakValueDictionary[Hashable, _Topic] = WeakValueDictionary()

    def notify(self, *topics: Hashable) -> None:
        """Wake the watchers of these topics: something was written."""
        for key in topics:
            if topic := self._topics.get(key):
                topic.changed.set()

    async def watch(
        self, key: Hashable, read: Read[State], *, poll_seconds: float
    ) -> AsyncGenerator[State]:
        """The state of a topic now and after every read, changed or not, without end."""
        topic = self._topics.setdefault(key, _Topic())
        seen = 0
        while True:
            async with topic.lock:
                if topic.reads == seen:
                    if seen:
                        with contextlib.suppress(TimeoutError):
                            async with asyncio.timeout(poll_seconds):
                                await topic.changed.wait()
                        await asyncio.sleep(topic.read_at + GAP_SECONDS - time.monotonic())
                    # Cleared before the read, or a change during it would be missed.
                    topic.changed.clear()
                    topic.read_at = time.monotonic()
                    topic.state = await read(topic.state)
                    topic.reads += 1
                seen = topic.reads
            yield topic.state
