"""The embedded ledger: the state of every task and the balances, in Arena's own database.

Each call is one transaction with an idempotency key. The ledger never handles content, only hashes.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from sqlalchemy import insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from arena import clock
from arena.amounts import TEST_MONEY, Amount
from arena.feed import Feed
from arena.market.call import (
    Action,
    Call,
    CallKey,
    EventKind,
    NewEvent,
    Receipt,
    Step,
    call_digest,
    digest_of,
    offer_digest,
)
from arena.market.checks import check_agent, check_page, check_party, check_terms
from arena.market.effects import posted
from arena.market.errors import BadSignature
from arena.market.ledger import OnAnotherLedger
from arena.market.money import (
    OUTSIDE,
    Audit,
    Balance,
    EntryKind,
    LedgerLine,
    NewEntry,
    escrow,
    transfer,
    user,
)
from arena.market.moves import check, must_sign
from arena.market.projection import Rebuilt
from arena.market.records.audit import audit
from arena.market.records.book import (
    add_call,
    add_events,
    balances_of,
    find_call,
    lock_book,
    numbered_insert,
    post_entry,
    read_book,
)
from arena.market.records.claims import check_claim
from arena.market.records.money import account_balances, account_history
from arena.market.records.participants import Signed, use_nonce
from arena.market.records.projecting import OnSubmitted, project_events, rebuild_projections
from arena.market.records.reading import ranked_applicants, read_agent, read_task
from arena.market.records.rows import from_task
from arena.market.signing import (
    Act,
    Proof,
    Statement,
    check_proof,
    commitment_of,
)
from arena.market.task import EMBEDDED, Task
from arena.store.database import Database, shielded
from arena.store.tables.market import MarketApplications, MarketTasks

Write = Callable[[AsyncConnection, datetime], Awaitable[Task | None]]
"""Writes the changes of a call at a time; returns the changed task."""

SIGNED: Mapping[Action, tuple[Act, Callable[[Call], str | None]]] = {
    Action.APPLY: (Act.APPLY, lambda _: ""),
    Action.COMMIT: (Act.COMMIT, lambda call: call.commitment),
    Action.SUBMIT: (Act.SUBMIT, lambda call: call.result_hash),
    Action.DISPUTE: (Act.DISPUTE, lambda call: call.reason_uri),
}
"""What an agent signs for an action: the act and its content. Only agents have keys here, so a
dispute by the poster needs no signature."""


class EmbeddedLedger:
    """Tasks and money of every team."""

    name = EMBEDDED
    currency = TEST_MONEY
    allows_best_reputation = True

    def __init__(
        self,
        database: Database,
        feed: Feed | None = None,
        on_submitted: OnSubmitted | None = None,
    ) -> None:
        self._database = database
        self._on_submitted = on_submitted
        self._feed = feed or Feed()
        self._market_ids: dict[str, str] = {}

    async def now(self) -> datetime:
        """The time that windows are compared with."""
        return clock.now()

    async def market_id(self, team_id: str) -> str:
        """The id of the team's market, which is part of every signature."""
        if team_id not in self._market_ids:  # it never changes
            self._market_ids[team_id] = await self._read_market_id(team_id)
        return self._market_ids[team_id]

    @shielded
    async def _read_market_id(self, team_id: str) -> str:
        async with self._database.reading() as connection:
            found = await read_book(connection, team_id)
        if found is not None:
            return found
        async with self._database.writing() as connection:
            return await lock_book(connection, team_id)

    # Tasks

    async def post_task(self, task: Task, *, key: CallKey) -> Receipt:
        """Row 1 of the moves: open a task and lock its reward. The ledger sets its id and time."""

        async def write(connection: AsyncConnection, at: datetime) -> Task:
            check_terms(task, at)
            row = from_task(replace(task, posted_at=at))
            new = numbered_insert(MarketTasks, task.team_id, row)
            added = replace(task, id=(await connection.execute(new)).scalar_one())
            lock = transfer(EntryKind.LOCK, user(task.poster), escrow(added.id), task.reward)
            await post_entry(connection, task.team_id, lock, at, added.id)
            await add_events(connection, task.team_id, added.id, task.poster, at, [posted(task)])
            return added

        return await self._once(task.team_id, key, offer_digest(task), Action.POST, write)

    @shielded
    async def preview_task(self, task: Task, *, key: CallKey) -> Receipt | None:
        """Raise what `post_task` would raise about the terms; the receipt if it was done before."""
        async with self._database.reading() as connection:
            earlier = await find_call(connection, task.team_id, key, offer_digest(task))
            if earlier is None:
                check_terms(task, clock.now())
            return earlier

    async def act(
        self, team_id: str, task_id: int, call: Call, *, key: CallKey, proof: Proof | None = None
    ) -> Receipt:
        """Any other row: make the move, if the table of moves allows it now."""
        signed = await self._signed(team_id, task_id, call, proof)

        async def write(connection: AsyncConnection, at: datetime) -> Task:
            before = await _read_own(connection, team_id, task_id)
            if call.claim is not None:
                await check_claim(connection, before, call.claim)
            full, step = await _decide(connection, before, call, signed, at)
            if signed:
                statement, proof = signed
                await use_nonce(connection, team_id, statement.agent, proof.nonce, at)
            await _write(connection, full, before, step, at, self._on_submitted)
            return step.task

        return await self._once(team_id, key, call_digest(task_id, call), call.action, write)

    @shielded
    async def preview(
        self, team_id: str, task_id: int, call: Call, *, key: CallKey, proof: Proof | None = None
    ) -> Receipt | None:
        """Raise what `act` would raise now; the receipt if the call was done before."""
        signed = await self._signed(team_id, task_id, call, proof)
        async with self._database.reading() as connection:
            earlier = await find_call(connection, team_id, key, call_digest(task_id, call))
            if earlier is None:
                task = await _read_own(connection, team_id, task_id)
                await _decide(connection, task, call, signed, clock.now())
            return earlier

    async def commitment(self, task: Task, agent: str, result_hash: str, salt: str) -> str:
        """What an agent commits to, to reveal this result with this salt."""
        return commitment_of(await self.market_id(task.team_id), task.id, agent, result_hash, salt)

    async def _signed(
        self, team_id: str, task_id: int, call: Call, proof: Proof | None
    ) -> Signed | None:
        if proof is None or call.action not in SIGNED:
            return None
        act, content_of = SIGNED[call.action]
        statement = await self.statement(team_id, act, task_id, call.by, content_of(call) or "")
        return replace(statement, language=call.language), proof

    async def statement(
        self, team_id: str, act: Act, task_id: int | None, agent: str, content: str
    ) -> Statement:
        """What an agent signs for an act in the team's market."""
        return Statement(
            market=await self.market_id(team_id),
            act=act,
            task_id=task_id,
            agent=check_agent(agent),
            content=content,
        )

    # Money

    async def deposit(self, team_id: str, name: str, amount: Amount, *, key: CallKey) -> Receipt:
        """From outside into a party's account."""
        entry = transfer(EntryKind.DEPOSIT, OUTSIDE, user(name), amount)
        return await self._move_cash(team_id, name, amount, EventKind.DEPOSITED, entry, key)

    async def withdraw(self, team_id: str, name: str, amount: Amount, *, key: CallKey) -> Receipt:
        """From a party's account to the outside."""
        entry = transfer(EntryKind.WITHDRAWAL, user(name), OUTSIDE, amount)
        return await self._move_cash(team_id, name, amount, EventKind.WITHDRAWN, entry, key)

    async def _move_cash(
        self,
        team_id: str,
        name: str,
        amount: Amount,
        kind: EventKind,
        entry: NewEntry,
        key: CallKey,
    ) -> Receipt:
        async def write(connection: AsyncConnection, at: datetime) -> None:
            await post_entry(connection, team_id, entry, at)
            event = NewEvent(kind=kind, why="test money, worth nothing", data={"amount": amount})
            await add_events(connection, team_id, None, name, at, [event])

        digest = digest_of(kind, account=name, amount=int(amount))
        return await self._once(team_id, key, digest, entry.kind, write)

    async def balance(self, team_id: str, name: str) -> Amount:
        """A party's balance; 0 for an unknown one."""
        account = user(check_party("account", name))
        held = await self._balance(team_id, account)
        return held.get(account, Amount(0))

    @shielded
    async def _balance(self, team_id: str, account: str) -> Mapping[str, Amount]:
        async with self._database.reading() as connection:
            return await balances_of(connection, team_id, [account])

    @shielded
    async def balances(self, team_id: str) -> Sequence[Balance]:
        """Every account that is not empty: `user:…`, `escrow:…`, `bond:…`, `outside`."""
        async with self._database.reading() as connection:
            return await account_balances(connection, team_id)

    @shielded
    async def history(
        self, team_id: str, name: str, *, limit: int = 50, before: int | None = None
    ) -> Sequence[LedgerLine]:
        """A party's postings, newest first; `before` is the last entry of the previous page."""
        account = user(check_party("account", name))
        check_page(limit, before)
        async with self._database.reading() as connection:
            return await account_history(connection, team_id, account, limit, before)

    async def audit(self, team_id: str | None = None) -> Audit:
        """Check every invariant on the raw rows of one team, or of all teams."""
        return await audit(self._database, team_id)

    @shielded
    async def _once(
        self, team_id: str, key: CallKey, digest: str, action: str, write: Write
    ) -> Receipt:
        """Write under the lock of the book; returns the earlier receipt if the key was used."""
        async with self._database.writing() as connection:
            await lock_book(connection, team_id)
            earlier = await find_call(connection, team_id, key, digest)
            if earlier:
                return earlier
            # After locking: the time of a call that waited for the lock is when it got it.
            at = clock.now()
            task = await write(connection, at)
            receipt = await add_call(
                connection, team_id, key=key, digest=digest, action=action, at=at, task=task
            )
        self._feed.notify(("market", team_id), ("team", team_id))
        return receipt

    @shielded
    async def rebuild(self, team_id: str) -> Rebuilt:
        """Compute reputations and executions again from the events of every task of the team."""
        async with self._database.writing() as connection:
            await lock_book(connection, team_id)
            return await rebuild_projections(connection, team_id)


