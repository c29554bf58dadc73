"""Reads a run for its bundle, and stores one that was pushed."""

from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID, uuid5

from sqlalchemy import Row, func, insert, select
from sqlalchemy.ext.asyncio import AsyncConnection

from arena.catalog.suite import KnownVersion
from arena.catalog.test import Test, digest_of
from arena.errors import Conflict, LimitReached
from arena.runs.item import Executed
from arena.runs.records.results import result_row
from arena.runs.records.rows import get_run, run_row, to_run
from arena.runs.records.runs import PAGE, freeze
from arena.runs.run import Run, RunStatus
from arena.scoring.board import Provenance
from arena.scoring.records.evidence import end_run
from arena.scoring.records.ranks import lock_team
from arena.scoring.records.rebuilding import adopt_version
from arena.scoring.records.suites import manifest_of
from arena.store.database import Database, shielded
from arena.store.tables.boards import Archive, SuiteVersions
from arena.store.tables.runs import FrozenTests, Results, Runs, RunTests

PUSHED = UUID("6f3b1a52-9c64-5b0e-8d0f-2c5a1f3f4e77")
"""The name space of the ids of pushed runs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedRun:
    """A run that was pushed and checked: what is stored of it, besides its results."""

    team_id: str
    source_run_id: UUID
    bundle_digest: str
    columns: dict[str, Any]
    """The other columns of the run."""
    tests: Sequence[Test]
    trials: Sequence[int]
    suite: KnownVersion
    created_at: datetime

    @property
    def id(self) -> UUID:
        """Its id here."""
        return pushed_id(self.team_id, self.source_run_id)


def pushed_id(team_id: str, source_run_id: UUID) -> UUID:
    """The id of a pushed run: no team can take the one of another team's run."""
    # The id has a fixed length, so no two pairs are written alike.
    return uuid5(PUSHED, f"{source_run_id} {team_id}")


def pushed_result_id(run_id: UUID, test_id: str, trial: int) -> UUID:
    """The id of a result of a pushed run."""
    return uuid5(run_id, f"{trial} {test_id}")


@shielded
async def find_pushed(
    database: Database, team_id: str, source_run_id: UUID, digest: str
) -> Run | None:
    """The run, if it was pushed before or executed here; an error if it had other content."""
    async with database.reading() as connection:
        return await _find(connection, team_id, source_run_id, digest)


@shielded
async def refuse_many_reported(
    database: Database, team_id: str, added: int, most: int | None
) -> None:
    """Refuse more results than the team may push in all."""
    async with database.reading() as connection:
        await _refuse_many(connection, team_id, added, most)


@shielded
async def store_reported(
    database: Database, run: ReportedRun, pages: Iterable[Sequence[Executed]], most: int | None
) -> Run:
    """Store a pushed run with all its results, once, in one transaction.

    `most` is how many results of pushed runs the team may have.
    """
    async with database.writing() as connection:
        # Of two pushes of one run the second waits here, and then finds the first one's.
        await lock_team(connection, run.team_id)
        known = await _find(connection, run.team_id, run.source_run_id, run.bundle_digest)
        if known is not None:
            return known
        await _refuse_many(connection, run.team_id, run.columns["total_tests"], most)
        await adopt_version(connection, run.team_id, run.suite, run.created_at, is_claimed=True)
        await connection.execute(insert(Runs), _row(run))
        for start in range(0, len(run.tests), PAGE):
            stop = start + PAGE
            await freeze(connection, run.id, start, run.tests[start:stop], run.trials[start:stop])
        number = 1
        for results in pages:
            rows = [result_row(run.id, n, one) for n, one in enumerate(results, start=number)]
            await connection.execute(insert(Results), rows)
            number += len(rows)
        await end_run(connection, await run_row(connection, run.id))
        return to_run(await run_row(connection, run.id))


def _row(run: ReportedRun) -> dict[str, Any]:
    return {
        "id": run.id,
        "team_id": run.team_id,
        "status": RunStatus.COMPLETED,
        "provenance": Provenance.REPORTED,
        "source_run_id": run.source_run_id,
        "bundle_digest": run.bundle_digest,
        "suite": run.suite.name,
        "suite_version": run.suite.version,
        "suite_tests": run.suite.size,
        "test_count": len(run.tests),
        **run.columns,
    }


