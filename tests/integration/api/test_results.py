"""Results as rows, one result in full, an agent's part of the board, and the teams."""

from typing import Any
from uuid import uuid4

import httpx2
import pytest

from factories import write_agent, write_tests


async def executed(api: httpx2.AsyncClient, **body: Any) -> str:
    created = await api.post("/api/benchmarks/run", json={"agent_id": "parrot", **body})
    run_id = created.json()["run_id"]
    assert (await api.post(f"/api/benchmarks/run/{run_id}/execute")).status_code == 200
    return run_id


@pytest.fixture
def mixed(settings: Any) -> None:
    """Tests of two categories, of which some fail; and one that passes every other time."""
    write_tests(settings.home / "benchmarks" / "lost.yaml", count=3, agents=["parrot"])
    text = (settings.home / "benchmarks" / "lost.yaml").read_text()
    (settings.home / "benchmarks" / "lost.yaml").write_text(text.replace("WORD2", "NOWHERE"))
    body = "answer.n = getattr(answer, 'n', 0) + 1\nreturn 'WORD1' if answer.n % 2 else 'no'"
    write_agent(settings.home / "agents", "fickle", body, limits={"max_concurrency": 1})
    write_tests(settings.home / "benchmarks" / "once.yaml", count=1, agents=["fickle"])


@pytest.fixture
def path() -> str:
    return "/api/benchmarks/runs/{}/results"


async def test_rows_are_filtered_counted_and_paged(mixed: None, api: httpx2.AsyncClient, path: str):
    run_id = await executed(api)
    whole = (await api.get(path.format(run_id))).json()
    assert (whole["count"], whole["total"], whole["next_cursor"]) == (8, 8, None)
    assert "actual_output" not in whole["results"][0]
    failed = (await api.get(path.format(run_id), params={"outcome": "failed"})).json()["results"]
    assert [(row["test_id"], row["name"]) for row in failed] == [("lost_00002", "Test 2")]
    assert "NOWHERE" in failed[0]["failure_reason"]
    lost = (await api.get(path.format(run_id), params={"category": "lost"})).json()
    assert lost["total"] == 3
    both = {"category": "lost", "outcome": "passed", "limit": 1}
    first = (await api.get(path.format(run_id), params=both)).json()
    assert (first["count"], first["total"]) == (1, 2)
    more = {**both, "cursor": first["next_cursor"]}
    second = (await api.get(path.format(run_id), params=more)).json()
    assert (second["count"], second["next_cursor"]) == (1, None)
    assert first["results"][0]["id"] != second["results"][0]["id"]
    none = (await api.get(path.format(run_id), params={"category": "nothing"})).json()
    assert (none["total"], none["results"]) == (0, [])


async def test_flaky_tests_are_those_that_passed_and_failed(
    mixed: None, api: httpx2.AsyncClient, path: str
):
    fickle = await executed(api, agent_id="fickle", trials=4)
    rows = (await api.get(path.format(fickle), params={"flaky": True})).json()
    assert rows["total"] == 4
    steady = await executed(api, trials=2)
    assert (await api.get(path.format(steady), params={"flaky": True})).json()["total"] == 0


async def test_trials_of_a_test_are_side_by_side_and_failures_first(
    mixed: None, api: httpx2.AsyncClient, path: str
):
    run_id = await executed(api, trials=3)
    by_test = {"order": "test"}
    whole = (await api.get(path.format(run_id), params=by_test)).json()["results"]
    places = [(row["test_id"], row["trial"]) for row in whole]
    assert places[:3] == [("lost_00002", trial) for trial in (1, 2, 3)]
    assert [trial for _, trial in places] == [1, 2, 3] * 8
    assert [row["passed"] for row in whole] == [False] * 3 + [True] * 21
    # Page by page, and from each result to the next, the order is the same.
    paged: list[str] = []
    query: dict[str, Any] = {**by_test, "limit": 5}
    while query.get("cursor", "") is not None:
        page = (await api.get(path.format(run_id), params=query)).json()
        paged += [row["id"] for row in page["results"]]
        query["cursor"] = page["next_cursor"]
    assert paged == [row["id"] for row in whole]
    for number in (0, 2, 3, 23):
        found = (await api.get(f"{path.format(run_id)}/{paged[number]}", params=by_test)).json()
        assert found["previous_id"] == (paged[number - 1] if number else None)
        assert found["next_id"] == (paged[number + 1] if number < 23 else None)
    failed = {**by_test, "outcome": "failed"}
    last = (await api.get(f"{path.format(run_id)}/{paged[2]}", params=failed)).json()
    assert (last["previous_id"], last["next_id"]) == (paged[1], None)


@pytest.fixture
def wordy(settings: Any) -> None:
    """An agent whose answer is too long, and one whose answer is short."""
    for agent, words in (("endless", 200_000), ("brief", 1)):
        write_agent(settings.home / "agents", agent, f"return 'WORD1 ' * {words}")
        write_tests(settings.home / "benchmarks" / f"{agent}.yaml", count=1, agents=[agent])


async def test_a_cut_answer_is_marked_in_the_list(wordy: None, api: httpx2.AsyncClient, path: str):
    for agent in ("endless", "brief"):
        run_id = await executed(api, agent_id=agent)
        rows = (await api.get(path.format(run_id))).json()["results"]
        assert [row["truncated"] for row in rows] == [agent == "endless"]


