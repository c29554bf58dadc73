"""Reads the ledger: tasks, agents, events and balances. Nothing here writes."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Row, Select, and_, exists, or_, select
from sqlalchemy.ext.asyncio import AsyncConnection

from arena import clock
from arena.amounts import Amount
from arena.errors import NotFound
from arena.feed import Feed
from arena.market.agents import Applicant, MarketAgent, ranked
from arena.market.call import MarketEvent, TaskStory
from arena.market.checks import check_party, check_whole
from arena.market.errors import UnknownTask
from arena.market.money import Audit, Balance, EntryKind, LedgerEntry, LedgerLine, Posting, user
from arena.market.records.audit import audit
from arena.market.records.book import balances_of
from arena.market.records.rows import to_agent, to_event, to_reputation, to_task
from arena.market.task import MAX_ID, Task, TaskFilter
from arena.store.database import Database, shielded
from arena.store.tables.market import (
    MarketAccounts,
    MarketAgents,
    MarketApplications,
    MarketEntries,
    MarketEvents,
    MarketPostings,
    MarketTasks,
)

MAX_PAGE = 1000
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


class LedgerReader:
    """Tasks, agents and balances of every team."""

    def __init__(self, database: Database, feed: Feed | None = None) -> None:
        self._database = database
        self._feed = feed or Feed()

    def now(self) -> datetime:
        """The time that windows are compared with."""
        return clock.now()

    # Tasks

    @shielded
    async def task(self, team_id: str, task_id: int) -> Task:
        """A task of the team; `UnknownTask` if it has none with this id."""
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
        _check_page(limit, before)
        query = select(MarketTasks.__table__).where(
            MarketTasks.team_id == team_id, *_conditions(selection or TaskFilter())
        )
        if before is not None:
            query = query.where(MarketTasks.id < before)
        query = query.order_by(MarketTasks.id.desc()).limit(limit)
        return [to_task(row) for row in await self._rows(query)]

    async def due(self, team_id: str, *, limit: int = 100) -> Sequence[Task]:
        """Live tasks that anyone may end now, the longest overdue first."""
        _check_page(limit, None)
        query = (
            select(MarketTasks.__table__)
            .where(MarketTasks.team_id == team_id, MarketTasks.exit_at <= self.now())
            .order_by(MarketTasks.exit_at, MarketTasks.id)
            .limit(limit)
        )
        return [to_task(row) for row in await self._rows(query)]

    @shielded
    async def story(self, team_id: str, task_id: int) -> TaskStory:
        """A task with its applicants, events and entries, from one snapshot."""
        async with self._database.reading() as connection:
            events = _events(team_id, since=0, limit=MAX_EVENTS, task_id=task_id)
            return TaskStory(
                task=await read_task(connection, team_id, task_id),
                applicants=await ranked_applicants(connection, team_id, task_id),
                events=[to_event(row) for row in await connection.execute(events)],
                entries=await _entries(connection, team_id, task_id),
            )

    # Agents

    @shielded
    async def agent(self, team_id: str, agent: str) -> MarketAgent:
        """One agent and its reputation; `NotFound` if it is not registered."""
        async with self._database.reading() as connection:
            return await read_agent(connection, team_id, agent)

    async def agents(self, team_id: str) -> Sequence[MarketAgent]:
        """Every agent of the team's market, by id."""
        query = select(MarketAgents.__table__).where(MarketAgents.team_id == team_id)
        # Sorted here, not in SQL: the database collation differs between machines.
        return sorted(map(to_agent, await self._rows(query)), key=lambda agent: agent.id)

    # Events

    async def events(
        self, team_id: str, *, since: int = 0, limit: int = 100, task_id: int | None = None
    ) -> Sequence[MarketEvent]:
        """Events after the id `since`, in order; none is ever added before an existing one."""
        _check_page(limit, None)
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

    # Money

    @shielded
    async def balance(self, team_id: str, name: str) -> Amount:
        """A party's balance; 0 for an unknown one."""
        account = user(check_party("account", name))
        async with self._database.reading() as connection:
            held = await balances_of(connection, team_id, [account])
        return held.get(account, Amount(0))

    async def balances(self, team_id: str) -> Sequence[Balance]:
        """Every account that is not empty: `user:…`, `escrow:…`, `bond:…`, `outside`."""
        query = select(MarketAccounts.name, MarketAccounts.balance).where(
            MarketAccounts.team_id == team_id, MarketAccounts.balance != 0
        )
        found = [Balance(account=row.name, amount=row.balance) for row in await self._rows(query)]
        return sorted(found, key=lambda balance: balance.account)

    async def history(
        self, team_id: str, name: str, *, limit: int = 50, before: int | None = None
    ) -> Sequence[LedgerLine]:
        """A party's postings, newest first; `before` is the last entry of the previous page."""
        account = user(check_party("account", name))
        _check_page(limit, before)
        query = (
            select(
                MarketEntries.id.label("entry_id"),
                MarketEntries.task_id,
                MarketEntries.kind,
                MarketEntries.at,
                MarketPostings.amount,
                MarketPostings.balance,
            )
            .join(MarketEntries, _entry_of_posting())
            .where(MarketPostings.team_id == team_id, MarketPostings.account == account)
        )
        if before is not None:
            query = query.where(MarketPostings.entry_id < before)
        newest = (MarketPostings.entry_id.desc(), MarketPostings.line.desc())
        rows = await self._rows(query.order_by(*newest).limit(limit))
        return [_line(row) for row in rows]

    async def audit(self, team_id: str | None = None) -> Audit:
        """Check every invariant on the raw rows of one team, or of all teams."""
        return await audit(self._database, team_id)

    @shielded
    async def _rows(self, query: Any) -> Sequence[Any]:
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


