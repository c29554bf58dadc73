"""The matrix of tests and agents, and the standing of a test."""

import httpx2
import pytest

from arena.assembly import Arena
from histories import a_run, drive

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def matrix(api: httpx2.AsyncClient, agents: str, **query: object) -> dict:
    answer = await api.get("/compare/tests", params={"agents": agents, **query})
    assert answer.status_code == 200, answer.text
    return answer.json()


def marks(page: dict) -> dict[str, list[str]]:
    return {
        row["test_id"]: ["·" if c is None else f"{c['passed']}/{c['trials']}" for c in row["cells"]]
        for row in page["rows"]
    }


async def test_every_test_has_a_row_and_every_agent_a_cell(
    house: Arena, api: httpx2.AsyncClient, era: str
):
    await drive(house, era, [a_run("a", "++-"), a_run("b", "+-")])
    page = await matrix(api, "b:1.0.0,a:1.0.0")
    assert [one["agent"] for one in page["agents"]] == ["b:1.0.0", "a:1.0.0"]
    assert marks(page) == {"t0": ["1/1", "1/1"], "t1": ["0/1", "1/1"], "t2": ["·", "0/1"]}
    assert [row["differs"] for row in page["rows"]] == [False, True, False]
    assert (page["tests"], page["differing"], page["total"]) == (3, 1, 3)


async def test_a_page_can_be_limited_to_differing_tests(
    house: Arena, api: httpx2.AsyncClient, era: str
):
    await drive(house, era, [a_run("a", "++--"), a_run("b", "+--+")])
    page = await matrix(api, "a:1.0.0,b:1.0.0", differing=True)
    assert marks(page) == {"t1": ["1/1", "0/1"], "t3": ["0/1", "1/1"]}
    assert (page["tests"], page["differing"], page["total"]) == (4, 2, 2)


async def test_pages_follow_each_other(house: Arena, api: httpx2.AsyncClient, era: str):
    await drive(house, era, [a_run("a", "+-+-+"), a_run("b", "+++++")])
    seen: list[str] = []
    cursor = None
    for _ in range(3):
        query = {"limit": 2} | ({"cursor": cursor} if cursor else {})
        page = await matrix(api, "a:1.0.0,b:1.0.0", **query)
        seen += [row["test_id"] for row in page["rows"]]
        cursor = page["next_cursor"]
    assert (seen, cursor) == (["t0", "t1", "t2", "t3", "t4"], None)


async def test_a_cell_leads_to_the_trial_that_failed(api: httpx2.AsyncClient):
    run = (await api.post("/run", json={"agent_id": "moody", "trials": 2})).json()
    await api.post(f"/run/{run['run_id']}/execute")
    page = await matrix(api, "moody:1.0.0,nobody:1.0.0")
    assert page["without_run"] == ["nobody:1.0.0"]
    (column,) = page["agents"]
    cell = page["rows"][0]["cells"][0]
    assert (cell["passed"], cell["trials"]) == (1, 2)
    result = (await api.get(f"/runs/{column['run_id']}/results/{cell['result_id']}")).json()
    assert result["result"]["passed"] is False
    assert result["result"]["test_id"] == page["rows"][0]["test_id"]


async def test_another_team_has_no_cells(house: Arena, api: httpx2.AsyncClient, era: str):
    await drive(house, era, [a_run("a", "+"), a_run("b", "-")])
    page = await matrix(api, "a:1.0.0,b:1.0.0", team_id=f"{era}-blue")
    assert (page["agents"], page["rows"]) == ([], [])


@pytest.mark.parametrize("agents", ["", "a", "a:1.0.0", "a:1.0.0,b", "a:1.0.0,b:1:2"])
async def test_an_invalid_list_of_agents_is_refused(api: httpx2.AsyncClient, agents: str):
    assert (await api.get("/compare/tests", params={"agents": agents})).status_code == 422


async def test_the_standing_of_a_test_shows_who_passed_it(api: httpx2.AsyncClient):
    for agent in ("parrot", "mute", "moody"):
        run = (await api.post("/run", json={"agent_id": agent})).json()
        await api.post(f"/run/{run['run_id']}/execute")
    tests = (await api.get("/tests", params={"agent_id": "parrot"})).json()["tests"]
    mine = [test["test_id"] for test in tests if test["category"] == "words"]
    standing = (await api.get(f"/tests/{mine[0]}/standing")).json()
    assert {row["agent_id"]: row["passed"] for row in standing["rows"]}.keys() == {
        "parrot",
        "mute",
        "moody",
    }
    assert all(row["is_current"] for row in standing["rows"])
    assert standing["counted"] == 3
    assert standing["pass_percent"] in (33.33, 66.67)
    assert standing["discrimination"] is not None and standing["discrimination"] > 0.4
    parrot = next(row for row in standing["rows"] if row["agent_id"] == "parrot")
    assert (parrot["passed"], parrot["trials"]) == (1, 1)
    place = f"/runs/{parrot['run_id']}/results/{parrot['result_id']}"
    assert (await api.get(place)).json()["result"]["test_id"] == mine[0]


async def test_a_test_that_nobody_ran_has_an_empty_standing(api: httpx2.AsyncClient):
    standing = (await api.get("/tests/bench_nav_001/standing")).json()
    assert (standing["rows"], standing["pass_percent"], standing["discrimination"]) == (
        [],
        None,
        None,
    )
    assert (await api.get("/tests/no_such_test/standing")).status_code == 404