async def _read_own(connection: AsyncConnection, team_id: str, task_id: int) -> Task:
    task = await read_task(connection, team_id, task_id)
    if task.ledger != EMBEDDED:
        raise OnAnotherLedger(task.ledger)
    return task


async def _decide(
    connection: AsyncConnection, task: Task, call: Call, signed: Signed | None, at: datetime
) -> tuple[Call, Step]:
    """The completed call, and what it would do."""
    has_applied = False
    if signed:
        statement, proof = signed
        agent = await read_agent(connection, task.team_id, statement.agent)
        check_proof(agent.public_key, statement, proof, at)
        call = replace(call, version=agent.version)
    elif must_sign(task, call):
        raise BadSignature(f"agent {call.by!r} must sign this: {call.action} is its own decision")
    match call.action:
        case Action.APPLY:
            has_applied = await _application_version(connection, task, call.by) is not None
        case Action.ASSIGN:
            version = await _application_version(connection, task, call.agent)
            call, has_applied = replace(call, version=version), version is not None
        case Action.ASSIGN_BEST:
            for best in (await ranked_applicants(connection, task.team_id, task.id))[:1]:
                call, has_applied = replace(call, agent=best.agent, version=best.version), True
        case _:
            pass
    return call, check(task, call, at, has_applied=has_applied)


