"""Reviews over HTTP."""

import json
from collections.abc import AsyncIterator
from typing import Any
from uuid import uuid4

import httpx2
import pytest

from arena.settings import Settings
from factories import write_checklist


@pytest.fixture(autouse=True)
def odes(settings: Settings) -> None:
    """One more test, there before the API is opened: one that people have to judge."""
    write_checklist(settings.home / "benchmarks" / "odes.yaml", agents=["parrot"])


@pytest.fixture
async def run_id(api: httpx2.AsyncClient) -> str:
    """A run that waits for people to judge one of its six results."""
    made = await api.post("/api/benchmarks/run", json={"agent_id": "parrot"})
    ident = made.json()["run_id"]
    executed = (await api.post(f"/api/benchmarks/run/{ident}/execute")).json()
    assert (executed["status"], executed["awaiting"]) == ("awaiting_review", 1)
    return ident


async def only(api: httpx2.AsyncClient, **query: str) -> dict[str, Any]:
    (review,) = (await api.get("/api/reviews", params=query)).json()["reviews"]
    return review


def answers(*passed: bool, reviewer: str = "mia") -> dict[str, object]:
    listed = [{"item": item, "passed": one} for item, one in enumerate(passed)]
    return {"reviewer": reviewer, "answers": listed}


async def test_a_run_is_judged_and_completed_over_http(api: httpx2.AsyncClient, run_id: str):
    review = await only(api, status="open", subject=f"run:{run_id}")
    path = f"/api/reviews/{review['id']}"
    assert review["subject"] == {"kind": "run", "id": run_id, "part": "odes_00001:1"}
    details = (await api.get(path)).json()
    assert (details["prompt"], details["submission"]) == ("say word1", "SAY WORD1")
    assert [item["text"] for item in details["items"]] == ["clear", "true", "short"]

    part = (await api.post(path, json=answers(True, reviewer="bob"))).json()
    assert part["review"]["status"] == "open"
    assert [item["passed"] for item in part["items"]] == [True, None, None]
    details = (await api.get(f"/api/benchmarks/runs/{run_id}?outcome=awaiting")).json()
    assert [(one["passed"], one["score"]) for one in details["results"]] == [(None, None)]
    assert details["run"]["status"] == "awaiting_review"

    done = (await api.post(path, json=answers(True, True, False))).json()
    assert done["review"]["status"] == "done"
    assert done["agreement"]["share"] == 1.0
    run = (await api.get(f"/api/benchmarks/runs/{run_id}")).json()["run"]
    assert (run["status"], run["passed_tests"], run["score_percent"]) == ("completed", 6, 100.0)
    assert (await api.get("/api/reviews?status=open")).json()["count"] == 0


async def test_unanswerable_requests_are_distinguished(api: httpx2.AsyncClient, run_id: str):
    review = await only(api)
    path = f"/api/reviews/{review['id']}"
    other = await api.post(path, params={"team_id": "others"}, json=answers(True))
    assert (other.status_code, other.json()["code"]) == (404, "not_found")
    assert (await api.get(path, params={"team_id": "others"})).status_code == 404
    assert (await api.post(f"/api/reviews/{uuid4()}", json=answers(True))).status_code == 404
    refused = await api.post(path, json=answers(True, True, True, True))
    assert (refused.status_code, refused.json()["detail"]) == (
        422,
        "there is no item 3: its items are 0 to 2",
    )
    for bad in (
        {"answers": []},
        {"answers": [{"item": 0, "passed": "yes"}]},
        {"answers": [{"item": 0, "passed": True, "place": [7]}]},
        {"answers": [{"item": 0, "passed": True}] * 2},
        {"answers": [{"item": 0, "passed": True, "note": "nul \0"}]},
        {"reviewer": "", "answers": [{"item": 0, "passed": True}]},
    ):
        assert (await api.post(path, json=bad)).status_code == 422, bad
    assert (await api.post(path, json=answers(True, True, True))).status_code == 200
    late = await api.post(path, json=answers(False))
    assert (late.status_code, late.json()["code"]) == (409, "conflict")
    assert (await api.get("/api/reviews?subject=walk:7")).status_code == 422


async def test_answered_reviews_can_be_settled_by_hand(api: httpx2.AsyncClient, run_id: str):
    assert (await api.post("/api/reviews/settle")).json() == {"settled": [], "waiting": []}


async def test_the_state_of_the_reviews_is_streamed(api: httpx2.AsyncClient, run_id: str):
    review = await only(api)
    async with api.stream("GET", "/api/reviews/events") as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        lines = response.aiter_lines()
        assert await next_data(lines) == {"open": 1, "answered": 0, "done": 0, "cancelled": 0}
        await api.post(f"/api/reviews/{review['id']}", json=answers(True, True, True))
        while (now := await next_data(lines))["done"] == 0:
            pass
        assert now["open"] == 0


async def next_data(lines: AsyncIterator[str]) -> dict[str, int]:
    """The data of the next event."""
    async for line in lines:
        key, _, value = line.partition(": ")
        if key == "data":
            return json.loads(value)
    raise AssertionError("the stream has ended")
