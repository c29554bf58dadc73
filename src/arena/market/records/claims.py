"""Claims: which process of a judge works on which submitted task.

Several processes may judge under one name. Each claims a task before it evaluates it, renews the
claim while it works, and gives its verdict under the claim's token (a fencing token): the verdict
of a process that was paused until another took its task over is refused. A killed process's claim
expires.
"""

from datetime import datetime, timedelta

from sqlalchemy import or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from arena import clock
from arena.market.call import Claim
from arena.market.errors import AlreadyClaimed, LostClaim, WrongRole, WrongState
from arena.market.records.reading import read_task
from arena.market.task import Task, TaskState
from arena.store.database import Database, shielded
from arena.store.tables.market import MarketTasks

CLAIM_SECONDS = 15
"""How long a killed process keeps the others from its tasks."""


class Claims:
    """The claims of every team's judges."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @shielded
    async def take(
        self, team_id: str, task_id: int, *, by: str, token: str, now: datetime
    ) -> Claim:
        """Claim a submitted task, or renew the claim that has this token.

        `now` is the time of the task's ledger, which decides about windows.
        """
        async with self._database.writing() as connection:
            task = await read_task(connection, team_id, task_id)
            if task.state is not TaskState.SUBMITTED:
                raise WrongState(f"task {task_id} is {task.state}: there is nothing to judge")
            ends = task.turn_until(by)
            if task.judge_at(now) != by or ends is None:
                raise WrongRole(f"task {task_id}: it is not {by!r} who may judge it now")
            # Not beyond the window: the fallback judge may begin at once.
            at = clock.now()
            until = at + min(timedelta(seconds=CLAIM_SECONDS), ends - now)
            is_free = or_(
                MarketTasks.claim_token == token,
                MarketTasks.claimed_until.is_(None),
                MarketTasks.claimed_until <= at,
            )
            # One statement decides: of two processes the second finds the first one's claim.
            taken = await connection.execute(
                update(MarketTasks)
                .where(
                    MarketTasks.team_id == team_id,
                    MarketTasks.id == task_id,
                    MarketTasks.state == TaskState.SUBMITTED,
                    is_free,
                )
                .values(claim_token=token, claimed_until=until)
            )
            if taken.rowcount == 0:
                raise AlreadyClaimed(f"task {task_id} is being judged by another process of {by!r}")
        return Claim(task_id=task_id, token=token, until=until)

    @shielded
    async def release(self, team_id: str, task_id: int, *, token: str) -> None:
        """End a claim before it expires; nothing happens if it is no longer held."""
        async with self._database.writing() as connection:
            await connection.execute(
                update(MarketTasks)
                .where(
                    MarketTasks.team_id == team_id,
                    MarketTasks.id == task_id,
                    MarketTasks.claim_token == token,
                )
                .values(claim_token=None, claimed_until=None)
            )


async def check_claim(connection: AsyncConnection, task: Task, token: str) -> None:
    """Refuse a verdict whose claim another process has taken over."""
    query = select(MarketTasks.claim_token).where(
        MarketTasks.team_id == task.team_id, MarketTasks.id == task.id
    )
    if (await connection.execute(query)).scalar_one() != token:
        raise LostClaim(f"task {task.id}: the claim expired, another process judges it now")
