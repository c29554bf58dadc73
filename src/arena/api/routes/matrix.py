"""Tests against agents: how each test went with each."""

from typing import Annotated

from fastapi import Query

from arena import schemas
from arena.api.access import Team
from arena.api.arena import House
from arena.api.problems import responses
from arena.api.room import room_router
from arena.api.routes.scores import named
from arena.operations import paging
from arena.scoring import MatrixRow, TestOutcome

router = room_router("/api/benchmarks", "scores")


@router.get("/compare/tests", responses=responses())
async def compare_tests(
    house: House,
    team: Team,
    agents: Annotated[
        str, Query(max_length=4000, examples=["qa-web-manager:1.0.0,qa-mobile-manager:1.0.0"])
    ],
    differing: Annotated[bool, Query(description="Only tests on which they differ.")] = False,
    limit: paging.Limit = 500,
    cursor: paging.Cursor = None,
) -> schemas.Matrix:
    """Every test of the agents' latest full runs, and how it went with each of them."""
    subjects = named(agents, team)
    runs, rows = await house.scores.matrix(subjects)
    fitting = [row for row in rows if row.differs] if differing else rows
    start = paging.decode_number(cursor)
    page = fitting[start : start + limit]
    return schemas.Matrix(
        agents=[schemas.MatrixAgent(agent=key, run_id=run_id) for key, run_id in runs.items()],
        without_run=[str(subject) for subject in subjects if str(subject) not in runs],
        rows=[_shown(row) for row in page],
        count=len(page),
        total=len(fitting),
        tests=len(rows),
        differing=sum(row.differs for row in rows),
        next_cursor=paging.encode(start + limit) if start + limit < len(fitting) else None,
    )


def _shown(row: MatrixRow) -> schemas.MatrixRow:
    return schemas.MatrixRow(
        test_id=row.test_id,
        name=row.name,
        category=row.category,
        is_edited=row.is_edited,
        differs=row.differs,
        cells=[_shown_cell(outcome) for outcome in row.outcomes],
    )


def _shown_cell(outcome: TestOutcome | None) -> schemas.MatrixCell | None:
    if outcome is None:
        return None
    return schemas.MatrixCell(
        trials=outcome.trials, passed=outcome.passed, result_id=outcome.result_id
    )
