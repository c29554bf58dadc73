"""One feed for all that can be watched: runs, a team, its market, its reviews.

Other processes write to the database too, so it must be polled. Of all who watch a topic one looks
at a time and the others get what it saw, so that a hundred watchers cost as much as one. A change
made in this process is looked at right away.
"""

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Hashable
from typing import Any, TypeVar
from weakref import WeakValueDictionary

GAP_SECONDS = 0.05
"""Between two looks at one topic, however many changes there are."""

State = TypeVar("State")
Look = Callable[[State | None], Awaitable[State]]
"""Reads the state of a topic; it is given the state as it was seen last."""


class _Topic:
    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.changed = asyncio.Event()
        self.state: Any = None
        self.looks = 0
        self.looked_at = 0.0


class Feed:
    """The topics that somebody watches."""

    def __init__(self) -> None:
        # Weak: a topic is gone with its last watcher, and the next one starts with a fresh look.
        self._topics: WeakValueDictionary[Hashable, _Topic] = WeakValueDictionary()

    def notify(self, *topics: Hashable) -> None:
        """Something about these topics has been written."""
        for key in topics:
            if topic := self._topics.get(key):
                topic.changed.set()

    async def watch(
        self, key: Hashable, look: Look[State], *, poll_seconds: float
    ) -> AsyncGenerator[State]:
        """The state of a topic now and after every look, changed or not, without end."""
        topic = self._topics.setdefault(key, _Topic())
        seen = 0
        while True:
            async with topic.lock:
                if topic.looks == seen:
                    if seen:
                        with contextlib.suppress(TimeoutError):
                            async with asyncio.timeout(poll_seconds):
                                await topic.changed.wait()
                        await asyncio.sleep(topic.looked_at + GAP_SECONDS - time.monotonic())
                    # Cleared before the look, or a change during it would be missed.
                    topic.changed.clear()
                    topic.looked_at = time.monotonic()
                    topic.state = await look(topic.state)
                    topic.looks += 1
                seen = topic.looks
            yield topic.state
