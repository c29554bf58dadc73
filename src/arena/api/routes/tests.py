"""What is asked: the tests and the state of their files."""

from typing import Annotated

from fastapi import Query

from arena import schemas
from arena.api.arena import House
from arena.api.problems import responses
from arena.api.room import room_router
from arena.catalog import Test
from arena.errors import NotFound
from arena.operations import paging

router = room_router("/api/benchmarks", "tests")


@router.get("/tests", responses=responses())
async def list_tests(
    house: House,
    category: Annotated[str | None, Query(examples=["navigation"])] = None,
    agent_id: Annotated[str | None, Query(description="Only tests for this agent.")] = None,
    tag: str | None = None,
    include_inactive: bool = False,
    limit: paging.Limit = 1000,
    cursor: paging.Cursor = None,
) -> schemas.TestList:
    """List the tests of the catalog."""
    tests = [
        test
        for test in house.catalog.current.tests
        if (category is None or test.category == category)
        and (test.active or include_inactive)
        and (agent_id is None or test.is_for(agent_id))
        and (tag is None or tag in test.tags)
    ]
    start = paging.decode_number(cursor)
    page = tests[start : start + limit]
    has_more = start + limit < len(tests)
    return schemas.TestList(
        tests=list(page),
        count=len(page),
        total=len(tests),
        next_cursor=paging.encode(start + limit) if has_more else None,
    )


@router.get("/tests/{test_id}", responses=responses(404))
async def get_test(house: House, test_id: str) -> Test:
    """One test of the catalog."""
    by_id = house.catalog.current.by_id
    if test_id not in by_id:
        raise NotFound.among("test", test_id, by_id)
    return by_id[test_id]


@router.get("/catalog", responses=responses())
async def get_catalog(house: House) -> schemas.CatalogState:
    """The files of the catalog, and every problem in them."""
    catalog = house.catalog.current
    return schemas.CatalogState(
        digest=catalog.digest,
        loaded_at=catalog.loaded_at,
        tests=len(catalog.tests),
        sources=[schemas.CatalogSource.model_validate(source) for source in catalog.sources],
        problems=[
            schemas.CatalogProblem(
                file=str(problem.file),
                line=problem.line,
                column=problem.column,
                message=problem.message,
            )
            for problem in catalog.problems
        ],
    )
