"""Baselines in the database: set, listed, removed; only a command moves one."""

from typing import Any
from uuid import UUID

from sqlalchemy import Row, delete, insert, select
from sqlalchemy.ext.asyncio import AsyncConnection

from arena import clock
from arena.errors import Conflict, InvalidInput, NotFound
from arena.scoring.baseline import Baseline, check_name
from arena.scoring.history import Subject
from arena.scoring.records.ranks import lock_team
from arena.store.tables.boards import Baselines, BoardEntries
from arena.store.tables.runs import Runs

OF_RUN = (Runs.agent_id, Runs.agent_version, Runs.score_percent)


async def list_baselines(
    connection: AsyncConnection, team_id: str, *, name: str | None = None, suite: str | None = None
) -> list[Baseline]:
    """A team's baselines, with this name and of this suite."""
    query = (
        select(Baselines.__table__, *OF_RUN)
        # A deleted run leaves its baselines behind, so that they can say so.
        .join(Runs, Runs.id == Baselines.run_id, isouter=True)
        .where(Baselines.team_id == team_id)
    )
    if name is not None:
        query = query.where(Baselines.name == name)
    if suite is not None:
        query = query.where(Baselines.suite == suite)
    found = [_baseline(row) for row in await connection.execute(query)]
    # Sorted here: database collations differ.
    return sorted(found, key=lambda one: (one.suite, one.name))


async def set_baseline(
    connection: AsyncConnection,
    team_id: str,
    name: str,
    run_id: UUID,
    *,
    suite: str | None,
    by: str,
) -> Baseline:
    """Give a run a name, or move a name to it; `suite` must be the run's, if it is given."""
    check_name(name)
    await lock_team(connection, team_id)
    run = await _complete_run(connection, team_id, run_id)
    await _check_suite(connection, team_id, name, run.suite, suite)
    row: dict[str, Any] = {
        "team_id": team_id,
        "suite": run.suite,
        "name": name,
        "run_id": run_id,
        "suite_version": run.suite_version,
        "set_at": clock.now(),
        "set_by": by,
    }
    await _delete(connection, team_id, name, run.suite)
    await connection.execute(insert(Baselines), row)
    (made,) = await list_baselines(connection, team_id, name=name, suite=run.suite)
    return made


async def remove_baseline(
    connection: AsyncConnection, team_id: str, name: str, *, suite: str | None
) -> Baseline:
    """Remove a name; the run stays."""
    await lock_team(connection, team_id)
    found = await list_baselines(connection, team_id, name=name, suite=suite)
    if not found:
        known = {one.name for one in await list_baselines(connection, team_id, suite=suite)}
        raise NotFound.among("baseline", name, known)
    if len(found) > 1:
        suites = ", ".join(one.suite for one in found)
        raise InvalidInput(f"several suites have a baseline {name!r}; name the suite: {suites}")
    await _delete(connection, team_id, name, found[0].suite)
    return found[0]


async def board_runs(connection: AsyncConnection, subject: Subject) -> list[Baseline]:
    """The run of an agent version on the board of each suite."""
    query = (
        select(BoardEntries.suite, Runs.suite_version, BoardEntries.run_id, *OF_RUN)
        .join(Runs, Runs.id == BoardEntries.run_id)
        .where(
            BoardEntries.team_id == subject.team_id,
            BoardEntries.kind == "whole",
            BoardEntries.agent_id == subject.agent_id,
            BoardEntries.agent_version == subject.version,
        )
    )
    name = f"{subject.agent_id}@{subject.version}"
    rows = (await connection.execute(query)).mappings()
    return sorted((Baseline(name=name, **row) for row in rows), key=lambda one: one.suite)


def _baseline(row: Row[Any]) -> Baseline:
    return Baseline(
        name=row.name,
        suite=row.suite,
        suite_version=row.suite_version,
        run_id=row.run_id,
        is_deleted=row.agent_id is None,
        agent_id=row.agent_id,
        agent_version=row.agent_version,
        score_percent=row.score_percent,
        set_at=row.set_at,
        set_by=row.set_by,
    )


async def _complete_run(connection: AsyncConnection, team_id: str, run_id: UUID) -> Row[Any]:
    query = select(Runs.__table__).where(Runs.id == run_id, Runs.team_id == team_id)
    run = (await connection.execute(query)).one_or_none()
    if run is None:
        raise NotFound(f"there is no run {run_id}")
    if run.status != "completed":
        raise Conflict(f"run {run_id} is {run.status}; a baseline needs a completed run")
    if not run.is_full:
        # Tests that it left out could never get worse, and nobody would notice.
        raise Conflict(
            f"run {run_id} is partial; a baseline needs a run over every test of the suite that "
            "applies to the agent"
        )
    return run


async def _check_suite(
    connection: AsyncConnection, team_id: str, name: str, of_run: str, wanted: str | None
) -> None:
    if wanted is not None and wanted != of_run:
        raise Conflict(f"the run is of the suite {of_run!r}, not of {wanted!r}")
    suites = [one.suite for one in await list_baselines(connection, team_id, name=name)]
    if wanted is None and suites and of_run not in suites:
        raise Conflict(
            f"the baseline {name!r} is of the suite {', '.join(suites)}, and the run is of "
            f"{of_run!r}; to have a baseline {name!r} there too, name the suite as well"
        )


async def _delete(connection: AsyncConnection, team_id: str, name: str, suite: str) -> None:
    mine = (Baselines.team_id == team_id, Baselines.suite == suite, Baselines.name == name)
    await connection.execute(delete(Baselines).where(*mine))
