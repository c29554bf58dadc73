"""The weights of a deployment: applied at the start, shown with the scores."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict
from decimal import Decimal
from pathlib import Path

import httpx2
import pytest
from sqlalchemy import select

import warm
from app_transport import AppTransport
from arena.api import create_app
from arena.assembly import Arena
from arena.errors import InvalidInput
from arena.scoring.history import Subject
from arena.scoring.scorecard import DEFAULT_WEIGHTS, Weights
from arena.scoring.scores import Scores
from arena.settings import Settings, read_settings
from arena.store.tables.scores import Scores as ScoreTable
from histories import a_run, drive, reported

HALVES = {"benchmark": 0.5, "user_rating": 0.5, "success_rate": 0.0, "cost_efficiency": 0.0}


@asynccontextmanager
async def opened(settings: Settings, **weights: float) -> AsyncIterator[tuple[Arena, dict]]:
    """An Arena with these weights, and the board of the team right after its start."""
    given = {name: Decimal(str(weight)) for name, weight in weights.items()}
    app = create_app(settings.model_copy(update={"weights": given}))
    async with (
        app.router.lifespan_context(app),
        httpx2.AsyncClient(transport=AppTransport(app), base_url="http://localhost") as api,
    ):
        query = {"team_id": "era-red"}
        answer = await api.get("/api/benchmarks/leaderboard", params=query)
        yield app.state.arena, answer.json()


async def test_other_weights_score_everything_again_at_the_next_start(settings: Settings):
    subject = Subject(team_id="era-red", agent_id="a", version="1.0.0")
    voted = Subject(team_id="era-red", agent_id="voted", version="1.0.0")
    async with opened(settings) as (house, _):
        await drive(house, "era", [a_run("a", "++++"), a_run("b", "+---"), a_run("c", "----")])
        await house.scores.submit_feedback(subject, rating=1)
        await house.scores.submit_feedback(voted, rating=4)
    async with opened(settings) as (_, board):
        assert board["weights"]["benchmark"] == 0.4
        names = [(e["agent_id"], e["overall_score"], e["rank"]) for e in board["leaderboard"]]
        # Votes alone give no rank.
        assert names == [("a", 66.67, 1), ("b", 50.0, 2), ("c", 33.33, 3), ("voted", 75.0, None)]
    async with opened(settings, **HALVES) as (_, board):
        assert board["weights"] == HALVES
        names = [(e["agent_id"], e["overall_score"], e["rank"]) for e in board["leaderboard"]]
        assert names == [("a", 50.0, 1), ("b", 25.0, 2), ("c", 0.0, 3), ("voted", 75.0, None)]
        assert [e["coverage"] for e in board["leaderboard"]] == [1.0, 0.5, 0.5, 0.5]
        assert [e["provisional"] for e in board["leaderboard"]] == [False, True, True, True]
    only = {"benchmark": 1.0, "user_rating": 0.0, "success_rate": 0.0, "cost_efficiency": 0.0}
    async with opened(settings, **only) as (house, board):
        # What does not count gives no score, and no score has no rank.
        assert [(e["agent_id"], e["rank"]) for e in board["leaderboard"]] == [
            ("a", 1),
            ("b", 2),
            ("c", 3),
        ]
        assert board["total"] == 3
        row = await house.scores.entry(voted)
        assert row and (row.rank, row.rank_low, row.overall_score) == (None, None, None)
    async with opened(settings, benchmark=0.4) as (_, board):
        assert [e["rank"] for e in board["leaderboard"]] == [1, 2, 3, None]


async def test_without_configured_weights_those_in_force_are_used(settings: Settings):
    async with opened(settings, **HALVES) as (house, _):
        await drive(house, "era", [a_run("a", "++--")])
        async with opened(settings) as (_, board):
            assert board["weights"] == HALVES
        board = await house.scores.leaderboard("era-red")
        assert float(board.weights.benchmark) == 0.5
        assert board.leaderboard[0].overall_score == 50.0


async def test_an_arena_shows_the_weights_that_its_scores_were_made_with(settings: Settings):
    async with opened(settings) as (house, _):
        await drive(house, "era", [a_run("a", "++")])
        async with opened(settings, **HALVES):
            pass  # somebody else has started with other weights on the same database
        subject = Subject(team_id="era-red", agent_id="a", version="1.0.0")
        await house.scores.submit_feedback(subject, rating=1)
        board = await house.scores.leaderboard("era-red")
        assert float(board.weights.benchmark) == 0.5
        assert board.leaderboard[0].overall_score == 50.0


async def test_votes_that_come_in_while_the_weights_change_are_scored_by_the_new_ones(
    settings: Settings,
):
    async with opened(settings) as (house, _):
        subjects = [
            Subject(team_id=f"team-{number}", agent_id="a", version="1.0.0") for number in range(20)
        ]
        for subject in subjects:
            await house.scores.report_executions(
                subject.team_id, [(subject, reported("completed"))]
            )
        other = Scores(house.database, Weights(**HALVES))
        votes = [house.scores.submit_feedback(subject, rating=1) for subject in subjects]
        await asyncio.gather(*votes[:10], other.open(), *votes[10:])
        query = select(ScoreTable.overall_score, ScoreTable.coverage)
        async with house.database.reading() as connection:
            stored = [tuple(row) for row in await connection.execute(query)]
        assert stored == [(0.0, 0.5)] * 20


async def test_weights_with_endless_digits_survive_the_database(settings: Settings):
    thirds = {"benchmark": 1 / 3, "user_rating": 1 / 3, "success_rate": 1 / 3}
    for _ in range(2):
        async with opened(settings, **thirds, cost_efficiency=0.0) as (_, board):
            assert board["weights"]["benchmark"] == pytest.approx(1 / 3)


def test_weights_that_rounding_takes_off_1_are_refused_at_once():
    with pytest.raises(InvalidInput, match=r"add up to 1\.000000002"):
        Weights(
            benchmark=Decimal("0.2500000005"),
            user_rating=Decimal("0.2500000005"),
            success_rate=Decimal("0.2500000005"),
            cost_efficiency=Decimal("0.2499999985"),
        )


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ('{"benchmrk": 0.4}', "no component 'benchmrk'; did you mean 'benchmark'"),
        ('{"benchmark": "much"}', "ARENA_WEIGHTS"),
        ('{"benchmark": NaN}', "ARENA_WEIGHTS"),
        ("[1]", "ARENA_WEIGHTS"),
        ("half", "ARENA_WEIGHTS is not JSON; write it as {"),
    ],
)
def test_weights_that_cannot_be_read_are_named(
    monkeypatch: pytest.MonkeyPatch, weights: str, message: str
):
    monkeypatch.setenv("ARENA_WEIGHTS", weights)
    with pytest.raises(InvalidInput) as refused:
        read_settings()
    assert message in refused.value.message


@pytest.mark.parametrize("command", [["leaderboard"], ["serve", "--port", "0"]], ids=" ".join)
def test_weights_that_do_not_add_up_stop_the_start_with_one_line(
    tmp_path: Path, command: list[str]
):
    environment = {**os.environ, "ARENA_WEIGHTS": '{"benchmark": 0.5}'}
    done = warm.run(command, environment, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr == (
        "error: the weights add up to 1.1, must add up to 1: benchmark 0.5, user_rating 0.3, "
        "success_rate 0.2, cost_efficiency 0.1\n"
    )


def test_weights_can_be_set_in_arena_toml(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    (tmp_path / "arena.toml").write_text("[weights]\nbenchmark = 0.5\nuser_rating = 0.2\n")
    monkeypatch.chdir(tmp_path)
    weights = Weights.from_settings(read_settings().weights)
    assert (float(weights.benchmark), float(weights.user_rating)) == (0.5, 0.2)
    assert float(weights.success_rate) == 0.2


async def test_a_new_database_starts_with_the_default_weights(settings: Settings):
    # Migration 0002 wrote them and is never edited: other defaults need a migration of their own.
    async with opened(settings) as (_, board):
        assert board["weights"] == asdict(DEFAULT_WEIGHTS)
