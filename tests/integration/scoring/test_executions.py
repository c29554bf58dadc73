"""Executions that a user's own system reports."""

import asyncio
from typing import Any

import httpx2
import pytest
from sqlalchemy import func, select

from arena.assembly import Arena
from arena.store.tables.scores import Executions

pytestmark = pytest.mark.asyncio(loop_scope="module")


def done(status: str = "completed", **keys: object) -> dict[str, object]:
    return {"agent_id": "parrot", "version": "1.0.0", "status": status, **keys}


async def report(api: httpx2.AsyncClient, *executions: dict[str, object]) -> httpx2.Response:
    return await api.post("/executions", json={"executions": list(executions)})


async def rows(house: Arena, team: str) -> list[Any]:
    query = select(Executions.__table__).where(Executions.team_id == team)
    async with house.database.reading() as connection:
        return list((await connection.execute(query)).all())


async def count(house: Arena, team: str) -> int:
    query = select(func.count()).where(Executions.team_id == team)
    async with house.database.reading() as connection:
        return (await connection.execute(query)).scalar_one()


async def success_rate(api: httpx2.AsyncClient) -> tuple[float, int]:
    (entry,) = (await api.get("/leaderboard")).json()["leaderboard"]
    return entry["success_rate_score"], entry["execution_count"]


async def test_only_completed_is_a_success_and_every_status_counts(api: httpx2.AsyncClient):
    statuses = ("completed", "failed", "timeout", "error", "cancelled")
    answer = await report(api, *(done(status) for status in statuses))
    assert answer.json() == {"accepted": 5, "duplicates": 0}
    assert await success_rate(api) == (20.0, 5)


@pytest.mark.parametrize("status", ["success", "Completed", "running", "pending", "", None])
async def test_other_words_for_a_status_are_refused(api: httpx2.AsyncClient, status: str | None):
    answer = await report(api, done(), done(status))  # type: ignore[arg-type]
    assert answer.status_code == 422
    assert "body.executions.1.status" in answer.json()["detail"]
    assert (await api.get("/leaderboard")).json()["total"] == 0


async def test_a_reported_execution_is_stored(house: Arena, api: httpx2.AsyncClient, team: str):
    execution = done(
        input_tokens=1200,
        output_tokens=300,
        model="a-model-of-my-own",
        cost_usd=0.25,
        duration_seconds=1.5,
        finished_at="2026-01-02T03:04:05+02:00",
        idempotency_key="k",
    )
    await report(api, execution)
    (row,) = await rows(house, team)
    assert (row.source, row.status, row.idempotency_key) == ("reported", "completed", "k")
    assert (row.input_tokens, row.output_tokens, row.model) == (1200, 300, "a-model-of-my-own")
    assert (row.cost_usd, row.duration_seconds) == (0.25, 1.5)
    assert row.created_at.isoformat() == "2026-01-02T01:04:05+00:00"


async def test_the_price_is_known_where_the_model_is(
    house: Arena, api: httpx2.AsyncClient, team: str
):
    tokens = {"input_tokens": 1_000_000, "output_tokens": 0}
    await report(
        api,
        done(model="gpt-4o", idempotency_key="known", **tokens),
        done(model="nobody-has-heard-of-it", idempotency_key="unknown", **tokens),
        done(model="gpt-4o", cost_usd=0.5, idempotency_key="told", **tokens),
        done(model="gpt-4o", idempotency_key="no tokens"),
    )
    costs = {row.idempotency_key: row.cost_usd for row in await rows(house, team)}
    assert costs == {"known": 2.5, "unknown": None, "told": 0.5, "no tokens": None}


async def test_a_key_is_counted_once_in_a_batch_and_across_batches(
    house: Arena, api: httpx2.AsyncClient, team: str
):
    first = await report(api, done(idempotency_key="a"), done(idempotency_key="a"), done(), done())
    assert first.json() == {"accepted": 3, "duplicates": 1}
    again = await report(
        api, done("failed", idempotency_key="b"), done(idempotency_key="a", cost_usd=1.0)
    )
    assert again.json() == {"accepted": 1, "duplicates": 1}
    assert await count(house, team) == 4
    assert await success_rate(api) == (75.0, 4)


async def test_a_key_is_counted_once_by_many_at_once(
    house: Arena, api: httpx2.AsyncClient, team: str
):
    batch = [done(idempotency_key=f"k{number}") for number in range(5)]
    answers = await asyncio.gather(*(report(api, *batch) for _ in range(12)))
    assert {answer.status_code for answer in answers} == {200}
    assert sum(answer.json()["accepted"] for answer in answers) == 5
    assert await count(house, team) == 5
    assert await success_rate(api) == (100.0, 5)


