"""The shared limits of a process: renews what it holds, and hears of changes elsewhere."""

import asyncio
import contextlib
import hashlib
import logging
from uuid import uuid4

import psycopg

from arena.limits.records.settling import CHANNEL, settle, spend
from arena.limits.request import Rate
from arena.limits.shared_turns import LEASE_SECONDS, RENEW_SECONDS, SharedTurns, clock_seconds
from arena.store.database import CONNECTION, Database, StoreUnavailable

log = logging.getLogger(__name__)

AWAY_SECONDS = 0.5
"""The delay before the next attempt while the database does not respond."""
POLL_SECONDS = 0.2
"""How often to look for a free slot if nothing is heard of one."""
MAX_PLACE_LENGTH = 300


class SharedLimits:
    """Limits that hold across all processes with this database. It belongs to one event loop.

    Nothing is connected before the first call at a place, and while nothing is called, nothing is
    sent.
    """

    def __init__(
        self,
        database: Database,
        url: str,
        *,
        listens: bool = True,
        lease_seconds: float = LEASE_SECONDS,
    ) -> None:
        """`url` is SQLAlchemy's address of the database; with `listens` False it is only polled.

        The slots of a process that dies return after the longest of its calls and `lease_seconds`.
        """
        self._database = database
        self._url = url.replace("postgresql+psycopg://", "postgresql://", 1)
        self._listens = listens
        self._lease_seconds = lease_seconds
        self._id = uuid4().hex
        self._turns: dict[tuple[str, int, int | None, float], SharedTurns] = {}
        self._awake = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self._is_away = False
        self._is_closed = False

    def turns(
        self,
        place: str,
        *,
        max_concurrency: int,
        per_minute: int | None = None,
        window_seconds: float = 60.0,
    ) -> SharedTurns:
        """The turns of this process at a place; limits that differ count the same calls."""
        key = (_short(place), max_concurrency, per_minute, window_seconds)
        if key not in self._turns:
            self._turns[key] = SharedTurns(
                key[0],
                f"{self._id}.{len(self._turns)}",
                self._wake,
                max_concurrency=max_concurrency,
                per_minute=per_minute,
                window_seconds=window_seconds,
                poll_seconds=RENEW_SECONDS if self._listens else POLL_SECONDS,
                lease_seconds=self._lease_seconds,
            )
        return self._turns[key]

    async def count_judged(self, team: str, per_hour: int) -> float | None:
        """Count a judge call of a team; if it is one too many, the seconds until one is free."""
        rate = Rate(calls=per_hour, window_seconds=3600.0, hold_seconds=0.0)
        while True:
            try:
                return await spend(self._database, _short(f"judge:{team}"), team, rate)
            except StoreUnavailable as error:
                await self._rest(error)

    async def close(self) -> None:
        """Give everything back; slots of calls that still run are left to expire."""
        self._is_closed = True
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._tasks.clear()
        now = clock_seconds()
        held = [one for one in self._turns.values() if one.due_at() < float("inf")]
        with contextlib.suppress(StoreUnavailable):  # then they expire
            if held:
                await settle(self._database, [one.request(now, closes=True) for one in held])

    def _wake(self) -> None:
        self._awake.set()
        if not self._tasks and not self._is_closed:
            self._tasks.append(asyncio.create_task(self._keep()))
            if self._listens:
                self._tasks.append(asyncio.create_task(self._listen()))

    async def _keep(self) -> None:
        """Settle what is due, with the tables, until cancelled."""
        while True:
            self._awake.clear()
            now = clock_seconds()
            for turns in self._turns.values():
                turns.look(now)
            due = [turns for turns in self._turns.values() if turns.due_at() <= now]
            if due:
                try:
                    await self._settle(due)
                except StoreUnavailable as error:
                    await self._rest(error)
                except Exception:
                    # Whatever it is: callers wait here, and must go on when it has passed.
                    log.exception("the shared limits cannot be renewed")
                    await asyncio.sleep(AWAY_SECONDS)
                continue
            wait = min(min(one.due_at(), one.look_at()) for one in self._turns.values())
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(None if wait == float("inf") else wait - now):
                    await self._awake.wait()

    async def _settle(self, due: list[SharedTurns]) -> None:
        now = clock_seconds()  # before the first statement: leases count from here
        due.sort(key=lambda one: one.place)  # one order for all, so that nobody deadlocks
        requests = [one.request(now) for one in due]
        try:
            outcomes = await settle(self._database, requests)
        except BaseException:
            for turns in due:
                turns.hear()
            raise
        if self._is_away:
            log.info("the database is back")
            self._is_away = False
        for turns, request, outcome in zip(due, requests, outcomes, strict=True):
            turns.take_over(request, outcome, now)

    async def _rest(self, error: StoreUnavailable) -> None:
        if not self._is_away:
            log.warning("shared limits: %s; calls wait until it does", error.message)
            self._is_away = True
        await asyncio.sleep(AWAY_SECONDS)

    async def _listen(self) -> None:
        """Hear of slots that were given back, and of pauses, without waiting for the next poll."""
        while True:
            with contextlib.suppress(psycopg.Error, OSError):
                async with await psycopg.AsyncConnection.connect(
                    self._url,
                    autocommit=True,
                    **CONNECTION,  # it sends nothing: only keepalives notice that it was cut
                ) as connection:
                    await connection.execute(f"LISTEN {CHANNEL}{self._id}".encode())
                    async for notice in connection.notifies():
                        self._hear(notice.payload)
            await asyncio.sleep(AWAY_SECONDS)

    def _hear(self, place: str) -> None:
        for turns in self._turns.values():
            if turns.place == place and turns.due_at() < float("inf"):
                turns.hear()
                self._awake.set()


def _short(place: str) -> str:
    if len(place) <= MAX_PLACE_LENGTH:
        return place
    return f"{place[:200]}#{hashlib.sha256(place.encode()).hexdigest()}"
