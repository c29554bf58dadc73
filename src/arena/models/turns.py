"""Limits on calling one endpoint: so many at once, so many a minute, none while it is paused."""

import asyncio
from collections import deque
from weakref import WeakKeyDictionary


class Turns:
    """Gives out turns; shared by all callers of one endpoint in this process.

    Waiting for a turn does not count as answering: a time-out starts with the turn.
    """

    def __init__(
        self, *, max_concurrency: int, per_minute: int | None = None, window_seconds: float = 60.0
    ) -> None:
        self._slots = asyncio.Semaphore(max_concurrency)
        self._per_window = per_minute
        self._window_seconds = window_seconds
        self._started: deque[float] = deque()
        self._queue = asyncio.Lock()
        self._paused_until = 0.0

    def turn(self) -> "Turn":
        """Waits for a turn, and keeps it until the block ends."""
        return Turn(self)

    async def take(self) -> None:
        """Wait for a turn; whoever takes one gives it back."""
        await self._slots.acquire()
        try:
            if self._per_window is None:
                await self._wait_for_pause()
            else:
                await self._wait_for_window(self._per_window)
        except BaseException:
            self._slots.release()
            raise

    def give_back(self) -> None:
        """Let the next one have the turn."""
        self._slots.release()

    def pause(self, seconds: float) -> None:
        """Give out no turn for so long: the endpoint has asked for it."""
        until = asyncio.get_running_loop().time() + seconds
        self._paused_until = max(self._paused_until, until)

    async def _wait_for_pause(self) -> None:
        loop = asyncio.get_running_loop()
        while (wait := self._paused_until - loop.time()) > 0:
            await asyncio.sleep(wait)

    async def _wait_for_window(self, per_window: int) -> None:
        """Wait until fewer than `per_window` turns started in the window that ends now."""
        loop = asyncio.get_running_loop()
        async with self._queue:  # first come, first served
            while len(self._started) >= per_window:
                wait = self._started[0] + self._window_seconds - loop.time()
                if wait > 0:
                    await asyncio.sleep(wait)
                self._started.popleft()
            # Last: a pause may have been asked for during that wait.
            await self._wait_for_pause()
            self._started.append(loop.time())


class Turn:
    """One turn, as a context; a class, because a generator costs three times as much."""

    __slots__ = ("_turns",)

    def __init__(self, turns: Turns) -> None:
        self._turns = turns

    async def __aenter__(self) -> None:
        await self._turns.take()

    async def __aexit__(self, *_: object) -> None:
        self._turns.give_back()


# A semaphore of one event loop cannot be used in another, so each loop has its own.
_turns: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, Turns]] = WeakKeyDictionary()


def turns_at(url: str, *, max_concurrency: int, per_minute: int | None) -> Turns:
    """The turns that this process shares at `url`; the first caller sets the limits."""
    here = _turns.setdefault(asyncio.get_running_loop(), {})
    if url not in here:
        here[url] = Turns(max_concurrency=max_concurrency, per_minute=per_minute)
    return here[url]
