"""Ratings: one standing vote for each user, agent version and execution, and all of them kept."""

import asyncio
import json
from uuid import uuid4

import httpx2
import pytest

from arena.assembly import Arena
from histories import a_run, drive

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def rate(api: httpx2.AsyncClient, rating: object = 5, **keys: object) -> httpx2.Response:
    body = {"agent_id": "parrot", "version": "1.0.0", "rating": rating, **keys}
    return await api.post("/feedback", json=body)


async def listed(api: httpx2.AsyncClient, **filters: object) -> list[dict]:
    answer = await api.get("/feedback", params=filters)
    assert answer.status_code == 200, answer.text
    return answer.json()["feedback"]


async def standing(api: httpx2.AsyncClient) -> tuple[int, float | None]:
    """How many votes the board counts, and their average."""
    (entry,) = (await api.get("/leaderboard")).json()["leaderboard"]
    return entry["feedback_count"], entry["avg_user_rating"]


async def test_a_rating_is_accepted_as_the_seed_says(api: httpx2.AsyncClient):
    answer = await rate(
        api, 5, comment="Excellent navigation capabilities", task_description="Navigate to settings"
    )
    assert answer.status_code == 200
    receipt = answer.json()
    assert receipt["message"] == "Feedback submitted successfully"
    (vote,) = await listed(api)
    assert vote["id"] == receipt["feedback_id"]
    assert (vote["rating"], vote["comment"]) == (5, "Excellent navigation capabilities")
    assert (vote["user_id"], vote["agent_version"]) == ("anonymous", "1.0.0")
    assert await standing(api) == (1, 5.0)


@pytest.mark.parametrize(
    "rating", [0, 6, -1, 4.9, 5.0, "5", None, True, False, [5], {}, 10**30, "abc"], ids=repr
)
async def test_anything_but_a_whole_number_from_1_to_5_is_refused_and_nothing_is_stored(
    api: httpx2.AsyncClient, rating: object
):
    answer = await rate(api, rating)
    assert answer.status_code == 422
    problem = answer.json()
    assert problem["code"] == "invalid_input"
    assert [misfit["at"] for misfit in problem["errors"]] == ["body.rating"]
    assert await listed(api, history=True) == []
    assert (await api.get("/leaderboard")).json()["leaderboard"] == []


async def test_invalid_fields_are_refused(api: httpx2.AsyncClient):
    for keys in (
        {"user_id": ""},
        {"user_id": "u" * 101},
        {"comment": "nul \0"},
        {"comment": "half \ud800"},
        {"execution_id": "not an id"},
        {"stars": 5},
    ):
        body = {"agent_id": "parrot", "rating": 5, **keys}
        text = json.dumps(body)
        answer = await api.post(
            "/feedback", content=text, headers={"content-type": "application/json"}
        )
        assert answer.status_code == 422, keys
    missing = await api.post("/feedback", json={"agent_id": "parrot"})
    assert missing.status_code == 422
    assert "rating: is missing" in missing.json()["detail"]
    assert await listed(api, history=True) == []


async def test_an_unknown_agent_cannot_be_rated(api: httpx2.AsyncClient):
    for agent, version in (("parot", None), ("parrot", "9.9.9"), ("parrot", "")):
        body = {"agent_id": agent, "version": version, "rating": 3}
        answer = await api.post("/feedback", json=body)
        assert answer.status_code == 404, (agent, version)
    assert "did you mean 'parrot'" in (await rate(api, agent_id="parot")).json()["detail"]
    assert await listed(api) == []


async def test_without_a_version_the_newest_is_rated(api: httpx2.AsyncClient):
    await api.post("/feedback", json={"agent_id": "parrot", "rating": 3})
    assert [vote["agent_version"] for vote in await listed(api)] == ["2.0.0"]