@pytest.mark.parametrize(
    "changed",
    [
        {"status": "failed"},
        {"version": "2.0.0"},
        {"agent_id": "mute"},
        {"input_tokens": 11},
        {"model": "another"},
        {"duration_seconds": 0.123457},
    ],
    ids=str,
)
async def test_a_key_used_for_something_else_refuses_the_whole_batch(
    house: Arena, api: httpx2.AsyncClient, team: str, changed: dict[str, object]
):
    execution = done(idempotency_key="k", input_tokens=10, model="m", duration_seconds=0.123456)
    await report(api, execution)
    answer = await report(api, done(), execution | changed, done())
    assert answer.status_code == 409
    assert "'k'" in answer.json()["detail"]
    assert await count(house, team) == 1
    answer = await report(
        api, done(), done(idempotency_key="n"), done("error", idempotency_key="n")
    )
    assert answer.status_code == 409
    assert await count(house, team) == 1
    assert await success_rate(api) == (100.0, 1)
    assert (await report(api, execution)).json() == {"accepted": 0, "duplicates": 1}


async def test_each_team_has_its_own_keys(api: httpx2.AsyncClient, era: str):
    await report(api, done(idempotency_key="k"))
    body = {"executions": [done("failed", idempotency_key="k")]}
    answer = await api.post("/executions", json=body, params={"team_id": f"{era}-blue"})
    assert answer.json() == {"accepted": 1, "duplicates": 0}
    assert await success_rate(api) == (100.0, 1)


async def test_a_thousand_are_accepted_and_one_more_is_not(
    house: Arena, api: httpx2.AsyncClient, team: str
):
    batch = [done(idempotency_key=str(number)) for number in range(1001)]
    answer = await report(api, *batch)
    assert answer.status_code == 422
    assert "1000" in answer.json()["detail"]
    assert await count(house, team) == 0
    assert (await report(api, *batch[:1000])).json() == {"accepted": 1000, "duplicates": 0}
    assert (await report(api, *batch[:1000])).json() == {"accepted": 0, "duplicates": 1000}
    assert await success_rate(api) == (100.0, 1000)
    assert (await report(api)).status_code == 422


@pytest.mark.parametrize(
    "invalid_field",
    [
        '"input_tokens": -1',
        '"input_tokens": 1.5',
        '"output_tokens": 1e300',
        '"output_tokens": 10000000000001',
        '"cost_usd": -0.01',
        '"cost_usd": NaN',
        '"cost_usd": 1e400',
        '"cost_usd": -Infinity',
        '"duration_seconds": -1',
        '"duration_seconds": NaN',
        '"duration_seconds": 1e12',
        '"finished_at": "2026-01-01T00:00:00"',
        '"finished_at": "0001-01-01T00:00:00+14:00"',
        '"finished_at": "soon"',
        '"idempotency_key": ""',
        '"idempotency_key": "nul \\u0000"',
        '"agent_id": ""',
        '"verdict": "good"',
    ],
)
async def test_a_bad_value_refuses_the_whole_batch(
    house: Arena, api: httpx2.AsyncClient, team: str, invalid_field: str
):
    fine = '{"agent_id": "parrot", "status": "completed"}'
    bad = '{"agent_id": "parrot", "status": "completed", ' + invalid_field + "}"
    answer = await api.post(
        "/executions",
        content=f'{{"executions": [{fine}, {bad}]}}',
        headers={"content-type": "application/json"},
    )
    assert answer.status_code == 422, answer.text
    assert "body.executions.1." in answer.json()["detail"]
    assert await count(house, team) == 0


async def test_an_unknown_agent_refuses_the_whole_batch(
    house: Arena, api: httpx2.AsyncClient, team: str
):
    answer = await report(api, done(), done(agent_id="parot"))
    assert answer.status_code == 404
    assert "parot" in answer.json()["detail"]
    assert await count(house, team) == 0


@pytest.mark.parametrize("seconds", [1.2345665, 0.0000005, 12345.6789015, 999_999_999.9999995])
async def test_a_repeated_execution_is_a_duplicate_however_precise_its_duration(
    api: httpx2.AsyncClient, seconds: float
):
    execution = done(duration_seconds=seconds, idempotency_key="k")
    assert (await report(api, execution)).json() == {"accepted": 1, "duplicates": 0}
    assert (await report(api, execution)).json() == {"accepted": 0, "duplicates": 1}
