"""Creates, starts, resumes and cancels runs, and takes people's verdicts on their results."""

import gc
from collections.abc import Collection, Iterable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from uuid import UUID

from arena.agents.agent import AgentDefinition
from arena.agents.registry import Registry
from arena.catalog.catalog import Catalog
from arena.catalog.live import LiveCatalog
from arena.catalog.selection import check_tags, described, selected
from arena.catalog.suite import Suite
from arena.catalog.test import Test
from arena.catalog.tests import joined, parts_of, with_ids
from arena.errors import InvalidInput
from arena.evaluation.verdict import Verdict
from arena.models.budget import Budget
from arena.project import OWN_SUITE
from arena.runs.abilities import check_abilities
from arena.runs.budget import larger_budget, new_budget, unpriced_models
from arena.runs.dispatch import Dispatch
from arena.runs.engine import Engine
from arena.runs.environment import environment_of
from arena.runs.records.bundles import completed_run, frozen_tests, version_of_run
from arena.runs.records.rows import get_run
from arena.runs.records.run_tests import failed_test_ids
from arena.runs.records.runs import NewRun, cancel_run, create_run
from arena.runs.run import Run, RunRequest
from arena.scoring.board import Provenance
from arena.scoring.records.suites import is_elsewhere, team_board
from arena.settings import Settings

if TYPE_CHECKING:
    from arena.reviews.case import ReviewCase


class RunExecutor:
    """Creates runs and lets them be executed."""

    def __init__(
        self,
        engine: Engine,
        catalog: LiveCatalog,
        registry: Registry,
        dispatch: Dispatch,
        settings: Settings,
    ) -> None:
        self.engine = engine
        self._settings = settings
        self._database = engine.database
        self._catalog = catalog
        self._registry = registry
        self.dispatch = dispatch
        self._created: tuple[UUID | None, Sequence[Test]] = (None, ())
        """The newest run created here, with its tests, which are then not read again."""

    async def create(self, request: RunRequest) -> Run:
        """Create a run of the tests that apply to the agent, frozen as they are now."""
        agent = self._registry.find(request.agent_id, request.version)
        catalog = self._catalog.current
        rerun = await self._rerun(request)
        suite = await self._suite(catalog, agent, request, rerun)
        tests = _chosen(catalog, agent, request, suite.name, rerun)
        check_abilities(agent, tests, self._settings)
        environment = await self._environment(agent, tests, request.concurrency)
        new = NewRun(
            team_id=request.team_id,
            agent_id=agent.id,
            agent_version=agent.version,
            is_full=suite.is_whole
            and len(tests) == len(catalog.for_agent(agent.id, suite=suite.name)),
            trials=request.trials,
            concurrency=request.concurrency,
            category=request.category,
            agent_digest=environment["agent_file"],
            environment=environment,
            budget=new_budget(self._settings, environment, request.budget),
        )
        run = await create_run(self._database, new, tests, suite)
        self._created = run.id, tests if isinstance(tests, tuple) else ()
        if not isinstance(tests, tuple):
            gc.collect()  # rows of data are not kept, but nothing else would collect what is left
        return run

    async def _environment(
        self, agent: AgentDefinition, tests: Sequence[Test], concurrency: int | None
    ) -> dict[str, Any]:
        found = environment_of(self._settings, agent, tests, concurrency)
        return found | await unpriced_models(self._settings, agent, found)

    async def suite_of(self, request: RunRequest) -> Suite:
        """The suite that a run with this request is of."""
        agent = self._registry.find(request.agent_id, request.version)
        return await self._suite(self._catalog.current, agent, request, await self._rerun(request))

    async def _suite(
        self,
        catalog: Catalog,
        agent: AgentDefinition,
        request: RunRequest,
        rerun: Collection[str] | None,
    ) -> Suite:
        suite = catalog.suite(await self._suite_name(catalog, agent, request, rerun))
        async with self._database.reading() as connection:
            found = await is_elsewhere(connection, request.team_id, suite)
        return replace(suite, is_elsewhere=True) if found else suite

    async def _rerun(self, request: RunRequest) -> frozenset[str] | None:
        """The tests that failed in the run to repeat; None for a request that repeats none."""
        if request.rerun_of is None:
            return None
        run = await get_run(self._database, request.rerun_of, request.team_id)
        failed = await failed_test_ids(self._database, run.id)
        if not failed:
            raise InvalidInput(f"nothing failed in run {run.id}")
        return frozenset(failed)

    async def reexecute(self, run_id: UUID, team_id: str) -> Run:
        """Create a run of the same agent on the same frozen tests as a completed run.

        The agent must be registered here, under the same id and version.
        """
        source = await completed_run(self._database, run_id, team_id, "executed again")
        agent = self._registry.find(source.agent_id, source.agent_version)
        tests = [test async for test, _ in frozen_tests(self._database, run_id)]
        check_abilities(agent, tests, self._settings)
        if source.provenance is Provenance.REPORTED and self._settings.tokens:
            from arena.runs.claimed_tests import refuse_sealed  # few runs are pushed and repeated

            refuse_sealed(tests, self._catalog.current)
        environment = await self._environment(agent, tests, source.concurrency)
        new = NewRun(
            team_id=team_id,
            agent_id=agent.id,
            agent_version=agent.version,
            is_full=source.is_full,
            trials=source.trials,
            concurrency=source.concurrency,
            category=source.category,
            provenance=Provenance.RE_EXECUTED,
            source_run_id=source.id,
            agent_digest=environment["agent_file"],
            environment=environment,
            budget=new_budget(self._settings, environment),
        )
        suite = await version_of_run(self._database, source)
        return await create_run(self._database, new, tests, suite)

    async def _suite_name(
        self,
        catalog: Catalog,
        agent: AgentDefinition,
        request: RunRequest,
        rerun: Collection[str] | None,
    ) -> str:
        """The suite of a new run."""
        if request.suite is not None:
            return _checked_suite(catalog, request.suite, request.test_ids)
        ids = request.test_ids
        tests = catalog.for_agent(agent.id, test_ids=frozenset(ids) or None)
        # A tag, a pattern or a failure may be of one suite only, whichever is the default.
        tests = _met(tests, request, rerun) or tests
        suites = list(dict.fromkeys(part.suite for part in parts_of(tests)))
        if len(suites) < 2:
            # Without any, `_chosen` says why; it needs a suite to look into.
            return suites[0] if suites else next(iter(catalog.suite_names), OWN_SUITE)
        if ids:
            raise InvalidInput(
                f"the tests are of several suites ({', '.join(suites)}); a run is of one suite"
            )
        named = [name for name in suites if catalog.is_named(name)]
        if len(named) == 1:
            return named[0]
        async with self._database.reading() as connection:
            default = (await team_board(connection, request.team_id)).default_suite
        preferred = default, self._settings.own_suite
        return next((name for name in preferred if name in suites), suites[0])

    async def start(self, run_id: UUID, team_id: str) -> Run:
        """Start a pending run; it executes in the background."""
        run = await get_run(self._database, run_id, team_id)
        agent = self._registry.find(run.agent_id, run.agent_version)
        known: Sequence[Test] = ()
        if run.id == self._created[0]:
            known, self._created = self._created[1], (None, ())
        return await self.dispatch.start(run, agent, known)

    async def resume(self, run_id: UUID, team_id: str, budget: Budget | None = None) -> Run:
        """Resume a run that was interrupted, or stopped by an infrastructure error or its budget.

        `budget` names the limits that change.
        """
        run = await get_run(self._database, run_id, team_id)
        limits = larger_budget(run, budget)
        agent = self._registry.find(run.agent_id, run.agent_version)
        return await self.dispatch.resume(run, agent, limits)

    def resuming(self) -> AbstractAsyncContextManager[None]:
        """Until the block ends: let interrupted runs go on."""
        return self.dispatch.resuming()

    async def wait(self, run_id: UUID) -> Run:
        """The run when it has ended, if that can be waited for; else the run as it is."""
        return await self.dispatch.wait(run_id)

    async def cancel(self, run_id: UUID, team_id: str) -> Run:
        """Stop a run permanently; the results so far are kept."""
        run = await cancel_run(self._database, run_id, team_id)
        self.dispatch.cancelled(run)
        self.engine.notify(run)
        return run

    async def settle(self, case: "ReviewCase", verdict: Verdict) -> None:
        """Record people's verdict on a result; the last one completes the run."""
        cid = None
        if self.engine.recorder is not None:
            cid = await self.engine.recorder.keep(case.document, case.submission, verdict)
        from arena.runs.records.reviews import settle_result  # most executors never need it

        run = await settle_result(self._database, case.review, verdict, cid)
        if run is not None:
            self.engine.notify(run)

    async def close(self) -> None:
        """Stop executing; the runs can be resumed later."""
        await self.dispatch.close()


