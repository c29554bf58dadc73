"""The scoring bugs of the project these documents come from: each has a test that it is fixed here.

Its other bugs (stuck runs, bad YAML, a placeholder for the executor) are tested where those things
live.
"""

from dataclasses import replace
from decimal import Decimal
from uuid import uuid4

import httpx2
import pytest
from sqlalchemy import delete

from arena.assembly import Arena
from arena.store.tables.scores import Feedback
from factories import write_agent
from histories import Reported, Voted, Who, a_run, drive

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def board_of(api: httpx2.AsyncClient) -> list[dict]:
    return (await api.get("/leaderboard")).json()["leaderboard"]


async def test_no_feedback_is_no_component_and_not_minus_25(
    house: Arena, api: httpx2.AsyncClient, era: str
):
    await drive(house, era, [a_run("a", "++")])
    (entry,) = await board_of(api)
    assert (entry["user_rating_score"], entry["avg_user_rating"]) == (None, None)
    assert entry["overall_score"] == 100.0


async def test_other_teams_runs_are_not_counted(house: Arena, api: httpx2.AsyncClient, era: str):
    await drive(house, era, [a_run("a", "+-"), a_run("a", "++", team="blue")])
    (entry,) = await board_of(api)
    assert (entry["benchmark_score"], entry["execution_count"]) == (50.0, 2)


async def test_another_teams_run_can_be_neither_read_nor_executed(
    house: Arena, api: httpx2.AsyncClient, era: str
):
    (run_id,) = await drive(house, era, [a_run("a", "+", team="blue")])
    assert (await api.get(f"/runs/{run_id}")).status_code == 404
    assert (await api.post(f"/run/{run_id}/execute")).status_code == 404


async def test_equal_scores_do_not_get_different_ranks(
    house: Arena, api: httpx2.AsyncClient, era: str
):
    await drive(house, era, [a_run("a", "+"), a_run("b", "+"), a_run("c", "-")])
    assert [entry["rank"] for entry in await board_of(api)] == [1, 1, 3]


async def test_the_first_does_not_win_a_tie(house: Arena, api: httpx2.AsyncClient, era: str):
    await drive(house, era, [a_run("a", "+"), a_run("b", "+")])
    for agents in ("a:1.0.0,b:1.0.0", "b:1.0.0,a:1.0.0"):
        comparison = (await api.get("/compare", params={"agents": agents})).json()
        assert comparison["winner"] is None


async def test_unknown_agents_do_not_appear_with_zero_scores(
    house: Arena, api: httpx2.AsyncClient, era: str
):
    await drive(house, era, [a_run("a", "+")])
    comparison = (await api.get("/compare", params={"agents": "a:1.0.0,x:1.0.0"})).json()
    assert comparison["unknown"] == ["x:1.0.0"]
    assert [entry["agent_id"] for entry in comparison["comparison"]] == ["a"]


async def test_an_entry_with_two_colons_is_not_silently_dropped(api: httpx2.AsyncClient):
    answer = await api.get("/compare", params={"agents": "a:1.0.0,b:1:0,c:1.0.0"})
    assert answer.status_code == 422
    assert "'b:1:0'" in answer.json()["detail"]


async def test_one_word_for_success_so_successes_do_not_count_as_failures(
    api: httpx2.AsyncClient,
):
    body = {"executions": [{"agent_id": "parrot", "status": "success"}]}
    assert (await api.post("/executions", json=body)).status_code == 422
    run_id = (await api.post("/run", json={"agent_id": "parrot"})).json()["run_id"]
    await api.post(f"/run/{run_id}/execute")
    (entry,) = await board_of(api)
    assert (entry["success_rate_score"], entry["execution_count"]) == (100.0, 5)


