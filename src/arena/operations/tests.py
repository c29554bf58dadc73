"""Tests: the catalog, the state of its files, and the audit."""

from dataclasses import replace
from typing import Annotated

from pydantic import Field

from arena.catalog.test import CatalogState, Test, TestAudit, TestList
from arena.operations import paging
from arena.operations.operation import OperationGroup, get

AUDIT_SECONDS = 2.0
"""How long one call may audit tests; the rest is pending."""

Category = Annotated[str | None, Field(examples=["navigation"])]
AgentFilter = Annotated[str | None, Field(description="Only tests for this agent.")]


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
        tests = [
            test
            for test in self.arena.catalog.current.tests
            if (category is None or test.category == category)
            and (test.active or include_inactive)
            and (agent_id is None or test.is_for(agent_id))
            and (tag is None or tag in test.tags)
        ]
        start = paging.decode_number(cursor)
        page = tests[start : start + limit]
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

    @get("/api/benchmarks/audit", tag="tests", team=False)
    async def audit_tests(self) -> TestAudit:
        """The active tests that an idle agent would pass; repeat while some are pending."""
        catalog = self.arena.catalog.current
        return await self.arena.audits.report(catalog, within_seconds=AUDIT_SECONDS)
