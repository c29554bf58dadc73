"""How a run's tests went: counted per test, and added up in all, per category and per tag."""

from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from sqlalchemy import Integer, case, cast, delete, func, insert, select
from sqlalchemy.ext.asyncio import AsyncConnection

from arena.scoring.matrix import TestOutcome
from arena.scoring.records.sums import share_from, share_list
from arena.scoring.share import Share
from arena.scoring.trials import TrialCounts
from arena.store.tables import FrozenTests, Results, RunGroups, RunTests


class Adding:
    """The sums of a `Share` while they grow: thousands of units without an object for each."""

    __slots__ = ("_sums",)

    def __init__(self) -> None:
        self._sums = [0, 0, 0, 0, 0, 0]

    def add(self, part: int, whole: int) -> None:
        """Count one unit more; one without a whole says nothing."""
        if whole:
            sums = self._sums
            sums[0] += 1
            sums[1] += part
            sums[2] += whole
            sums[3] += part * part
            sums[4] += part * whole
            sums[5] += whole * whole

    @property
    def share(self) -> Share:
        """What was added up so far."""
        return share_from(self._sums)


@dataclass(slots=True)
class Group:
    """What some tests of a run add up to."""

    benchmark: Adding = field(default_factory=Adding)
    cost: Adding = field(default_factory=Adding)


@dataclass(slots=True)
class Outcomes:
    """A whole run, and its groups by kind and name."""

    whole: Group = field(default_factory=Group)
    groups: dict[tuple[str, str], Group] = field(default_factory=dict[tuple[str, str], Group])

    def group(self, kind: str, name: str) -> Group:
        """The group of that kind and name."""
        return self.groups.setdefault((kind, name), Group())


async def outcomes_of_run(connection: AsyncConnection, run_id: UUID) -> Outcomes:
    """Add up a run's results. Costs what the run is long, not what the history is."""
    body = FrozenTests.body
    query = (
        _per_test(run_id)
        .add_columns(body["category"].as_string().label("category"), body["tags"].label("tags"))
        .join(FrozenTests, FrozenTests.digest == RunTests.digest)
        .group_by(FrozenTests.digest)
    )
    outcomes = Outcomes()
    async for row in await connection.stream(query):
        groups = [outcomes.whole, outcomes.group("category", row.category)]
        groups += [outcomes.group("tag", tag) for tag in set(row.tags)]
        for group in groups:
            group.benchmark.add(int(row.passed), int(row.trials))
            group.cost.add(int(row.earned or 0), int(row.possible or 0))
    return outcomes


async def store_groups(connection: AsyncConnection, run_id: UUID, outcomes: Outcomes) -> None:
    """Write down a run's groups, in place of what was there."""
    await connection.execute(delete(RunGroups).where(RunGroups.run_id == run_id))
    rows = [
        {
            "run_id": run_id,
            "kind": kind,
            "name": name,
            "benchmark_share": share_list(group.benchmark.share),
            "cost_share": share_list(group.cost.share),
        }
        for (kind, name), group in outcomes.groups.items()
    ]
    if rows:
        await connection.execute(insert(RunGroups), rows)


async def has_repeats(connection: AsyncConnection, run_id: UUID) -> bool:
    """Whether some test of the run is asked more than once."""
    query = select(RunTests.test_id).where(RunTests.run_id == run_id, RunTests.trials > 1).limit(1)
    return (await connection.execute(query)).first() is not None


async def test_counts(connection: AsyncConnection, run_id: UUID) -> list[tuple[str, TrialCounts]]:
    """Every test of a run that has results: its content's digest and how its trials went."""
    counted = [
        (
            row.digest,
            TrialCounts(test_id=row.test_id, trials=int(row.trials), passed=int(row.passed)),
        )
        for row in await connection.execute(_per_test(run_id))
    ]
    # Sorted here: databases disagree about the order of texts.
    return sorted(counted, key=lambda one: one[1].test_id)


async def test_outcomes(connection: AsyncConnection, run_id: UUID) -> list[TestOutcome]:
    """Every test of a run that has results, with the trial that is worth looking at."""
    failed_first = func.coalesce(
        func.min(case((Results.passed.is_(False), Results.sequence))), func.min(Results.sequence)
    )
    counted = _per_test(run_id).add_columns(failed_first.label("sequence")).subquery()
    body = FrozenTests.body
    query = (
        select(
            counted.c.test_id,
            counted.c.digest,
            counted.c.trials,
            counted.c.passed,
            Results.id.label("result_id"),
            body["name"].as_string().label("name"),
            body["category"].as_string().label("category"),
        )
        .join(Results, (Results.run_id == run_id) & (Results.sequence == counted.c.sequence))
        .join(FrozenTests, FrozenTests.digest == counted.c.digest)
    )
    return [
        TestOutcome(
            test_id=row.test_id,
            digest=row.digest,
            name=row.name,
            category=row.category,
            trials=int(row.trials),
            passed=int(row.passed),
            result_id=row.result_id,
        )
        for row in await connection.execute(query)
    ]


def _per_test(run_id: UUID) -> Any:
    return (
        select(
            RunTests.test_id,
            RunTests.digest,
            func.count().label("trials"),
            func.sum(cast(Results.passed, Integer)).label("passed"),
            func.sum(Results.earned_micropoints).label("earned"),
            func.sum(Results.possible_micropoints).label("possible"),
        )
        .join(Results, (Results.run_id == RunTests.run_id) & (Results.test_id == RunTests.test_id))
        # What people have not judged yet says nothing.
        .where(RunTests.run_id == run_id, Results.passed.is_not(None))
        .group_by(RunTests.test_id, RunTests.digest)
    )
