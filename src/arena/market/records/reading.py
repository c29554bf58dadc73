"""Reads the market: tasks, agents and events, whatever ledger they are on. Nothing here writes."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Select, and_, exists, or_, select
from sqlalchemy.ext.asyncio import AsyncConnection

from arena.amounts import DECIMALS, MAX_DECIMALS, Amount
from arena.errors import NotFound
from arena.feed import Feed
from arena.market.agents import Applicant, MarketAgent, ranked
from arena.market.call import MarketEvent, TaskStory
from arena.market.checks import check_page, check_whole
from arena.market.errors import UnknownTask
from arena.market.flows import entries_of
from arena.market.records.money import task_entries
from arena.market.records.rows import to_agent, to_event, to_reputation, to_task
from arena.market.task import EMBEDDED, MAX_ID, Task, TaskFilter
from arena.store.database import Database, shielded
from arena.store.tables.market import (
    MarketAgents,
    MarketApplications,
    MarketEvents,
    MarketParties,
    MarketTasks,
)

POLL_SECONDS = 0.25
"""How often a watched market is polled: other processes write too."""
RECENT = 1000
"""Events kept in memory for all watchers; one that is further behind reads the database."""
MAX_EVENTS = 10_000
"""Events of one task: more than its applicants and moves can produce."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Recent:
    """A team's newest events, shared by all watchers: complete after `floor`."""

    floor: int
    events: tuple[MarketEvent, ...] = ()

    @property
    def last(self) -> int:
        """The id of the newest event."""
        return self.events[-1].id if self.events else self.floor


