"""Records new evidence and updates sums and scores, all in the caller's transaction."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, fields, replace
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import Integer, Row, and_, cast, delete, func, insert, literal, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from arena.errors import Conflict, NotFound
from arena.scoring import history
from arena.scoring.board import Provenance
from arena.scoring.history import (
    Execution,
    ExecutionDetails,
    ExecutionsReported,
    ExecutionStatus,
    Source,
    Subject,
    Transcript,
)
from arena.scoring.log import TEAM_KEY, BoardEventKind, Why
from arena.scoring.records.changes import position, record_change
from arena.scoring.records.outcomes import outcomes_of_run, store_groups
from arena.scoring.records.ranks import lock_team
from arena.scoring.records.rebuilding import compute_missing, show_newest
from arena.scoring.records.suites import shown_versions, store_team_board, team_board
from arena.scoring.records.sums import is_about
from arena.scoring.sums import Sums
from arena.store.tables.runs import Results, Runs
from arena.store.tables.scores import Executions, Feedback

USAGE_COLUMNS = ("input_tokens", "output_tokens", "model", "cost_usd")


async def add_executions(
    connection: AsyncConnection, subject: Subject, executions: Sequence[Execution], why: Why
) -> None:
    """Record executions and count them."""
    if not executions:
        return
    rows = [
        {
            "id": one.id or uuid4(),
            **subject.columns,
            "source": one.source,
            "status": one.status,
            "idempotency_key": one.idempotency_key,
            "input_tokens": one.usage.input_tokens,
            "output_tokens": one.usage.output_tokens,
            "model": one.usage.model,
            "cost_usd": one.usage.cost_usd,
            "duration_seconds": one.duration_seconds,
            "created_at": one.created_at,
            "transcript": None if one.transcript is None else one.transcript.as_json(),
        }
        for one in executions
    ]
    await connection.execute(insert(Executions), rows)
    successes = sum(one.status is ExecutionStatus.COMPLETED for one in executions)
    await record_change(
        connection, subject, why, lambda sums: sums.with_executions(len(executions), successes)
    )


async def remove_execution(
    connection: AsyncConnection, subject: Subject, execution: Execution
) -> None:
    """Undo `add_executions` of one execution that has an id."""
    gone = delete(Executions).where(
        Executions.team_id == subject.team_id, Executions.id == execution.id
    )
    if (await connection.execute(gone)).rowcount:
        success = int(execution.status is ExecutionStatus.COMPLETED)
        why = Why(
            kind=BoardEventKind.TASK_UNDONE, reason="the chain took back the end of a paid task"
        )
        await record_change(
            connection, subject, why, lambda sums: sums.with_executions(-1, -success)
        )


async def report_executions(
    connection: AsyncConnection, team_id: str, batch: Sequence[tuple[Subject, Execution]]
) -> ExecutionsReported:
    """Record the new executions of a batch, all or nothing; a key counts once."""
    await lock_team(connection, team_id)
    keys = [one.idempotency_key for _, one in batch if one.idempotency_key is not None]
    query = select(Executions.__table__).where(
        Executions.team_id == team_id, Executions.idempotency_key.in_(keys)
    )
    known: dict[str, tuple[UUID, tuple[object, ...]]] = {}
    for row in await connection.execute(query):
        known[row.idempotency_key] = row.id, _content_of_row(row)
    ids: list[UUID] = []
    new: dict[Subject, list[Execution]] = {}
    for subject, one in batch:
        key, execution_id = one.idempotency_key, one.id or uuid4()
        if key is not None:
            content = _content(subject, one)
            first = known.setdefault(key, (execution_id, content))
            if first[1] != content:
                raise Conflict(f"idempotency_key {key!r} was used for another execution")
            if first[0] != execution_id:
                ids.append(first[0])
                continue
        ids.append(execution_id)
        new.setdefault(subject, []).append(replace(one, id=execution_id))
    for subject, executions in new.items():
        reason = f"{_counted(len(executions))} reported"
        why = Why(kind=BoardEventKind.EXECUTIONS_REPORTED, reason=reason)
        await add_executions(connection, subject, executions, why)
    accepted = sum(map(len, new.values()))
    return ExecutionsReported(
        accepted=accepted, duplicates=len(batch) - accepted, execution_ids=ids
    )


def _content_of_row(row: Row[Any]) -> tuple[object, ...]:
    """What must be the same if a key is used again.

    Without time and price: if the caller left them out, they differ on each repetition.
    """
    return (
        row.agent_id,
        row.agent_version,
        row.status,
        row.input_tokens,
        row.output_tokens,
        row.model,
        _microseconds(row.duration_seconds),
        row.transcript,
    )


def _content(subject: Subject, one: Execution) -> tuple[object, ...]:
    return (
        subject.agent_id,
        subject.version,
        one.status.value,
        one.usage.input_tokens,
        one.usage.output_tokens,
        one.usage.model,
        _microseconds(one.duration_seconds),
        None if one.transcript is None else one.transcript.as_json(),
    )


async def find_execution(connection: AsyncConnection, team_id: str, name: str) -> ExecutionDetails:
    """The execution with this id or idempotency key; raises `NotFound`."""
    is_meant: Any = Executions.idempotency_key == name
    with suppress(ValueError):
        is_meant = or_(is_meant, Executions.id == UUID(name))
    query = select(Executions.__table__).where(Executions.team_id == team_id, is_meant).limit(1)
    row = (await connection.execute(query)).mappings().one_or_none()
    if row is None:
        raise NotFound(f"there is no execution with the id or idempotency key {name!r}")
    names = {one.name for one in fields(ExecutionDetails)}
    values = {key: value for key, value in row.items() if key in names}
    values |= {"source": Source(row["source"]), "status": ExecutionStatus(row["status"])}
    if row["transcript"] is not None:
        transcript = Transcript.from_json(row["transcript"])
        values |= {
            "messages": list(transcript.messages) or None,
            "steps": list(transcript.steps) or None,
            "output": transcript.output,
        }
    return ExecutionDetails(**values)


async def add_feedback(
    connection: AsyncConnection, subject: Subject, feedback: history.Feedback
) -> None:
    """Record a rating; it replaces the user's earlier one for the same thing."""
    await lock_team(connection, subject.team_id)
    query = select(Feedback.id, Feedback.rating).where(
        *is_about(Feedback, subject),
        Feedback.user_id == feedback.user_id,
        # `IS NULL` if there is no execution: two such ratings are about the same thing.
        Feedback.execution_id == feedback.execution_id
        if feedback.execution_id
        else Feedback.execution_id.is_(None),
        Feedback.is_standing.is_(True),
    )
    earlier = (await connection.execute(query)).one_or_none()
    if earlier:
        replaced = update(Feedback).where(Feedback.id == earlier.id)
        await connection.execute(replaced.values(is_standing=False))
    row = {"team_id": subject.team_id, **asdict(feedback)}
    await connection.execute(insert(Feedback), row)

    def counted(sums: Sums) -> Sums:
        without = sums.with_rating(earlier.rating, -1) if earlier else sums
        return without.with_rating(feedback.rating)

    stars = f"{feedback.rating} of 5 stars"
    if earlier:
        stars += f" instead of {earlier.rating}"
    why = Why(kind=BoardEventKind.VOTE, reason=stars, by=feedback.user_id)
    await record_change(connection, subject, why, counted)


