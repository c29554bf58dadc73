"""Judging through the queue: a job is a ticket that says that a judge has something to judge.

There is a ticket for each submitted task, but its handler judges the task whose turn it is
(`judge_queue.py`): nobody can fill a judge with submissions. A ticket ends when a task was judged
or no other waits for the judge; the task of a process that died gets another one once its claim has
expired. Tickets are only added for judges that a worker serves: other judges look for their tasks
themselves.
"""

import logging
from collections.abc import Callable, Mapping
from typing import Any

from sqlalchemy.ext.asyncio import AsyncConnection

from arena.errors import ArenaError, InfrastructureError
from arena.market.judging import AT_ONCE, FIRST_WAIT_SECONDS, JudgeFlow
from arena.market.market import Market
from arena.market.records.tickets import judges_with_tasks, unclaimed_tasks
from arena.market.task import Task
from arena.queue.job import JUDGE, URGENT, Job, Postponed, judge_queue_name
from arena.queue.queue import JobQueue
from arena.queue.records.serving import served_queues
from arena.store.database import Database, shielded

log = logging.getLogger(__name__)

MIN_RETRY_SECONDS = 0.5

FlowOf = Callable[[str, str, int], JudgeFlow]
"""Makes the flow of a team's judge, which judges so many tasks at once."""


class JudgeJobs:
    """The tickets of all judges, and the flows of those that this process serves."""

    def __init__(
        self, database: Database, queue: JobQueue, market: Callable[[], Market], flow_of: FlowOf
    ) -> None:
        """`market` opens the market, which itself adds tickets."""
        self._database = database
        self._queue = queue
        self._market = market
        self._flow_of = flow_of
        self._flows: dict[tuple[str, str], JudgeFlow] = {}

    def serve(self, team_id: str, judge: str, *, at_once: int = AT_ONCE) -> str:
        """Judge under this name in this process; returns the queue to take jobs from.

        `at_once` is how many of its jobs are taken at once: when so many are worked on, those of
        one party make room for others.
        """
        self._flows[team_id, judge] = self._flow_of(team_id, judge, at_once)
        return judge_queue_name(team_id, judge)

    async def add(self, connection: AsyncConnection, task: Task) -> None:
        """Add the ticket of a task that was just submitted, in the same transaction."""
        if judge_queue_name(task.team_id, task.judge) in await served_queues(connection):
            await self._queue.add(connection, [_ticket(task, task.judge)])

    async def handle(self, arguments: Mapping[str, Any]) -> None:
        """Judge the next task of the ticket's judge."""
        flow = self._flows.get((arguments["team"], arguments["judge"]))
        if flow is None:
            return  # this process took the job without serving the judge; another is added
        try:
            if await flow.judge_next():
                return
        except InfrastructureError as error:
            log.warning("nothing can be judged now: %s", error.message)
            raise Postponed(FIRST_WAIT_SECONDS) from None
        if flow.retry_seconds is not None:
            raise Postponed(max(MIN_RETRY_SECONDS, flow.retry_seconds))

    async def reconcile(self) -> None:
        """Close what is due for the judges served here, and add the tickets that are missing."""
        for team_id in sorted({team_id for team_id, _ in self._flows}):
            for closed in await self._market().close_due(team_id):
                log.info("task %s is %s: its time had run out", closed.task_id, closed.state)
        await self._add_missing()

    @shielded
    async def _add_missing(self) -> None:
        async with self._database.reading() as connection:
            served = await served_queues(connection)
            judges = await judges_with_tasks(connection)
            tasks = [
                (task, judge)
                for team_id, judge in sorted(judges)
                if judge_queue_name(team_id, judge) in served
                for task in await unclaimed_tasks(connection, team_id, judge)
            ]
        due = await self._due(tasks)
        if not due:
            return
        async with self._database.writing() as connection:
            known = await self._queue.keys(connection)
            await self._queue.add(connection, [one for one in due if one.key not in known])

    async def _due(self, tasks: list[tuple[Task, str]]) -> list[Job]:
        """The tickets of the tasks whose turn it is to be judged by this judge."""
        due: list[Job] = []
        for ledger in sorted({task.ledger for task, _ in tasks}):
            try:
                now = await self._market().ledger_named(ledger).now()
            except ArenaError:
                continue  # its node is away, or this process does not know it
            due += [
                _ticket(task, judge)
                for task, judge in tasks
                if task.ledger == ledger and task.judge_at(now) == judge
            ]
        return due


def _ticket(task: Task, judge: str) -> Job:
    return Job(
        kind=JUDGE,
        queue=judge_queue_name(task.team_id, judge),
        # With the judge: the ticket of the judge that missed its window may still be waiting.
        key=f"{JUDGE}:{task.team_id}:{task.id}:{judge}",
        arguments={"team": task.team_id, "judge": judge},
        priority=URGENT,
    )
