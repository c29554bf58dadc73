"""Runs over HTTP, by the paths, names and messages of the document."""

import asyncio
from uuid import uuid4

import httpx2
import pytest

from arena.settings import Settings
from factories import write_agent, write_tests

TEAM = {"team_id": "my team/1"}
"""A team may be called anything."""


async def create(api: httpx2.AsyncClient, agent_id: str = "parrot", **body: object) -> str:
    answer = await api.post("/api/benchmarks/run", params=TEAM, json={"agent_id": agent_id, **body})
    assert answer.status_code == 200, answer.text
    return answer.json()["run_id"]


async def test_the_flow_of_the_document(api: httpx2.AsyncClient):
    body = {"agent_id": "parrot", "version": "1.0.0"}
    created = (await api.post("/api/benchmarks/run", params=TEAM, json=body)).json()
    run_id = created.pop("run_id")
    assert created == {
        "agent_id": "parrot",
        "version": "1.0.0",
        "total_tests": 5,
        "status": "pending",
        "message": (
            "Benchmark run created. Execute /api/benchmarks/run/{run_id}/execute to start."
        ),
        "suite": "custom",
        "suite_version": created["suite_version"],
        "is_full": True,
        "files": ["benchmarks/parrot.yaml"],
        "partial_because": None,
        "unpriced_models": [],
    }
    executed = await api.post(f"/api/benchmarks/run/{run_id}/execute", params=TEAM)
    assert executed.status_code == 200
    summary = executed.json()
    assert (summary["run_id"], summary["status"]) == (run_id, "completed")
    assert (summary["passed"], summary["failed"], summary["score_percent"]) == (5, 0, 100.0)

    query = {**TEAM, "agent_id": "parrot", "limit": 20}
    listed = (await api.get("/api/benchmarks/runs", params=query)).json()
    assert listed["count"] == 1
    (run,) = listed["runs"]
    assert (run["id"], run["agent_id"], run["agent_version"]) == (run_id, "parrot", "1.0.0")
    assert (run["status"], run["total_tests"]) == ("completed", 5)
    assert (run["passed_tests"], run["failed_tests"], run["score_percent"]) == (5, 0, 100.0)
    assert run["started_at"] <= run["completed_at"]
    assert run["started_at"].endswith("Z")

    # The document's last call names no team, although the run was created with one.
    details = (await api.get(f"/api/benchmarks/runs/{run_id}")).json()
    assert details["run"] == run
    assert {result["test_id"] for result in details["results"]} == {
        f"parrot_{number:05}" for number in range(1, 6)
    }
    first = details["results"][0]
    assert (first["passed"], first["points_earned"]) == (True, 1.0)
    assert first["duration_seconds"] > 0
    assert first["actual_output"]["output"].startswith("SAY WORD")


async def test_a_run_can_be_started_without_waiting(api: httpx2.AsyncClient):
    run_id = await create(api)
    path = f"/api/benchmarks/run/{run_id}/execute"
    answer = await api.post(path, params={**TEAM, "wait": "false"})
    assert (answer.status_code, answer.json()["status"]) == (202, "running")
    while True:
        run = (await api.get(f"/api/benchmarks/runs/{run_id}")).json()["run"]
        if run["status"] == "completed":
            break
        await asyncio.sleep(0.02)
    assert run["passed_tests"] == 5


async def test_a_run_is_executed_once(api: httpx2.AsyncClient):
    run_id = await create(api)
    path = f"/api/benchmarks/run/{run_id}/execute"
    assert (await api.post(path, params=TEAM)).status_code == 200
    again = await api.post(path, params=TEAM)
    assert (again.status_code, again.json()["code"]) == (409, "conflict")
    assert again.json()["detail"] == f"run {run_id} is completed, it cannot be executed"
    resumed = await api.post(f"/api/benchmarks/runs/{run_id}/resume", params=TEAM)
    assert resumed.status_code == 409
    cancelled = await api.post(f"/api/benchmarks/runs/{run_id}/cancel", params=TEAM)
    assert cancelled.status_code == 409


@pytest.mark.parametrize("action", ["run/{}/execute", "runs/{}/resume", "runs/{}/cancel"])
async def test_an_unknown_run_or_one_of_another_team_is_not_found(local, action: str):
    mine = await create(local)
    for run_id in (uuid4(), mine):
        answer = await local.post(
            f"/api/benchmarks/{action.format(run_id)}", params={"team_id": "other"}
        )
        assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
    assert (await local.get(f"/api/benchmarks/runs/{mine}")).json()["run"]["status"] == "pending"


async def test_a_request_with_a_team_sees_only_its_runs(api: httpx2.AsyncClient):
    run_id = await create(api)
    path = f"/api/benchmarks/runs/{run_id}"
    assert (await api.get(path, params=TEAM)).status_code == 200
    assert (await api.get(path, params={"team_id": "other"})).status_code == 404
    assert (await api.get(path, headers={"X-Team-ID": "other"})).status_code == 404
    assert (await api.get("/api/benchmarks/runs")).json()["count"] == 0


async def test_the_team_is_taken_from_the_query_then_from_the_header(local: httpx2.AsyncClient):
    async def team_of(**request: object) -> str:
        answer = await local.post("/api/benchmarks/run", json={"agent_id": "parrot"}, **request)
        details = await local.get(f"/api/benchmarks/runs/{answer.json()['run_id']}")
        return details.json()["run"]["team_id"]

    both = {"params": {"team_id": "query"}, "headers": {"X-Team-ID": "header"}}
    assert await team_of(**both) == "query"
    assert await team_of(headers=both["headers"]) == "header"
    assert await team_of() == "default"


