"""The outcomes of a run: counted per test, and summed in total, per category and per tag."""

import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from sqlalchemy import Integer, String, case, cast, delete, func, insert, select
from sqlalchemy.ext.asyncio import AsyncConnection

from arena.scoring.clusters import Groups, clustered_share, rate_unit
from arena.scoring.components import Share, divide_half_up
from arena.scoring.matrix import TestOutcome, TestRecord
from arena.scoring.pareto import ParetoPoint
from arena.scoring.trials import TrialCounts
from arena.store.tables.boards import BoardEntries, SuiteTests
from arena.store.tables.runs import FrozenTests, Results, RunGroups, Runs, RunTests

PAGE = 500
"""Rows of a run read at once."""
MOST_ROWS = 1000
"""Agent versions of one test, the first by name: enough for any statistic."""

TRIALS = func.count().label("trials")
PASSED = func.sum(cast(Results.passed, Integer)).label("passed")
PASSED_TRIALS = func.aggregate_strings(
    case((Results.passed.is_(True), cast(Results.trial, String))), ","
).label("passed_trials")
TRIAL_TO_SHOW = func.coalesce(
    func.min(case((Results.passed.is_(False), Results.sequence))), func.min(Results.sequence)
).label("sequence")
"""The first trial that failed, else the first."""


@dataclass(frozen=True, slots=True)
class Group:
    """The sums of some tests of a run."""

    tests: int = 0
    benchmark: Share = field(default_factory=Share)
    cost: Share = field(default_factory=Share)


async def outcomes_of_run(
    connection: AsyncConnection, run_id: UUID
) -> dict[tuple[str, str], Group]:
    """Sum a run's results: of all tests, and of each category and tag, by kind and name.

    Every test weighs the same, however many trials it had, and a unit is a cluster of tests. The
    cost grows with the run, not with the history. Categories, tags and clusters are those that the
    suite's version has now, not those that were frozen with the run: on a board all runs must mean
    the same by a category.
    """
    body, is_placed = FrozenTests.body, SuiteTests.category.is_not(None)
    cluster = case((is_placed, SuiteTests.cluster), else_=FrozenTests.cluster).label("unit_name")
    frozen = select(RunTests.trials).where(RunTests.run_id == run_id).distinct()
    unit = rate_unit((await connection.execute(frozen)).scalars().all())
    query = _per_test(run_id).join(Runs, Runs.id == RunTests.run_id)
    query = query.join(SuiteTests, _is_of_version(), isouter=True).add_columns(
        case((~is_placed, body["category"].as_string()), else_=SuiteTests.category).label("place"),
        case((~is_placed, cast(body["tags"], String)), else_=SuiteTests.tags).label("tags"),
        cluster,
    )
    place = SuiteTests.category, SuiteTests.tags, SuiteTests.cluster
    sums: defaultdict[tuple[str, str], _Sums] = defaultdict(_Sums)
    whole, last, current = sums["whole", ""], None, set[_Sums]()
    # By cluster, so that only one is in memory at a time.
    rows = await connection.stream(query.group_by(*place).order_by(cluster))
    async for page in rows.partitions(PAGE):  # row by row, each would be a task switch
        for row in page:
            rate = divide_half_up(int(row.passed) * unit, int(row.trials))
            numbers = rate, unit, int(row.earned or 0), int(row.possible or 0)
            if row.unit_name != last:
                last = row.unit_name
                for one in current:
                    one.end_cluster()
                current.clear()
            tags = set[str](json.loads(row.tags)) if row.tags != "[]" else ()
            for one in (whole, sums["category", row.place], *(sums["tag", tag] for tag in tags)):
                one.add(numbers)
                current.add(one)
    return {key: one.group() for key, one in sums.items()}


def _is_of_version() -> Any:
    return (
        (SuiteTests.team_id == Runs.team_id)
        & (SuiteTests.suite == Runs.suite)
        & (SuiteTests.version == Runs.suite_version)
        & (SuiteTests.test_id == RunTests.test_id)
    )