class MarketReader:
    """Tasks, agents and events of every team."""

    def __init__(
        self,
        database: Database,
        feed: Feed | None = None,
        *,
        refresh: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self._database = database
        self._feed = feed or Feed()
        self._refresh = refresh
        """Brings the tables up to date with a ledger elsewhere; called before reading."""

    # Tasks

    async def task(self, team_id: str, task_id: int) -> Task:
        """A task of the team; `UnknownTask` if it has none with this id."""
        await self._be_current()
        return await self._task(team_id, task_id)

    @shielded
    async def _task(self, team_id: str, task_id: int) -> Task:
        async with self._database.reading() as connection:
            return await read_task(connection, team_id, task_id)

    async def tasks(
        self,
        team_id: str,
        selection: TaskFilter | None = None,
        *,
        limit: int = 20,
        before: int | None = None,
    ) -> Sequence[Task]:
        """Tasks, newest first; `before` is the id of the last one on the previous page."""
        check_page(limit, before)
        query = select(MarketTasks.__table__).where(
            MarketTasks.team_id == team_id, *_conditions(selection or TaskFilter())
        )
        if before is not None:
            query = query.where(MarketTasks.id < before)
        query = query.order_by(MarketTasks.id.desc()).limit(limit)
        return [to_task(row) for row in await self._rows(query)]

    async def due(
        self, team_id: str, ledger: str, now: datetime, *, limit: int = 100
    ) -> Sequence[Task]:
        """Live tasks of a ledger that anyone may end now, the longest overdue first."""
        check_page(limit, None)
        query = (
            select(MarketTasks.__table__)
            .where(
                MarketTasks.team_id == team_id,
                MarketTasks.ledger == ledger,
                MarketTasks.exit_at <= now,
            )
            .order_by(MarketTasks.exit_at, MarketTasks.id)
            .limit(limit)
        )
        return [to_task(row) for row in await self._rows(query)]

    async def story(self, team_id: str, task_id: int) -> TaskStory:
        """A task with its applicants, events and entries, from one snapshot."""
        await self._be_current()
        return await self._story(team_id, task_id)

    @shielded
    async def _story(self, team_id: str, task_id: int) -> TaskStory:
        async with self._database.reading() as connection:
            events = _events(team_id, since=0, limit=MAX_EVENTS, task_id=task_id)
            task = await read_task(connection, team_id, task_id)
            is_embedded = task.ledger == EMBEDDED
            return TaskStory(
                task=task,
                applicants=await ranked_applicants(connection, team_id, task_id),
                events=[to_event(row) for row in await connection.execute(events)],
                entries=await task_entries(connection, team_id, task_id)
                if is_embedded
                else entries_of(task),
            )

    # Agents

    async def agent(self, team_id: str, agent: str) -> MarketAgent:
        """One agent and its reputation; `NotFound` if it is not registered."""
        await self._be_current()
        return await self._agent(team_id, agent)

    @shielded
    async def _agent(self, team_id: str, agent: str) -> MarketAgent:
        async with self._database.reading() as connection:
            return await read_agent(connection, team_id, agent)

    async def agents(self, team_id: str) -> Sequence[MarketAgent]:
        """Every agent of the team's market, by id."""
        query = select(MarketAgents.__table__).where(MarketAgents.team_id == team_id)
        # Sorted here, not in SQL: the database collation differs between machines.
        return sorted(map(to_agent, await self._rows(query)), key=lambda agent: agent.id)

    @shielded
    async def parties(self, team_id: str) -> dict[str, str]:
        """The addresses of the team's parties on a chain, by their names."""
        async with self._database.reading() as connection:
            return await read_parties(connection, team_id)

    # Events

    async def events(
        self, team_id: str, *, since: int = 0, limit: int = 100, task_id: int | None = None
    ) -> Sequence[MarketEvent]:
        """Events after the id `since`, in order; none is ever added before an existing one."""
        check_page(limit, None)
        check_whole("since", since, 0, MAX_ID)
        if task_id is not None and not 0 < task_id <= MAX_ID:
            raise UnknownTask(f"there is no task {task_id}")
        query = _events(team_id, since=since, limit=limit, task_id=task_id)
        return [to_event(row) for row in await self._rows(query)]

    async def last_event(self, team_id: str) -> int:
        """The newest event's id, to read only later ones; 0 if there is none."""
        newest = select(MarketEvents.id).where(MarketEvents.team_id == team_id)
        rows = await self._rows(newest.order_by(MarketEvents.id.desc()).limit(1))
        return rows[0].id if rows else 0

    def watch(self, team_id: str, *, since: int) -> AsyncGenerator[MarketEvent]:
        """Events after `since` as they happen, without end."""
        check_whole("since", since, 0, MAX_ID)
        return self._watch(team_id, since)

    async def _watch(self, team_id: str, since: int) -> AsyncGenerator[MarketEvent]:
        async def read(seen: _Recent | None) -> _Recent:
            if seen is None:
                # Start at the newest: the shared list must not begin with the whole history.
                return _Recent(floor=await self.last_event(team_id))
            new = await self.events(team_id, since=seen.last, limit=RECENT)
            events = (*seen.events, *new)
            floor = events[-RECENT - 1].id if len(events) > RECENT else seen.floor
            return _Recent(floor=floor, events=events[-RECENT:])

        states = self._feed.watch(("market", team_id), read, poll_seconds=POLL_SECONDS)
        async with aclosing(states):
            async for recent in states:
                while since < recent.last:
                    events = recent.events
                    if since < recent.floor:  # too far behind for the shared list
                        events = await self.events(team_id, since=since, limit=RECENT)
                    for event in events:
                        if event.id > since:
                            yield event
                            since = event.id

    async def _be_current(self) -> None:
        if self._refresh is not None:
            await self._refresh()

    async def _rows(self, query: Any) -> Sequence[Any]:
        await self._be_current()
        return await self._execute(query)

    @shielded
    async def _execute(self, query: Any) -> Sequence[Any]:
        async with self._database.reading() as connection:
            return (await connection.execute(query)).all()


async def read_task(connection: AsyncConnection, team_id: str, task_id: int) -> Task:
    """The team's task; another team's counts as unknown."""
    row = None
    # PostgreSQL raises an error for a number outside bigint, instead of finding nothing.
    if 0 < task_id <= MAX_ID:
        query = select(MarketTasks.__table__).where(
            MarketTasks.id == task_id, MarketTasks.team_id == team_id
        )
        row = (await connection.execute(query)).one_or_none()
    if row is None:
        raise UnknownTask(f"there is no task {task_id}")
    return to_task(row)


async def read_parties(connection: AsyncConnection, team_id: str) -> dict[str, str]:
    """The addresses of the team's parties, by their names."""
    query = select(MarketParties.name, MarketParties.address).where(
        MarketParties.team_id == team_id
    )
    return {name: address for name, address in await connection.execute(query)}


async def find_agent(connection: AsyncConnection, team_id: str, agent: str) -> MarketAgent | None:
    """A registered agent; None if it is not registered."""
    query = select(MarketAgents.__table__).where(
        MarketAgents.team_id == team_id, MarketAgents.id == agent
    )
    row = (await connection.execute(query)).one_or_none()
    return to_agent(row) if row else None


async def read_agent(connection: AsyncConnection, team_id: str, agent: str) -> MarketAgent:
    """A registered agent."""
    found = await find_agent(connection, team_id, agent)
    if found is None:
        raise NotFound(f"agent {agent!r} is not registered in this market: register it first")
    return found


async def ranked_applicants(
    connection: AsyncConnection, team_id: str, task_id: int
) -> list[Applicant]:
    """Who applied for a task, the best first."""
    query = (
        select(
            MarketApplications.agent,
            MarketApplications.version.label("applied_version"),
            MarketApplications.applied_at,
            MarketAgents.__table__,
        )
        .join(
            MarketAgents,
            (MarketAgents.team_id == MarketApplications.team_id)
            & (MarketAgents.id == MarketApplications.agent),
        )
        .where(MarketApplications.task_id == task_id, MarketApplications.team_id == team_id)
    )
    return ranked(
        Applicant(
            agent=row.agent,
            version=row.applied_version,
            applied_at=row.applied_at,
            reputation=to_reputation(row),
        )
        for row in await connection.execute(query)
    )


def _events(team_id: str, *, since: int, limit: int, task_id: int | None) -> Select[Any]:
    query = select(MarketEvents.__table__).where(
        MarketEvents.team_id == team_id, MarketEvents.id > since
    )
    if task_id is not None:
        query = query.where(MarketEvents.task_id == task_id)
    return query.order_by(MarketEvents.id).limit(limit)


def _pays(least: Amount, decimals: int) -> Any:
    """Whether a task in a currency with so many decimals pays at least this."""
    minor = -(-int(least) * 10**decimals // 10**least.decimals)  # rounded up
    return and_(MarketTasks.decimals == decimals, MarketTasks.reward >= minor)


def _conditions(selection: TaskFilter) -> list[Any]:
    conditions: list[Any] = []
    if selection.states is not None:
        conditions.append(MarketTasks.state.in_(sorted(selection.states)))
    if selection.poster is not None:
        conditions.append(MarketTasks.poster == selection.poster)
    if selection.agent is not None:
        conditions.append(MarketTasks.agent == selection.agent)
    if selection.judge is not None:
        roles = (MarketTasks.judge, MarketTasks.fallback_judge, MarketTasks.arbiter)
        conditions.append(or_(*(role == selection.judge for role in roles)))
    if selection.min_reward is not None:
        least = selection.min_reward
        conditions.append(or_(*(_pays(least, each) for each in (DECIMALS, MAX_DECIMALS))))
    if selection.applicant is not None:
        conditions.append(
            exists().where(
                MarketApplications.team_id == MarketTasks.team_id,
                MarketApplications.task_id == MarketTasks.id,
                MarketApplications.agent == selection.applicant,
            )
        )
    return conditions
