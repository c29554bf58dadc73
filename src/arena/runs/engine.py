"""The engine: executes one run to its end, in this process, under the run's lease.

`item_loop.py` takes the items, asks and judges, here and for the shards of a queued run;
`result_writer.py` writes the results in batches.
"""

import asyncio
import contextlib
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from arena.agents.agent import AgentDefinition
from arena.catalog.test import Test
from arena.errors import InfrastructureError
from arena.evaluation.resources import Resources
from arena.feed import Feed
from arena.models.budget import current_meter, metered
from arena.runs.budget import meter_of
from arena.runs.item import Executed, Item
from arena.runs.item_loop import GiveUp, ItemLoop, first_error
from arena.runs.records.lease import LostLease, release, renew
from arena.runs.records.results import add_error, add_results, pending_page
from arena.runs.records.rows import get_run
from arena.runs.records.runs import finish
from arena.runs.result_writer import ResultWriter, pause
from arena.runs.run import Run, RunError
from arena.runs.session import AgentSessions
from arena.runs.verdicts import Recorder
from arena.store.database import Database
from arena.team import working_for

log = logging.getLogger(__name__)

RENEW_SECONDS = 2.0
"""How often an executor renews its lease, and notices that a run was cancelled elsewhere."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """Executes runs in this process."""

    database: Database
    feed: Feed
    """Wakes watchers."""
    token: str
    """The fencing token of this executor in the leases of its runs."""
    sessions: AgentSessions
    resources: Resources
    """For judging answers."""
    reviewers_needed: int = 1
    """Reviewers per item of a checklist."""
    recorder: Recorder | None = None
    """Stores the records of verdicts; None keeps none."""

    async def execute(self, run: Run, agent: AgentDefinition, known: Sequence[Test]) -> Run:
        """Execute the pending items of a run whose lease this executor holds; returns the run.

        If `known` is not empty, it has the tests of the run, which are not read again then.
        """
        with working_for(run.team_id), metered(meter_of(run)):
            return await self._execute(run, agent, known)

    async def _execute(self, run: Run, agent: AgentDefinition, known: Sequence[Test]) -> Run:
        execution = RunExecution(self, run, agent, known)
        error_message, is_exceeded = None, False
        try:
            try:
                await execution.execute()
                error_message = execution.exceeded or execution.last_error
                is_exceeded = execution.exceeded is not None
            except (GiveUp, InfrastructureError) as error:
                error_message = str(error)
            except LostLease:
                raise
            except Exception as error:
                # The edge of a run: a bug must end it, or its watchers would wait for ever.
                log.exception("run %s stopped", run.id)
                error_message = f"internal error: {str(first_error(error)).splitlines()[0]}"
            return await finish(
                self.database,
                run.id,
                self.token,
                error_message,
                is_exceeded=is_exceeded,
                spent=execution.spent,
            )
        except LostLease:
            # Cancelled, or taken over: the database has the truth.
            return await get_run(self.database, run.id, None)
        except asyncio.CancelledError:
            with contextlib.suppress(LostLease, InfrastructureError):
                await release(self.database, run.id, self.token, execution.spent)
            raise
        finally:
            self.notify(run)

    def notify(self, run: Run) -> None:
        """Wake the watchers of the run and of its team."""
        self.feed.notify(("run", run.id), ("team", run.team_id))


class RunExecution:
    """The execution of one run by this process, from the first pending item to the last."""

    def __init__(
        self, engine: Engine, run: Run, agent: AgentDefinition, known: Sequence[Test]
    ) -> None:
        self._engine = engine
        self._run = run
        self._agent = agent
        self._concurrency = run.concurrency or agent.limits.max_concurrency
        self._known = known
        self._writer = ResultWriter(self._write)
        self.last_error: str | None = None
        self.exceeded: str | None = None
        """Which limit of the budget was reached before the last item."""
        self._meter = current_meter()

    @property
    def spent(self) -> Mapping[str, object]:
        """The column of what a run with a budget has spent; empty without one."""
        return {} if self._meter is None else {"spent": self._meter.spent.as_json()}

    async def execute(self) -> None:
        """Execute every pending item and write every result."""
        try:
            session = self._engine.sessions.open(self._agent)
        except InfrastructureError as error:
            raise GiveUp(error.message) from error
        loop = ItemLoop(
            run_id=self._run.id,
            session=session,
            resources=self._engine.resources,
            recorder=self._engine.recorder,
            page=self._page,
            add=self._add,
            add_error=self._add_error,
        )
        try:
            async with asyncio.TaskGroup() as group:
                done = asyncio.Event()
                group.create_task(self._writer.keep_flushing(done))
                group.create_task(self._keep_renewing(done))
                # Ends with the last item; flushing and renewing must go on until then.
                await loop.execute(self._concurrency)
                done.set()
        except* (GiveUp, LostLease, InfrastructureError) as group:
            raise first_error(group) from None
        finally:
            self.last_error, self.exceeded = loop.last_error, loop.exceeded
            # Also when cancelled: answers already received are not thrown away.
            try:
                await self._writer.flush()
            finally:
                await session.connector.close()

    async def _page(self, after: int) -> tuple[list[Item], int | None]:
        return await pending_page(self._engine.database, self._run.id, after, self._known)

    async def _add(self, executed: Executed) -> None:
        await self._writer.add(executed)
        if self._meter is not None:
            # At once: what is paid for must not be paid again if this process is killed.
            await self._writer.flush()

    async def _add_error(self, error: RunError) -> None:
        await add_error(self._engine.database, self._run.id, self._engine.token, error)

    async def _write(self, batch: list[Executed]) -> None:
        engine = self._engine
        await add_results(
            engine.database, self._run.id, engine.token, batch, engine.reviewers_needed, self.spent
        )
        engine.notify(self._run)

    async def _keep_renewing(self, done: asyncio.Event) -> None:
        while not done.is_set():
            await pause(RENEW_SECONDS, done)
            await renew(self._engine.database, self._run.id, self._engine.token, self.spent)
