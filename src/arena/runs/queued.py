"""Lets workers execute runs: cuts them into shards and puts these into the queue."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing, asynccontextmanager
from typing import TYPE_CHECKING, Any
from uuid import UUID

from arena.agents.agent import AgentDefinition
from arena.agents.frozen import digest_of, freeze
from arena.agents.placement import label_of
from arena.catalog.test import Test
from arena.errors import Conflict, InfrastructureError
from arena.feed import Feed
from arena.runs.environment import agent_digest
from arena.runs.records.queueing import NewQueuedRun, queue_run, reconcile_runs
from arena.runs.records.rows import get_run
from arena.runs.run import Run, RunStatus
from arena.store.database import Database

if TYPE_CHECKING:
    from arena.queue.queue import JobQueue

log = logging.getLogger(__name__)

POLL_SECONDS = 0.25
"""How often a run that is waited for is looked at."""
RECONCILE_SECONDS = 15.0

Prepare = Callable[[UUID], Awaitable[None]]
"""Makes what the judging of a run needs available to all machines."""


class QueuedDispatch:
    """Queues runs; any worker of the database executes them."""

    def __init__(
        self, database: Database, jobs: "JobQueue", feed: Feed, prepare: Prepare | None = None
    ) -> None:
        self._database = database
        self._jobs = jobs
        self._feed = feed
        self._prepare = prepare

    async def start(self, run: Run, agent: AgentDefinition, known: Sequence[Test]) -> Run:
        """Queue a pending run."""
        if run.status is not RunStatus.PENDING:
            raise Conflict(f"run {run.id} is {run.status}, it cannot be executed")
        return await self._queue(run, agent, {})

    async def resume(self, run: Run, agent: AgentDefinition, budget: dict[str, Any] | None) -> Run:
        """Queue a run that has stopped, or was left by a process that ended."""
        if run.status is RunStatus.PENDING:
            raise Conflict(f"run {run.id} is {run.status}, it cannot be resumed")
        columns: dict[str, object] = {} if budget is None else {"budget": budget}
        return await self._queue(run, agent, columns)

    async def _queue(self, run: Run, agent: AgentDefinition, columns: dict[str, object]) -> Run:
        if self._prepare is not None:
            await self._prepare(run.id)
        body = freeze(agent)
        new = NewQueuedRun(
            run_id=run.id,
            concurrency=run.concurrency or agent.limits.max_concurrency,
            agent_digest=digest_of(body),
            agent_body=body,
            placement=label_of(agent),
            columns=columns | _file_columns(run, agent),
        )
        queued = await queue_run(self._database, self._jobs, new)
        self._feed.notify(("run", run.id), ("team", run.team_id))
        return queued

    async def wait(self, run_id: UUID) -> Run:
        """The run when its execution has ended."""

        async def read(_: Run | None) -> Run:
            return await get_run(self._database, run_id, None)

        states = self._feed.watch(("run", run_id), read, poll_seconds=POLL_SECONDS)
        async with aclosing(states):
            async for run in states:
                if run.status.is_final:
                    return run
        raise AssertionError("a watched run has states without end")

    def cancelled(self, run: Run) -> None:
        """Nothing to do: its workers look at its state."""

    async def reconcile(self) -> int:
        """Add the jobs that are missing; returns how many there were."""
        return await reconcile_runs(self._database, self._jobs)

    @asynccontextmanager
    async def resuming(self) -> AsyncGenerator[None]:
        """Until the block ends: add the jobs of running runs that were lost."""
        await self._jobs.prepare(self._database)
        task = asyncio.create_task(self._keep_reconciling(), name="reconciling")
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _keep_reconciling(self) -> None:
        while True:
            try:
                if added := await self.reconcile():
                    log.warning("%d jobs of running runs were missing and were added", added)
            except InfrastructureError as error:
                log.warning("could not look for missing jobs: %s", error.message)
            except Exception:
                # The edge of the loop: one failure must not end it for good.
                log.exception("could not look for missing jobs")
            await asyncio.sleep(RECONCILE_SECONDS)

    async def close(self) -> None:
        """Nothing to do: workers go on."""


def _file_columns(run: Run, agent: AgentDefinition) -> dict[str, object]:
    """The columns of a run whose agent's file has changed since it was created or interrupted."""
    digest = agent_digest(agent)
    if run.agent_digest is None or digest is None or run.agent_digest == digest:
        return {}
    environment: dict[str, Any] = {**(run.environment or {}), "agent_file": digest}
    if run.completed_tests:
        environment["other_agent_file"] = run.agent_digest
    return {"agent_digest": digest, "environment": environment}
