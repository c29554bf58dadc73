"""The contract's events in the database, and the tasks that follow from them.

Events and what follows from them are written in one transaction under the lock of the team's book,
so that a process may be killed at any moment, and several processes may read the same chain.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, delete, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from arena.chain.contract import ContractEvent
from arena.chain.replay import History, Place, UnknownHistory, replay
from arena.market.call import EventKind, NewEvent
from arena.market.records.book import add_events
from arena.market.records.mirror import (
    add_application,
    add_task,
    add_unnamed,
    ensure_agents,
    keep_applications,
    read_events,
    remove_events,
    store_description,
    store_task,
)
from arena.market.records.projecting import OnSubmitted, project_events, undo_events
from arena.market.records.reading import read_task
from arena.market.task import Task, TaskState
from arena.store.database import dialect_insert
from arena.store.tables.chain_events import ChainCursors, ChainEvents, ChainTasks
from arena.store.tables.market import MarketTasks

FIRST_BLOCK = -1
"""The cursor of a contract of which nothing was read."""
CHAIN = "chain"
"""Who did what no party did."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cursor:
    """The last block that was read."""

    number: int
    hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """How to show what the chain has: parties by their names, descriptions by their text."""

    names: Mapping[str, str]
    """By address."""
    descriptions: Mapping[str, str]
    """By CID."""
    unnamed: set[str] = field(default_factory=set[str])
    """Addresses that were asked for and have no name: they go by themselves."""

    def name_of(self, address: str) -> str:
        """The party with this address."""
        if address not in self.names:
            self.unnamed.add(address)
        return self.names.get(address, address)

    def description_of(self, cid: str) -> str:
        """The description with this CID."""
        return self.descriptions.get(cid, cid)


async def read_cursor(connection: AsyncConnection, place: Place) -> Cursor:
    """How far the contract was read."""
    query = select(ChainCursors.block_number, ChainCursors.block_hash).where(
        ChainCursors.network == place.network, ChainCursors.contract == place.contract
    )
    row = (await connection.execute(query)).one_or_none()
    return Cursor(number=row[0], hash=row[1]) if row else Cursor(number=FIRST_BLOCK, hash="")


async def store_cursor(connection: AsyncConnection, place: Place, cursor: Cursor) -> None:
    """Note how far the contract was read."""
    new = dialect_insert(connection, ChainCursors)
    row = {
        "network": place.network,
        "contract": place.contract,
        "block_number": cursor.number,
        "block_hash": cursor.hash,
    }
    await connection.execute(
        new.on_conflict_do_update(
            index_elements=["network", "contract"],
            set_={"block_number": new.excluded.block_number, "block_hash": new.excluded.block_hash},
        ),
        row,
    )


async def blocks_with_events(connection: AsyncConnection, place: Place) -> list[Cursor]:
    """The blocks in which the contract has events, the newest first."""
    query = (
        select(ChainEvents.block_number, ChainEvents.block_hash)
        .where(*_is_of(place))
        .distinct()
        .order_by(ChainEvents.block_number.desc())
    )
    return [Cursor(number=number, hash=hash_) for number, hash_ in await connection.execute(query)]


async def add_contract_events(
    connection: AsyncConnection,
    place: Place,
    events: Sequence[ContractEvent],
    names: Names,
    on_submitted: OnSubmitted | None = None,
) -> list[str]:
    """Record new events and what follows from them; returns what could not be understood."""
    if events:
        await connection.execute(insert(ChainEvents), [_row(place, event) for event in events])
    histories: dict[int, History] = {}
    problems: list[str] = []
    for number in sorted({event.chain_task for event in events if event.chain_task}):
        try:
            histories[number] = await _history(connection, place, number, names)
        except UnknownHistory as error:
            # One task that Arena cannot follow must not hide all others.
            problems.append(error.message)
    for event in events:
        if event.chain_task in histories:
            history = histories[event.chain_task]
            await _mirror_event(connection, place, event, history, on_submitted)
    for history in histories.values():
        await store_task(connection, history.task)
    # From now on they keep these names: another name later would tell another history.
    await add_unnamed(connection, place.team_id, names.unnamed)
    return problems


async def remove_blocks(
    connection: AsyncConnection, place: Place, hashes: Sequence[str], at: datetime, names: Names
) -> None:
    """Undo the events of blocks that are no longer part of the chain."""
    is_gone = (*_is_of(place), ChainEvents.block_hash.in_(hashes))
    query = select(ChainEvents.chain_task, ChainEvents.event_id).where(*is_gone)
    gone: dict[int, list[int]] = {}
    for chain_task, event_id in await connection.execute(query):
        if chain_task is not None and event_id is not None:
            gone.setdefault(chain_task, []).append(event_id)
    await connection.execute(delete(ChainEvents).where(*is_gone))
    for chain_task, ids in sorted(gone.items()):
        task_id = await _task_id(connection, place, chain_task)
        assert task_id is not None
        task = await read_task(connection, place.team_id, task_id)
        removed = await read_events(connection, place.team_id, ids)
        event = NewEvent(
            kind=EventKind.REORGANISED,
            why="the chain dropped the blocks of these events",
            data={"undone": sorted(ids), "kinds": [kind.value for kind, _ in removed]},
        )
        # Added before the others are removed: their numbers must not be given again.
        await add_events(connection, place.team_id, task_id, CHAIN, at, [event])
        await remove_events(connection, place.team_id, ids)
        await undo_events(connection, task, removed)
        await _store_what_is_left(connection, place, task, names, at)


