"""Archives and deletes agent versions and runs; each leaves its mark.

What is archived is hidden by default and counts all the same. What is deleted counts no longer.
"""

from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import Integer, Row, cast, delete, func, insert, select
from sqlalchemy.ext.asyncio import AsyncConnection

from arena import clock
from arena.errors import Conflict, NotFound
from arena.scoring.archive import ArchiveMark
from arena.scoring.history import ExecutionStatus, Subject
from arena.scoring.log import BoardEventKind, Why, archive_key
from arena.scoring.records.changes import position, record_change
from arena.scoring.records.entries import score_row
from arena.scoring.records.ranks import lock_team
from arena.scoring.records.rebuilding import show_newest
from arena.scoring.records.suites import (
    team_board,
)
from arena.scoring.records.sums import is_about
from arena.scoring.sums import Sums
from arena.store.database import value_from
from arena.store.tables.boards import Archive
from arena.store.tables.runs import Results, Runs
from arena.store.tables.scores import Executions, Feedback

ENDED = ("completed", "failed", "budget_exceeded", "cancelled")


async def list_marks(connection: AsyncConnection, team_id: str) -> list[ArchiveMark]:
    """Everything of a team that was archived or deleted, newest first."""
    query = select(Archive.__table__).where(Archive.team_id == team_id)
    rows = await connection.execute(query.order_by(Archive.at.desc(), Archive.id))
    return [value_from(ArchiveMark, row) for row in rows]


async def archive_agent(
    connection: AsyncConnection, subject: Subject, *, by: str, reason: str
) -> None:
    """Hide an agent version; it counts all the same."""
    await lock_team(connection, subject.team_id)
    if not await _has_evidence(connection, subject):
        raise NotFound(f"{_name(subject)} has no results, so there is nothing to archive")
    if await _mark_of(connection, subject, None):
        raise Conflict(f"{_name(subject)} is archived already")
    await _add_mark(connection, subject, None, by=by, reason=reason)
    why = Why(kind=BoardEventKind.ARCHIVED, reason=f"archived: {reason}", by=by)
    states = {archive_key(subject): {"by": by}}
    await record_change(connection, subject, why, states=states)


async def restore_agent(
    connection: AsyncConnection, subject: Subject, *, by: str, reason: str
) -> None:
    """Show an archived agent version again."""
    await lock_team(connection, subject.team_id)
    await _remove_mark(connection, subject, None, _name(subject))
    why = Why(kind=BoardEventKind.RESTORED, reason=f"restored: {reason}", by=by)
    await record_change(connection, subject, why, states={archive_key(subject): None})


async def archive_run(
    connection: AsyncConnection, team_id: str, run_id: UUID, *, by: str, reason: str
) -> None:
    """Hide a run in lists; it counts all the same."""
    await lock_team(connection, team_id)
    row = await _ended_run(connection, team_id, run_id, "archived")
    subject = _subject(row)
    if await _mark_of(connection, subject, run_id):
        raise Conflict(f"run {run_id} is archived already")
    await _add_mark(connection, subject, run_id, by=by, reason=reason)
    why = Why(kind=BoardEventKind.ARCHIVED, reason=f"run archived: {reason}", by=by, run_id=run_id)
    await record_change(connection, subject, why)


async def restore_run(
    connection: AsyncConnection, team_id: str, run_id: UUID, *, by: str, reason: str
) -> None:
    """Show an archived run again."""
    await lock_team(connection, team_id)
    subject = _subject(await _ended_run(connection, team_id, run_id, "restored"))
    await _remove_mark(connection, subject, run_id, f"run {run_id}")
    why = Why(kind=BoardEventKind.RESTORED, reason=f"run restored: {reason}", by=by, run_id=run_id)
    await record_change(connection, subject, why)


async def delete_run(
    connection: AsyncConnection, team_id: str, run_id: UUID, *, by: str, reason: str
) -> None:
    """Delete a run, its results and their executions; a mark and the log remain."""
    await lock_team(connection, team_id)
    row = await _ended_run(connection, team_id, run_id, "deleted")
    subject = _subject(row)
    team = await team_board(connection, team_id)
    before = await position(connection, subject, row.suite, team)
    executions, successes = await _delete_run(connection, row, by=by, reason=reason)
    states = await show_newest(connection, team_id, row.suite, team)
    why = Why(
        kind=BoardEventKind.DELETED,
        reason=f"run deleted: {reason}",
        by=by,
        run_id=run_id,
        suite=row.suite,
        suite_version=row.suite_version,
    )
    await record_change(
        connection,
        subject,
        why,
        lambda sums: sums.with_executions(-executions, -successes),
        suites=(row.suite,),
        states=states,
        before=before,
    )