class _Sums:
    """The sums of clusters, of which only how many are alike is kept."""

    __slots__ = ("_cluster", "_costs", "_rates", "_tests")

    def __init__(self) -> None:
        self._tests = 0
        self._rates: Groups = Counter()
        self._costs: Groups = Counter()
        self._cluster = (0, 0, 0, 0)
        """Of the current one: pass rates and their unit, points earned and possible."""

    def add(self, numbers: tuple[int, int, int, int]) -> None:
        """Add a test of the current cluster."""
        self._tests += 1
        rate, unit, earned, possible = self._cluster
        self._cluster = (
            rate + numbers[0],
            unit + numbers[1],
            earned + numbers[2],
            possible + numbers[3],
        )

    def end_cluster(self) -> None:
        """Say that the tests of another cluster follow."""
        rate, unit, earned, possible = self._cluster
        if unit:
            self._rates[rate, unit] += 1
            self._cluster = (0, 0, 0, 0)
        if possible:  # only for tests that passed with known usage
            self._costs[earned, possible] += 1

    def group(self) -> Group:
        """What they are together."""
        self.end_cluster()
        return Group(
            tests=self._tests,
            benchmark=clustered_share(self._rates),
            cost=clustered_share(self._costs),
        )


async def store_groups(
    connection: AsyncConnection, run_id: UUID, groups: Mapping[tuple[str, str], Group]
) -> None:
    """Replace a run's stored groups."""
    await connection.execute(delete(RunGroups).where(RunGroups.run_id == run_id))
    rows = [
        {
            "run_id": run_id,
            "kind": kind,
            "name": name,
            "tests": group.tests,
            "benchmark_share": group.benchmark.to_list(),
            "cost_share": group.cost.to_list(),
        }
        for (kind, name), group in groups.items()
    ]
    if rows:
        await connection.execute(insert(RunGroups), rows)


async def stored_share(connection: AsyncConnection, run_id: UUID) -> Share | None:
    """What a run adds to its board, if it is a complete one that counts."""
    query = select(RunGroups.benchmark_share).where(
        RunGroups.run_id == run_id, RunGroups.kind == "whole"
    )
    found = (await connection.execute(query)).scalar_one_or_none()
    return None if found is None else Share.from_list(found)


async def share_of_run(connection: AsyncConnection, run_id: UUID) -> Share:
    """Passes of trials, a unit per cluster of tests; every trial weighs the same."""
    query = (
        select(PASSED, TRIALS)
        .join(RunTests, (RunTests.run_id == Results.run_id) & (RunTests.test_id == Results.test_id))
        .join(FrozenTests, FrozenTests.digest == RunTests.digest)
        .where(Results.run_id == run_id, Results.passed.is_not(None))
        .group_by(FrozenTests.cluster)
    )
    groups: Groups = Counter()
    rows = await connection.stream(query)
    async for page in rows.partitions(PAGE):
        groups.update((int(row.passed), int(row.trials)) for row in page)
    return clustered_share(groups)


async def has_repeats(connection: AsyncConnection, run_id: UUID) -> bool:
    """Whether some test of the run has more than one trial."""
    query = select(RunTests.test_id).where(RunTests.run_id == run_id, RunTests.trials > 1).limit(1)
    return (await connection.execute(query)).first() is not None


async def has_equal_trials(connection: AsyncConnection, run_id: UUID) -> bool:
    """Whether every test of the run has the same number of trials."""
    frozen = select(RunTests.trials).where(RunTests.run_id == run_id).distinct().limit(2)
    return len((await connection.execute(frozen)).all()) < 2


