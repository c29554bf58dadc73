"""The results of a run: a list without the outputs, and each one in full."""

from dataclasses import dataclass
from typing import Annotated
from uuid import UUID

from pydantic import Field

from arena.catalog.test import Test
from arena.fields import MAX_NAME_LENGTH, MAX_TEST_ID, NameFilter
from arena.operations import paging
from arena.operations.operation import OperationGroup, get
from arena.operations.paging import Cursor, Limit
from arena.runs.run import (
    Outcome,
    QuarantinedTest,
    Result,
    ResultFilter,
    ResultOrder,
    ResultRow,
    Run,
)

TestId = Annotated[str, Field(max_length=MAX_TEST_ID)]
Tag = Annotated[str, Field(max_length=MAX_NAME_LENGTH)]
Pattern = Annotated[
    str, Field(min_length=1, max_length=200, description="Shell-style: `*`, `?`, `[a-z]`.")
]
WhichOutcome = Annotated[
    Outcome | None,
    Field(description="Only these results; `awaiting` means not yet judged by reviewers."),
]
Order = Annotated[
    ResultOrder,
    Field(description="`test`: trials of a test side by side, tests with a failure first."),
]
OnlyFlaky = Annotated[
    bool, Field(description="Only tests that passed in some trials and failed in others.")
]


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultList:
    """A page of a run's results."""

    results: list[ResultRow]
    count: int
    total: int
    """How many match the filter in total."""
    next_cursor: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultDetails:
    """A result with its test and its neighbours in the run."""

    run: Run
    result: Result
    test: Test
    """As it was in the run; its file may have changed since."""
    previous_id: UUID | None
    """The result before it in the requested order."""
    next_id: UUID | None


@dataclass(frozen=True, slots=True, kw_only=True)
class QuarantinedTestList:
    """The tests of a run with a quarantine."""

    tests: list[QuarantinedTest]
    count: int


class ResultOperations(OperationGroup):
    """The results of a run."""

    @get(
        "/api/benchmarks/runs/{run_id}/quarantined",
        id="list_quarantined_tests",
        tag="runs",
        errors=(404,),
    )
    async def quarantined_tests(self, run_id: UUID) -> QuarantinedTestList:
        """The tests of a run with a quarantine, also those whose quarantine is over."""
        await self.arena.runs.get(run_id, self.named_team)
        tests = list(await self.arena.runs.quarantined(run_id))
        return QuarantinedTestList(tests=tests, count=len(tests))

    @get(
        "/api/benchmarks/runs/{run_id}/results",
        id="list_results",
        tag="runs",
        errors=(404,),
    )
    async def result_rows(
        self,
        run_id: UUID,
        *,
        outcome: WhichOutcome = None,
        category: NameFilter = None,
        test_id: TestId | None = None,
        flaky: OnlyFlaky = False,
        order: Order = "recorded",
        limit: Limit = 1000,
        cursor: Cursor = None,
    ) -> ResultList:
        """List the results of a run without the outputs, by default as they were recorded."""
        # Raises NotFound for a run of another team.
        await self.arena.runs.get(run_id, self.named_team)
        selection = ResultFilter(
            outcome=outcome, category=category, test_id=test_id, is_flaky=flaky
        )
        rows, total = await self.arena.runs.rows(
            run_id, selection, order=order, after=paging.decode_number(cursor), limit=limit + 1
        )
        page = list(rows[:limit])
        return ResultList(
            results=page,
            count=len(page),
            total=total,
            next_cursor=paging.encode(page[-1].sequence) if len(rows) > limit else None,
        )

    @get(
        "/api/benchmarks/runs/{run_id}/results/{result_id}",
        id="get_result",
        tag="runs",
        errors=(404,),
    )
    async def result(
        self,
        run_id: UUID,
        result_id: UUID,
        *,
        outcome: WhichOutcome = None,
        category: NameFilter = None,
        test_id: TestId | None = None,
        flaky: OnlyFlaky = False,
        order: Order = "recorded",
    ) -> ResultDetails:
        """One result in full, with its frozen test and its neighbours that match the filter."""
        run = await self.arena.runs.get(run_id, self.named_team)
        selection = ResultFilter(
            outcome=outcome, category=category, test_id=test_id, is_flaky=flaky
        )
        placed = await self.arena.runs.result(run_id, result_id, selection, order)
        return ResultDetails(
            run=run,
            result=placed.result,
            test=placed.test,
            previous_id=placed.previous_id,
            next_id=placed.next_id,
        )
