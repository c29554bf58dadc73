"""Tests: the catalog, the state of its files, and the audit."""

from dataclasses import replace
from typing import Annotated
from uuid import UUID

from pydantic import Field

from arena.catalog.test import CatalogState, Test, TestAudit, TestList, WrittenTest
from arena.catalog.tests import filtered
from arena.errors import InvalidInput, NotFound
from arena.fields import NonBlank
from arena.operations import paging
from arena.operations.operation import OperationGroup, get, post

AUDIT_SECONDS = 2.0
"""How long one call may audit tests; the rest is pending."""

Category = Annotated[str | None, Field(examples=["navigation"])]
AgentFilter = Annotated[str | None, Field(description="Only tests for this agent.")]
ResultName = Annotated[
    str,
    Field(
        max_length=300,
        description="Its id, the beginning of it, or RUN:TEST with the id of a run: then the "
        "first trial that failed, or else the first.",
    ),
]
ExecutionName = Annotated[
    str, Field(min_length=1, max_length=200, description="Its id, or its idempotency key.")
]
NewTestId = Annotated[
    str | None,
    Field(
        pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$",
        max_length=50,
        description="Of the new test. Default: a made one.",
    ),
]
Expect = Annotated[
    list[NonBlank] | None,
    Field(
        max_length=100,
        description="What a good answer contains. Default: the answer of a completed execution.",
    ),
]
WithJudge = Annotated[
    bool,
    Field(description="Also audit tests that a model judges: this costs money."),
]


class TestOperations(OperationGroup):
    """The tests."""

    __test__ = False  # keeps pytest from collecting the class

    @get("/api/benchmarks/tests", tag="tests", team=False)
    async def list_tests(
        self,
        *,
        category: Category = None,
        agent_id: AgentFilter = None,
        tag: str | None = None,
        include_inactive: bool = False,
        limit: paging.Limit = 1000,
        cursor: paging.Cursor = None,
    ) -> TestList:
        """List the tests of the catalog."""
        tests = filtered(
            self.arena.catalog.current.tests,
            lambda test: (
                (category is None or test.category == category)
                and (test.active or include_inactive)
                and (agent_id is None or test.is_for(agent_id))
                and (tag is None or tag in test.tags)
            ),
            # Of data sets, only rows with tags of their own are all read for one page.
            *(() if tag is None else ("tags",)),
        )
        start = paging.decode_number(cursor)
        page = list(tests[start : start + limit])
        has_more = start + limit < len(tests)
        return TestList(
            tests=page,
            count=len(page),
            total=len(tests),
            next_cursor=paging.encode(start + limit) if has_more else None,
        )

    async def tests(
        self,
        *,
        category: str | None = None,
        agent_id: str | None = None,
        tag: str | None = None,
        include_inactive: bool = False,
    ) -> list[Test]:
        """Every matching test, from all pages."""
        tests: list[Test] = []
        cursor: str | None = None
        while True:
            page = await self.list_tests(
                category=category,
                agent_id=agent_id,
                tag=tag,
                include_inactive=include_inactive,
                cursor=cursor,
            )
            tests += page.tests
            cursor = page.next_cursor
            if cursor is None:
                return tests

    @get("/api/benchmarks/tests/{test_id}", id="get_test", tag="tests", team=False, errors=(404,))
    async def test(self, test_id: str) -> Test:
        """One test of the catalog."""
        return self.arena.catalog.current.test(test_id)

    @get("/api/benchmarks/catalog", id="get_catalog", tag="tests", team=False)
    async def catalog(self) -> CatalogState:
        """The files of the catalog, and every problem in them."""
        state = self.arena.catalog.current.state
        return replace(
            state,
            sources=[replace(one, file=self._shown(one.file)) for one in state.sources],
            problems=[
                replace(one, file=self._shown(one.file), message=self._shown(one.message))
                for one in state.problems
            ],
        )

    @get("/api/benchmarks/test-from-result", tag="tests", errors=(404,))
    async def test_from_result(
        self, *, result: ResultName, test_id: NewTestId = None
    ) -> WrittenTest:
        """A test file of what happened in a result, with the standard that it was judged by."""
        # Imported here to save start-up: most commands write no test.
        from arena.runs.written_test import test_of_result

        run_id, result_id = await self._result_named(result)
        run = await self.arena.runs.get(run_id, self.named_team)
        placed = await self.arena.runs.result(run_id, result_id)
        return test_of_result(run, placed.result, placed.test, test_id)

    @post(
        "/api/benchmarks/test-from-execution",
        tag="tests",
        errors=(404,),
        body="TestFromExecution",
    )
    async def test_from_execution(
        self, execution: ExecutionName, *, expect: Expect = None, test_id: NewTestId = None
    ) -> WrittenTest:
        """A test file of what happened in a reported execution."""
        from arena.runs.written_test import test_of_execution  # as above

        found = await self.arena.scores.execution(self.team, execution)
        if found.source == "benchmark":
            raise InvalidInput(f"{found.id} is a result of a run: use from-result")
        return test_of_execution(found, expect or (), test_id)

    async def _result_named(self, name: str) -> tuple[UUID, UUID]:
        """The run and the id of a result: by RUN:TEST, its id, or the beginning of it."""
        run, separator, test = name.partition(":")
        if not separator:
            ids = paging.id_range(name, "result")
            return await self.arena.runs.find_result(name, ids, self.named_team)
        try:
            run_id = UUID(run)
        except ValueError:
            raise InvalidInput(f"{run!r} is not the id of a run") from None
        from arena.runs.run import ResultFilter  # as above

        await self.arena.runs.get(run_id, self.named_team)
        rows, _ = await self.arena.runs.rows(run_id, ResultFilter(test_id=test), limit=1000)
        if not rows:
            raise NotFound(f"run {run_id} has no result of the test {test!r}")
        # Of several trials, the first one that failed.
        return run_id, min(rows, key=lambda row: (row.passed is not False, row.trial)).id

    @get("/api/benchmarks/audit", tag="tests", team=False)
    async def audit_tests(self, *, judge: WithJudge = False) -> TestAudit:
        """The active tests that an idle agent or a cheat would pass, or whose solution fails.

        Repeat while some are pending.
        """
        catalog = self.arena.catalog.current
        return await self.arena.audits.report(
            catalog, within_seconds=AUDIT_SECONDS, with_judge=judge
        )
