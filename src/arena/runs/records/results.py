"""Writes results of a run under its lease."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any
from uuid import UUID

from sqlalchemy import Row, and_, delete, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from arena import clock
from arena.catalog.test import Test
from arena.models.message import as_json as message_json
from arena.models.step import as_json
from arena.runs.item import Executed, Item
from arena.runs.records.lease import NOTHING, held_row
from arena.runs.records.rows import cost_columns, findings_json
from arena.runs.run import Result, RunError
from arena.runs.shard import Shard
from arena.store.database import Database, shielded
from arena.store.tables.runs import FrozenTests, Results, RunErrors, Runs, RunTests
from arena.text import storable

PAGE = 500
"""Tests of a run in memory at once."""
RESULT_COLUMNS = tuple(name for name in Result.__dataclass_fields__ if name in Results.__table__.c)


@shielded
async def pending_page(
    database: Database,
    run_id: UUID,
    after: int,
    known: Sequence[Test] = (),
    shard: Shard | None = None,
) -> tuple[list[Item], int | None]:
    """Items without a result, in order, and the position to go on from; None after the last page.

    A page starts after the position `after`. If `known` is not empty, it has the run's tests. With
    a shard, only its items.
    """
    within = [RunTests.run_id == run_id, RunTests.position > after]
    if shard is not None:
        within += [
            RunTests.position.between(shard.first_position, shard.last_position),
            # Not null: the need of most tests is not recorded.
            RunTests.needs_sandbox.is_(True)
            if shard.needs_sandbox
            else RunTests.needs_sandbox.is_not(True),
        ]
    query = (
        select(RunTests.position, RunTests.test_id, RunTests.trials)
        .where(*within)
        .order_by(RunTests.position)
        .limit(PAGE)
    )
    async with database.reading() as connection:
        page = (await connection.execute(query)).all()
        if not page:
            return [], None
        last = page[-1].position
        within.append(RunTests.position <= last)
        done_query = (
            select(Results.test_id, Results.trial)
            .join(
                RunTests,
                and_(RunTests.run_id == Results.run_id, RunTests.test_id == Results.test_id),
            )
            .where(Results.run_id == run_id, *within)
        )
        done = {(r.test_id, r.trial) for r in await connection.execute(done_query)}
        tests = known[after + 1 : last + 1]
        if not known:
            bodies = (
                select(FrozenTests.body)
                .join(RunTests, RunTests.digest == FrozenTests.digest)
                # By position: a list of digests would stay in memory until it is collected.
                .where(*within)
                .order_by(RunTests.position)
            )
            tests = [Test.from_json(r.body) for r in await connection.execute(bodies)]
    items = [
        Item(test=test, trial=trial)
        for test, row in zip(tests, page, strict=True)
        for trial in (range(1, row.trials + 1) if shard is None else shard.trials_of(row.trials))
        if (row.test_id, trial) not in done
    ]
    return items, last if len(page) == PAGE else None


@shielded
async def add_results(
    database: Database,
    run_id: UUID,
    token: str,
    batch: Sequence[Executed],
    reviewers_needed: int = 1,
    spent: Mapping[str, object] = NOTHING,
) -> None:
    """Record results and count them, in one transaction and only under the lease.

    `spent` has the column of what a run with a budget has spent until now.
    """
    async with database.writing() as connection:
        row = await held_row(connection, run_id, token)
        await insert_results(connection, row, batch, reviewers_needed, spent)


async def insert_results(
    connection: AsyncConnection,
    row: Row[Any],
    batch: Sequence[Executed],
    reviewers_needed: int,
    spent: Mapping[str, object],
) -> None:
    """Record results and count them; the caller has locked the run's row.

    Results that people have to judge get their reviews in the same transaction.
    """
    results = [executed.result for executed in batch]
    numbered = enumerate(batch, start=row.completed_tests + 1)
    await connection.execute(
        insert(Results), [result_row(row.id, number, one) for number, one in numbered]
    )
    await connection.execute(
        update(Runs).where(Runs.id == row.id).values(**_counters(row, results), **spent)
    )
    if awaiting := [executed for executed in batch if executed.result.passed is None]:
        # Imported here: most runs need nobody to judge them.
        from arena.runs.records.reviews import open_result_reviews

        await open_result_reviews(connection, row, awaiting, reviewers_needed)


@shielded
async def add_error(database: Database, run_id: UUID, token: str, error: RunError) -> None:
    """Record that an item could not be executed."""
    async with database.writing() as connection:
        await held_row(connection, run_id, token)
        await insert_error(connection, run_id, error)


async def insert_error(connection: AsyncConnection, run_id: UUID, error: RunError) -> None:
    """Record that an item could not be executed, instead of an earlier error of it."""
    same = and_(
        RunErrors.run_id == run_id,
        RunErrors.test_id == error.test_id,
        RunErrors.trial == error.trial,
    )
    await connection.execute(delete(RunErrors).where(same))
    await connection.execute(
        insert(RunErrors),
        {"run_id": run_id, "created_at": clock.now(), **asdict(error)}
        | {"reason": storable(error.reason)},
    )


def _counters(row: Row[Any], results: Sequence[Result]) -> dict[str, object]:
    """The run's counters with these results added."""
    passed = sum(result.passed is True for result in results)
    awaiting = sum(result.passed is None for result in results)
    return {
        "completed_tests": row.completed_tests + len(results),
        "passed_tests": row.passed_tests + passed,
        "failed_tests": row.failed_tests + len(results) - passed - awaiting,
        "awaiting_tests": row.awaiting_tests + awaiting,
        "points_earned": row.points_earned + sum(r.points_earned for r in results),
        "results_duration_seconds": _duration(row.results_duration_seconds, results),
        "input_tokens": _sum(row.input_tokens, (r.input_tokens for r in results)),
        "output_tokens": _sum(row.output_tokens, (r.output_tokens for r in results)),
        "cost_usd": _sum(row.cost_usd, (r.cost_usd for r in results)),
        "costed_tests": row.costed_tests + sum(r.cost_usd is not None for r in results),
        "repeated_attempts": row.repeated_attempts + sum(r.attempts - 1 for r in results),
    }


def _duration(before: float, results: Sequence[Result]) -> float:
    """The sum of the durations, in whole microseconds like each of them."""
    return round(before + sum(result.duration_seconds for result in results), 6)


def _sum(before: float | None, added: Iterable[float | None]) -> float | None:
    """The sum of the known values; None if there are none."""
    known = [value for value in (before, *added) if value is not None]
    return sum(known) if known else None


def result_row(run_id: UUID, sequence: int, executed: Executed) -> dict[str, object]:
    """The row of a result: its own fields, and what it adds to cost efficiency."""
    result = executed.result
    row: dict[str, object] = {name: getattr(result, name) for name in RESULT_COLUMNS}
    row["findings"] = findings_json(result.findings)
    if result.steps:
        row["steps"] = [as_json(step) for step in result.steps]
    if result.messages:
        row["messages"] = [message_json(message) for message in result.messages]
    return row | {"run_id": run_id, "sequence": sequence} | cost_columns(executed)