async def _find(
    connection: AsyncConnection, team_id: str, source_run_id: UUID, digest: str
) -> Run | None:
    own = select(Runs.__table__).where(Runs.id == source_run_id, Runs.team_id == team_id)
    if (here := (await connection.execute(own)).one_or_none()) is not None:
        return to_run(here)  # it came back to where it was executed
    run_id = pushed_id(team_id, source_run_id)
    query = select(Runs.__table__).where(Runs.id == run_id)
    row = (await connection.execute(query)).one_or_none()
    if row is not None and row.bundle_digest != digest:
        raise Conflict(
            f"run {source_run_id} was pushed before with other content, as {run_id}; a run cannot "
            "be changed: execute it again and push the new run"
        )
    if row is None:
        ids = (run_id, source_run_id)
        deleted = select(func.count()).where(
            Archive.team_id == team_id, Archive.run_id.in_(ids), Archive.is_deleted
        )
        if (await connection.execute(deleted)).scalar_one():
            raise Conflict(f"run {source_run_id} was pushed before, and deleted by the operator")
    return None if row is None else to_run(row)


async def _refuse_many(
    connection: AsyncConnection, team_id: str, added: int, most: int | None
) -> None:
    if most is None:
        return
    query = select(func.coalesce(func.sum(Runs.total_tests), 0)).where(
        Runs.team_id == team_id, Runs.provenance == Provenance.REPORTED
    )
    held = (await connection.execute(query)).scalar_one()
    if held + added > most:
        raise LimitReached(
            f"team {team_id!r} may push {most:,} results in all, has {held:,}, and this run has "
            f"{added:,}: ask the operator to raise ARENA_PUSH_QUOTA_RESULTS, or to delete runs",
            retryable=False,
        )


async def completed_run(database: Database, run_id: UUID, team_id: str | None, use: str) -> Run:
    """A run that is completed; `use` is what only such a run can be."""
    run = await get_run(database, run_id, team_id)
    if run.status is not RunStatus.COMPLETED:
        raise Conflict(f"run {run_id} is {run.state}; only a completed run can be {use}")
    return run


@shielded
async def version_of_run(database: Database, run: Run) -> KnownVersion:
    """The suite version of a run."""
    query = select(SuiteVersions.label).where(
        SuiteVersions.team_id == run.team_id,
        SuiteVersions.suite == run.suite,
        SuiteVersions.version == run.suite_version,
    )
    async with database.reading() as connection:
        found = (await connection.execute(query)).one_or_none()
        manifest = await manifest_of(connection, run.team_id, run.suite, run.suite_version)
    if found is None:
        raise Conflict(f"the tests of {run.suite} that run {run.id} is of are not known any more")
    return KnownVersion(name=run.suite, label=found.label, fingerprints=manifest)


async def frozen_tests(database: Database, run_id: UUID) -> AsyncIterator[tuple[Test, int]]:
    """The tests of a run, in order, as they were frozen, each with its number of trials."""
    after: int | None = -1
    while after is not None:
        page, after = await _frozen_page(database, run_id, after)
        for row in page:
            if digest_of(row.body) != row.digest:
                # PostgreSQL writes a few numbers in another way: 1e22 comes back as digits.
                raise Conflict(f"test {row.test_id} of run {run_id} is not stored as it was frozen")
            yield Test.from_json(row.body), row.trials


@shielded
async def _frozen_page(
    database: Database, run_id: UUID, after: int
) -> tuple[Sequence[Row[Any]], int | None]:
    query: Any = (
        select(
            RunTests.position,
            RunTests.test_id,
            RunTests.trials,
            FrozenTests.digest,
            FrozenTests.body,
        )
        .join(FrozenTests, FrozenTests.digest == RunTests.digest)
        .where(RunTests.run_id == run_id, RunTests.position > after)
        .order_by(RunTests.position)
        .limit(PAGE)
    )
    async with database.reading() as connection:
        page = (await connection.execute(query)).all()
    return page, page[-1].position if page else None


@shielded
async def bodies_with(database: Database, fingerprints: Iterable[str]) -> dict[str, dict[str, Any]]:
    """The bodies of frozen tests with these fingerprints, by fingerprint; some may be unknown."""
    wanted, found = sorted(set(fingerprints)), dict[str, dict[str, Any]]()
    async with database.reading() as connection:
        for start in range(0, len(wanted), PAGE):
            query = select(FrozenTests.fingerprint, FrozenTests.body).where(
                FrozenTests.fingerprint.in_(wanted[start : start + PAGE])
            )
            found |= {row.fingerprint: row.body for row in await connection.execute(query)}
    return found