async def test_unfinished_executions_are_not_in_the_denominator(
    house: Arena, api: httpx2.AsyncClient, era: str
):
    await drive(house, era, [a_run("a", "+++++", ending="running")])
    # A run changes the board once, when it ends.
    assert await board_of(api) == []
    await drive(house, era, [a_run("a", "+++++", ending="cancelled")])
    (entry,) = await board_of(api)
    # Four of its five tests have been executed.
    assert (entry["success_rate_score"], entry["execution_count"]) == (100.0, 4)


async def test_a_wrong_answer_in_time_is_a_success_of_execution(
    house: Arena, api: httpx2.AsyncClient, era: str
):
    await drive(house, era, [a_run("a", "--")])
    (entry,) = await board_of(api)
    assert (entry["benchmark_score"], entry["success_rate_score"]) == (0.0, 100.0)


async def test_the_best_possible_score_is_100_and_not_90(
    house: Arena, api: httpx2.AsyncClient, era: str
):
    who = Who(team="red", agent="a", version="1.0.0")
    vote = Voted(who=who, user="ann", about=None, rating=5)
    await drive(house, era, [a_run("a", "+"), vote])
    (entry,) = await board_of(api)
    assert (entry["overall_score"], entry["cost_efficiency_score"]) == (100.0, None)
    await drive(house, era, [a_run("a", "+", tokens=10)])
    (entry,) = await board_of(api)
    assert (entry["overall_score"], entry["cost_efficiency_score"]) == (100.0, 100.0)


async def test_a_score_is_what_the_text_says_passed_of_total(
    house: Arena, api: httpx2.AsyncClient, era: str
):
    light = a_run("a", "+-")
    heavy = replace(light, tests=(replace(light.tests[0], points=Decimal(9)), light.tests[1]))
    (run_id,) = await drive(house, era, [heavy])
    run = (await api.get(f"/runs/{run_id}")).json()["run"]
    assert (run["score_percent"], run["points_percent"]) == (50.0, 90.0)
    assert (await board_of(api))[0]["benchmark_score"] == 50.0


@pytest.mark.parametrize("rating", [4.9, "abc"])
async def test_a_rating_is_not_forced_into_a_whole_number(api: httpx2.AsyncClient, rating: object):
    answer = await api.post("/feedback", json={"agent_id": "parrot", "rating": rating})
    assert answer.status_code == 422
    assert await board_of(api) == []


async def test_the_same_user_cannot_rate_without_limit(api: httpx2.AsyncClient):
    for _ in range(5):
        await api.post("/feedback", json={"agent_id": "parrot", "rating": 1, "user_id": "ann"})
    (entry,) = await board_of(api)
    assert entry["feedback_count"] == 1


async def test_scores_follow_when_feedback_is_deleted(
    house: Arena, api: httpx2.AsyncClient, era: str, team: str
):
    who = Who(team="red", agent="parrot", version="1.0.0")
    await drive(
        house,
        era,
        [
            Voted(who=who, user="ann", about=None, rating=1),
            Reported(team="red", executions=(("parrot", "1.0.0", "completed"),)),
        ],
    )
    async with house.database.writing() as connection:
        await connection.execute(delete(Feedback).where(Feedback.team_id == team))
    await api.post("/scores/recalculate", params={"agent_id": "parrot", "version": "1.0.0"})
    (entry,) = await board_of(api)
    assert (entry["user_rating_score"], entry["overall_score"]) == (None, 100.0)


async def test_a_run_for_an_unknown_agent_is_not_accepted(api: httpx2.AsyncClient):
    answer = await api.post("/run", json={"agent_id": f"agent-{uuid4().hex}"})
    assert answer.status_code == 404


async def test_the_latest_version_is_the_highest_and_not_the_newest_file(
    house: Arena, api: httpx2.AsyncClient
):
    folder = house.settings.home / "agents"
    for version in ("1.10.0", "1.9.0"):
        path = write_agent(folder, "versioned", "return 'x'", version=version)
        path.rename(path.with_name(f"versioned-{version}.yaml"))
    await api.post("/feedback", json={"agent_id": "versioned", "rating": 3})
    (entry,) = await board_of(api)
    assert entry["agent_version"] == "1.10.0"
