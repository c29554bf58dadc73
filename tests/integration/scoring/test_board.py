"""The leaderboard as the API shows it."""

from decimal import Decimal

import httpx2
import pytest
from sqlalchemy import delete, select

from arena.assembly import Arena
from arena.runs.records.lease import claim
from arena.runs.records.results import add_results
from arena.runs.records.runs import NewRun, create_run, finish
from arena.store.tables.scores import Executions, Scores
from factories import a_test, executed
from histories import Asked, Outcome, Ran, Reported, Voted, Who, a_run, drive

pytestmark = pytest.mark.asyncio(loop_scope="module")

PARROT = Who(team="red", agent="parrot", version="1.0.0")


async def board_of(api: httpx2.AsyncClient, **filters: object) -> list[dict]:
    answer = await api.get("/leaderboard", params=filters)
    assert answer.status_code == 200, answer.text
    return answer.json()["leaderboard"]


async def test_the_seeds_example_gives_85_and_a_half(
    house: Arena, api: httpx2.AsyncClient, era: str
):
    done = [("parrot", "1.0.0", status) for status in ("completed",) * 3 + ("failed",)]
    run = a_run("parrot", "+", tokens=1000)
    run = Ran(
        who=run.who,
        is_full=True,
        ending="completed",
        tests=(
            Asked(
                points=Decimal(1),
                budget=700,
                category="navigation",
                tags=(),
                trials=run.tests[0].trials,
            ),
        ),
    )
    vote = Voted(who=PARROT, user="ann", about=None, rating=4)
    await drive(house, era, [run, vote, Reported(team="red", executions=tuple(done))])
    (entry,) = await board_of(api)
    components = [entry[f"{name}_score"] for name in ("benchmark", "user_rating", "success_rate")]
    assert [*components, entry["cost_efficiency_score"]] == [100.0, 75.0, 80.0, 70.0]
    assert entry["overall_score"] == 85.5
    assert (entry["coverage"], entry["provisional"], entry["avg_user_rating"]) == (1.0, False, 4.0)
    assert (entry["rank"], entry["feedback_count"], entry["execution_count"]) == (1, 1, 5)


async def test_a_perfect_benchmark_alone_is_100_and_provisional(
    house: Arena, api: httpx2.AsyncClient, era: str, team: str
):
    await drive(house, era, [a_run("parrot", "+++")])
    async with house.database.writing() as connection:
        # As with a run from before executions were recorded.
        await connection.execute(delete(Executions).where(Executions.team_id == team))
    assert (await api.post("/scores/recalculate")).json()["recalculated"] == ["parrot:1.0.0"]
    (entry,) = await board_of(api)
    assert (entry["overall_score"], entry["benchmark_score"]) == (100.0, 100.0)
    assert (entry["coverage"], entry["provisional"]) == (0.4, True)
    for name in ("user_rating", "success_rate", "cost_efficiency"):
        assert entry[f"{name}_score"] is None
        assert entry["intervals"][name] is None
    assert entry["avg_user_rating"] is None


async def test_an_agent_that_was_only_run_has_a_benchmark_and_a_success_rate(
    api: httpx2.AsyncClient,
):
    created = await api.post("/run", json={"agent_id": "parrot", "version": "1.0.0"})
    done = await api.post(f"/run/{created.json()['run_id']}/execute")
    assert done.json()["score_percent"] == 100.0
    (entry,) = await board_of(api)
    assert (entry["benchmark_score"], entry["success_rate_score"]) == (100.0, 100.0)
    assert (entry["coverage"], entry["execution_count"]) == (0.6, 5)
    assert entry["benchmark_run_id"] == created.json()["run_id"]


async def test_every_score_comes_with_its_interval(house: Arena, api: httpx2.AsyncClient, era: str):
    votes = [
        Voted(who=PARROT, user=user, about=None, rating=rating)
        for user, rating in (("ann", 5), ("bob", 4), ("cid", 5), ("dan", 3), ("eve", 5))
    ]
    await drive(house, era, [a_run("parrot", "+" * 11 + "-"), *votes])
    (entry,) = await board_of(api)
    intervals = entry["intervals"]
    # The figures of docs/scoring.md.
    assert intervals["benchmark"] == {
        "low": 64.61,
        "high": 98.51,
        "method": "wilson",
        "confidence": 0.95,
    }
    rating = intervals["user_rating"]
    assert (rating["low"], rating["high"], rating["method"]) == (46.23, 97.39, "wilson-effective")
    assert intervals["success_rate"]["method"] == "wilson"
    assert intervals["overall"]["method"] == "square-and-add"
    assert intervals["cost_efficiency"] is None


