"""Baselines through the API, on both databases: only an explicit request moves one."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID, uuid4

import httpx2
import pytest

from arena.assembly import Arena
from arena.catalog.test import Test
from arena.runs.records.lease import claim
from arena.runs.records.results import add_results
from arena.runs.records.runs import NewRun, create_run, finish
from factories import a_test, executed
from histories import TOKEN, a_run, drive

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def runs_of(api: httpx2.AsyncClient) -> list[dict[str, Any]]:
    """The team's runs, newest first."""
    return (await api.get("/runs")).json()["runs"]


async def set_to(api: httpx2.AsyncClient, name: str, run_id: str, **more: str) -> httpx2.Response:
    body = {"name": name, "run_id": run_id, "by": "ann", **more}
    return await api.post("/baselines", json=body)


async def listed(api: httpx2.AsyncClient, **filters: str) -> list[dict[str, Any]]:
    answer = await api.get("/baselines", params=filters)
    assert answer.status_code == 200, answer.text
    return answer.json()["baselines"]


async def full_run(api: httpx2.AsyncClient, agent: str = "parrot") -> dict[str, Any]:
    created = (await api.post("/run", json={"agent_id": agent, "version": "1.0.0"})).json()
    await api.post(f"/run/{created['run_id']}/execute")
    return created


async def complete(house: Arena, team: str, tests: Sequence[Test]) -> UUID:
    """A full run of these tests, all of its suite, which passes them."""
    new = NewRun(team_id=team, agent_id="parrot", agent_version="1.0.0", is_full=True)
    run_id = (await create_run(house.database, new, tests)).id
    await claim(house.database, run_id, TOKEN)
    results = [executed(test, test_id=test.id) for test in tests]
    await add_results(house.database, run_id, TOKEN, results)
    assert (await finish(house.database, run_id, TOKEN, "")).status == "completed"
    return run_id


async def test_a_name_is_set_moved_and_removed_only_on_request(api: httpx2.AsyncClient):
    first, second = await full_run(api), await full_run(api, "mute")
    answer = await set_to(api, "release/1.0", first["run_id"])
    assert answer.status_code == 200, answer.text
    (made,) = await listed(api)
    assert made == answer.json()
    assert (made["name"], made["suite"], made["run_id"]) == (
        "release/1.0",
        first["suite"],
        first["run_id"],
    )
    assert made["suite_version"] == first["suite_version"]
    assert (made["agent_id"], made["score_percent"], made["set_by"]) == ("parrot", 100.0, "ann")
    await full_run(api)  # a later run moves nothing
    assert await listed(api) == [made]
    assert (await set_to(api, "release/1.0", second["run_id"], by="bob")).status_code == 200
    (moved,) = await listed(api)
    assert (moved["run_id"], moved["agent_id"], moved["set_by"]) == (
        second["run_id"],
        "mute",
        "bob",
    )
    assert (await api.post("/baselines/remove", json={"name": "release/1.0"})).json() == moved
    assert await listed(api) == []
    assert (await api.post("/baselines/remove", json={"name": "release/1.0"})).status_code == 404


async def test_another_team_neither_sees_nor_uses_it(api: httpx2.AsyncClient):
    run = await full_run(api)
    assert (await set_to(api, "main", run["run_id"])).status_code == 200
    other = {"team_id": uuid4().hex}
    assert (await api.get("/baselines", params=other)).json()["baselines"] == []
    body = {"name": "main", "run_id": run["run_id"], "by": "eve"}
    assert (await api.post("/baselines", json=body, params=other)).status_code == 404
    removed = await api.post("/baselines/remove", json={"name": "main"}, params=other)
    assert removed.status_code == 404
    for path in ("compare", "regression"):
        address = f"/runs/{run['run_id']}/{path}/{run['run_id']}"
        assert (await api.get(address)).status_code == 200
        assert (await api.get(address, params=other)).status_code == 404
    assert len(await listed(api)) == 1


@pytest.mark.parametrize("name", ["latest", "beef", "0123-abcd", "a b", "a@1.0.0", "-x", "é"])
async def test_a_name_that_could_mean_something_else_is_refused(api: httpx2.AsyncClient, name: str):
    answer = await set_to(api, name, str(uuid4()))
    assert answer.status_code == 422, answer.text
    assert "cannot be the name of a baseline" in answer.text


async def test_only_a_completed_full_run_can_be_a_baseline(api: httpx2.AsyncClient):
    assert (await set_to(api, "main", str(uuid4()))).status_code == 404
    pending = await api.post("/run", json={"agent_id": "parrot"})
    refused = await set_to(api, "main", pending.json()["run_id"])
    assert (refused.status_code, "is pending" in refused.text) == (409, True)
    body = {"agent_id": "parrot", "test_ids": ["words_00001"]}
    partial = (await api.post("/run", json=body)).json()["run_id"]
    await api.post(f"/run/{partial}/execute")
    refused = await set_to(api, "main", partial)
    assert (refused.status_code, "is partial" in refused.text) == (409, True)
    assert await listed(api) == []


