"""Lists page without gaps and without repeats."""

import httpx2
import pytest

LISTS = ("/api/benchmarks/tests", "/api/benchmarks/runs", "/api/benchmarks/runs/{run_id}")


async def collected(api: httpx2.AsyncClient, path: str, key: str, limit: int) -> list[str]:
    """Every id of a list, page by page; each page but the last is full."""
    found: list[str] = []
    cursor: str | None = None
    while True:
        query = {"limit": limit} if cursor is None else {"limit": limit, "cursor": cursor}
        page = (await api.get(path, params=query)).json()
        assert page["count"] == len(page[key]) <= limit
        found += [str(item.get("id") or item.get("test_id")) for item in page[key]]
        cursor = page["next_cursor"]
        if cursor is None:
            return found
        assert page["count"] == limit


@pytest.fixture
async def run_id(local: httpx2.AsyncClient) -> str:
    body = {"agent_id": "parrot", "trials": 3}
    run_id = (await local.post("/api/benchmarks/run", json=body)).json()["run_id"]
    await local.post(f"/api/benchmarks/run/{run_id}/execute")
    return run_id


async def test_tests_page_without_gaps(local: httpx2.AsyncClient):
    everything = (await local.get("/api/benchmarks/tests")).json()["tests"]
    for limit in (1, 4, 5, 21, 22, 23, 1000):
        found = await collected(local, "/api/benchmarks/tests", "tests", limit)
        assert found == [test["test_id"] for test in everything]
        assert len(set(found)) == 22


async def test_results_page_without_gaps(local: httpx2.AsyncClient, run_id: str):
    for limit in (1, 4, 5, 15, 16):
        found = await collected(local, f"/api/benchmarks/runs/{run_id}", "results", limit)
        assert len(found) == len(set(found)) == 15


async def test_runs_page_without_gaps_while_new_ones_are_created(api: httpx2.AsyncClient):
    async def create() -> str:
        answer = await api.post("/api/benchmarks/run", json={"agent_id": "parrot"})
        return answer.json()["run_id"]

    created = [await create() for _ in range(7)]
    for limit in (1, 3, 7, 8):
        assert await collected(api, "/api/benchmarks/runs", "runs", limit) == created[::-1]
    first = (await api.get("/api/benchmarks/runs", params={"limit": 3})).json()
    await create()
    query = {"limit": 1000, "cursor": first["next_cursor"]}
    rest = (await api.get("/api/benchmarks/runs", params=query)).json()
    ids = [run["id"] for run in (*first["runs"], *rest["runs"])]
    assert ids == created[::-1]


@pytest.mark.parametrize("path", LISTS)
async def test_a_limit_is_between_1_and_1000(local: httpx2.AsyncClient, run_id: str, path: str):
    for limit in ("0", "-1", "1001", "x", "1.5", "", "9" * 400):
        answer = await local.get(path.format(run_id=run_id), params={"limit": limit})
        assert (answer.status_code, answer.json()["code"]) == (422, "invalid_input")
        assert answer.json()["errors"][0]["at"] == "query.limit"


BAD_CURSORS = [
    "x",
    "",
    "%00",
    "AAAA",
    "é",
    "=" * 9,
    "OTk5OTk5OTk5OTk5OTk5OTk5OTk",  # a number that is too large
    "MDAwMS0wMS0wMVQwMA",  # half a timestamp
]


@pytest.mark.parametrize("path", LISTS)
async def test_an_invalid_cursor_is_refused(local: httpx2.AsyncClient, run_id: str, path: str):
    for cursor in BAD_CURSORS:
        answer = await local.get(path.format(run_id=run_id), params={"cursor": cursor})
        assert (answer.status_code, answer.json()["code"]) == (422, "invalid_input")
