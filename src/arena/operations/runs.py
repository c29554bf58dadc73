"""Benchmark runs: create, execute, watch, read."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from typing import Annotated
from uuid import UUID

from pydantic import Field

from arena.fields import AgentId, NameFilter, NewestVersion
from arena.models.budget import Budget
from arena.operations import paging
from arena.operations.operation import get, post
from arena.operations.paging import Cursor, Limit
from arena.operations.results import WhichOutcome
from arena.operations.run_fields import (
    AllowUnknownPrices,
    Concurrency,
    IdPrefix,
    MaxCost,
    MaxMinutes,
    MaxTokens,
    Patterns,
    RerunOf,
    SuiteName,
    Tags,
    TestIds,
    TrialCount,
    Wait,
)
from arena.operations.run_watch import RunWatchOperations
from arena.runs.budget import UNPRICED
from arena.runs.run import (
    CategoryCount,
    Outcome,
    Result,
    Run,
    RunError,
    RunRequest,
    RunStatus,
)
from arena.scoring.intervals import Interval, share_interval
from arena.scoring.trials import Trials

PAGE = 1000
SCHEMA_VERSION = 1
"""Of the JSON of a run and its results: raised if a field is removed or changes its meaning."""
CREATED_MESSAGE = "Benchmark run created. Execute /api/benchmarks/run/{run_id}/execute to start."


@dataclass(frozen=True, slots=True, kw_only=True)
class RunCreated:
    """A run that waits to be executed."""

    run_id: UUID
    agent_id: str
    version: str
    total_tests: int
    status: Annotated[str, Field(examples=["pending"])]
    message: str = CREATED_MESSAGE
    suite: str = ""
    suite_version: str = ""
    is_full: bool = True
    """Whether it covers every test of the suite that applies to the agent: only then it counts."""
    files: list[str] = field(default_factory=list[str])
    """Where the tests of the suite are."""
    partial_because: str | None = None
    """Why the tests are not those that the suite usually has; null if they are."""
    unpriced_models: list[str] = field(default_factory=list[str])
    """The models that Arena will call and whose price is not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunExecuted:
    """The state of a run after it was executed or started."""

    run_id: UUID
    status: Annotated[str, Field(examples=["completed"])]
    passed: int
    failed: int
    score_percent: Annotated[float | None, Field(examples=[100.0])]
    points_percent: float | None
    total_tests: int
    errored: int
    """Tests that could not be executed."""
    awaiting: int = 0
    """Results that reviewers have not judged yet."""
    error_message: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunList:
    """A page of runs, newest first."""

    runs: list[Run]
    count: int
    next_cursor: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunDetails:
    """A run and a page of its results."""

    schema_version: int = SCHEMA_VERSION
    """Of this document; see docs/reference/exports.md."""
    run: Run
    results: list[Result]
    count: int
    next_cursor: str | None = None
    errors: list[RunError]
    categories: list[CategoryCount]
    """Over all results, not only this page."""
    trials: Trials | None = None
    """Only for a run with repeated tests."""
    cost_usd_per_passed_test: float | None = None
    """Null if the cost of a result is unknown."""
    score_interval: Interval | None = None
    """Of `score_percent`, in per cent; null until every test was executed and judged."""


