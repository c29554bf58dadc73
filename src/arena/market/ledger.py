"""The embedded ledger: where every task stands and who has what, in Arena's own database.

Each call is one transaction under a key. The ledger never sees content: a result is a name to it.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime

from arena import clock
from arena.market import records
from arena.market.events import Event, EventKind
from arena.market.money import OUTSIDE, EntryKind, Line, transfer, user
from arena.market.receipt import Receipt
from arena.market.records import CashRequest, Offer, Request
from arena.market.task import Task
from arena.market.views import AuditReport
from arena.store.database import Database, shielded


class Ledger:
    """Tasks and money of every team."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def now(self) -> datetime:
        """The time that decides about windows."""
        return clock.now()

    async def post_task(self, offer: Offer) -> Receipt:
        """Row 1 of the moves: open a task and lock its reward."""
        return await records.post(self._database, offer)

    async def preview_task(self, offer: Offer) -> Receipt | None:
        """Raise what is wrong with an offer; the receipt where it was posted already."""
        return await records.preview_post(self._database, offer)

    async def act(self, request: Request) -> Receipt:
        """Any other row: do what is asked, or say why not."""
        return await records.act(self._database, request)

    async def preview(self, request: Request) -> Receipt | None:
        """Raise what `act` would raise now; the receipt where the call was done already."""
        return await records.preview(self._database, request)

    async def deposit(self, team_id: str, name: str, amount: int, *, key: str) -> Receipt:
        """From outside into a party's account."""
        entry = transfer(EntryKind.DEPOSIT, OUTSIDE, user(name), amount)
        return await self._cash(
            CashRequest(
                team_id=team_id,
                account=name,
                entry=entry,
                kind=EventKind.DEPOSITED,
                amount=amount,
                key=key,
            )
        )

    async def withdraw(self, team_id: str, name: str, amount: int, *, key: str) -> Receipt:
        """From a party's account to the outside."""
        entry = transfer(EntryKind.WITHDRAWAL, user(name), OUTSIDE, amount)
        return await self._cash(
            CashRequest(
                team_id=team_id,
                account=name,
                entry=entry,
                kind=EventKind.WITHDRAWN,
                amount=amount,
                key=key,
            )
        )

    @shielded
    async def task(self, team_id: str, task_id: int) -> Task:
        """A task of the team."""
        async with self._database.reading() as connection:
            return await records.read_task(connection, team_id, task_id)

    @shielded
    async def balance(self, team_id: str, name: str) -> int:
        """What a party has."""
        account = user(name)
        async with self._database.reading() as connection:
            held = await records.balances_of(connection, team_id, [account])
        return held.get(account, 0)

    @shielded
    async def balances(self, team_id: str) -> Mapping[str, int]:
        """Every account that holds something."""
        async with self._database.reading() as connection:
            return await records.all_balances(connection, team_id)

    @shielded
    async def history(
        self, team_id: str, name: str, *, limit: int, before: int | None
    ) -> Sequence[Line]:
        """A party's postings, newest first."""
        async with self._database.reading() as connection:
            return await records.history_of(connection, team_id, user(name), limit, before)

    @shielded
    async def events(
        self, team_id: str, *, since: int, limit: int, task_id: int | None = None
    ) -> Sequence[Event]:
        """Events after `since`, in order."""
        async with self._database.reading() as connection:
            return await records.list_events(
                connection, team_id, since=since, limit=limit, task_id=task_id
            )

    async def audit(self, team_id: str | None) -> AuditReport:
        """Every invariant, from the raw rows."""
        return await records.audit(self._database, team_id)

    async def _cash(self, request: CashRequest) -> Receipt:
        return await records.move_cash(self._database, request)
