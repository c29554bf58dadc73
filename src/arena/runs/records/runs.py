"""Creates runs, finds interrupted ones, and ends them."""

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import Row, delete, insert, select, update
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection

from arena import clock
from arena.catalog.suite import Suite
from arena.catalog.test import Test, cluster_of, digest_of, fingerprint_of
from arena.models.family import same_family
from arena.project import OWN_SUITE
from arena.runs.records.lease import EMBEDDED, NOTHING, held_row
from arena.runs.records.rows import run_row, to_run
from arena.runs.run import Run, RunStatus, check_move
from arena.scoring.board import Provenance
from arena.scoring.components import MICROPOINTS, share_score
from arena.scoring.records.evidence import end_run
from arena.scoring.records.rebuilding import adopt_version
from arena.store.database import Database, insert_or_ignore, shielded
from arena.store.tables.runs import FrozenTests, Results, RunErrors, Runs, RunTests

log = logging.getLogger(__name__)

PAGE = 500
"""Tests per insert."""
MAX_FAMILY = 50
"""Of a model whose family is unknown, its name counts, which may be long."""
NO_LEASE: dict[str, object] = {"lease_token": None, "lease_expires_at": None}


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRun:
    """The data of a new run."""

    team_id: str
    agent_id: str
    agent_version: str
    is_full: bool
    trials: int | None = None
    concurrency: int | None = None
    category: str | None = None
    provenance: Provenance = Provenance.RUN_HERE
    source_run_id: UUID | None = None
    agent_digest: str | None = None
    environment: dict[str, Any] | None = None
    budget: dict[str, Any] | None = None


@shielded
async def create_run(
    database: Database, new: NewRun, tests: Sequence[Test], suite: Suite | None = None
) -> Run:
    """Create a run of these tests, frozen as they are now; without a suite they are all of it."""
    run_id, now = uuid4(), clock.now()
    suite = suite or Suite(name=tests[0].suite or OWN_SUITE, tests=tests)
    async with database.writing() as connection:
        # A repeated run does not make the version that it repeats the current one.
        if new.provenance is not Provenance.RE_EXECUTED:
            await adopt_version(connection, new.team_id, suite, now)
        await connection.execute(
            insert(Runs),
            {
                **asdict(new),
                "id": run_id,
                "status": RunStatus.PENDING,
                "total_tests": 0,  # counted while they are frozen
                "points_possible": 0.0,
                "suite": suite.name,
                "suite_version": suite.version,
                "suite_tests": suite.size,
                "test_count": len(tests),
                "created_at": now,
            },
        )
        total, points, count = 0, 0.0, 0
        for page in pages(tests):
            trials = [new.trials or test.trials for test in page]
            await freeze(connection, run_id, count, page, trials)
            total += sum(trials)
            points += sum(test.points * n for test, n in zip(page, trials, strict=True))
            count += len(page)
        await change(connection, run_id, total_tests=total, points_possible=points)
        return to_run(await run_row(connection, run_id))


def pages(tests: Iterable[Test]) -> Iterator[list[Test]]:
    """The tests in pages: the bodies of thousands would be one huge statement."""
    rest = iter(tests)
    while page := list(islice(rest, PAGE)):
        yield page


async def freeze(
    connection: AsyncConnection,
    run_id: UUID,
    start: int,
    page: Sequence[Test],
    trials: Sequence[int],
) -> None:
    """Store a page of the run's tests, which begins at the position `start`."""
    bodies = [test.as_json() for test in page]
    digests = [digest_of(body) for body in bodies]
    frozen = [frozen_row(digest, body) for digest, body in zip(digests, bodies, strict=True)]
    # Ignored if known: an unchanged test is stored once for all runs.
    await connection.execute(insert_or_ignore(connection, FrozenTests), frozen)
    await connection.execute(
        insert(RunTests),
        [
            {
                "run_id": run_id,
                "position": position,
                "test_id": test.id,
                "digest": digest,
                "trials": count,
            }
            for position, (test, digest, count) in enumerate(
                zip(page, digests, trials, strict=True), start=start
            )
        ],
    )


def frozen_row(digest: str, body: dict[str, object]) -> dict[str, object]:
    """The row of a frozen test."""
    found = {"fingerprint": fingerprint_of(body), "cluster": cluster_of(body)}
    return {"digest": digest, "body": body, **found}


@shielded
async def unfinished_runs(database: Database) -> list[Run]:
    """Every run in state running that no worker executes: the candidates for resuming."""
    query = select(Runs.__table__).where(
        Runs.status == RunStatus.RUNNING, Runs.dispatch == EMBEDDED
    )
    async with database.reading() as connection:
        return [to_run(row) for row in await connection.execute(query)]


@shielded
async def silent_runs(database: Database) -> list[tuple[Run, str]]:
    """The runs with an expired lease that was not released, each with its token."""
    query = select(Runs.__table__).where(
        Runs.status == RunStatus.RUNNING,
        Runs.dispatch == EMBEDDED,
        Runs.lease_token.is_not(None),
        Runs.lease_expires_at <= clock.now(),
    )
    async with database.reading() as connection:
        return [(to_run(row), row.lease_token) for row in await connection.execute(query)]