async def test_equal_scores_share_a_rank_and_the_next_counts_them_all(
    house: Arena, api: httpx2.AsyncClient, era: str, team: str
):
    runs = [a_run("a", "-"), a_run("b", "+"), a_run("c", "+"), a_run("d", "+-")]
    await drive(house, era, runs)
    board = await board_of(api)
    assert [(e["agent_id"], e["rank"]) for e in board] == [("b", 1), ("c", 1), ("d", 3), ("a", 4)]
    assert {(e["rank_low"], e["rank_high"]) for e in board} == {(1, 4)}
    query = select(Scores.agent_id, Scores.rank_overall).where(Scores.team_id == team)
    async with house.database.reading() as connection:
        stored = {name: place for name, place in await connection.execute(query)}
    assert stored == {"a": 4, "b": 1, "c": 1, "d": 3}


async def test_the_intervals_narrow_the_range_of_ranks(
    house: Arena, api: httpx2.AsyncClient, era: str
):
    await drive(house, era, [a_run("best", "+" * 60), a_run("worst", "-" * 60)])
    board = await board_of(api)
    assert [(e["rank_low"], e["rank_high"]) for e in board] == [(1, 1), (2, 2)]


async def test_the_latest_full_run_counts_and_no_other(
    house: Arena, api: httpx2.AsyncClient, era: str
):
    await drive(house, era, [a_run("a", "++++"), a_run("a", "+-")])
    assert (await board_of(api))[0]["benchmark_score"] == 50.0
    others = [
        a_run("a", "++++", is_full=False),
        a_run("a", "++++", ending="failed"),
        a_run("a", "++++", ending="cancelled"),
        a_run("a", "++++", ending="running"),
        a_run("a", "++++", version="1.1.0"),
        a_run("a", "++++", team="blue"),
    ]
    await drive(house, era, others)
    board = {entry["agent_version"]: entry for entry in await board_of(api)}
    assert (board["1.0.0"]["benchmark_score"], board["1.1.0"]["benchmark_score"]) == (50.0, 100.0)


async def test_a_run_and_the_board_round_alike(house: Arena, api: httpx2.AsyncClient, era: str):
    (run_id,) = await drive(house, era, [a_run("a", "+" + "-" * 31)])
    run = (await api.get(f"/runs/{run_id}")).json()["run"]
    (entry,) = await board_of(api)
    # 1 of 32 is 3.125 per cent; halves go up.
    assert run["score_percent"] == run["points_percent"] == entry["benchmark_score"] == 3.13


