"""Rate limits of one endpoint: concurrency, calls per minute, and pauses; teams take turns."""

import asyncio
from collections import deque
from types import TracebackType
from typing import Protocol
from weakref import WeakKeyDictionary

from arena.pools.slots import Slots

LONGEST_SECONDS = 600.0
"""How long a call may take if its caller does not say."""


class HeldTurn(Protocol):
    """A turn, as a context: entering waits for it."""

    async def __aenter__(self) -> "HeldTurn":
        """Wait for the turn."""
        ...

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
        /,
    ) -> None:
        """Release it."""
        ...

    async def confirm(self) -> None:
        """Wait until the call may begin, if that changed since the turn was taken.

        Whoever waited for something else first calls this right before the call.
        """
        ...


class Limiter(Protocol):
    """The turns of one endpoint: of this process (`Turns`), or shared with other machines."""

    def turn(self, seconds: float = LONGEST_SECONDS) -> HeldTurn:
        """A context that waits for a turn and holds it; its call takes at most `seconds`."""
        ...

    def pause(self, seconds: float) -> None:
        """Grant no turns for some seconds, as the endpoint requested."""
        ...


class MakeLimiter(Protocol):
    """Makes the turns of a place: `agent:parrot`, `model:http://…`."""

    def __call__(self, place: str, *, max_concurrency: int, per_minute: int | None) -> Limiter:
        """Its turns."""
        ...


class Turns:
    """The turns of one endpoint, shared by all its callers in this process.

    Waiting for a turn does not count as answering: a timeout starts with the turn.
    """

    def __init__(
        self, *, max_concurrency: int, per_minute: int | None = None, window_seconds: float = 60.0
    ) -> None:
        self._slots = Slots(max_concurrency)
        self._per_window = per_minute
        self._window_seconds = window_seconds
        self._started: deque[float] = deque()
        self._queue = Slots(1)
        self._paused_until = 0.0

    def turn(self, seconds: float = LONGEST_SECONDS) -> "Turn":
        """A context that waits for a turn and holds it until the block ends, however long."""
        return Turn(self)

    async def take(self) -> str:
        """Wait for a turn; the caller must give it back, for the team that is returned."""
        team = await self._slots.take()
        try:
            if self._per_window is None:
                await self._wait_for_pause()
            else:
                await self._wait_for_window(self._per_window)
        except BaseException:
            self._slots.give_back(team)
            raise
        return team

    def give_back(self, team: str) -> None:
        """Release a turn of the team."""
        self._slots.give_back(team)

    def pause(self, seconds: float) -> None:
        """Grant no turns for some seconds, as the endpoint requested."""
        until = asyncio.get_running_loop().time() + seconds
        self._paused_until = max(self._paused_until, until)

    async def _wait_for_pause(self) -> None:
        loop = asyncio.get_running_loop()
        while (wait := self._paused_until - loop.time()) > 0:
            await asyncio.sleep(wait)

    async def _wait_for_window(self, per_window: int) -> None:
        """Wait until fewer than `per_window` turns started in the window that ends now."""
        loop = asyncio.get_running_loop()
        async with self._queue.slot():
            while len(self._started) >= per_window:
                wait = self._started[0] + self._window_seconds - loop.time()
                if wait > 0:
                    await asyncio.sleep(wait)
                self._started.popleft()
            # Last: a pause may have been requested during that wait.
            await self._wait_for_pause()
            self._started.append(loop.time())


class Turn:
    """One turn, as a context; a class, because a generator costs three times as much."""

    __slots__ = ("_team", "_turns")

    def __init__(self, turns: Turns) -> None:
        self._turns = turns
        self._team = ""

    async def __aenter__(self) -> "Turn":
        self._team = await self._turns.take()
        return self

    async def __aexit__(self, *_: object) -> None:
        self._turns.give_back(self._team)

    async def confirm(self) -> None:
        """A turn in this process stays granted."""


def local_turns(place: str, *, max_concurrency: int, per_minute: int | None) -> Limiter:
    """Turns that no other process knows of."""
    return Turns(max_concurrency=max_concurrency, per_minute=per_minute)


# The slots of one event loop cannot be used in another, so each loop has its own.
_turns: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, Limiter]] = WeakKeyDictionary()
_makers: WeakKeyDictionary[asyncio.AbstractEventLoop, MakeLimiter] = WeakKeyDictionary()


def share_turns(make: MakeLimiter) -> None:
    """Have `turns_at` make the turns of the running event loop with `make`."""
    loop = asyncio.get_running_loop()
    _makers[loop] = make
    _turns.pop(loop, None)


def turns_at(url: str, *, max_concurrency: int, per_minute: int | None) -> Limiter:
    """The shared turns of this process at `url`; the first caller sets the limits."""
    loop = asyncio.get_running_loop()
    here = _turns.setdefault(loop, {})
    if url not in here:
        make = _makers.get(loop, local_turns)
        here[url] = make(f"model:{url}", max_concurrency=max_concurrency, per_minute=per_minute)
    return here[url]