async def test_counts(connection: AsyncConnection, run_id: UUID) -> list[TrialCounts]:
    """The trial counts of every test of a run that has results."""
    counted = [
        TrialCounts(
            test_id=row.test_id,
            digest=row.fingerprint,
            trials=row.trials,
            passed=int(row.passed),
            cluster=row.cluster,
            passed_trials=frozenset(map(int, (row.passed_trials or "").split(",")))
            if row.passed
            else frozenset(),
        )
        for row in await connection.execute(_per_test(run_id).add_columns(PASSED_TRIALS))
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
            counted.c.fingerprint.label("digest"),
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


async def test_records(
    connection: AsyncConnection, team_id: str, suite: str, test_id: str
) -> list[TestRecord]:
    """The results of a test in the run of each agent version on the board of the suite."""
    of_run = (Runs.agent_id, Runs.agent_version, Runs.completed_tests, Runs.passed_tests)
    counted = (
        select(*of_run, Runs.id.label("run_id"), TRIALS, PASSED, TRIAL_TO_SHOW)
        .join(BoardEntries, BoardEntries.run_id == Runs.id)
        .join(Results, (Results.run_id == Runs.id) & (Results.test_id == test_id))
        # Results that reviewers have not judged yet do not count.
        .where(*_of_suite(team_id, suite), Results.passed.is_not(None))
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
            FrozenTests.fingerprint.label("digest"),
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
    return [TestRecord(**row) for row in (await connection.execute(query)).mappings()]


async def suite_records(
    connection: AsyncConnection, team_id: str, suite: str
) -> dict[str, list[TestRecord]]:
    """The results of each test in the run of each agent version on the board of the suite."""
    columns = (Runs.agent_id, Runs.agent_version, Runs.completed_tests, Runs.passed_tests)
    of_test = (RunTests.test_id, FrozenTests.fingerprint)
    query = (
        select(*columns, Runs.id, *of_test, TRIALS, PASSED)
        .join(BoardEntries, BoardEntries.run_id == Runs.id)
        .join(RunTests, RunTests.run_id == Runs.id)
        .join(FrozenTests, FrozenTests.digest == RunTests.digest)
        .join(Results, (Results.run_id == Runs.id) & (Results.test_id == RunTests.test_id))
        .where(*_of_suite(team_id, suite), Results.passed.is_not(None))
        .group_by(*columns, Runs.id, *of_test)
    )
    records: dict[str, list[TestRecord]] = {}
    for row in await connection.execute(query):
        passed = int(row.passed)
        records.setdefault(row.test_id, []).append(
            TestRecord(
                agent_id=row.agent_id,
                agent_version=row.agent_version,
                run_id=row.id,
                result_id=row.id,  # not shown: no single result decides
                digest=row.fingerprint,
                trials=row.trials,
                passed=passed,
                rest_trials=row.completed_tests - row.trials,
                rest_passed=row.passed_tests - passed,
            )
        )
    return dict(sorted(records.items()))


async def cost_points(connection: AsyncConnection, team_id: str, suite: str) -> list[ParetoPoint]:
    """Accuracy and cost of each agent version, from its run on the board of the suite."""
    query = (
        select(Runs.__table__, BoardEntries.is_ranked)
        .join(BoardEntries, BoardEntries.run_id == Runs.id)
        .where(*_of_suite(team_id, suite))
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
            is_ranked=row.is_ranked,
        )
        for row in await connection.execute(query)
    ]


async def frozen_bodies(
    connection: AsyncConnection, fingerprints: Sequence[str]
) -> dict[str, dict[str, Any]]:
    """A frozen test with each of these fingerprints, if one was ever run."""
    query = select(FrozenTests.fingerprint, FrozenTests.body).where(
        FrozenTests.fingerprint.in_(fingerprints[:PAGE])
    )
    return {row.fingerprint: row.body for row in await connection.execute(query)}


def _of_suite(team_id: str, suite: str) -> list[Any]:
    return [
        BoardEntries.team_id == team_id,
        BoardEntries.suite == suite,
        BoardEntries.kind == "whole",
    ]


def _per_test(run_id: UUID) -> Any:
    return (
        select(
            RunTests.test_id,
            RunTests.digest,
            FrozenTests.fingerprint,
            FrozenTests.cluster,
            TRIALS,
            PASSED,
            func.sum(Results.earned_micropoints).label("earned"),
            func.sum(Results.possible_micropoints).label("possible"),
        )
        .join(Results, (Results.run_id == RunTests.run_id) & (Results.test_id == RunTests.test_id))
        .join(FrozenTests, FrozenTests.digest == RunTests.digest)
        # Results that reviewers have not judged yet do not count.
        .where(RunTests.run_id == run_id, Results.passed.is_not(None))
        .group_by(RunTests.test_id, RunTests.digest, FrozenTests.digest)
    )
