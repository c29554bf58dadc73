"""One call, one transaction: the task, the money, the events and the receipt, or nothing."""

import hashlib
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime

from sqlalchemy.ext.asyncio import AsyncConnection

from arena import clock
from arena.content import canonical
from arena.market.call import Action, Call, Step
from arena.market.events import EventKind, Happening
from arena.market.money import EntryKind, NewEntry, escrow, transfer, user
from arena.market.moves import check
from arena.market.posting import check_terms
from arena.market.proof import Proof, Statement
from arena.market.receipt import Receipt
from arena.market.records.agents import (
    add_reputation,
    check_signed,
    ranked_applicants,
    use_nonce,
)
from arena.market.records.book import add_call, find_call, lock_book
from arena.market.records.events import add_events
from arena.market.records.journal import post_entry
from arena.market.records.rows import from_task
from arena.market.records.tasks import (
    add_application,
    add_task,
    application_version,
    change_task,
    read_task,
)
from arena.market.task import Task, TaskState
from arena.market.terms import Terms
from arena.scoring import Execution, ExecutionStatus, Source, Subject
from arena.scoring.records import add_executions
from arena.store.database import Database, shielded


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A call on a task, with its key and, from an agent, its signature."""

    team_id: str
    task_id: int
    call: Call
    key: str
    signed: tuple[Statement, Proof] | None = None

    @property
    def digest(self) -> str:
        """Of what is asked. A signature is no part: a repeated call may be signed anew."""
        return digest_of(self.call.action, task=self.task_id, **asdict(self.call))


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A task that is to be posted; its standard is verified and pinned."""

    team_id: str
    poster: str
    description: str
    evaluation_cid: str
    terms: Terms
    key: str

    @property
    def digest(self) -> str:
        """Of what is offered."""
        return digest_of(
            Action.POST,
            poster=self.poster,
            description=self.description,
            evaluation_cid=self.evaluation_cid,
            **asdict(self.terms),
        )


@shielded
async def post(database: Database, offer: Offer) -> Receipt:
    """Row 1: lock the reward and open the task."""
    async with database.writing() as connection:
        await lock_book(connection, offer.team_id)
        earlier = await find_call(connection, offer.team_id, offer.key, offer.digest)
        if earlier:
            return earlier
        at = clock.now()
        check_terms(offer.terms, offer.poster, at)
        task = await _open(connection, offer, at)
        reward = offer.terms.reward
        lock = transfer(EntryKind.LOCK, user(offer.poster), escrow(task.id), reward)
        await post_entry(connection, offer.team_id, lock, at, task.id)
        told = Happening(
            kind=EventKind.TASK_POSTED,
            why="offered",
            data={"evaluationCID": offer.evaluation_cid, "reward": reward},
        )
        await add_events(connection, offer.team_id, task.id, offer.poster, at, [told])
        return await add_call(
            connection,
            offer.team_id,
            key=offer.key,
            digest=offer.digest,
            action=Action.POST,
            at=at,
            task_id=task.id,
            state=task.state,
        )


@shielded
async def preview_post(database: Database, offer: Offer) -> Receipt | None:
    """Raise what is wrong with the terms; the receipt where the task was posted already."""
    async with database.reading() as connection:
        earlier = await find_call(connection, offer.team_id, offer.key, offer.digest)
        if earlier is None:
            check_terms(offer.terms, offer.poster, clock.now())
        return earlier


@shielded
async def act(database: Database, request: Request) -> Receipt:
    """Do what is asked, if the table of moves allows it now."""
    async with database.writing() as connection:
        await lock_book(connection, request.team_id)
        earlier = await find_call(connection, request.team_id, request.key, request.digest)
        if earlier:
            return earlier
        # Only now: whoever waited for the lock must not act at the time it came.
        at = clock.now()
        before, call, step = await _decide(connection, request, at)
        await _write(connection, replace(request, call=call), before, step, at)
        return await add_call(
            connection,
            request.team_id,
            key=request.key,
            digest=request.digest,
            action=request.call.action,
            at=at,
            task_id=before.id,
            state=step.task.state,
        )


@shielded
async def preview(database: Database, request: Request) -> Receipt | None:
    """Raise what `act` would raise now; the receipt where the call was done already."""
    async with database.reading() as connection:
        earlier = await find_call(connection, request.team_id, request.key, request.digest)
        if earlier is None:
            await _decide(connection, request, clock.now())
        return earlier


