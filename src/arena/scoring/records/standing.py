"""One test across the runs that count for the agents' scores."""

from typing import Any

from sqlalchemy import Integer, case, cast, func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from arena.scoring.history import Subject
from arena.scoring.matrix import TestOutcome
from arena.scoring.standing import TestStanding
from arena.store.tables import FrozenTests, Results, Runs, RunTests, Scores

MOST_ROWS = 1000
"""So many agent versions are looked at, the first by name: enough for any statistic."""


async def test_standing(
    connection: AsyncConnection, team_id: str, test_id: str
) -> list[TestStanding]:
    """A row for each agent version of the team whose latest full run holds the test."""
    return [
        _standing(row, team_id, test_id)
        for row in await connection.execute(_query(team_id, test_id))
    ]


def _query(team_id: str, test_id: str) -> Any:
    counted = _counted(team_id, test_id)
    body = FrozenTests.body
    return (
        select(
            counted,
            Results.id.label("result_id"),
            RunTests.digest,
            body["name"].as_string().label("name"),
            body["category"].as_string().label("category"),
        )
        .join(
            Results,
            (Results.run_id == counted.c.run_id) & (Results.sequence == counted.c.sequence),
        )
        .join(RunTests, (RunTests.run_id == counted.c.run_id) & (RunTests.test_id == test_id))
        .join(FrozenTests, FrozenTests.digest == RunTests.digest)
        .order_by(counted.c.agent_id, counted.c.agent_version)
        .limit(MOST_ROWS)
    )


def _counted(team_id: str, test_id: str) -> Any:
    """How often the test passed in each run, and the trial that is worth looking at."""
    return (
        select(
            Scores.agent_id,
            Scores.agent_version,
            Runs.id.label("run_id"),
            Runs.completed_tests,
            Runs.passed_tests,
            func.count().label("trials"),
            func.sum(cast(Results.passed, Integer)).label("passed"),
            func.coalesce(
                func.min(case((Results.passed.is_(False), Results.sequence))),
                func.min(Results.sequence),
            ).label("sequence"),
        )
        .join(Runs, Runs.id == Scores.benchmark_run_id)
        .join(Results, (Results.run_id == Runs.id) & (Results.test_id == test_id))
        # What people have not judged yet says nothing.
        .where(Scores.team_id == team_id, Results.passed.is_not(None))
        .group_by(
            Scores.agent_id,
            Scores.agent_version,
            Runs.id,
            Runs.completed_tests,
            Runs.passed_tests,
        )
        .subquery()
    )


def _standing(row: Any, team_id: str, test_id: str) -> TestStanding:
    return TestStanding(
        subject=Subject(team_id=team_id, agent_id=row.agent_id, version=row.agent_version),
        outcome=TestOutcome(
            test_id=test_id,
            digest=row.digest,
            name=row.name,
            category=row.category,
            trials=int(row.trials),
            passed=int(row.passed),
            result_id=row.result_id,
        ),
        run_id=row.run_id,
        rest_trials=row.completed_tests - int(row.trials),
        rest_passed=row.passed_tests - int(row.passed),
    )
