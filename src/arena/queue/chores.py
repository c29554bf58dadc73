"""Chores: work on request that a worker does, and whose outcome the caller waits for.

The row of a chore has its arguments and its outcome, so that a caller that goes away does not stop
the work, and two callers that ask for the same at once get the result of one piece of work.
"""

import asyncio
import logging
import os
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from socket import gethostname
from typing import Any
from uuid import UUID

from arena.errors import (
    ArenaError,
    CallerError,
    Conflict,
    Forbidden,
    InfrastructureError,
    InvalidInput,
    NotFound,
)
from arena.queue.claiming import ClaimedElsewhere, under_claim
from arena.queue.job import URGENT, Job, Postponed
from arena.queue.queue import JobQueue
from arena.queue.records import chores as records
from arena.queue.records.chores import Chore
from arena.queue.records.serving import served_queues
from arena.store.database import Database, shielded
from arena.team import working_for

log = logging.getLogger(__name__)

CHORE = "chore"
CHORES_QUEUE = "chores"
"""The queue of short work that any worker can do: chores, verdicts of reviews."""
FIRST_POLL_SECONDS, MAX_POLL_SECONDS = 0.05, 0.5
SERVED_SECONDS = 5.0
"""How often a caller checks that there still is a worker."""
CLAIMED_SECONDS = 3.0
"""When a job comes again whose chore another worker works on: that one may have died."""

Work = Callable[[str, Mapping[str, Any]], Awaitable[dict[str, Any]]]
"""Does a chore for a team, given the arguments."""

ERRORS: tuple[type[ArenaError], ...] = (
    InvalidInput,
    NotFound,
    Conflict,
    Forbidden,
    CallerError,
    InfrastructureError,
    ArenaError,
)
"""What an error can be when it comes back to the caller; the first that fits."""


class Chores:
    """The chores of one database, and the work that they can be."""

    def __init__(self, database: Database, queue: JobQueue, work: Mapping[str, Work]) -> None:
        self._database = database
        self._queue = queue
        self._work = work
        self._worker = f"{gethostname()}:{os.getpid()}"[-100:]
        """Who does it, for people who look at the table."""

    async def ask(self, kind: str, team_id: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Let a worker do it and wait for the result; without a worker it is done here."""
        if not await self._is_served():
            return await self._work[kind](team_id, arguments)
        chore = await self._outcome(await self._add(kind, team_id, arguments))
        if chore.result is not None:
            return chore.result
        raise next((one for one in ERRORS if one.code == chore.error_code), ArenaError)(chore.error)

    async def handle(self, arguments: Mapping[str, Any]) -> None:
        """Do the chore of a job, unless that was done or another worker does it."""
        chore = await records.find_chore(self._database, UUID(arguments["chore"]))
        if chore is None or chore.has_ended:
            return
        try:
            await under_claim(
                lambda token: records.claim_chore(self._database, chore.id, token, self._worker),
                lambda token: self._do(chore, token),
            )
        except ClaimedElsewhere:
            raise Postponed(CLAIMED_SECONDS) from None

    @shielded
    async def reconcile(self) -> None:
        """Add the jobs that are missing, and remove chores that ended long ago."""
        async with self._database.writing() as connection:
            await records.remove_old_chores(connection)
            idle = await records.idle_chores(connection)
            known = await self._queue.keys(connection) if idle else frozenset[str]()
            jobs = (_job(chore_id) for chore_id in idle)
            await self._queue.add(connection, [job for job in jobs if job.key not in known])

    @shielded
    async def _add(self, kind: str, team_id: str, arguments: Mapping[str, Any]) -> UUID:
        async with self._database.writing() as connection:
            chore_id = await records.add_chore(connection, kind, team_id, arguments)
            await self._queue.add(connection, [_job(chore_id)])
        return chore_id

    async def _outcome(self, chore_id: UUID) -> Chore:
        """The chore once it has ended."""
        seconds, waited = FIRST_POLL_SECONDS, 0.0
        while True:
            chore = await records.find_chore(self._database, chore_id)
            if chore is None:
                raise InfrastructureError("the outcome of this request was removed: send it again")
            if chore.has_ended:
                return chore
            if waited >= SERVED_SECONDS:
                waited = 0.0
                if not await self._is_served():
                    # The last worker has gone: nobody else will do it.
                    with suppress(Postponed):
                        await self.handle(_job(chore_id).arguments)
                    continue
            await asyncio.sleep(seconds)
            waited += seconds
            seconds = min(2 * seconds, MAX_POLL_SECONDS)

    async def _do(self, chore: Chore, token: str) -> None:
        try:
            with working_for(chore.team_id):
                result = await self._work[chore.kind](chore.team_id, chore.arguments)
            outcome = {"state": records.DONE, "result": result}
        except ArenaError as error:
            outcome = _failure(error)
        except Exception:
            # The edge of this work: the caller must not wait for ever.
            log.exception("chore %s (%s) failed", chore.id, chore.kind)
            outcome = _failure(ArenaError("internal error; see the log of the worker"))
        await records.end_chore(self._database, chore.id, token, **outcome)

    @shielded
    async def _is_served(self) -> bool:
        async with self._database.reading() as connection:
            return CHORES_QUEUE in await served_queues(connection)


def _job(chore_id: UUID) -> Job:
    return Job(
        kind=CHORE,
        queue=CHORES_QUEUE,
        key=f"{CHORE}:{chore_id}",
        arguments={"chore": str(chore_id)},
        priority=URGENT,
    )


def _failure(error: ArenaError) -> dict[str, Any]:
    kind = next(one for one in ERRORS if isinstance(error, one))
    return {"state": records.FAILED, "error": error.message, "error_code": kind.code}
