"""The results of a run: listed without what was said, and each one in full."""

from typing import Annotated, Literal
from uuid import UUID

from fastapi import Depends, Query

from arena import schemas
from arena.api.access import NamedTeam
from arena.api.arena import House
from arena.api.problems import responses
from arena.api.room import room_router
from arena.api.routes import runs, tests
from arena.operations import paging
from arena.runs.run import ResultFilter

router = room_router("/api/benchmarks/runs/{run_id}/results", "runs")


def _wanted(
    outcome: Annotated[
        Literal["passed", "failed", "awaiting"] | None,
        Query(description="Only these results; `awaiting` are those that people have to judge."),
    ] = None,
    category: Annotated[str | None, Query(max_length=100)] = None,
    test_id: Annotated[str | None, Query(max_length=50)] = None,
    flaky: Annotated[
        bool, Query(description="Only tests that passed in some trials and failed in others.")
    ] = False,
) -> ResultFilter:
    return ResultFilter(outcome=outcome, category=category, test_id=test_id, is_flaky=flaky)


Wanted = Annotated[ResultFilter, Depends(_wanted)]


@router.get("", responses=responses(404))
async def list_results(
    house: House,
    team: NamedTeam,
    run_id: UUID,
    wanted: Wanted,
    limit: paging.Limit = 1000,
    cursor: paging.Cursor = None,
) -> schemas.ResultList:
    """List the results of a run, in the order they were recorded, without the outputs."""
    await house.runs.get(run_id, team)
    rows, total = await house.runs.rows(
        run_id, wanted, after=paging.decode_number(cursor), limit=limit + 1
    )
    page = rows[:limit]
    return schemas.ResultList(
        results=[schemas.ResultRow.model_validate(row) for row in page],
        count=len(page),
        total=total,
        next_cursor=paging.encode(page[-1].sequence) if len(rows) > limit else None,
    )


@router.get("/{result_id}", responses=responses(404))
async def get_result(
    house: House, team: NamedTeam, run_id: UUID, result_id: UUID, wanted: Wanted
) -> schemas.ResultDetails:
    """One result in full, with the test as it was asked, and its neighbours among those wanted."""
    run = await house.runs.get(run_id, team)
    placed = await house.runs.result(run_id, result_id, wanted)
    return schemas.ResultDetails(
        run=runs.shown(run),
        result=runs.shown_result(placed.result),
        test=tests.shown(placed.test),
        previous_id=placed.previous_id,
        next_id=placed.next_id,
    )