async def test_pages_join_without_gaps_and_each_knows_the_total(
    house: Arena, api: httpx2.AsyncClient, era: str
):
    for number in range(7):
        await drive(house, era, [a_run(f"agent-{number}", "+" * number + "-" * (6 - number))])
    seen: list[str] = []
    cursor = None
    while True:
        query = {"limit": 3} | ({"cursor": cursor} if cursor else {})
        page = (await api.get("/leaderboard", params=query)).json()
        assert (page["total"], page["count"]) == (7, len(page["leaderboard"]))
        seen += [entry["agent_id"] for entry in page["leaderboard"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert seen == [f"agent-{number}" for number in range(6, -1, -1)]
    empty = (await api.get("/leaderboard", params={"cursor": "OTk"})).json()  # 99
    assert (empty["leaderboard"], empty["total"], empty["next_cursor"]) == ([], 7, None)


def of(category: str, tags: tuple[str, ...], *passed: bool) -> tuple[Asked, ...]:
    return tuple(
        Asked(
            points=Decimal(1),
            budget=1000,
            category=category,
            tags=tags,
            trials=(Outcome(status="completed", passed=one, tokens=2000 if one else None),),
        )
        for one in passed
    )


async def test_categories_and_tags_have_boards_of_their_own(
    house: Arena, api: httpx2.AsyncClient, era: str
):
    strong = a_run("a", "")
    tests = (*of("navigation", ("slow",), True, True), *of("detection", ("slow", "new"), False))
    await drive(
        house,
        era,
        [
            Ran(who=strong.who, is_full=True, tests=tests, ending="completed"),
            a_run("b", "+-"),
        ],
    )
    navigation = await board_of(api, category="navigation")
    assert [(e["agent_id"], e["benchmark_score"]) for e in navigation] == [("a", 100), ("b", 50)]
    assert navigation[0]["cost_efficiency_score"] == 50.0
    assert [e["rank"] for e in navigation] == [1, 2]
    (detection,) = await board_of(api, category="detection")
    assert (detection["benchmark_score"], detection["cost_efficiency_score"]) == (0.0, None)
    (slow,) = await board_of(api, tag="slow")
    assert slow["benchmark_score"] == 66.67
    (new,) = await board_of(api, tag="new")
    assert new["benchmark_score"] == 0.0
    assert await board_of(api, category="slow") == []
    both = await api.get("/leaderboard", params={"category": "navigation", "tag": "slow"})
    assert both.status_code == 422


async def test_a_board_can_be_filtered_by_coverage(house: Arena, api: httpx2.AsyncClient, era: str):
    await drive(house, era, [a_run("a", "+"), a_run("b", "-", tokens=5)])
    subject = Who(team="red", agent="b", version="1.0.0").subject(era)
    await house.scores.submit_feedback(subject, rating=5)
    assert [e["agent_id"] for e in await board_of(api, min_coverage=0.6)] == ["a", "b"]
    (entry,) = await board_of(api, min_coverage=0.61)
    assert (entry["agent_id"], entry["rank"], entry["rank_high"]) == ("b", 1, 1)
    for invalid in (1.01, -0.1, "nan", "much"):
        answer = await api.get("/leaderboard", params={"min_coverage": invalid})
        assert answer.status_code == 422, invalid


async def test_a_team_without_evidence_has_an_empty_board(api: httpx2.AsyncClient):
    board = (await api.get("/leaderboard")).json()
    assert (board["leaderboard"], board["count"], board["total"]) == ([], 0, 0)
    assert sum(board["weights"].values()) == pytest.approx(1)


async def test_the_front_of_accuracy_against_cost(house: Arena, api: httpx2.AsyncClient, team: str):
    async def ran(agent: str, passed: int, cost: float | None) -> None:
        new = NewRun(team_id=team, agent_id=agent, agent_version="1.0.0", is_full=True)
        tests = [a_test(id=f"t{number}") for number in range(4)]
        run = await create_run(house.database, new, tests)
        await claim(house.database, run.id, "me")
        results = [
            executed(test_id=f"t{number}", passed=number < passed, cost_usd=cost)
            for number in range(4)
        ]
        await add_results(house.database, run.id, "me", results)
        await finish(house.database, run.id, "me", None)
        details = (await api.get(f"/runs/{run.id}")).json()
        per_pass = None if cost is None or not passed else pytest.approx(4 * cost / passed)
        assert details["cost_usd_per_passed_test"] == per_pass
        assert details["run"]["cost_usd"] == (None if cost is None else pytest.approx(4 * cost))

    await ran("cheap", 2, 0.01)
    await ran("good", 4, 0.5)
    await ran("wasteful", 2, 0.9)
    await ran("useless", 0, 0.01)
    await ran("mystery", 4, None)
    front = (await api.get("/pareto")).json()
    assert [point["agent_id"] for point in front["front"]] == ["cheap", "good"]
    beaten = {point["agent_id"]: point["by"] for point in front["dominated"]}
    assert beaten == {"wasteful": "cheap:1.0.0", "useless": "cheap:1.0.0"}
    (mystery,) = front["unknown_cost"]
    assert (mystery["agent_id"], mystery["cost_usd_per_test"]) == ("mystery", None)
    cheap = front["front"][0]
    assert (cheap["accuracy"], cheap["costed_tests"], cheap["total_tests"]) == (50.0, 4, 4)
    assert cheap["cost_usd_per_test"] == pytest.approx(0.01)
