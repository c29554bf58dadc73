"""Who executes runs: this process (`EmbeddedDispatch`), or workers (`queued.QueuedDispatch`)."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, Protocol
from uuid import UUID

from arena.agents.agent import AgentDefinition
from arena.agents.registry import Registry
from arena.catalog.test import Test
from arena.errors import Conflict, NotFound
from arena.runs.engine import Engine
from arena.runs.environment import agent_digest
from arena.runs.owner import Owner
from arena.runs.records.lease import claim, lease_of, take_over
from arena.runs.records.rows import get_run
from arena.runs.records.runs import change_agent_file, silent_runs, unfinished_runs
from arena.runs.run import Run, RunStatus
from arena.store.database import shielded

log = logging.getLogger(__name__)

RESUME_SECONDS = 15.0
"""How often a server looks for runs whose lease has expired; equal to the length of a lease."""


class Dispatch(Protocol):
    """Lets runs be executed."""

    async def start(self, run: Run, agent: AgentDefinition, known: Sequence[Test]) -> Run:
        """Start a pending run; `known` has its tests, or is empty."""
        ...

    async def resume(self, run: Run, agent: AgentDefinition, budget: dict[str, Any] | None) -> Run:
        """Resume a run that was interrupted or has stopped; a budget replaces the run's."""
        ...

    async def wait(self, run_id: UUID) -> Run:
        """The run when it has ended, if that can be waited for; else the run as it is."""
        ...

    def cancelled(self, run: Run) -> None:
        """The run was cancelled: stop executing it."""
        ...

    def resuming(self) -> AbstractAsyncContextManager[None]:
        """Until the block ends: let interrupted runs go on."""
        ...

    async def close(self) -> None:
        """Stop executing; the runs can be resumed."""
        ...


class EmbeddedDispatch:
    """Executes runs in this process, and hands them over when the process ends."""

    def __init__(self, engine: Engine, registry: Registry, owner: Owner) -> None:
        self._engine = engine
        self._database = engine.database
        self._registry = registry
        self._owner = owner
        self._tasks: dict[UUID, asyncio.Task[Run]] = {}
        self._left_alone: set[UUID] = set()
        """Interrupted runs that cannot be resumed here (unknown agent), each logged once."""

    async def start(self, run: Run, agent: AgentDefinition, known: Sequence[Test]) -> Run:
        """Start a pending run; it executes in the background."""
        return await self._begin(claim(self._database, run.id, self._owner.token), agent, known)

    async def resume(self, run: Run, agent: AgentDefinition, budget: dict[str, Any] | None) -> Run:
        """Resume a run that was interrupted or has stopped."""
        if run.status is RunStatus.RUNNING and run.id in self._tasks:
            # Even if its lease has expired: the old and the new execution would share the token of
            # this process, so the lease could not fence one from the other.
            raise Conflict(f"run {run.id} is being executed, it cannot be resumed")
        lease = await lease_of(self._database, run.id)
        dead = lease if lease and self._owner.is_gone(lease) else None
        token = self._owner.token
        return await self._begin(take_over(self._database, run.id, token, dead, budget), agent)

    async def resume_interrupted(self) -> list[Run]:
        """Resume every run without an executor; those that cannot be resumed are logged."""
        return await self._resume_all(await unfinished_runs(self._database))

    async def resume_silent(self) -> list[Run]:
        """Resume the runs whose executor has let its lease expire.

        A lease that was released means that a person interrupted the run: a person or the next
        start resumes it. An executor whose lock is still held is only waiting for the database.
        """
        found = await silent_runs(self._database)
        return await self._resume_all(run for run, lease in found if self._is_dropped(run, lease))

    @asynccontextmanager
    async def resuming(self) -> AsyncGenerator[None]:
        """Resume interrupted runs, now and periodically until the block ends."""
        await self.resume_interrupted()
        task = asyncio.create_task(self._keep_resuming(), name="resuming")
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def wait(self, run_id: UUID) -> Run:
        """The run when it has ended, if it is executed here; else the run as it is."""
        task = self._tasks.get(run_id)
        if task is None:
            return await get_run(self._database, run_id, None)
        try:
            # A caller that stops waiting must not stop the run.
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            if not task.cancelled():
                raise
            return await get_run(self._database, run_id, None)

    def cancelled(self, run: Run) -> None:
        """The run was cancelled: stop executing it."""
        if task := self._tasks.get(run.id):
            task.cancel()

    async def close(self) -> None:
        """Interrupt the runs that execute here; they can be resumed later."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._owner.close()

    async def _keep_resuming(self) -> None:
        while True:
            await asyncio.sleep(RESUME_SECONDS)
            try:
                await self.resume_silent()
            except Exception:
                # The edge of the loop: one failure (a busy database, say) must not end it for good.
                log.exception("could not look for interrupted runs")

    def _is_dropped(self, run: Run, lease: str) -> bool:
        """Whether a run with an expired lease has no executor any more, as far as we can see."""
        if lease == self._owner.token:
            return run.id not in self._tasks
        return not self._owner.is_alive(lease)

    async def _resume_all(self, runs: Iterable[Run]) -> list[Run]:
        self._registry.refresh()
        resumed: list[Run] = []
        for run in runs:
            try:
                agent = self._registry.find(run.agent_id, run.agent_version)
                resumed.append(await self.resume(run, agent, None))
            except Conflict:
                log.info("run %s is executed by another process", run.id)
            except NotFound as error:
                if run.id not in self._left_alone:
                    log.warning("run %s was interrupted and cannot be resumed: %s", run.id, error)
                self._left_alone.add(run.id)
        return resumed

    @shielded
    async def _begin(
        self, claimed: Awaitable[Run], agent: AgentDefinition, known: Sequence[Test] = ()
    ) -> Run:
        """Execute a run once it is claimed.

        Shielded: a caller cancelled between the two would leave a claimed run that never starts.
        """
        run = await claimed
        await self._note_other_file(run, agent)
        execution = self._engine.execute(run, agent, known)
        task = asyncio.create_task(execution, name=f"run {run.id}")
        self._tasks[run.id] = task
        task.add_done_callback(lambda done: self._ended(run.id, done))
        return run

    async def _note_other_file(self, run: Run, agent: AgentDefinition) -> None:
        """Record that the agent's file has changed since the run was created or interrupted."""
        digest = agent_digest(agent)
        if run.agent_digest is None or digest is None or run.agent_digest == digest:
            return
        environment: dict[str, Any] = {**(run.environment or {}), "agent_file": digest}
        if run.completed_tests:
            environment["other_agent_file"] = run.agent_digest
        await change_agent_file(self._database, run.id, digest, environment)

    def _ended(self, run_id: UUID, task: asyncio.Task[Run]) -> None:
        if self._tasks.get(run_id) is task:  # a failed run may already have been resumed
            del self._tasks[run_id]
        if not task.cancelled() and task.exception() is not None:
            log.error("run %s stopped: %s", run_id, task.exception(), exc_info=task.exception())
