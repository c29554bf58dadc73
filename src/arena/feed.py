"""One feed for everything that can be watched: runs, a team, its market, its reviews.

Other processes write to the database too, so it must be polled. Only one watcher of a topic polls
at a time and the others share what it read, so that a thousand watchers cost as much as one; they
continue only when it has changed. A change made in this process is read right away.
"""

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Hashable
from typing import Any, Generic, TypeVar
from weakref import WeakValueDictionary

GAP_SECONDS = 0.05
"""The minimum time between two reads of a topic, however many changes there are."""
WATCHER_SECONDS = 0.0005
"""It grows by this with each watcher: to send a change to a thousand of them takes time too."""
KEPT = 1024
"""How many values `OncePerState` keeps."""

State = TypeVar("State")
Made = TypeVar("Made")
Read = Callable[[State | None], Awaitable[State]]
"""Reads the state of a topic, given the previously read state."""


class _Topic:
    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.changed = asyncio.Event()
        self.state: Any = None
        self.version = 0
        """Grows with every change of the state; 0 before the first read."""
        self.read_at = 0.0
        self.watchers = 0

    @property
    def gap_seconds(self) -> float:
        return max(GAP_SECONDS, self.watchers * WATCHER_SECONDS)


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
        """The state of a topic now and after every change, without end."""
        topic = self._topics.setdefault(key, _Topic())
        topic.watchers += 1
        seen = 0
        try:
            while True:
                # Only if there is nothing newer: the watcher with the lock may wait for long.
                if topic.version == seen:
                    async with topic.lock:
                        while topic.version == seen:
                            await self._read(topic, read, poll_seconds)
                seen = topic.version
                yield topic.state
        finally:
            topic.watchers -= 1

    async def _read(self, topic: _Topic, read: Read[State], poll_seconds: float) -> None:
        """Read the topic once: at once if it is new, else after a change or the poll's time."""
        if topic.version:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(poll_seconds):
                    await topic.changed.wait()
            await asyncio.sleep(topic.read_at + topic.gap_seconds - time.monotonic())
        # Cleared before the read, or a change during it would be missed.
        topic.changed.clear()
        topic.read_at = time.monotonic()
        state = await read(topic.state)
        if not topic.version or state != topic.state:
            topic.state = state
            topic.version += 1


class OncePerState(Generic[State, Made]):
    """Makes a value once for each object that watchers share, and keeps those used last."""

    def __init__(self, make: Callable[[State], Made]) -> None:
        self._make = make
        # With the object itself: its id would be reused without it.
        self._made: dict[int, tuple[State, Made]] = {}

    def __call__(self, state: State) -> Made:
        """The value for this object."""
        known = self._made.get(id(state))
        if known is None:
            known = self._made[id(state)] = state, self._make(state)
            if len(self._made) > KEPT:
                del self._made[next(iter(self._made))]
        return known[1]
