"""Writes what follows from the events of tasks (`market/projection.py`), or recomputes it."""

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import astuple, fields
from datetime import datetime

from sqlalchemy import select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from arena.market.agents import Reputation
from arena.market.call import EventKind
from arena.market.projection import Rebuilt, ended_execution, gained_reputation
from arena.market.records.rows import REPUTATION_COLUMNS, to_reputation, to_task
from arena.market.task import Task
from arena.scoring.history import Execution, ExecutionStatus, Source, Subject
from arena.scoring.log import BoardEventKind, Why
from arena.scoring.records.evidence import add_executions, remove_execution
from arena.store.tables.market import MarketAgents, MarketEvents, MarketTasks
from arena.store.tables.scores import Executions

PAGE = 500

OnSubmitted = Callable[[AsyncConnection, Task], Awaitable[None]]
"""Called in the transaction that records the result of a task."""


async def project_events(
    connection: AsyncConnection,
    task: Task,
    kinds: Iterable[EventKind],
    at: datetime,
    on_submitted: OnSubmitted | None = None,
) -> None:
    """Add what follows from new events of a task."""
    for kind in kinds:
        if on_submitted and kind is EventKind.RESULT_SUBMITTED:
            await on_submitted(connection, task)
        if gained := gained_reputation(task, kind):
            await _change_reputation(connection, task, gained, 1)
        if execution := ended_execution(task, kind, at):
            await add_executions(connection, _subject(task), [execution], _why(execution))


async def undo_events(
    connection: AsyncConnection, task: Task, events: Sequence[tuple[EventKind, datetime]]
) -> None:
    """Take back what followed from events that did not happen; `task` is as they left it."""
    for kind, at in events:
        if gained := gained_reputation(task, kind):
            await _change_reputation(connection, task, gained, -1)
        if execution := ended_execution(task, kind, at):
            await remove_execution(connection, _subject(task), execution)


async def rebuild_projections(connection: AsyncConnection, team_id: str) -> Rebuilt:
    """Compute every agent's reputation and executions from the events; the book must be locked."""
    reputations: dict[str, Counter[str]] = {}
    executions: list[tuple[Subject, Execution]] = []
    tasks = last = 0
    while page := await _page(connection, team_id, last):
        last = max(page)
        tasks += len(page)
        for task, kind, at in await _events(connection, team_id, page):
            if gained := gained_reputation(task, kind):
                counts = reputations.setdefault(str(task.agent), Counter())
                counts.update({field.name: getattr(gained, field.name) for field in fields(gained)})
            if execution := ended_execution(task, kind, at):
                executions.append((_subject(task), execution))
    return Rebuilt(
        tasks=tasks,
        reputations=await _store_reputations(connection, team_id, reputations),
        executions=await _store_executions(connection, team_id, executions),
    )


async def _page(connection: AsyncConnection, team_id: str, after: int) -> dict[int, Task]:
    query = (
        select(MarketTasks.__table__)
        .where(MarketTasks.team_id == team_id, MarketTasks.id > after)
        .order_by(MarketTasks.id)
        .limit(PAGE)
    )
    return {row.id: to_task(row) for row in await connection.execute(query)}


async def _events(
    connection: AsyncConnection, team_id: str, tasks: dict[int, Task]
) -> list[tuple[Task, EventKind, datetime]]:
    query = (
        select(MarketEvents.task_id, MarketEvents.kind, MarketEvents.at)
        .where(MarketEvents.team_id == team_id, MarketEvents.task_id.in_(list(tasks)))
        .order_by(MarketEvents.id)
    )
    return [
        (tasks[task_id], EventKind(kind), at)
        for task_id, kind, at in await connection.execute(query)
        if task_id is not None
    ]


async def _store_reputations(
    connection: AsyncConnection, team_id: str, counts: dict[str, Counter[str]]
) -> int:
    query = select(MarketAgents.__table__).where(MarketAgents.team_id == team_id)
    changed = 0
    for row in (await connection.execute(query)).all():
        right = Reputation(**counts.get(row.id, Counter()))
        if astuple(right) != astuple(to_reputation(row)):
            changed += 1
            values = {name: getattr(right, name) for name in REPUTATION_COLUMNS}
            is_theirs = (MarketAgents.team_id == team_id) & (MarketAgents.id == row.id)
            await connection.execute(update(MarketAgents).where(is_theirs).values(values))
    return changed


async def _store_executions(
    connection: AsyncConnection, team_id: str, right: list[tuple[Subject, Execution]]
) -> int:
    """Add the missing ones and remove those too many; right ones keep their ids."""
    query = select(Executions.__table__).where(
        Executions.team_id == team_id, Executions.source == Source.TASK
    )
    there: dict[tuple[object, ...], list[tuple[Subject, Execution]]] = {}
    for row in await connection.execute(query):
        subject = Subject(team_id=team_id, agent_id=row.agent_id, version=row.agent_version)
        stored = Execution(
            id=row.id,
            status=ExecutionStatus(row.status),
            source=Source.TASK,
            created_at=row.created_at,
            duration_seconds=row.duration_seconds,
        )
        there.setdefault(_content(subject, stored), []).append((subject, stored))
    missing: list[tuple[Subject, Execution]] = []
    for subject, execution in right:
        same = there.get(_content(subject, execution))
        if same:
            same.pop()
        else:
            missing.append((subject, execution))
    extra = [pair for pairs in there.values() for pair in pairs]
    # Removed first: a missing one may have the id of one that is wrong.
    for subject, execution in extra:
        await remove_execution(connection, subject, execution)
    for subject, execution in missing:
        await add_executions(connection, subject, [execution], _why(execution))
    return len(extra) + len(missing)


def _content(subject: Subject, execution: Execution) -> tuple[object, ...]:
    return subject, execution.status, execution.created_at, execution.duration_seconds


async def _change_reputation(
    connection: AsyncConnection, task: Task, gained: Reputation, sign: int
) -> None:
    columns = MarketAgents.__table__.c
    changed = {
        name: columns[name] + sign * getattr(gained, name)
        for name in REPUTATION_COLUMNS
        if getattr(gained, name)
    }
    is_theirs = (MarketAgents.team_id == task.team_id) & (MarketAgents.id == task.agent)
    await connection.execute(update(MarketAgents).where(is_theirs).values(changed))


def _subject(task: Task) -> Subject:
    assert task.agent and task.agent_version
    return Subject(team_id=task.team_id, agent_id=task.agent, version=task.agent_version)


def _why(execution: Execution) -> Why:
    return Why(
        kind=BoardEventKind.TASK_EXECUTED,
        reason=f"the execution of a paid task ended ({execution.status})",
    )
