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


def counts(answer: httpx2.Response) -> dict[str, int]:
    body = answer.json()
    assert len(body.pop("execution_ids")) == sum(body.values())
    return body


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
    assert counts(answer) == {"accepted": 5, "duplicates": 0}
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
    assert counts(first) == {"accepted": 3, "duplicates": 1}
    again = await report(
        api, done("failed", idempotency_key="b"), done(idempotency_key="a", cost_usd=1.0)
    )
    assert counts(again) == {"accepted": 1, "duplicates": 1}
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
        {"output": "something"},
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
    assert counts(await report(api, execution)) == {"accepted": 0, "duplicates": 1}


async def test_each_team_has_its_own_keys(api: httpx2.AsyncClient, era: str):
    await report(api, done(idempotency_key="k"))
    body = {"executions": [done("failed", idempotency_key="k")]}
    answer = await api.post("/executions", json=body, params={"team_id": f"{era}-blue"})
    assert counts(answer) == {"accepted": 1, "duplicates": 0}
    assert await success_rate(api) == (100.0, 1)


async def test_a_thousand_are_accepted_and_one_more_is_not(
    house: Arena, api: httpx2.AsyncClient, team: str
):
    batch = [done(idempotency_key=str(number)) for number in range(1001)]
    answer = await report(api, *batch)
    assert answer.status_code == 422
    assert "1000" in answer.json()["detail"]
    assert await count(house, team) == 0
    assert counts(await report(api, *batch[:1000])) == {"accepted": 1000, "duplicates": 0}
    assert counts(await report(api, *batch[:1000])) == {"accepted": 0, "duplicates": 1000}
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
    assert counts(await report(api, execution)) == {"accepted": 1, "duplicates": 0}
    assert counts(await report(api, execution)) == {"accepted": 0, "duplicates": 1}


SAID = [
    {"role": "user", "content": "Which day?"},
    {"role": "assistant", "content": "Monday"},
]
STEPS: list[dict[str, object]] = [
    {"tool": "calendar", "arguments": {"day": 1, "at": 1e2}, "result": [1.0, None], "turn": 1},
    {"tool": "calendar", "error": "gone", "time": "2026-01-02T03:04:05Z"},
]


async def test_an_execution_may_say_what_happened(api: httpx2.AsyncClient):
    full = done(idempotency_key="told", messages=SAID, steps=STEPS, output="Monday")
    first = (await report(api, full)).json()
    again = (await report(api, full)).json()
    assert (again["accepted"], again["duplicates"]) == (0, 1)
    assert again["execution_ids"] == first["execution_ids"]
    (execution_id,) = first["execution_ids"]
    for name in (execution_id, "told"):
        body = (await api.get(f"/executions/{name}")).json()
        assert (body["id"], body["status"], body["output"]) == (
            execution_id,
            "completed",
            "Monday",
        )
        assert body["messages"][0] == {"role": "user", "content": "Which day?"}
        assert [step["tool"] for step in body["steps"]] == ["calendar", "calendar"]
        assert body["steps"][0]["arguments"] == {"day": 1, "at": 100.0}
        assert (body["steps"][0]["turn"], body["steps"][1]["error"]) == (1, "gone")
    changed = full | {"steps": [STEPS[0]]}
    assert (await report(api, changed)).status_code == 409


async def test_an_execution_without_a_transcript_has_none(api: httpx2.AsyncClient):
    (execution_id,) = (await report(api, done())).json()["execution_ids"]
    body = (await api.get(f"/executions/{execution_id}")).json()
    assert (body["messages"], body["steps"], body["output"]) == (None, None, None)


async def test_an_execution_of_another_team_is_not_found(api: httpx2.AsyncClient):
    (execution_id,) = (await report(api, done())).json()["execution_ids"]
    answer = await api.get(f"/executions/{execution_id}", params={"team_id": "strangers"})
    assert answer.status_code == 404
    assert (await api.get("/executions/nothing")).status_code == 404


@pytest.mark.parametrize(
    "told",
    [
        {"output": "x" * (1024 * 1024 + 1)},
        {"messages": [{"role": "robot", "content": "x"}]},
        {"messages": [{"role": "user"}]},
        {"steps": [{"tool": ""}]},
        {"steps": [{"tool": "x", "arguments": "y" * (1024 * 1024)}]},
        {"steps": [{"tool": "x"}] * 1001},
    ],
    ids=["output", "role", "content", "tool", "size", "number"],
)
async def test_a_transcript_that_cannot_be_kept_is_refused(
    house: Arena, api: httpx2.AsyncClient, team: str, told: dict[str, object]
):
    assert (await report(api, done(), done(**told))).status_code == 422
    assert await count(house, team) == 0


async def test_a_reported_execution_becomes_a_test(api: httpx2.AsyncClient):
    messages = [{"role": "user", "content": "Which day?"}]
    await report(api, done(idempotency_key="j", messages=messages, output="Monday"))
    answer = await api.post("/test-from-execution", json={"execution": "j"})
    assert answer.status_code == 200
    assert "exact" in answer.json()["yaml"]
    body = {"execution": "j", "expect": ["Tuesday"], "test_id": "mine"}
    written = (await api.post("/test-from-execution", json=body)).json()
    assert written["test_id"] == "mine"
    assert "- Tuesday" in written["yaml"]