async def delete_agent(
    connection: AsyncConnection, subject: Subject, *, by: str, reason: str
) -> int:
    """Delete the runs, ratings and executions of an agent version; returns how many runs."""
    await lock_team(connection, subject.team_id)
    if not await _has_evidence(connection, subject):
        raise NotFound(f"{_name(subject)} has no results, so there is nothing to delete")
    runs = select(Runs.__table__).where(*is_about(Runs, subject))
    rows = (await connection.execute(runs)).all()
    for row in rows:
        if row.status not in ENDED:
            raise Conflict(f"run {row.id} of {_name(subject)} is {row.status}; cancel it first")
    for row in rows:
        await delete_run(connection, subject.team_id, row.id, by=by, reason=reason)
    for table in (Feedback, Executions):
        await connection.execute(delete(table).where(*is_about(table, subject)))
    await connection.execute(
        delete(Archive).where(
            *is_about(Archive, subject), Archive.run_id.is_(None), Archive.is_deleted.is_(False)
        )
    )
    await _add_mark(connection, subject, None, by=by, reason=reason, is_deleted=True)
    why = Why(kind=BoardEventKind.DELETED, reason=f"agent deleted: {reason}", by=by)
    states = {archive_key(subject): None}
    await record_change(connection, subject, why, lambda _: Sums(), states=states)
    return len(rows)


async def _delete_run(
    connection: AsyncConnection, row: Row[Any], *, by: str, reason: str
) -> tuple[int, int]:
    """Delete the rows of a run; how many executions go with it, and how many had succeeded."""
    # A result and its execution have one id.
    mine = Executions.id.in_(select(Results.id).where(Results.run_id == row.id))
    is_success = cast(Executions.status == ExecutionStatus.COMPLETED, Integer)
    counting = select(func.count(), func.sum(is_success)).where(mine)
    executions, successes = (await connection.execute(counting)).one()
    await connection.execute(delete(Executions).where(mine))
    await connection.execute(delete(Archive).where(Archive.run_id == row.id))
    # With its state: it may have been resumed since it was read.
    gone = delete(Runs).where(Runs.id == row.id, Runs.status == row.status)
    if not (await connection.execute(gone)).rowcount:
        raise Conflict(f"run {row.id} is no longer {row.status}; cancel it first")
    summary = {
        "suite": row.suite,
        "suite_version": row.suite_version,
        "status": row.status,
        "score_percent": row.score_percent,
        "total_tests": row.total_tests,
        "passed_tests": row.passed_tests,
        "created_at": row.created_at.isoformat(),
        "provenance": row.provenance,
    }
    await _add_mark(
        connection, _subject(row), row.id, by=by, reason=reason, is_deleted=True, summary=summary
    )
    return executions, int(successes or 0)


async def _has_evidence(connection: AsyncConnection, subject: Subject) -> bool:
    """Whether anything is known of an agent version."""
    runs = select(Runs.id).where(*is_about(Runs, subject)).limit(1)
    has_run = (await connection.execute(runs)).first() is not None
    return has_run or Sums.of_row(await score_row(connection, subject)).has_evidence


async def _ended_run(
    connection: AsyncConnection, team_id: str, run_id: UUID, action: str
) -> Row[Any]:
    query = select(Runs.__table__).where(Runs.id == run_id, Runs.team_id == team_id)
    row = (await connection.execute(query)).one_or_none()
    if row is None:
        raise NotFound(f"there is no run {run_id}")
    if row.status not in ENDED:
        raise Conflict(f"run {run_id} is {row.status}, it cannot be {action}; cancel it first")
    return row


async def _mark_of(connection: AsyncConnection, subject: Subject, run_id: UUID | None) -> Any:
    is_run = Archive.run_id.is_(None) if run_id is None else Archive.run_id == run_id
    query = select(Archive.id).where(
        *is_about(Archive, subject), is_run, Archive.is_deleted.is_(False)
    )
    return (await connection.execute(query)).scalar_one_or_none()


async def _add_mark(
    connection: AsyncConnection,
    subject: Subject,
    run_id: UUID | None,
    *,
    by: str,
    reason: str,
    is_deleted: bool = False,
    summary: dict[str, Any] | None = None,
) -> None:
    row = {
        "id": uuid4(),
        **subject.columns,
        "run_id": run_id,
        "is_deleted": is_deleted,
        "by": by,
        "reason": reason,
        "at": clock.now(),
        "summary": summary,
    }
    await connection.execute(insert(Archive), row)


async def _remove_mark(
    connection: AsyncConnection, subject: Subject, run_id: UUID | None, name: str
) -> None:
    mark = await _mark_of(connection, subject, run_id)
    if mark is None:
        raise Conflict(f"{name} is not archived")
    await connection.execute(delete(Archive).where(Archive.id == mark))


def _name(subject: Subject) -> str:
    """As people write it."""
    return f"{subject.agent_id}@{subject.version}"


def _subject(row: Row[Any]) -> Subject:
    return Subject(team_id=row.team_id, agent_id=row.agent_id, version=row.agent_version)
