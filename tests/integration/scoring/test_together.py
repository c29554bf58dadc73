"""Concurrent writes, and what is left after a failure in the middle."""

import asyncio
from collections.abc import Iterator
from typing import Any
from uuid import UUID

import httpx2
import pytest
from sqlalchemy import event, func, select, text

from arena.assembly import Arena
from arena.runs.records.lease import LostLease, claim
from arena.runs.records.results import add_results
from arena.runs.records.runs import NewRun, cancel_run, create_run
from arena.scoring.history import Subject
from arena.store.tables.runs import Results, Runs
from arena.store.tables.scores import Executions, Feedback, Scores
from factories import a_test, executed
from histories import Ran, Reported, Voted, Who, a_run, drive, reported, run, scores, tallies

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def board_of(api: httpx2.AsyncClient) -> list[dict]:
    return (await api.get("/leaderboard", params={"limit": 1000})).json()["leaderboard"]


async def test_runs_votes_and_reports_at_once_end_in_the_right_ranks(
    house: Arena, api: httpx2.AsyncClient, era: str, team: str
):
    runs: list[Ran] = [
        a_run(agent, signs)
        for agent, signs in (("a", "+++-"), ("b", "++--"), ("c", "++++"), ("d", "+---"))
    ]
    voted = [
        Voted(who=Who(team="red", agent=agent, version="1.0.0"), user=f"u{n}", about=None, rating=r)
        for agent in "abcd"
        for n, r in enumerate((1, 3, 5, 4))
    ]
    reports = [Reported(team="red", executions=(("a", "1.0.0", "failed"),)) for _ in range(4)]

    async def read_again_and_again() -> None:
        for _ in range(5):
            board = await board_of(api)
            ranks = [entry["rank"] or len(board) + 1 for entry in board]
            assert ranks == sorted(ranks)

    async with asyncio.timeout(60):
        await asyncio.gather(
            *(run(house, era, one) for one in runs),
            *(drive(house, era, [vote]) for vote in voted),
            *(
                house.scores.report_executions(
                    team, [(one_subject(era, "a"), reported("failed", key=f"k{number}"))]
                )
                for number, _ in enumerate(reports)
            ),
            read_again_and_again(),
            *(house.scores.recalculate(team) for _ in range(3)),
            *(recalculated_in_sql(house, team, agent) for agent in "abcd"),
        )
    expected = {
        who.agent: scores(tally) for who, tally in tallies([*runs, *voted, *reports]).items()
    }
    board = await board_of(api)
    assert {e["agent_id"]: e["overall_score"] for e in board} == {
        agent: row["overall_score"] for agent, row in expected.items()
    }
    for entry in board:
        better = sum(e["overall_score"] > entry["overall_score"] for e in board)
        assert entry["rank"] == 1 + better
        row = expected[entry["agent_id"]]
        assert {name: entry[name] for name in row} == row
    # No half-done state is left: recalculating changes nothing.
    await house.scores.recalculate(team)
    assert await board_of(api) == board


def one_subject(era: str, agent: str) -> Subject:
    return Who(team="red", agent=agent, version="1.0.0").subject(era)


async def recalculated_in_sql(house: Arena, team: str, agent: str) -> None:
    if house.database.dialect == "sqlite":
        return
    function = text("SELECT recalculate_agent_score(:agent, '1.0.0', :team)")
    async with house.database.writing() as connection:
        await connection.execute(function, {"agent": agent, "team": team})


@pytest.fixture
def broken_scores(house: Arena) -> Iterator[list[str]]:
    """Writing scores fails, as on a full disk; the list holds the refused statements."""
    seen: list[str] = []
    engine = house.database._engines.base.sync_engine

    def refuse(_c: Any, _cursor: Any, statement: str, *_rest: Any) -> None:
        if "UPDATE agent_scores" in statement or "INSERT INTO agent_scores" in statement:
            seen.append(statement)
            raise RuntimeError("the disk is full")

    event.listen(engine, "before_cursor_execute", refuse)
    yield seen
    event.remove(engine, "before_cursor_execute", refuse)


async def everything(house: Arena, team: str) -> list[list[tuple[Any, ...]]]:
    """All rows of a team in all tables that results and votes are written to."""
    async with house.database.reading() as connection:
        of_team = [
            select(table.__table__).where(table.team_id == team).order_by(table.id)
            for table in (Runs, Feedback, Executions, Scores)
        ]
        results = (
            select(Results.id)
            .join(Runs, Runs.id == Results.run_id)
            .where(Runs.team_id == team)
            .order_by(Results.id)
        )
        return [
            [tuple(row) for row in await connection.execute(query)] for query in (*of_team, results)
        ]


async def started(house: Arena, team: str) -> UUID:
    new = NewRun(team_id=team, agent_id="a", agent_version="1.0.0", is_full=True)
    made = await create_run(house.database, new, [a_test(id="t0"), a_test(id="t1")])
    await claim(house.database, made.id, "me")
    await add_results(house.database, made.id, "me", [executed(test_id="t0")])
    return made.id


async def test_a_failure_while_results_are_written_leaves_nothing_of_them(
    house: Arena, era: str, team: str, request: pytest.FixtureRequest
):
    run_id = await started(house, team)
    subject = one_subject(era, "a")
    await house.scores.submit_feedback(subject, rating=4, user_id="ann")
    before = await everything(house, team)
    seen: list[str] = request.getfixturevalue("broken_scores")
    attempts = (
        cancel_run(house.database, run_id, team),
        house.scores.submit_feedback(subject, rating=1, user_id="ann"),
        house.scores.report_executions(team, [(subject, reported("failed"))]),
        house.scores.recalculate(team),
    )
    for attempt in attempts:
        with pytest.raises(RuntimeError, match="disk is full"):
            await attempt
    assert len(seen) == len(attempts)
    assert await everything(house, team) == before


async def test_results_of_an_executor_without_the_lease_change_nothing(house: Arena, team: str):
    run_id = await started(house, team)
    before = await everything(house, team)
    with pytest.raises(LostLease):
        await add_results(house.database, run_id, "other", [executed(test_id="t1")])
    assert await everything(house, team) == before


async def test_a_result_that_is_there_already_undoes_the_whole_batch(house: Arena, team: str):
    run_id = await started(house, team)
    before = await everything(house, team)
    with pytest.raises(Exception, match=r"(?i)unique"):
        await add_results(
            house.database, run_id, "me", [executed(test_id="t1"), executed(test_id="t0")]
        )
    assert await everything(house, team) == before


async def test_a_vote_costs_the_same_number_of_statements_however_long_the_history_is(
    house: Arena, era: str, team: str
):
    subject = one_subject(era, "a")
    counts: list[int] = []
    statements: list[str] = []
    engine = house.database._engines.base.sync_engine

    def note(_c: Any, _cursor: Any, statement: str, *_rest: Any) -> None:
        statements.append(statement)

    event.listen(engine, "before_cursor_execute", note)
    try:
        for number in range(30):
            statements.clear()
            await house.scores.submit_feedback(subject, rating=1 + number % 5, user_id="ann")
            counts.append(len(statements))
    finally:
        event.remove(engine, "before_cursor_execute", note)
    assert max(counts[1:]) <= counts[1] + 3
    assert not any("count(" in one and "agent_feedback" in one for one in statements)
    async with house.database.reading() as connection:
        query = select(func.count()).where(Feedback.team_id == team)
        assert (await connection.execute(query)).scalar_one() == 30