async def test_a_run_has_the_interval_of_its_score(mixed: None, api: httpx2.AsyncClient):
    run_id = await executed(api)
    details = (await api.get(f"/api/benchmarks/runs/{run_id}", params={"limit": 1})).json()
    assert details["run"]["score_percent"] == 87.5
    interval = details["score_interval"]
    # Two of six questions are asked twice: 8 tests are worth 8² ÷ (2 × 2² + 4 × 1²) = 5.33.
    assert (interval["low"], interval["high"], interval["method"]) == (43.69, 98.44, "wilson")
    # Trials of one test are not independent: three of each do not narrow it as three times as
    # many tests would.
    run_id = await executed(api, trials=3)
    again = (await api.get(f"/api/benchmarks/runs/{run_id}", params={"limit": 1})).json()
    assert (again["score_interval"]["low"], again["score_interval"]["high"]) == (43.69, 98.44)


async def test_a_run_shows_each_category(mixed: None, api: httpx2.AsyncClient):
    run_id = await executed(api)
    details = await api.get(f"/api/benchmarks/runs/{run_id}", params={"limit": 1})
    assert details.json()["categories"] == [
        {"category": "lost", "results": 3, "passed": 2, "awaiting": 0},
        {"category": "parrot", "results": 5, "passed": 5, "awaiting": 0},
    ]


async def test_a_result_has_its_test_and_its_neighbours(api: httpx2.AsyncClient, path: str):
    run_id = await executed(api)
    rows = (await api.get(path.format(run_id))).json()["results"]
    ids = [row["id"] for row in rows]
    for number, row in enumerate(rows):
        found = (await api.get(f"{path.format(run_id)}/{row['id']}")).json()
        assert found["result"]["actual_output"] is not None
        assert found["test"]["test_id"] == row["test_id"]
        assert found["test"]["input_prompt"].startswith("say word")
        assert found["previous_id"] == (ids[number - 1] if number else None)
        assert found["next_id"] == (ids[number + 1] if number + 1 < len(ids) else None)


async def test_neighbours_match_the_filter(mixed: None, api: httpx2.AsyncClient, path: str):
    run_id = await executed(api)
    rows = (await api.get(path.format(run_id))).json()["results"]
    for filters in ({"outcome": "passed"}, {"outcome": "failed"}, {"category": "lost"}):
        listed = (await api.get(path.format(run_id), params=filters)).json()["results"]
        matching = {row["id"]: row["sequence"] for row in listed}
        # Also from a result outside the filter: URLs may be edited by hand.
        for row in rows:
            found = (await api.get(f"{path.format(run_id)}/{row['id']}", params=filters)).json()
            before = [one for one, place in matching.items() if place < row["sequence"]]
            after = [one for one, place in matching.items() if place > row["sequence"]]
            assert found["previous_id"] == (before[-1] if before else None)
            assert found["next_id"] == (after[0] if after else None)


async def test_unknown_results_and_those_of_another_team_are_not_found(
    api: httpx2.AsyncClient, path: str
):
    run_id, other = await executed(api), await executed(api)
    theirs = (await api.get(path.format(other))).json()["results"][0]["id"]
    red = {"team_id": "red"}
    for address, params in (
        (path.format(uuid4()), {}),
        (path.format(run_id), red),
        (f"{path.format(run_id)}/{uuid4()}", {}),
        (f"{path.format(run_id)}/{theirs}", {}),
        (f"{path.format(other)}/{theirs}", red),
    ):
        answer = await api.get(address, params=params)
        assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


async def test_an_agent_keeps_its_ranks_on_a_board_filtered_to_it(
    mixed: None, api: httpx2.AsyncClient
):
    await executed(api)
    await executed(api, agent_id="fickle", trials=4)
    board = (await api.get("/api/benchmarks/leaderboard")).json()
    assert board["total"] == 2
    for entry in board["leaderboard"]:
        query = {"agent_id": entry["agent_id"]}
        own = (await api.get("/api/benchmarks/leaderboard", params=query)).json()
        assert (own["total"], own["leaderboard"]) == (1, [entry])
        narrow = {**query, "min_coverage": 0.1}
        again = (await api.get("/api/benchmarks/leaderboard", params=narrow)).json()
        assert again["leaderboard"][0]["rank"] == entry["rank"]


async def test_teams_are_those_that_have_a_run(api: httpx2.AsyncClient):
    assert (await api.get("/api/teams")).json() == {"teams": ["default"], "is_local": True}
    request = {"json": {"agent_id": "parrot"}, "params": {"team_id": "red"}}
    assert (await api.post("/api/benchmarks/run", **request)).status_code == 200
    assert (await api.get("/api/teams")).json()["teams"] == ["default", "red"]


async def test_a_token_sees_its_own_team_only(opened: Any):
    token = "red-token-0123456789"
    async with opened(tokens=(f"red:{token}", "blue:blue-token-0123456789")) as client:
        assert (await client.get("/api/teams")).status_code == 401
        answer = await client.get("/api/teams", headers={"Authorization": f"Bearer {token}"})
        assert answer.json() == {"teams": ["red"], "is_local": False}