class RunOperations(RunWatchOperations):
    """Benchmark runs."""

    @post("/api/benchmarks/run", tag="runs", errors=(404, 409), body="RunCreate")
    async def create_run(
        self,
        agent_id: AgentId,
        *,
        version: Annotated[NewestVersion, Field(examples=["1.0.0"])] = None,
        suite: SuiteName = None,
        category: Annotated[NameFilter, Field(examples=["navigation"])] = None,
        test_ids: TestIds = None,
        tags: Tags = None,
        match: Patterns = None,
        rerun_of: RerunOf = None,
        trials: TrialCount = None,
        concurrency: Concurrency = None,
        max_cost_usd: MaxCost = None,
        max_tokens: MaxTokens = None,
        max_minutes: MaxMinutes = None,
        allow_unknown_prices: AllowUnknownPrices = None,
    ) -> RunCreated:
        """Create a benchmark run of an agent; it waits until it is executed."""
        self.arena.registry.refresh()
        request = RunRequest(
            team_id=self.team,
            agent_id=agent_id,
            version=version,
            suite=suite,
            category=category,
            test_ids=tuple(test_ids or ()),
            tags=tuple(tags or ()),
            match=tuple(match or ()),
            rerun_of=rerun_of,
            trials=trials,
            concurrency=concurrency,
            budget=Budget(
                max_cost_usd=max_cost_usd,
                max_tokens=max_tokens,
                max_minutes=max_minutes,
                allow_unknown_prices=allow_unknown_prices,
            ),
        )
        run = await self.arena.executor.create(request)
        return RunCreated(
            run_id=run.id,
            agent_id=run.agent_id,
            version=run.agent_version,
            total_tests=run.total_tests,
            status=run.status,
            suite=run.suite,
            suite_version=run.suite_version,
            is_full=run.is_full,
            files=[self._shown(file) for file in self.arena.catalog.current.suite(run.suite).files],
            partial_because=None if run.is_full else await self._partial_because(request),
            unpriced_models=(run.environment or {}).get(UNPRICED, []),
        )

    async def _partial_because(self, request: RunRequest) -> str | None:
        suite = await self.arena.executor.suite_of(request)
        return replace(suite, unread=tuple(map(self._shown, suite.unread))).partial_because

    @post(
        "/api/benchmarks/run/{run_id}/execute",
        tag="runs",
        errors=(404, 409),
        query=("wait",),
        accepted_unless="wait",
    )
    async def execute_run(self, run_id: UUID, *, wait: Wait = True) -> RunExecuted:
        """Execute a pending run."""
        self.arena.registry.refresh()
        return await self._executed(await self.arena.executor.start(run_id, self.team), wait)

    @post(
        "/api/benchmarks/runs/{run_id}/resume",
        tag="runs",
        errors=(404, 409),
        query=("wait", "max_cost_usd", "max_tokens", "max_minutes", "allow_unknown_prices"),
        accepted_unless="wait",
    )
    async def resume_run(
        self,
        run_id: UUID,
        *,
        wait: Wait = True,
        max_cost_usd: MaxCost = None,
        max_tokens: MaxTokens = None,
        max_minutes: MaxMinutes = None,
        allow_unknown_prices: AllowUnknownPrices = None,
    ) -> RunExecuted:
        """Resume a run that was interrupted, or stopped by an infrastructure error or its budget.

        Limits that are given replace those of the run; what it has spent so far counts.
        """
        self.arena.registry.refresh()
        budget = Budget(
            max_cost_usd=max_cost_usd,
            max_tokens=max_tokens,
            max_minutes=max_minutes,
            allow_unknown_prices=allow_unknown_prices,
        )
        run = await self.arena.executor.resume(run_id, self.team, budget)
        return await self._executed(run, wait)

    async def _executed(self, run: Run, wait: bool) -> RunExecuted:
        if wait:
            run = await self.arena.executor.wait(run.id)
        return RunExecuted(
            run_id=run.id,
            status=run.status,
            passed=run.passed_tests,
            failed=run.failed_tests,
            score_percent=run.score_percent,
            points_percent=run.points_percent,
            total_tests=run.total_tests,
            errored=run.errored_tests,
            awaiting=run.awaiting_tests,
            error_message=run.error_message,
        )

    @post("/api/benchmarks/runs/{run_id}/cancel", tag="runs", errors=(404, 409))
    async def cancel_run(self, run_id: UUID) -> Run:
        """Stop a run permanently; the results so far are kept."""
        return await self.arena.executor.cancel(run_id, self.team)

    @get("/api/benchmarks/runs", id="list_runs", tag="runs")
    async def runs(
        self,
        *,
        agent_id: NameFilter = None,
        status: RunStatus | None = None,
        suite: NameFilter = None,
        archived: Annotated[bool, Field(description="Also archived runs.")] = False,
        id_prefix: IdPrefix = None,
        limit: Limit = 20,
        cursor: Cursor = None,
    ) -> RunList:
        """List the team's runs, newest first."""
        runs = await self.arena.runs.list(
            self.team,
            agent_id=agent_id,
            status=status,
            suite=suite,
            # A run that is named is found, archived or not.
            with_archived=archived or id_prefix is not None,
            ids=paging.id_range(id_prefix, "run") if id_prefix else None,
            limit=limit + 1,
            before=paging.decode_moment(cursor),
        )
        page = list(runs[:limit])
        is_last = len(runs) <= limit
        return RunList(
            runs=page,
            count=len(page),
            next_cursor=None if is_last else _cursor_behind(page[-1]),
        )

    @get("/api/benchmarks/runs/{run_id}", id="get_run", tag="runs", errors=(404,))
    async def run(
        self,
        run_id: UUID,
        *,
        outcome: WhichOutcome = None,
        limit: Limit = 1000,
        cursor: Cursor = None,
    ) -> RunDetails:
        """A run with a page of its results, in the order they were recorded."""
        reader = self.arena.runs
        run = await reader.get(run_id, self.named_team)
        after = paging.decode_number(cursor)
        page = await reader.results(run_id, after=after, limit=limit, outcome=outcome)
        trials = await self.arena.scores.trials(run_id)
        return RunDetails(
            run=run,
            results=_with_trials(page.results, trials),
            count=len(page.results),
            next_cursor=paging.encode(page.results[-1].sequence) if page.has_more else None,
            errors=list(await reader.errors(run_id)),
            categories=list(await reader.categories(run_id)),
            trials=trials,
            cost_usd_per_passed_test=_cost_per_pass(run),
            score_interval=await self._score_interval(run),
        )

    async def _score_interval(self, run: Run) -> Interval | None:
        if not run.total_tests or run.passed_tests + run.failed_tests < run.total_tests:
            return None
        share = await self.arena.scores.run_share(run.id)
        interval = share_interval(share)
        return interval and interval.scaled(100).rounded()

    async def run_and_wait(
        self,
        agent_id: str,
        *,
        version: str | None = None,
        suite: str | None = None,
        category: str | None = None,
        test_ids: list[str] | None = None,
        tags: list[str] | None = None,
        match: list[str] | None = None,
        trials: int | None = None,
        concurrency: int | None = None,
        max_cost_usd: float | None = None,
        max_tokens: int | None = None,
        max_minutes: float | None = None,
        allow_unknown_prices: bool | None = None,
    ) -> RunDetails:
        """Create a run, execute it to its end, and return it with the first page of results."""
        created = await self.create_run(
            agent_id,
            version=version,
            suite=suite,
            category=category,
            test_ids=test_ids,
            tags=tags,
            match=match,
            trials=trials,
            concurrency=concurrency,
            max_cost_usd=max_cost_usd,
            max_tokens=max_tokens,
            max_minutes=max_minutes,
            allow_unknown_prices=allow_unknown_prices,
        )
        await self.execute_run(created.run_id)
        return await self.run(created.run_id)

    async def results(
        self, run_id: UUID, *, outcome: Outcome | None = None
    ) -> AsyncIterator[Result]:
        """Every result of a run, page by page."""
        cursor: str | None = None
        while True:
            page = await self.run(run_id, outcome=outcome, limit=PAGE, cursor=cursor)
            for result in page.results:
                yield result
            cursor = page.next_cursor
            if cursor is None:
                return


def _cursor_behind(run: Run) -> str:
    return paging.encode(run.created_at.isoformat(), run.id)


def _with_trials(results: list[Result], trials: Trials | None) -> list[Result]:
    """The results with pass@k and pass^k of their tests; unchanged without repeated tests."""
    if trials is None:
        return results
    tests = {test.test_id: test for test in trials.tests}
    return [
        replace(one, pass_at_k=test.pass_at_k, pass_all_k=test.pass_all_k)
        if (test := tests.get(one.test_id))
        else one
        for one in results
    ]


def _cost_per_pass(run: Run) -> float | None:
    # A partial sum would make the agent look cheaper than it is.
    if run.cost_usd is None or run.costed_tests < run.completed_tests or not run.passed_tests:
        return None
    return run.cost_usd / run.passed_tests