async def list_feedback(
    connection: AsyncConnection,
    team_id: str,
    *,
    agent_id: str | None = None,
    version: str | None = None,
    with_history: bool = False,
    limit: int = 20,
    before: tuple[datetime, UUID] | None = None,
) -> list[history.Feedback]:
    """A team's ratings, newest first; `with_history` includes replaced ones."""
    columns = [column for column in Feedback.__table__.c if column.name != "team_id"]
    query = select(*columns).where(Feedback.team_id == team_id)
    if agent_id:
        query = query.where(Feedback.agent_id == agent_id)
    if version:
        query = query.where(Feedback.agent_version == version)
    if not with_history:
        query = query.where(Feedback.is_standing.is_(True))
    if before:
        moment, feedback_id = before
        query = query.where(
            or_(
                Feedback.created_at < moment,
                and_(Feedback.created_at == moment, Feedback.id < feedback_id),
            )
        )
    query = query.order_by(Feedback.created_at.desc(), Feedback.id.desc()).limit(limit)
    return [history.Feedback(**row) for row in (await connection.execute(query)).mappings()]


async def end_run(connection: AsyncConnection, row: Row[Any]) -> None:
    """Let a run that has ended change the boards, once: its executions, and what it measured.

    `row` is the run as it is now. A failed run that is resumed ends again: only what it did since
    then is counted.
    """
    subject = Subject(team_id=row.team_id, agent_id=row.agent_id, version=row.agent_version)
    await lock_team(connection, row.team_id)
    added, completed = await _add_run_executions(connection, subject, row)
    counts = row.status == "completed" and row.is_full
    # Read first: showing another version of the suite changes it.
    team = await team_board(connection, row.team_id)
    before = await position(connection, subject, row.suite, team)
    states = await _show_run(connection, row) if counts else None
    if not added and not counts:
        return
    why = Why(
        kind=BoardEventKind.RUN_COMPLETED if counts else BoardEventKind.RUN_ENDED,
        reason=_end_of(row, counts, added),
        run_id=row.id,
        suite=row.suite,
        suite_version=row.suite_version if counts else None,
    )
    await record_change(
        connection,
        subject,
        why,
        lambda sums: sums.with_executions(added, completed),
        suites=(row.suite,) if counts else (),
        states=states,
        before=before,
    )


