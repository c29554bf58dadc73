"""The door of this room: create, execute, resume, cancel and read runs."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from arena.agents import Agent, Registry
from arena.catalog import Catalog, LiveCatalog, Test
from arena.errors import Conflict, InvalidInput, NotFound
from arena.evaluation import Verdict
from arena.reviews.case import ReviewCase
from arena.runs import records
from arena.runs.changes import rung
from arena.runs.engine import Engine
from arena.runs.owner import Owner
from arena.runs.run import (
    CategoryCount,
    Outcome,
    PlacedResult,
    RecordedResult,
    ResultFilter,
    ResultPage,
    ResultRow,
    Run,
    RunError,
    RunStatus,
)
from arena.store.database import Database, shielded

log = logging.getLogger(__name__)

WATCH_SECONDS = 0.5
"""How often a watcher looks by itself: the run may be executed by another process."""

RUNS_WATCHED = 50
"""Of a team's newest, and of those that go on."""

LOOK_SECONDS = 15.0
"""How often a server looks for runs whose executor has fallen silent: as long as a lease lasts."""

Resumed = list[Run]
"""Named here: within the class `list` is a method."""

EVENT_RESULTS = 500
"""Results a watcher gets at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest:
    """What somebody wants measured."""

    team_id: str
    agent_id: str
    version: str | None = None
    category: str | None = None
    test_ids: tuple[str, ...] = ()
    trials: int | None = None
    concurrency: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEvent:
    """What a watcher is told: the run as it is now, and the results that are new."""

    run: Run
    results: Sequence[RecordedResult]


class Runs:
    """Benchmark runs: all that can be done with them."""

    def __init__(
        self,
        database: Database,
        catalog: LiveCatalog,
        registry: Registry,
        owner: Owner,
        engine: Engine,
    ) -> None:
        self._database = database
        self._catalog = catalog
        self._registry = registry
        self._owner = owner
        self._engine = engine
        self._tasks: dict[UUID, asyncio.Task[Run]] = {}
        self._left_alone: set[UUID] = set()
        """Runs that were found interrupted and cannot go on here, each told of once."""

    async def create(self, request: RunRequest) -> Run:
        """Write down a run of the agent's applicable tests as they are now."""
        agent = self._registry.find(request.agent_id, request.version)
        catalog = self._catalog.current
        tests = _chosen(catalog, agent, request)
        new = records.NewRun(
            team_id=request.team_id,
            agent_id=agent.id,
            agent_version=agent.version,
            is_full=len(tests) == len(catalog.for_agent(agent.id)),
            trials=request.trials,
            concurrency=request.concurrency,
            category=request.category,
        )
        return await records.create_run(self._database, new, tests)

    async def start(self, run_id: UUID, team_id: str) -> Run:
        """Begin a pending run; it goes on by itself."""
        run = await records.get_run(self._database, run_id, team_id)
        agent = self._registry.find(run.agent_id, run.agent_version)
        return await self._begin(records.claim(self._database, run_id, self._owner.token), agent)

    async def resume(self, run_id: UUID, team_id: str) -> Run:
        """Go on with a run that was interrupted or that the infrastructure stopped."""
        run = await records.get_run(self._database, run_id, team_id)
        return await self._take_over(run)

    async def resume_interrupted(self) -> list[Run]:
        """Go on with every run that nobody executes; what cannot go on is left and logged."""
        return await self._resume_all(await records.unfinished_runs(self._database))

    async def resume_silent(self) -> list[Run]:
        """Go on with the runs whose executor has let its lease run out without a word.

        One that was given back in order was interrupted by a person: it waits for one, or for
        the next start. One whose executor is seen to live is merely kept waiting by the database.
        """
        found = await records.silent_runs(self._database)
        return await self._resume_all(run for run, lease in found if self._is_dropped(run, lease))

    @asynccontextmanager
    async def resuming(self) -> AsyncGenerator[None]:
        """Until the block ends: go on with what was interrupted, now and again and again."""
        await self.resume_interrupted()
        task = asyncio.create_task(self._keep_resuming(), name="resuming")
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def get(self, run_id: UUID, team_id: str | None) -> Run:
        """A team's run; None asks for any team's."""
        return await records.get_run(self._database, run_id, team_id)

    async def list(
        self,
        team_id: str,
        *,
        agent_id: str | None = None,
        status: RunStatus | None = None,
        limit: int = 20,
        before: tuple[datetime, UUID] | None = None,
    ) -> Sequence[Run]:
        """A team's runs, newest first."""
        return await records.list_runs(
            self._database, team_id, agent_id=agent_id, status=status, limit=limit, before=before
        )

    async def results(
        self, run_id: UUID, *, outcome: Outcome | None = None
    ) -> Sequence[RecordedResult]:
        """The first results of a run: all of them, unless there are very many."""
        return (await self.result_page(run_id, outcome=outcome)).results

    async def result_page(
        self,
        run_id: UUID,
        *,
        after: int = 0,
        limit: int = 1000,
        outcome: Outcome | None = None,
    ) -> ResultPage:
        """Results of a run in the order of recording; a page may be shorter than `limit`."""
        return await records.list_results(
            self._database, run_id, after=after, limit=limit, outcome=outcome
        )

    async def rows(
        self, run_id: UUID, wanted: ResultFilter, *, after: int = 0, limit: int = 1000
    ) -> tuple[Sequence[ResultRow], int]:
        """A page of results without what was said, and how many fit in all."""
        return await records.list_rows(self._database, run_id, wanted, after=after, limit=limit)

    async def categories(self, run_id: UUID) -> Sequence[CategoryCount]:
        """How a run went in each category."""
        return await records.count_categories(self._database, run_id)

    async def result(
        self, run_id: UUID, result_id: UUID, among: ResultFilter | None = None
    ) -> PlacedResult:
        """One result, the test it answers and its place in the run, or among those wanted."""
        wanted = among or ResultFilter()
        return await records.placed_result(self._database, run_id, result_id, wanted)

    async def teams(self) -> Sequence[str]:
        """Every team that has a run."""
        return await records.known_teams(self._database)

    async def errors(self, run_id: UUID) -> Sequence[RunError]:
        """What of a run could not be executed."""
        return await records.list_errors(self._database, run_id)

    async def costs(self, team_id: str) -> Sequence[Run]:
        """For each agent version the run that its benchmark score comes from."""
        return await records.benchmark_runs(self._database, team_id)

    async def wait(self, run_id: UUID) -> Run:
        """The run when it has ended, if it is executed here; else the run as it is."""
        task = self._tasks.get(run_id)
        if task is None:
            return await records.get_run(self._database, run_id, None)
        try:
            # Whoever waits may go away; the run goes on.
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            if not task.cancelled():
                raise
            return await records.get_run(self._database, run_id, None)

    async def cancel(self, run_id: UUID, team_id: str) -> Run:
        """Stop a run for good; results that are there stay."""
        run = await records.cancel(self._database, run_id, team_id)
        task = self._tasks.get(run_id)
        if task:
            task.cancel()
        self._engine.changes.ring(run_id)
        return run

    async def settle(self, case: ReviewCase, verdict: Verdict) -> None:
        """Take the verdict on a result that people had to judge; the last one completes the run."""
        cid = None
        if self._engine.recorder is not None:
            cid = await self._engine.recorder.keep_document(case.document, case.submission, verdict)
        run_id = await records.settle_result(self._database, case.review, verdict, cid)
        if run_id is not None:
            self._engine.changes.ring(run_id)

    async def watch(
        self, run_id: UUID, team_id: str | None, *, after: int = 0, with_results: bool = True
    ) -> AsyncGenerator[RunEvent]:
        """The run now, and again at every change, until it has ended or waits for people."""
        while True:
            bell = self._engine.changes.bell(run_id)
            run = await records.get_run(self._database, run_id, team_id)
            page = ResultPage(results=(), has_more=False)
            if with_results:
                page = await self.result_page(run_id, after=after, limit=EVENT_RESULTS)
                after = page.results[-1].sequence if page.results else after
            is_behind = page.has_more
            yield RunEvent(run=run, results=page.results)
            if run.status.is_final and not is_behind:
                return
            if not is_behind:
                await rung(bell, WATCH_SECONDS)

    async def present(self, team_id: str) -> dict[UUID, Run]:
        """The team's newest runs, and those that are executed now."""
        newest = await self.list(team_id, limit=RUNS_WATCHED)
        going = await self.list(team_id, status=RunStatus.RUNNING, limit=RUNS_WATCHED)
        return {run.id: run for run in (*newest, *going)}

    def bell(self) -> asyncio.Event:
        """The bell of the next change of any run in this process; get it before you look."""
        return self._engine.changes.bell(None)

    async def close(self) -> None:
        """Interrupt what is executed here; it can be resumed later."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._owner.close()

    async def _keep_resuming(self) -> None:
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            try:
                await self.resume_silent()
            except Exception:
                # The edge of this work: what went wrong once may go well the next time.
                log.exception("interrupted runs could not be looked for")

    def _is_dropped(self, run: Run, lease: str) -> bool:
        """Whether nobody works on a run whose lease has run out, as far as can be seen here."""
        if lease == self._owner.token:
            return run.id not in self._tasks
        return not self._owner.is_alive(lease)

    async def _resume_all(self, runs: Iterable[Run]) -> Resumed:
        self._registry.refresh()
        resumed: Resumed = []
        for run in runs:
            try:
                resumed.append(await self._take_over(run))
            except Conflict:
                log.info("run %s is executed by another process", run.id)
            except NotFound as missing:
                if run.id not in self._left_alone:
                    log.warning("run %s was interrupted and cannot go on: %s", run.id, missing)
                self._left_alone.add(run.id)
        return resumed

    async def _take_over(self, run: Run) -> Run:
        agent = self._registry.find(run.agent_id, run.agent_version)
        if run.status is RunStatus.RUNNING and run.id in self._tasks:
            # Even where its lease has run out: both would write under the token of this process.
            raise Conflict(f"run {run.id} is being executed, it cannot be resumed")
        lease = await records.lease_of(self._database, run.id)
        gone = lease if lease and self._owner.is_gone(lease) else None
        taken = records.take_over(self._database, run.id, self._owner.token, gone)
        return await self._begin(taken, agent)

    @shielded
    async def _begin(self, claimed: Awaitable[Run], agent: Agent) -> Run:
        """Execute a run once it is claimed; whole, or a run might be claimed that nobody does."""
        run = await claimed
        task = asyncio.create_task(self._engine.execute(run, agent), name=f"run {run.id}")
        self._tasks[run.id] = task
        task.add_done_callback(lambda done: self._ended(run.id, done))
        return run

    def _ended(self, run_id: UUID, task: asyncio.Task[Run]) -> None:
        if self._tasks.get(run_id) is task:  # a run that failed may have been resumed already
            del self._tasks[run_id]
        if not task.cancelled() and task.exception() is not None:
            log.error("run %s stopped: %s", run_id, task.exception(), exc_info=task.exception())


def _chosen(catalog: Catalog, agent: Agent, request: RunRequest) -> Sequence[Test]:
    """The tests the run is to have; an error where there is none or one is unknown."""
    for test_id in request.test_ids:
        if test_id not in catalog.by_id:
            raise NotFound.among("test", test_id, catalog.by_id)
    tests = catalog.for_agent(
        # A set: thousands of ids are looked up for thousands of tests.
        agent.id,
        category=request.category,
        test_ids=frozenset(request.test_ids) or None,
    )
    if not tests:
        wanted = f" in category {request.category!r}" if request.category else ""
        raise InvalidInput(f"no active test{wanted} applies to agent {agent.id!r}")
    return tests
