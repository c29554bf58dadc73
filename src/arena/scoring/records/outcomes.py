"""The outcomes of a run: counted per test, and summed in total, per category and per tag."""

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from sqlalchemy import Integer, case, cast, delete, func, insert, select
from sqlalchemy.ext.asyncio import AsyncConnection

from arena.scoring.components import Share
from arena.scoring.matrix import TestOutcome, TestRecord
from arena.scoring.pareto import ParetoPoint
from arena.scoring.trials import TrialCounts
from arena.store.tables.runs import FrozenTests, Results, RunGroups, Runs, RunTests
from arena.store.tables.scores import Scores

PAGE = 500
"""Rows of a run read at once."""
MOST_ROWS = 1000
"""Agent versions of one test, the first by name: enough for any statistic."""

TRIALS = func.count().label("trials")
PASSED = func.sum(cast(Results.passed, Integer)).label("passed")
TRIAL_TO_SHOW = func.coalesce(
    func.min(case((Results.passed.is_(False), Results.sequence))), func.min(Results.sequence)
).label("sequence")
"""The first trial that failed, else the first."""


@dataclass(frozen=True, slots=True)
class Group:
    """The sums of some tests of a run."""

    benchmark: Share = field(default_factory=Share)
    cost: Share = field(default_factory=Share)


@dataclass(frozen=True, slots=True)
class Outcomes:
    """A whole run, and its groups by kind and name."""

    whole: Group
    groups: dict[tuple[str, str], Group]


async def outcomes_of_run(connection: AsyncConnection, run_id: UUID) -> Outcomes:
    """Sum a run's results. The cost grows with the run, not with the history."""
    body = FrozenTests.body
    query = (
        _per_test(run_id)
        .add_columns(body["category"].as_string().label("category"), body["tags"].label("tags"))
        .join(FrozenTests, FrozenTests.digest == RunTests.digest)
        .group_by(FrozenTests.digest)
    )
    whole: tuple[str, str] = ("", "")
    counts: dict[tuple[str, str], list[tuple[int, int, int, int]]] = defaultdict(list)
    rows = await connection.stream(query)
    async for page in rows.partitions(PAGE):  # row by row, each would be a task switch
        for row in page:
            numbers = int(row.passed), int(row.trials), int(row.earned or 0), int(row.possible or 0)
            keys = (whole, ("category", row.category), *(("tag", tag) for tag in set(row.tags)))
            for key in keys:
                counts[key].append(numbers)
    groups = {
        key: Group(
            Share.of_groups((passed, trials) for passed, trials, _, _ in listed),
            Share.of_groups((earned, possible) for _, _, earned, possible in listed),
        )
        for key, listed in counts.items()
    }
    return Outcomes(groups.pop(whole, Group()), groups)


async def store_groups(connection: AsyncConnection, run_id: UUID, outcomes: Outcomes) -> None:
    """Replace a run's stored groups."""
    await connection.execute(delete(RunGroups).where(RunGroups.run_id == run_id))
    rows = [
        {
            "run_id": run_id,
            "kind": kind,
            "name": name,
            "benchmark_share": group.benchmark.to_list(),
            "cost_share": group.cost.to_list(),
        }
        for (kind, name), group in outcomes.groups.items()
    ]
    if rows:
        await connection.execute(insert(RunGroups), rows)


async def has_repeats(connection: AsyncConnection, run_id: UUID) -> bool:
    """Whether some test of the run has more than one trial."""
    query = select(RunTests.test_id).where(RunTests.run_id == run_id, RunTests.trials > 1).limit(1)
    return (await connection.execute(query)).first() is not None


async def test_counts(connection: AsyncConnection, run_id: UUID) -> list[TrialCounts]:
    """The trial counts of every test of a run that has results."""
    counted = [
        TrialCounts(
            test_id=row.test_id, digest=row.digest, trials=row.trials, passed=int(row.passed)
        )
        for row in await connection.execute(_per_test(run_id))
    ]
    # Sorted here: database collations differ.
    return sorted(counted, key=lambda counts: counts.test_id)