def _entry_of_posting() -> Any:
    return and_(
        MarketEntries.team_id == MarketPostings.team_id,
        MarketEntries.id == MarketPostings.entry_id,
    )


def _line(row: Any) -> LedgerLine:
    values = dict(row._mapping)
    values["kind"] = EntryKind(row.kind)
    return LedgerLine(**values)


async def _entries(connection: AsyncConnection, team_id: str, task_id: int) -> list[LedgerEntry]:
    query = (
        select(MarketEntries.__table__, MarketPostings.account, MarketPostings.amount)
        .join(MarketPostings, _entry_of_posting())
        .where(MarketEntries.team_id == team_id, MarketEntries.task_id == task_id)
        .order_by(MarketEntries.id, MarketPostings.line)
    )
    found: dict[int, tuple[Row[Any], list[Posting]]] = {}
    for row in await connection.execute(query):
        postings = found.setdefault(row.id, (row, []))[1]
        postings.append(Posting(account=row.account, amount=row.amount))
    return [
        LedgerEntry(id=row.id, kind=EntryKind(row.kind), at=row.at, postings=postings)
        for row, postings in found.values()
    ]


def _events(team_id: str, *, since: int, limit: int, task_id: int | None) -> Select[Any]:
    query = select(MarketEvents.__table__).where(
        MarketEvents.team_id == team_id, MarketEvents.id > since
    )
    if task_id is not None:
        query = query.where(MarketEvents.task_id == task_id)
    return query.order_by(MarketEvents.id).limit(limit)


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
        conditions.append(MarketTasks.reward >= selection.min_reward)
    if selection.applicant is not None:
        conditions.append(
            exists().where(
                MarketApplications.team_id == MarketTasks.team_id,
                MarketApplications.task_id == MarketTasks.id,
                MarketApplications.agent == selection.applicant,
            )
        )
    return conditions


def _check_page(limit: int, before: int | None) -> None:
    check_whole("limit", limit, 1, MAX_PAGE)
    if before is not None:
        check_whole("before", before, 0, MAX_ID)
