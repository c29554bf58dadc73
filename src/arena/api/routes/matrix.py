"""Tests against agents: how each test went with each."""

from dataclasses import replace
from typing import Annotated

from fastapi import Query

from arena import schemas
from arena.api.access import Team
from arena.api.arena import House
from arena.api.problems import responses
from arena.api.room import room_router
from arena.api.routes.scores import named
from arena.operations import paging
from arena.scoring.matrix import Matrix

router = room_router("/api/benchmarks", "scores")


@router.get("/compare/tests", response_model=schemas.Matrix, responses=responses())
async def compare_tests(
    house: House,
    team: Team,
    agents: Annotated[
        str, Query(max_length=4000, examples=["qa-web-manager:1.0.0,qa-mobile-manager:1.0.0"])
    ],
    differing: Annotated[bool, Query(description="Only tests on which they differ.")] = False,
    limit: paging.Limit = 500,
    cursor: paging.Cursor = None,
) -> Matrix:
    """Every test of the agents' latest full runs, and how it went with each of them."""
    start = paging.decode_number(cursor)
    matrix = await house.scores.matrix(
        named(agents, team), only_differing=differing, limit=limit, offset=start
    )
    has_more = start + limit < matrix.total
    return replace(matrix, next_cursor=paging.encode(start + limit) if has_more else None)