async def test_outcomes(connection: AsyncConnection, run_id: UUID) -> list[TestOutcome]:
    """Every test of a run that has results, with the trial to look at."""
    counted = _per_test(run_id).add_columns(TRIAL_TO_SHOW).subquery()
    body = FrozenTests.body
    query = (
        select(
            counted.c.test_id,
            counted.c.digest,
            counted.c.trials,
            cast(counted.c.passed, Integer).label("passed"),
            Results.id.label("result_id"),
            body["name"].as_string().label("name"),
            body["category"].as_string().label("category"),
        )
        .join(Results, (Results.run_id == run_id) & (Results.sequence == counted.c.sequence))
        .join(FrozenTests, FrozenTests.digest == counted.c.digest)
    )
    return [TestOutcome(**row) for row in (await connection.execute(query)).mappings()]


async def test_records(connection: AsyncConnection, team_id: str, test_id: str) -> list[TestRecord]:
    """The results of a test in the benchmark run of each agent version of the team."""
    of_run = (Scores.agent_id, Scores.agent_version, Runs.completed_tests, Runs.passed_tests)
    counted = (
        select(*of_run, Runs.id.label("run_id"), TRIALS, PASSED, TRIAL_TO_SHOW)
        .join(Runs, Runs.id == Scores.benchmark_run_id)
        .join(Results, (Results.run_id == Runs.id) & (Results.test_id == test_id))
        # Results that reviewers have not judged yet do not count.
        .where(Scores.team_id == team_id, Results.passed.is_not(None))
        .group_by(*of_run, Runs.id)
        .subquery()
    )
    passed = cast(counted.c.passed, Integer)
    query = (
        select(
            counted.c.agent_id,
            counted.c.agent_version,
            counted.c.run_id,
            counted.c.trials,
            passed.label("passed"),
            (counted.c.completed_tests - counted.c.trials).label("rest_trials"),
            (counted.c.passed_tests - passed).label("rest_passed"),
            Results.id.label("result_id"),
            RunTests.digest,
        )
        .join(
            Results,
            (Results.run_id == counted.c.run_id) & (Results.sequence == counted.c.sequence),
        )
        .join(RunTests, (RunTests.run_id == counted.c.run_id) & (RunTests.test_id == test_id))
        .order_by(counted.c.agent_id, counted.c.agent_version)
        .limit(MOST_ROWS)
    )
    return [TestRecord(**row) for row in (await connection.execute(query)).mappings()]


async def cost_points(connection: AsyncConnection, team_id: str) -> list[ParetoPoint]:
    """Accuracy and cost of each agent version, from its benchmark run."""
    query = (
        select(Runs.__table__)
        .join(Scores, Scores.benchmark_run_id == Runs.id)
        .where(Scores.team_id == team_id)
    )
    return [
        ParetoPoint(
            agent_id=row.agent_id,
            agent_version=row.agent_version,
            run_id=row.id,
            accuracy=row.score_percent or 0.0,
            cost_usd_per_test=row.cost_usd / row.costed_tests
            if row.cost_usd is not None and row.costed_tests
            else None,
            costed_tests=row.costed_tests,
            total_tests=row.total_tests,
        )
        for row in await connection.execute(query)
    ]


def _per_test(run_id: UUID) -> Any:
    return (
        select(
            RunTests.test_id,
            RunTests.digest,
            TRIALS,
            PASSED,
            func.sum(Results.earned_micropoints).label("earned"),
            func.sum(Results.possible_micropoints).label("possible"),
        )
        .join(Results, (Results.run_id == RunTests.run_id) & (Results.test_id == RunTests.test_id))
        # Results that reviewers have not judged yet do not count.
        .where(RunTests.run_id == run_id, Results.passed.is_not(None))
        .group_by(RunTests.test_id, RunTests.digest)
    )