@dataclass(frozen=True, slots=True, kw_only=True)
class CashRequest:
    """Test money that comes in or goes out."""

    team_id: str
    account: str
    """The party's name."""
    entry: NewEntry
    kind: EventKind
    amount: int
    key: str

    @property
    def digest(self) -> str:
        """Of what is asked."""
        return digest_of(self.kind, account=self.account, amount=self.amount)


@shielded
async def move_cash(database: Database, request: CashRequest) -> Receipt:
    """Let test money in or out."""
    async with database.writing() as connection:
        await lock_book(connection, request.team_id)
        earlier = await find_call(connection, request.team_id, request.key, request.digest)
        if earlier:
            return earlier
        at = clock.now()
        await post_entry(connection, request.team_id, request.entry, at)
        told = Happening(
            kind=request.kind, why="test money, worth nothing", data={"amount": request.amount}
        )
        await add_events(connection, request.team_id, None, request.account, at, [told])
        return await add_call(
            connection,
            request.team_id,
            key=request.key,
            digest=request.digest,
            action=request.entry.kind,
            at=at,
        )


def digest_of(action: str, /, **asked: object) -> str:
    """What tells one call from another: a hash of all that was asked."""
    plain = {name: _plain(value) for name, value in asked.items() if value is not None}
    return hashlib.sha256(canonical({"action": str(action), **plain})).hexdigest()


def _plain(value: object) -> object:
    return value.astimezone(UTC).isoformat() if isinstance(value, datetime) else value


async def _open(connection: AsyncConnection, offer: Offer, at: datetime) -> Task:
    task = Task(
        id=0,
        team_id=offer.team_id,
        poster=offer.poster,
        description=offer.description,
        evaluation_cid=offer.evaluation_cid,
        terms=offer.terms,
        state=TaskState.OPEN,
        posted_at=at,
    )
    return replace(task, id=await add_task(connection, from_task(task)))


async def _decide(
    connection: AsyncConnection, request: Request, at: datetime
) -> tuple[Task, Call, Step]:
    """The task as it is, the call with all that is known, and what it would do."""
    task = await read_task(connection, request.team_id, request.task_id)
    call, has_applied = request.call, False
    if request.signed:
        agent = await check_signed(connection, request.team_id, request.signed, at)
        call = replace(call, version=agent.version)
    match call.action:
        case Action.APPLY:
            has_applied = await application_version(connection, task.id, call.by) is not None
        case Action.ASSIGN:
            version = await application_version(connection, task.id, call.agent)
            call, has_applied = replace(call, version=version), version is not None
        case Action.ASSIGN_BEST:
            best = (await ranked_applicants(connection, request.team_id, task.id))[:1]
            for one in best:
                call, has_applied = replace(call, agent=one.agent, version=one.version), True
        case _:
            pass
    return task, call, check(task, call, at, has_applied=has_applied)


async def _write(
    connection: AsyncConnection, request: Request, before: Task, step: Step, at: datetime
) -> None:
    team_id, call, task = request.team_id, request.call, step.task
    if request.signed:
        statement, proof = request.signed
        await use_nonce(connection, team_id, statement.agent, proof.nonce, at)
    if call.action is Action.APPLY:
        assert call.version is not None
        await add_application(connection, before, call.by, call.version, at)
    await change_task(connection, before, task)
    if step.entry:
        await post_entry(connection, team_id, step.entry, at, task.id)
    await add_events(connection, team_id, task.id, call.by, at, step.happenings)
    if step.reputation and task.agent:
        await add_reputation(connection, team_id, task.agent, step.reputation)
    if step.execution:
        await _add_execution(connection, task, step.execution, at)


async def _add_execution(
    connection: AsyncConnection, task: Task, status: ExecutionStatus, at: datetime
) -> None:
    """What the agent did counts for its success rate, whatever the verdict will be."""
    assert task.agent is not None and task.agent_version is not None
    assert task.assigned_at is not None
    subject = Subject(team_id=task.team_id, agent_id=task.agent, version=task.agent_version)
    execution = Execution(
        status=status,
        source=Source.TASK,
        created_at=at,
        duration_seconds=(at - task.assigned_at).total_seconds(),
    )
    await add_executions(connection, subject, [execution])