def _checked_suite(catalog: Catalog, suite: str, test_ids: Iterable[str]) -> str:
    """The suite that a request names, if its tests are of it."""
    for test_id in test_ids:
        own = catalog.named(test_id).suite
        if own != suite:
            raise InvalidInput(f"the test {test_id!r} is of the suite {own!r}, not of {suite!r}")
    return catalog.suite(suite).name


def _chosen(
    catalog: Catalog,
    agent: AgentDefinition,
    request: RunRequest,
    suite: str,
    rerun: Collection[str] | None,
) -> Sequence[Test]:
    """The tests of the new run; an error if there are none or one is unknown.

    Of `rerun`, tests that no longer exist or apply are left out: nobody asked for them by name.
    """
    check_tags(request.tags, catalog.tests)
    for test_id in request.test_ids:
        catalog.named(test_id)
    tests = catalog.for_agent(
        agent.id,
        category=request.category,
        # A set: thousands of ids are looked up for thousands of tests.
        test_ids=frozenset(request.test_ids) or None,
        suite=suite,
    )
    tests = _met(tests, request, rerun)
    if not tests:
        scope = described(category=request.category, tags=request.tags, match=request.match)
        scope += f" of the suite {suite!r}" if request.suite else ""
        scope += f" that failed in run {request.rerun_of}" if request.rerun_of else ""
        raise InvalidInput(f"no active test{scope} applies to agent {agent.id!r}")
    return tests


def _met(
    tests: Iterable[Test], request: RunRequest, rerun: Collection[str] | None
) -> Sequence[Test]:
    """The tests that meet the tags and patterns of a request, and are to be run again."""
    met = selected(tests, tags=request.tags, match=request.match)
    if rerun is None:
        return met
    found = (with_ids(part, rerun) for part in parts_of(met))
    return joined(part for part in found if part is not None)