async def test_a_cancelled_run_stays_cancelled(api: httpx2.AsyncClient):
    run_id = await create(api)
    answer = await api.post(f"/api/benchmarks/runs/{run_id}/cancel", params=TEAM)
    assert (answer.status_code, answer.json()["status"]) == (200, "cancelled")
    again = await api.post(f"/api/benchmarks/run/{run_id}/execute", params=TEAM)
    assert again.status_code == 409


async def test_a_run_that_failed_for_infrastructure_is_reported_and_resumed(
    api: httpx2.AsyncClient, settings: Settings
):
    folder = settings.home / "agents"
    (folder / "absent.yaml").write_text(
        "id: absent\nname: Absent\ndescription: Not installed\n"
        "connector: {type: command, command: ./not-there}\n"
    )
    run_id = await create(api, "absent")
    executed = (await api.post(f"/api/benchmarks/run/{run_id}/execute", params=TEAM)).json()
    assert (executed["status"], executed["errored"]) == ("failed", executed["total_tests"])
    assert "not-there" in executed["error_message"]
    details = (await api.get(f"/api/benchmarks/runs/{run_id}")).json()
    assert details["errors"] and details["results"] == []
    program = folder / "not-there"
    program.write_text("#!/bin/sh\ntr a-z A-Z\n")
    program.chmod(0o755)
    resumed = (await api.post(f"/api/benchmarks/runs/{run_id}/resume", params=TEAM)).json()
    assert (resumed["status"], resumed["errored"]) == ("completed", 0)


async def test_runs_can_be_filtered(local: httpx2.AsyncClient):
    run_id = await create(local)
    other = await create(local, test_ids=["parrot_00001"])
    await local.post(f"/api/benchmarks/run/{other}/execute", params=TEAM)

    async def found(**query: str) -> list[str]:
        answer = await local.get("/api/benchmarks/runs", params={**TEAM, **query})
        return [run["id"] for run in answer.json()["runs"]]

    assert await found() == [other, run_id]
    assert await found(status="pending") == [run_id]
    assert await found(status="completed", agent_id="parrot") == [other]
    assert await found(agent_id="nobody") == []


async def test_runs_can_be_found_by_the_beginning_of_their_id(api: httpx2.AsyncClient):
    ids = [await create(api) for _ in range(3)]
    for run_id in ids:
        for prefix in (run_id[:8], run_id[:13], run_id[:12].upper(), run_id):
            query = {**TEAM, "id_prefix": prefix}
            page = (await api.get("/api/benchmarks/runs", params=query)).json()
            assert [run["id"] for run in page["runs"]] == [run_id]
            other = {**query, "team_id": "other"}
            assert (await api.get("/api/benchmarks/runs", params=other)).json()["count"] == 0
    for prefix in ("abc", "ab-c", "wxyz", "%%%%", "1234" * 9):
        query = {**TEAM, "id_prefix": prefix}
        assert (await api.get("/api/benchmarks/runs", params=query)).status_code == 422


async def test_results_can_be_filtered_by_outcome(opened, tmp_path):
    home = tmp_path / "home"
    write_agent(home / "agents", "half", "return prompt.upper() if prompt[-1] in '13' else 'no'")
    write_tests(home / "benchmarks" / "half.yaml", count=4, agents=["half"])
    async with opened() as client:
        run_id = await create(client, "half")
        await client.post(f"/api/benchmarks/run/{run_id}/execute", params=TEAM)

        async def results(outcome: str) -> list[dict[str, object]]:
            path = f"/api/benchmarks/runs/{run_id}"
            return (await client.get(path, params={"outcome": outcome})).json()["results"]

        assert [result["passed"] for result in await results("passed")] == [True, True]
        failed = await results("failed")
    assert [result["passed"] for result in failed] == [False, False]
    assert all("is missing" in str(result["failure_reason"]) for result in failed)
    assert all(result["status"] == "completed" for result in failed)


@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        ({"agent_id": "parot"}, 404, "did you mean 'parrot'?"),
        ({"agent_id": "parrot", "version": "9.9.9"}, 404, "9.9.9"),
        ({"agent_id": "parrot", "test_ids": ["parrot_1"]}, 404, "parrot_1"),
        ({"agent_id": "parrot", "test_ids": ["bench_nav_001"]}, 422, "not for 'parrot'"),
        ({"agent_id": "parrot", "category": "parot"}, 404, "did you mean 'parrot'?"),
        ({"agent_id": "parrot", "category": "navigation"}, 422, "no active test"),
        ({"agent_id": "parrot", "trials": 0}, 422, "body.trials"),
        ({"agent_id": "parrot", "trials": "many"}, 422, "body.trials"),
        ({"agent_id": "parrot", "test_ids": []}, 422, "body.test_ids"),
        ({"agent_id": "parrot", "concurrency": 1000}, 422, "body.concurrency"),
        ({"agent_id": "parrot", "agnet": 1}, 422, "body.agnet: unknown field"),
        ({"version": "1.0.0"}, 422, "body.agent_id: is missing"),
        ({"agent_id": ""}, 422, "body.agent_id"),
        ({"agent_id": "x" * 101}, 422, "body.agent_id"),
    ],
)
async def test_an_impossible_run_is_refused_and_not_stored(
    local: httpx2.AsyncClient, body: dict[str, object], status: int, message: str
):
    answer = await local.post("/api/benchmarks/run", json=body)
    assert answer.status_code == status
    assert message in answer.json()["detail"]
    assert (await local.get("/api/benchmarks/runs")).json()["count"] == 0
