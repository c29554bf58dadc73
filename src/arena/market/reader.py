"""Looking at the market: tasks, agents, events and money. Nothing here changes anything."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from datetime import datetime

from arena.evaluation import Standard
from arena.market import records
from arena.market.agents import Applicant, MarketAgent
from arena.market.contents import Contents
from arena.market.errors import UnknownTask, WrongState
from arena.market.events import Event
from arena.market.feed import Feeds
from arena.market.ledger import Ledger
from arena.market.money import Line
from arena.market.naming import MAX_ID, check_party, check_whole
from arena.market.task import Task
from arena.market.views import AuditReport, TaskFilter, TaskStory
from arena.store.database import Database, shielded

MAX_PAGE = 1000
MAX_EVENTS = 10_000
"""Of one task: more than all its applicants and moves together."""


class MarketReader:
    """The market as it can be seen by one team."""

    def __init__(self, database: Database, ledger: Ledger, contents: Contents) -> None:
        self._database = database
        self._ledger = ledger
        self._contents = contents
        self._identities: dict[str, str] = {}
        self._feeds = Feeds(self._read_events, self.last_event)

    async def identity(self, team_id: str) -> str:
        """The id of the team's market, which every signature names."""
        if team_id not in self._identities:  # it never changes
            self._identities[team_id] = await records.market_id(self._database, team_id)
        return self._identities[team_id]

    @shielded
    async def agent(self, team_id: str, agent: str) -> MarketAgent:
        """One agent and its reputation; `NotFound` where it is not registered."""
        async with self._database.reading() as connection:
            return await records.read_agent(connection, team_id, agent)

    @shielded
    async def agents(self, team_id: str) -> Sequence[MarketAgent]:
        """Every agent of the team's market, by id."""
        async with self._database.reading() as connection:
            return await records.all_agents(connection, team_id)

    @shielded
    async def applicants(self, team_id: str, task_id: int) -> Sequence[Applicant]:
        """Who applied, the best first."""
        async with self._database.reading() as connection:
            await records.read_task(connection, team_id, task_id)
            return await records.ranked_applicants(connection, team_id, task_id)

    async def task(self, team_id: str, task_id: int) -> Task:
        """A task of the team; `UnknownTask` where it has none by that number."""
        return await self._ledger.task(team_id, task_id)

    @shielded
    async def tasks(
        self,
        team_id: str,
        wanted: TaskFilter | None = None,
        *,
        limit: int = 20,
        before: int | None = None,
    ) -> Sequence[Task]:
        """Tasks, newest first; `before` is the id of the last one on the page before."""
        check_page(limit, before)
        async with self._database.reading() as connection:
            return await records.list_tasks(
                connection, team_id, wanted or TaskFilter(), limit, before
            )

    @shielded
    async def story(self, team_id: str, task_id: int) -> TaskStory:
        """A task with its applicants, events and entries."""
        async with self._database.reading() as connection:
            task = await records.read_task(connection, team_id, task_id)
            return TaskStory(
                task=task,
                applicants=await records.ranked_applicants(connection, team_id, task_id),
                events=await records.list_events(
                    connection, team_id, since=0, limit=MAX_EVENTS, task_id=task_id
                ),
                entries=await records.entries_of(connection, team_id, task_id),
            )

    @shielded
    async def due(self, team_id: str, *, limit: int = 100) -> Sequence[Task]:
        """Live tasks whose exit is open now: `expire` or `settle` ends each."""
        check_page(limit, None)
        async with self._database.reading() as connection:
            return await records.due_tasks(connection, team_id, self.now(), limit)

    async def events(
        self, team_id: str, *, since: int = 0, limit: int = 100, task_id: int | None = None
    ) -> Sequence[Event]:
        """Events after the one with the id `since`, in order; no later one can come before."""
        check_page(limit, None)
        check_whole("since", since, 0, MAX_ID)
        if task_id is not None and not 0 < task_id <= MAX_ID:
            raise UnknownTask(f"there is no task {task_id}")
        return await self._ledger.events(team_id, since=since, limit=limit, task_id=task_id)

    def watch(self, team_id: str, *, since: int) -> AsyncGenerator[Event]:
        """Events after `since` as they happen, without end; close it when you have seen enough."""
        check_whole("since", since, 0, MAX_ID)
        return self._feeds.watch(team_id, since)

    async def _read_events(self, team_id: str, since: int, limit: int) -> Sequence[Event]:
        return await self._ledger.events(team_id, since=since, limit=limit)

    @shielded
    async def last_event(self, team_id: str) -> int:
        """The newest event's id, for whoever wants only what comes; 0 where there is none."""
        async with self._database.reading() as connection:
            return await records.last_event_id(connection, team_id)

    async def standard_of(self, task: Task) -> Standard:
        """The standard a task is judged by, verified against its CID."""
        return await self._contents.standard(task.evaluation_cid)

    async def result_of(self, task: Task) -> bytes:
        """The whole result, verified against `result_hash`; never a preview."""
        if task.result_hash is None:
            raise WrongState(f"task {task.id} is {task.state}: nothing was submitted")
        return await self._contents.result(task.result_hash)

    async def balance(self, team_id: str, account: str) -> int:
        """What a party has, in minor units; 0 for one that is not known."""
        return await self._ledger.balance(team_id, check_party("account", account))

    async def balances(self, team_id: str) -> Mapping[str, int]:
        """Every account that is not empty: `user:…`, `escrow:…`, `bond:…`, `outside`."""
        return await self._ledger.balances(team_id)

    async def history(
        self, team_id: str, account: str, *, limit: int = 50, before: int | None = None
    ) -> Sequence[Line]:
        """A party's postings, newest first; `before` is the last entry of the page before."""
        check_party("account", account)
        check_page(limit, before)
        return await self._ledger.history(team_id, account, limit=limit, before=before)

    async def audit(self, team_id: str | None = None) -> AuditReport:
        """Check every invariant from the raw rows, of one team or of all."""
        return await self._ledger.audit(team_id)

    def now(self) -> datetime:
        """The time that decides about windows."""
        return self._ledger.now()


def check_page(limit: int, before: int | None) -> None:
    """Refuse a page that is too large or begins nowhere."""
    check_whole("limit", limit, 1, MAX_PAGE)
    if before is not None:
        check_whole("before", before, 0, MAX_ID)