@shielded
async def finish(
    database: Database,
    run_id: UUID,
    token: str,
    error_message: str | None,
    *,
    is_exceeded: bool = False,
    spent: Mapping[str, object] = NOTHING,
) -> Run:
    """End the execution: failed if an item has no result, else completed or in review.

    With `is_exceeded`, such items have no result because the run has spent its budget.
    """
    async with database.writing() as connection:
        row = await held_row(connection, run_id, token)
        if spent:
            await change(connection, run_id, **spent)
        return await end_execution(connection, row, error_message, is_exceeded=is_exceeded)


async def end_execution(
    connection: AsyncConnection, row: Row[Any], error_message: str | None, *, is_exceeded: bool
) -> Run:
    """Move a run whose row the caller has locked to the state after its execution."""
    run_id = row.id
    # By the row, not by this execution: a resumed run also has earlier results.
    if row.completed_tests < row.total_tests:
        values: dict[str, object] = {
            "status": RunStatus.BUDGET_EXCEEDED if is_exceeded else RunStatus.FAILED,
            "completed_at": clock.now(),
            "errored_tests": row.total_tests - row.completed_tests,
            "error_message": error_message,
        }
        await change(connection, run_id, **values, **NO_LEASE)
        await _try_to_count(connection, run_id)
    else:
        await connection.execute(delete(RunErrors).where(RunErrors.run_id == run_id))
        await change(connection, run_id, errored_tests=0, error_message=None, **NO_LEASE)
        if row.awaiting_tests:
            await change(connection, run_id, status=RunStatus.AWAITING_REVIEW)
        else:
            await complete(connection, row)
    return to_run(await run_row(connection, run_id))


async def _try_to_count(connection: AsyncConnection, run_id: UUID) -> None:
    """Count what a failed run did; if that fails too, the run is still marked as failed.

    It is counted when the run is resumed and ends again.
    """
    try:
        async with connection.begin_nested():
            await end_run(connection, await run_row(connection, run_id))
    except DBAPIError as error:
        log.warning("run %s failed, and what it did could not be counted: %s", run_id, error.orig)


async def complete(connection: AsyncConnection, row: Row[Any]) -> None:
    """Complete a run whose results all have verdicts; if it counts, it changes its board."""
    points = round(row.points_earned * MICROPOINTS), round(row.points_possible * MICROPOINTS)
    environment: dict[str, Any] = row.environment or {}
    judges: list[str] | None = environment.get("judge")
    await change(
        connection,
        row.id,
        status=RunStatus.COMPLETED,
        completed_at=clock.now(),
        score_percent=_percent(row.passed_tests, row.total_tests),
        points_percent=_percent(*points),
        judge_family=await _shared_family(connection, row.id, judges) if judges else None,
    )
    await end_run(connection, await run_row(connection, row.id))


async def _shared_family(
    connection: AsyncConnection, run_id: UUID, judges: Sequence[str]
) -> str | None:
    """The model family of both the agent and one of its judges."""
    query = select(Results.model).where(Results.run_id == run_id).distinct()
    family = same_family((await connection.execute(query)).scalars(), judges)
    return family and family[:MAX_FAMILY]


async def change(connection: AsyncConnection, run_id: UUID, **values: object) -> None:
    """Change columns of a run whose row the caller has locked."""
    await connection.execute(update(Runs).where(Runs.id == run_id).values(**values))


@shielded
async def change_agent_file(
    database: Database, run_id: UUID, digest: str, environment: dict[str, Any]
) -> None:
    """Record that a run goes on with another file of its agent."""
    async with database.writing() as connection:
        await change(connection, run_id, agent_digest=digest, environment=environment)


@shielded
async def cancel_run(database: Database, run_id: UUID, team_id: str) -> Run:
    """Cancel a run that has not ended; its executor notices and stops, its reviews are closed."""
    # Imported here: a run that nobody cancels or reviews does without them.
    from arena.reviews.records import cancel_reviews
    from arena.reviews.review import SubjectKind

    async with database.writing() as connection:
        row = await run_row(connection, run_id, team_id, lock=True)
        check_move(run_id, RunStatus(row.status), RunStatus.CANCELLED, "cancelled")
        values = {"status": RunStatus.CANCELLED, "completed_at": clock.now(), **NO_LEASE}
        await change(connection, run_id, **values)
        await cancel_reviews(connection, SubjectKind.RUN, str(run_id))
        await end_run(connection, await run_row(connection, run_id))
        return to_run(await run_row(connection, run_id))


def _percent(part: int, whole: int) -> float | None:
    """Rounded like every score, so that a run and the leaderboard show the same number."""
    # Sums of floats may exceed the whole by a rounding error.
    score = share_score(min(part, whole), whole)
    return None if score is None else float(score)