async def test_an_agent_that_is_not_registered_here_is_rated_by_its_newest_recorded_version(
    api: httpx2.AsyncClient, house: Arena, era: str
):
    await drive(house, era, [a_run("guest", "+", version=v) for v in ("1.10.0", "1.9.0")])
    assert (await rate(api, agent_id="guest", version=None)).status_code == 200
    assert [vote["agent_version"] for vote in await listed(api)] == ["1.10.0"]
    again = await api.post("/scores/recalculate", params={"agent_id": "guest"})
    assert again.json()["recalculated"] == ["guest:1.10.0"]
    others = await api.post("/scores/recalculate", params={"agent_id": "guest", "team_id": "else"})
    assert others.status_code == 404


async def test_a_second_vote_replaces_the_first_and_the_history_is_kept(api: httpx2.AsyncClient):
    for rating in (1, 5, 2):
        await rate(api, rating, user_id="ann")
    await rate(api, 4, user_id="bob")
    assert await standing(api) == (2, 3.0)
    assert [(v["user_id"], v["rating"]) for v in await listed(api)] == [("bob", 4), ("ann", 2)]
    every = await listed(api, history=True)
    assert [(v["rating"], v["is_standing"]) for v in every] == [
        (4, True),
        (2, True),
        (5, False),
        (1, False),
    ]


async def test_each_execution_and_each_version_has_its_own_vote(api: httpx2.AsyncClient):
    first, second = str(uuid4()), str(uuid4())
    for execution, rating in ((None, 1), (first, 2), (second, 3), (first, 5)):
        keys = {"execution_id": execution} if execution else {}
        await rate(api, rating, user_id="ann", **keys)
    await rate(api, 4, user_id="ann", version="2.0.0")
    votes = {(v["agent_version"], v["execution_id"]): v["rating"] for v in await listed(api)}
    assert votes == {
        ("1.0.0", None): 1,
        ("1.0.0", first): 5,
        ("1.0.0", second): 3,
        ("2.0.0", None): 4,
    }
    assert [v["rating"] for v in await listed(api, version="2.0.0")] == [4]
    assert [v["rating"] for v in await listed(api, agent_id="mute")] == []


async def test_votes_come_page_by_page_without_gaps(api: httpx2.AsyncClient):
    for number in range(7):
        await rate(api, 1 + number % 5, user_id=f"user-{number % 5}")
    for history, total in (("false", 5), ("true", 7)):
        seen: list[str] = []
        cursor = None
        while True:
            query = {"limit": 3, "history": history} | ({"cursor": cursor} if cursor else {})
            page = (await api.get("/feedback", params=query)).json()
            seen += [vote["id"] for vote in page["feedback"]]
            cursor = page["next_cursor"]
            if cursor is None:
                break
        assert len(seen) == len(set(seen)) == total
    assert (await api.get("/feedback", params={"cursor": "what?"})).status_code == 422


async def test_another_team_does_not_see_the_votes(api: httpx2.AsyncClient):
    await rate(api, 5)
    elsewhere = {"team_id": uuid4().hex}
    assert (await api.get("/feedback", params=elsewhere)).json()["count"] == 0
    assert (await api.get("/leaderboard", params=elsewhere)).json()["total"] == 0


async def test_votes_of_many_users_at_once_are_all_counted(api: httpx2.AsyncClient):
    ratings = [1 + number % 5 for number in range(40)]
    answers = await asyncio.gather(
        *(rate(api, rating, user_id=f"user-{n}") for n, rating in enumerate(ratings))
    )
    assert {answer.status_code for answer in answers} == {200}
    assert await standing(api) == (40, 3.0)
    (entry,) = (await api.get("/leaderboard")).json()["leaderboard"]
    assert entry["user_rating_score"] == 50.0


async def test_of_one_users_votes_at_once_exactly_one_stands(api: httpx2.AsyncClient):
    await asyncio.gather(*(rate(api, 1 + n % 5, user_id="ann") for n in range(20)))
    (vote,) = await listed(api)
    assert await standing(api) == (1, float(vote["rating"]))
    assert len(await listed(api, history=True)) == 20