async def test_a_name_is_of_one_suite_unless_the_suite_is_named(
    house: Arena, api: httpx2.AsyncClient, era: str
):
    mine = await full_run(api)
    await drive(house, era, [a_run("parrot", "++")])
    other = next(run for run in await runs_of(api) if run["suite"] != mine["suite"])
    assert (await set_to(api, "main", mine["run_id"])).status_code == 200
    refused = await set_to(api, "main", other["id"])
    assert refused.status_code == 409
    assert f"is of the suite {mine['suite']}" in refused.text
    wrong = await set_to(api, "main", other["id"], suite=mine["suite"])
    assert (wrong.status_code, "not of" in wrong.text) == (409, True)
    assert (await set_to(api, "main", other["id"], suite=other["suite"])).status_code == 200
    assert {one["suite"] for one in await listed(api, name="main")} == {
        mine["suite"],
        other["suite"],
    }
    assert (await api.post("/baselines/remove", json={"name": "main"})).status_code == 422
    body = {"name": "main", "suite": mine["suite"]}
    assert (await api.post("/baselines/remove", json=body)).status_code == 200
    assert [one["suite"] for one in await listed(api)] == [other["suite"]]


async def test_a_baseline_whose_run_was_deleted_says_so(
    house: Arena, api: httpx2.AsyncClient, team: str
):
    run = await full_run(api)
    assert (await set_to(api, "main", run["run_id"])).status_code == 200
    gone = (await listed(api))[0]["run_id"]
    await house.boards.delete_run(team, (await house.runs.list(team))[0].id, by="op", reason="x")
    (left,) = await listed(api)
    assert (left["run_id"], left["is_deleted"]) == (gone, True)
    assert (left["agent_id"], left["score_percent"]) == (None, None)
    again = await full_run(api)
    answer = await api.get(f"/runs/{again['run_id']}/regression/{gone}")
    assert answer.status_code == 404
    assert (await set_to(api, "main", again["run_id"])).status_code == 200
    assert (await listed(api))[0]["is_deleted"] is False


async def test_the_run_of_an_agent_version_on_a_board_is_a_baseline(api: httpx2.AsyncClient):
    await full_run(api)
    latest = await full_run(api)
    (found,) = (await api.get("/baselines/parrot/1.0.0")).json()["baselines"]
    assert (found["name"], found["run_id"]) == ("parrot@1.0.0", latest["run_id"])
    assert (found["suite"], found["set_at"]) == (latest["suite"], None)
    assert (await api.get("/baselines/parrot/9.9.9")).json()["count"] == 0


async def test_a_run_of_another_version_is_compared_on_the_tests_that_are_the_same(
    house: Arena, api: httpx2.AsyncClient, team: str
):
    before = [a_test(id=f"t{n}", suite="s", prompt=f"say {n}") for n in range(1, 5)]
    after = [*before[:2], a_test(id="t3", suite="s", prompt="edited"), a_test(id="t5", suite="s")]
    one, two = [await complete(house, team, tests) for tests in (before, after)]
    found = (await api.get(f"/runs/{two}/regression/{one}")).json()
    assert found["suite_difference"] == {
        "added": ["t5"],
        "removed": ["t4"],
        "edited": ["t3"],
        "same": 2,
    }
    assert found["regression"]["common_tests"] == 2
    assert found["regression"]["only_baseline"] == ["t3", "t4"]
    assert found["regression"]["only_now"] == ["t3", "t5"]
    assert found["regression"]["can_detect"] is False
    compared = (await api.get(f"/runs/{one}/compare/{two}")).json()
    assert compared["schema_version"] == 1
    assert compared["suite_difference"] == found["suite_difference"]
    assert (compared["common_tests"], compared["difference"]) == (2, 0.0)
    turned = (await api.get(f"/runs/{two}/compare/{one}")).json()
    assert turned["suite_difference"]["added"] == ["t4"]


async def test_runs_without_a_common_test_are_compared_all_the_same(
    house: Arena, api: httpx2.AsyncClient, team: str
):
    one = await complete(house, team, [a_test(id="a", suite="s")])
    two = await complete(house, team, [a_test(id="b", suite="z")])
    compared = (await api.get(f"/runs/{one}/compare/{two}")).json()
    assert (compared["common_tests"], compared["p_value"]) == (0, None)
    assert (compared["only_first"], compared["only_second"]) == (["a"], ["b"])
    assert compared["suite_difference"] is None
    assert compared["significant"] is False
