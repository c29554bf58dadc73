"""Appends to the log of the boards, and reads it."""

from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any

from sqlalchemy import func, insert, select
from sqlalchemy.ext.asyncio import AsyncConnection

from arena import clock
from arena.scoring.history import Subject
from arena.scoring.log import (
    BoardEvent,
    BoardEventKind,
    Position,
    States,
    Why,
)
from arena.store.tables.boards import BoardEvents, BoardStates

COLUMNS = (
    "number",
    "at",
    "reason",
    "by",
    "agent_id",
    "agent_version",
    "suite",
    "suite_version",
    "run_id",
)
"""The fields of an event that are columns as they are."""


async def append_event(
    connection: AsyncConnection,
    team_id: str,
    why: Why,
    states: Mapping[str, Mapping[str, Any] | None],
    *,
    subject: Subject | None = None,
    before: Position | None = None,
    after: Position | None = None,
    at_first: Mapping[str, Mapping[str, Any]] | None = None,
) -> None:
    """Append an event and the states that it changes; the caller has locked the team.

    `at_first` are states that the first event of a team has in addition.
    """
    last = await last_event(connection, team_id)
    number = last[0] + 1 if last else 1
    row = {
        **asdict(why),
        "team_id": team_id,
        "number": number,
        # Never before the previous event: a board at a moment has all events up to it.
        "at": max(clock.now(), last[1]) if last else clock.now(),
        "agent_id": subject.agent_id if subject else None,
        "agent_version": subject.version if subject else None,
        "before": asdict(before) if before else None,
        "after": asdict(after) if after else None,
    }
    await connection.execute(insert(BoardEvents), row)
    changed = states if last else {**(at_first or {}), **states}
    rows = [
        {"team_id": team_id, "number": number, "key": key, "value": value}
        for key, value in changed.items()
    ]
    if rows:
        await connection.execute(insert(BoardStates), rows)


async def last_event(connection: AsyncConnection, team_id: str) -> tuple[int, datetime] | None:
    """The number and time of the team's last event."""
    query = (
        select(BoardEvents.number, BoardEvents.at)
        .where(BoardEvents.team_id == team_id)
        .order_by(BoardEvents.number.desc())
        .limit(1)
    )
    row = (await connection.execute(query)).first()
    return (row.number, row.at) if row else None


async def states_at(
    connection: AsyncConnection, team_id: str, at: datetime | None = None
) -> States:
    """The team's states after the events up to `at`; None: all of them."""
    newest = (
        select(BoardStates.key, func.max(BoardStates.number).label("number"))
        .where(BoardStates.team_id == team_id)
        .group_by(BoardStates.key)
    )
    if at is not None:
        # By number: events are numbered in the order of their times.
        upto = select(func.max(BoardEvents.number)).where(
            BoardEvents.team_id == team_id, BoardEvents.at <= at
        )
        newest = newest.where(BoardStates.number <= upto.scalar_subquery())
    found = newest.subquery()
    query = (
        select(BoardStates.key, BoardStates.value)
        .join(found, (found.c.key == BoardStates.key) & (found.c.number == BoardStates.number))
        .where(BoardStates.team_id == team_id)
    )
    rows = await connection.execute(query)
    return States(
        team_id=team_id, values={row.key: row.value for row in rows if row.value is not None}
    )


async def read_events(
    connection: AsyncConnection,
    team_id: str,
    *,
    suite: str | None = None,
    agent_id: str | None = None,
    before: int | None = None,
    limit: int = 50,
) -> list[BoardEvent]:
    """The team's events, newest first; of a suite also those that are of no suite."""
    query = select(BoardEvents.__table__).where(BoardEvents.team_id == team_id)
    if suite is not None:
        query = query.where(BoardEvents.suite.is_(None) | (BoardEvents.suite == suite))
    if agent_id is not None:
        query = query.where(BoardEvents.agent_id == agent_id)
    if before is not None:
        query = query.where(BoardEvents.number < before)
    rows = await connection.execute(query.order_by(BoardEvents.number.desc()).limit(limit))
    return [_event(row) for row in rows]


def _event(row: Any) -> BoardEvent:
    columns: dict[str, Any] = {name: getattr(row, name) for name in COLUMNS}
    for name in ("before", "after"):
        value = getattr(row, name)
        columns[name] = Position(**value) if value else None
    return BoardEvent(**columns, kind=BoardEventKind(row.kind))