def _end_of(row: Row[Any], counts: bool, added: int) -> str:
    if counts:
        run = "a reported run" if row.provenance == Provenance.REPORTED else "a run"
        return f"{run} of {row.suite} completed with {row.passed_tests} of {row.total_tests} passed"
    how = row.status if row.status != "completed" else "completed, but partial"
    return f"a run of {row.suite} ended ({how}): {_counted(added)}"


def _counted(executions: int) -> str:
    return "1 execution" if executions == 1 else f"{executions} executions"


async def _show_run(
    connection: AsyncConnection, row: Row[Any]
) -> dict[str, Mapping[str, Any] | None]:
    """Store what a complete run measured, and show its version if that is the newest.

    Returns the states that this changes. The first complete run of a team decides its default.
    """
    await compute_missing(connection, row.team_id)
    await store_groups(connection, row.id, await outcomes_of_run(connection, row.id))
    team_id, suite, states = row.team_id, row.suite, dict[str, Mapping[str, Any] | None]()
    team = await team_board(connection, team_id)
    if team.default_suite is None:
        team = replace(team, default_suite=suite)
        await store_team_board(connection, team_id, team)
        states[TEAM_KEY] = team.as_json()
    # A run of the version that is shown changes nothing about which one that is.
    if (await shown_versions(connection, team_id)).get(suite) == row.suite_version:
        return states
    return states | await show_newest(connection, team_id, suite, team)


async def _add_run_executions(
    connection: AsyncConnection, subject: Subject, row: Row[Any]
) -> tuple[int, int]:
    """Copy the results that are not in the history yet; how many, and how many succeeded.

    The database copies them: a row made in Python would cost as much as the result itself.
    """
    if row.completed_tests == row.counted_results:
        return 0, 0
    shared = ("id", "status", *USAGE_COLUMNS, "duration_seconds", "created_at")
    columns = Results.__table__.c
    is_new = (Results.run_id == row.id, Results.sequence > row.counted_results)
    source = Source.REPORTED if row.provenance == Provenance.REPORTED else Source.BENCHMARK
    query = select(
        *(columns[name] for name in shared),
        *(literal(value).label(name) for name, value in subject.columns.items()),
        literal(source.value).label("source"),
    ).where(*is_new)
    names = [*shared, *subject.columns, "source"]
    await connection.execute(insert(Executions).from_select(names, query))
    is_success = cast(Results.status == ExecutionStatus.COMPLETED, Integer)
    counting = select(func.count(), func.sum(is_success)).where(*is_new)
    added, completed = (await connection.execute(counting)).one()
    counted = update(Runs).where(Runs.id == row.id)
    await connection.execute(counted.values(counted_results=row.counted_results + added))
    return added, int(completed or 0)


def _microseconds(seconds: float | None) -> int | None:
    return None if seconds is None else round(seconds * 1_000_000)