async def _write(
    connection: AsyncConnection,
    call: Call,
    before: Task,
    step: Step,
    at: datetime,
    on_submitted: OnSubmitted | None,
) -> None:
    task, team_id = step.task, step.task.team_id
    if call.action is Action.APPLY:
        assert call.version is not None
        row = {
            "task_id": task.id,
            "agent": call.by,
            "team_id": team_id,
            "version": call.version,
            "applied_at": at,
        }
        await connection.execute(insert(MarketApplications), row)
    # Only the changed columns, so never the terms. A move that ends the judging ends its claim.
    old, new = from_task(before), from_task(replace(task, claimed_until=None))
    changed = {name: value for name, value in new.items() if value != old[name]}
    if changed:
        await connection.execute(
            update(MarketTasks)
            .where(MarketTasks.team_id == team_id, MarketTasks.id == task.id)
            .values(**changed)
        )
    if step.entry:
        await post_entry(connection, team_id, step.entry, at, task.id)
    await add_events(connection, team_id, task.id, call.by, at, step.events)
    kinds = [event.kind for event in step.events]
    await project_events(connection, task, kinds, at, on_submitted)


async def _application_version(
    connection: AsyncConnection, task: Task, agent: str | None
) -> str | None:
    """The version an agent applied with; None if it has not applied."""
    query = select(MarketApplications.version).where(
        MarketApplications.team_id == task.team_id,
        MarketApplications.task_id == task.id,
        MarketApplications.agent == agent,
    )
    return (await connection.execute(query)).scalar_one_or_none()
