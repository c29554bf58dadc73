"""Whatever happens, in whatever order: every way to add it up gives the same numbers."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import httpx2
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from sqlalchemy import select, text, update

from app_transport import AppTransport
from arena.api import create_app
from arena.assembly import Arena
from arena.settings import Settings
from arena.store.tables.scores import Scores
from histories import CATEGORIES, Step, Tally, Who, drive, histories, scores, tallies

TEAMS = ("red", "blue")
Row = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """One of the two databases, with an Arena on it."""

    house: Arena
    api: httpx2.AsyncClient


@pytest.fixture
async def places(tmp_path: Path, postgres_url: str) -> AsyncIterator[list[Place]]:
    async with AsyncExitStack() as closing:
        made: list[Place] = []
        for name, url in (("sqlite", None), ("postgresql", postgres_url)):
            app = create_app(Settings(home=tmp_path / name, database_url=url))
            await closing.enter_async_context(app.router.lifespan_context(app))
            api = httpx2.AsyncClient(transport=AppTransport(app), base_url="http://localhost")
            await closing.enter_async_context(api)
            made.append(Place(house=app.state.arena, api=api))
        yield made


@settings(
    max_examples=12,
    # Without shrinking, which takes minutes with two databases; a history is short anyway.
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(steps=histories)
async def test_every_way_to_add_up_a_history_gives_the_same_numbers(
    places: list[Place], steps: list[Step]
):
    known = tallies(steps)
    seen: list[dict[Who, Row]] = []
    for place in places:
        era = uuid4().hex
        runs = await drive(place.house, era, steps)
        stored = await stored_rows(place.house, era)
        check_rows(stored, known, runs)
        await check_boards(place, era, known)
        await check_recalculation(place, era, stored)
        if place.house.database.dialect == "postgresql":
            await check_function(place, era, stored)
        seen.append(without_run(stored))
    assert seen[0] == seen[1]


async def stored_rows(house: Arena, era: str) -> dict[Who, Row]:
    query = select(Scores.__table__).where(Scores.team_id.startswith(era))
    async with house.database.reading() as connection:
        rows = (await connection.execute(query)).mappings().all()
    return {
        Who(
            team=row["team_id"].removeprefix(f"{era}-"),
            agent=row["agent_id"],
            version=row["agent_version"],
        ): {
            name: value
            for name, value in row.items()
            if name not in ("id", "team_id", "agent_id", "agent_version", "updated_at")
        }
        for row in rows
    }


def without_run(rows: dict[Who, Row]) -> dict[Who, Row]:
    """The rows without the id of the run, which is another one in each database."""
    return {who: {**row, "benchmark_run_id": None} for who, row in rows.items()}


def check_rows(rows: dict[Who, Row], known: dict[Who, Tally], runs: list[UUID | None]) -> None:
    assert rows.keys() == known.keys()
    expected = {who: scores(tally) for who, tally in known.items()}
    for who, row in rows.items():
        own, tally = expected[who], known[who]
        for name in (*(n for n in own if n.endswith("_score")), "coverage", "execution_count"):
            assert row[name] == own[name], (who, name)
        stars = list(tally.votes.values())
        assert row["rating_count"] == len(stars)
        assert row["rating_sum"] == sum(stars)
        assert row["rating_square_sum"] == sum(star * star for star in stars)
        assert row["success_count"] == tally.executions.count("completed")
        assert row["benchmark_run_id"] == (runs[tally.latest[0]] if tally.latest else None)
        others = [e["overall_score"] for w, e in expected.items() if is_ranked(w, who.team, known)]
        better = sum(other > own["overall_score"] for other in others)
        assert row["rank_overall"] == (1 + better if tally.latest else None)
        assert row["overall_low"] <= own["overall_score"] <= row["overall_high"]


def is_ranked(who: Who, team: str, known: dict[Who, Tally]) -> bool:
    """Whether an agent of this team has a benchmark: ratings alone give no rank."""
    return who.team == team and known[who].latest is not None


async def check_boards(place: Place, era: str, known: dict[Who, Tally]) -> None:
    rows = await stored_rows(place.house, era)
    for team in TEAMS:
        expected = {who: scores(tally) for who, tally in known.items() if who.team == team}
        board = await read_board(place, era, team)
        check_board(board, expected)
        mine = [rows[who] for who in expected if known[who].latest]
        for entry in board:
            who = Who(team=team, agent=entry["agent_id"], version=entry["agent_version"])
            row = rows[who]
            above = sum(other["overall_low"] > row["overall_high"] for other in mine)
            below = sum(other["overall_high"] < row["overall_low"] for other in mine)
            span = (1 + above, len(mine) - below) if known[who].latest else (None, None)
            assert (entry["rank_low"], entry["rank_high"]) == span
            assert entry["benchmark_run_id"] == (row["benchmark_run_id"] and str_of(row))
        for category in CATEGORIES:
            board = await read_board(place, era, team, category=category)
            in_it = {
                who: scores(tally, category)
                for who, tally in known.items()
                if who.team == team
                and tally.latest
                and any(test.category == category for test in tally.latest[1].tests)
            }
            check_board(board, in_it)
        board = await read_board(place, era, team, min_coverage=0.6)
        check_board(board, {w: e for w, e in expected.items() if e["coverage"] >= 0.6})


def str_of(row: Row) -> str:
    return str(row["benchmark_run_id"])


async def read_board(place: Place, era: str, team: str, **filters: object) -> list[Row]:
    query = {"team_id": f"{era}-{team}", **filters}
    answer = await place.api.get("/api/benchmarks/leaderboard", params=query)
    assert answer.status_code == 200, answer.text
    board = answer.json()
    assert board["total"] == board["count"] == len(board["leaderboard"])
    return board["leaderboard"]


def check_board(board: list[Row], expected: dict[Who, Row]) -> None:
    """Whether a board shows these entries: best first, equals by name, with shared ranks.

    Those without a benchmark come last, without a rank.
    """
    ranked = {who: own for who, own in expected.items() if own["benchmark_score"] is not None}
    in_order = sorted(
        expected,
        key=lambda w: (w not in ranked, -expected[w]["overall_score"], w.agent, w.version),
    )
    assert [(e["agent_id"], e["agent_version"]) for e in board] == [
        (who.agent, who.version) for who in in_order
    ]
    for entry, who in zip(board, in_order, strict=True):
        own = expected[who]
        assert {name: entry[name] for name in own} == own, who
        better = sum(e["overall_score"] > own["overall_score"] for e in ranked.values())
        assert entry["rank"] == (1 + better if who in ranked else None)
        assert (entry["unranked_because"] is None) == (who in ranked)
        if who in ranked:
            assert entry["rank_low"] <= entry["rank"] <= entry["rank_high"]
        for name, interval in entry["intervals"].items():
            score = entry[f"{name}_score"]
            assert (interval is None) == (score is None)
            assert interval is None or interval["low"] <= score <= interval["high"]


DAMAGE: Row = {
    "overall_score": 1.23,
    "overall_low": 99.0,
    "overall_high": 99.5,
    "benchmark_score": None,
    "coverage": 0.0,
    "rank_overall": 77,
    "rating_count": 9,
    "rating_sum": 2,
    "rating_square_sum": 0,
    "execution_count": 0,
    "success_count": 5,
    "benchmark_run_id": None,
    "benchmark_share": [1, 9, 1, 1, 1, 1],
    "cost_share": [0, 0, 0, 0, 0, 0],
}


async def damage(house: Arena, era: str) -> None:
    async with house.database.writing() as connection:
        await connection.execute(
            update(Scores).where(Scores.team_id.startswith(era)).values(**DAMAGE)
        )


async def check_recalculation(place: Place, era: str, stored: dict[Who, Row]) -> None:
    for is_damaged in (False, True):
        if is_damaged:
            await damage(place.house, era)
        for team in TEAMS:
            path = "/api/benchmarks/scores/recalculate"
            answer = await place.api.post(path, params={"team_id": f"{era}-{team}"})
            assert answer.json()["count"] == sum(who.team == team for who in stored)
        assert await stored_rows(place.house, era) == stored


async def check_function(place: Place, era: str, stored: dict[Who, Row]) -> None:
    function = text("SELECT recalculate_agent_score(:agent, :version, :team)")
    await damage(place.house, era)
    for who, row in stored.items():
        named = {"agent": who.agent, "version": who.version, "team": f"{era}-{who.team}"}
        async with place.house.database.writing() as connection:
            answer = (await connection.execute(function, named)).scalar_one()
        assert float(answer) == row["overall_score"]
    # The next read of the board fills in the intervals.
    for team in TEAMS:
        await read_board(place, era, team)
    assert await stored_rows(place.house, era) == stored