async def task_of_transaction(
    connection: AsyncConnection, place: Place, transaction_hash: str
) -> tuple[int, EventKind, datetime] | None:
    """The task that a transaction was about, the last event in it, and the time of its block."""
    query = (
        select(ChainEvents.chain_task, ChainEvents.name, ChainEvents.at)
        .where(
            ChainEvents.network == place.network,
            ChainEvents.transaction_hash == transaction_hash,
            ChainEvents.chain_task.is_not(None),
        )
        .order_by(ChainEvents.log_index.desc())
        .limit(1)
    )
    row = (await connection.execute(query)).one_or_none()
    if row is None:
        return None
    task_id = await _task_id(connection, place, row.chain_task)
    return None if task_id is None else (task_id, EventKind(row.name), row.at)


async def contracts_with_tasks(connection: AsyncConnection, place: Place) -> list[str]:
    """The contracts on this chain that the team has tasks in."""
    query = (
        select(ChainTasks.contract)
        .where(ChainTasks.team_id == place.team_id, ChainTasks.network == place.network)
        .distinct()
        .order_by(ChainTasks.contract)
    )
    return list((await connection.execute(query)).scalars())


async def missing_descriptions(
    connection: AsyncConnection, place: Place, placeholder: str
) -> dict[int, str]:
    """The CIDs of descriptions that a placeholder stands in for, by task."""
    query = select(ChainTasks.task_id, MarketTasks.description).join(
        MarketTasks,
        (MarketTasks.team_id == ChainTasks.team_id) & (MarketTasks.id == ChainTasks.task_id),
    )
    query = query.where(
        ChainTasks.team_id == place.team_id,
        ChainTasks.network == place.network,
        ChainTasks.contract == place.contract,
        MarketTasks.description.startswith(placeholder, autoescape=True),
    )
    rows = await connection.execute(query)
    return {task_id: text.removeprefix(placeholder) for task_id, text in rows}


async def _history(
    connection: AsyncConnection, place: Place, chain_task: int, names: Names
) -> History:
    """The whole history of a task; a new one gets its number."""
    query = (
        select(ChainEvents.__table__)
        .where(*_is_of(place), ChainEvents.chain_task == chain_task)
        .order_by(ChainEvents.block_number, ChainEvents.log_index)
    )
    events = [_event(row) for row in await connection.execute(query)]
    known = await _task_id(connection, place, chain_task)
    history = replay(place, known or 0, events, names.name_of, names.description_of)
    if known is not None:
        return history
    number = await add_task(connection, history.happened[0].task)
    row = {
        "team_id": place.team_id,
        "network": place.network,
        "contract": place.contract,
        "chain_task": chain_task,
        "task_id": number,
    }
    await connection.execute(insert(ChainTasks), row)
    return replay(place, number, events, names.name_of, names.description_of)


async def _mirror_event(
    connection: AsyncConnection,
    place: Place,
    event: ContractEvent,
    history: History,
    on_submitted: OnSubmitted | None,
) -> None:
    happened = next(one for one in history.happened if one.event.place == event.place)
    task = happened.task
    if event.name == "TaskPosted":
        await store_description(connection, task.team_id, task.id, task.description)
    if event.name == "Applied":
        applied = history.applications[happened.who]
        await ensure_agents(
            connection, place.team_id, {happened.who: event.args["agent"]}, event.at
        )
        await add_application(connection, task, happened.who, applied.version, applied.at)
    (event_id,) = await add_events(
        connection,
        place.team_id,
        task.id,
        happened.who,
        event.at,
        [happened.new],
        transaction_hash=event.transaction_hash,
    )
    await connection.execute(
        update(ChainEvents)
        .where(
            ChainEvents.network == place.network,
            ChainEvents.block_hash == event.block_hash,
            ChainEvents.log_index == event.log_index,
        )
        .values(event_id=event_id)
    )
    await project_events(connection, task, [happened.new.kind], event.at, on_submitted)


async def _store_what_is_left(
    connection: AsyncConnection, place: Place, task: Task, names: Names, at: datetime
) -> None:
    """Bring a task back to its remaining events."""
    assert task.chain_task is not None
    left = select(ChainEvents.log_index).where(
        *_is_of(place), ChainEvents.chain_task == task.chain_task
    )
    if (await connection.execute(left.limit(1))).first() is None:
        # Its posting is gone. The row stays, so that nothing refers to a task that is not there;
        # if it is posted again, it becomes that task.
        await keep_applications(connection, task, ())
        gone = replace(task, state=TaskState.CANCELLED, ended_at=at, payout=task.amount(0))
        await store_task(connection, gone)
        return
    history = await _history(connection, place, task.chain_task, names)
    await keep_applications(connection, task, history.applications)
    await store_task(connection, history.task)


async def _task_id(connection: AsyncConnection, place: Place, chain_task: int) -> int | None:
    query = select(ChainTasks.task_id).where(
        ChainTasks.team_id == place.team_id,
        ChainTasks.network == place.network,
        ChainTasks.contract == place.contract,
        ChainTasks.chain_task == chain_task,
    )
    return (await connection.execute(query)).scalar_one_or_none()


def _is_of(place: Place) -> tuple[ColumnElement[bool], ...]:
    return ChainEvents.network == place.network, ChainEvents.contract == place.contract


def _row(place: Place, event: ContractEvent) -> dict[str, object]:
    return {
        "network": place.network,
        "block_hash": event.block_hash,
        "log_index": event.log_index,
        "contract": place.contract,
        "block_number": event.block_number,
        "at": event.at,
        "transaction_hash": event.transaction_hash,
        "name": event.name,
        "chain_task": event.chain_task,
        "data": dict(event.args),
        "event_id": None,
    }


def _event(row: Any) -> ContractEvent:
    return ContractEvent(
        name=row.name,
        args=row.data,
        chain_task=row.chain_task,
        at=row.at,
        block_number=row.block_number,
        block_hash=row.block_hash,
        log_index=row.log_index,
        transaction_hash=row.transaction_hash,
    )
