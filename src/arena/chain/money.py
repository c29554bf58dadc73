"""The money of a market on a chain: wallets, what the contract holds, and whether it adds up."""

import asyncio
from collections.abc import Sequence
from typing import Any

from arena.amounts import MAX_DECIMALS, Amount
from arena.chain.contract import decode_result, encode_call
from arena.chain.node import Node
from arena.chain.projection import ChainProjection
from arena.market.checks import MAX_PAGE
from arena.market.flows import entries_of
from arena.market.money import (
    Audit,
    Balance,
    LedgerLine,
    Violation,
    bond,
    escrow,
    user,
)
from arena.market.records.reading import MarketReader
from arena.market.task import EVM, Task, TaskFilter, TaskState
from arena.store.database import Database

STATES: Sequence[TaskState | None] = (
    None,
    TaskState.OPEN,
    TaskState.ASSIGNED,
    TaskState.COMMITTED,
    TaskState.SUBMITTED,
    TaskState.JUDGED,
    TaskState.DISPUTED,
    TaskState.PAID,
    TaskState.REFUNDED,
    TaskState.EXPIRED,
    TaskState.CANCELLED,
)
"""By the contract's numbers."""
LINES_PER_TASK = 10
"""More than the entries of a task: so a number tells the task and the entry."""


class ChainMoney:
    """Reads balances from the chain and compares them with the tasks."""

    def __init__(
        self, database: Database, node: Node, projection: ChainProjection, contract: str
    ) -> None:
        self._reader = MarketReader(database)
        self._node = node
        self._projection = projection
        self._contract = contract

    async def credit(self, address: str) -> Amount:
        """What a refused payment left in the contract for this address."""
        return _coins(int(await self._view("credits", address)))

    async def balances(self, team_id: str) -> Sequence[Balance]:
        """Wallets and credits of known parties, escrows and bonds of live tasks."""
        known = sorted((await self._projection.parties.addresses()).items())
        wallets = await asyncio.gather(*(self._node.balance(one) for _, one in known))
        credits = await asyncio.gather(*(self.credit(one) for _, one in known))
        found = {user(name): held for (name, _), held in zip(known, wallets, strict=True)}
        found |= {f"credit:{name}": int(one) for (name, _), one in zip(known, credits, strict=True)}
        for task in await self._tasks(team_id, TaskFilter()):
            if not task.state.is_final:
                found[escrow(task.id)] = int(task.reward)
            if task.state is TaskState.DISPUTED:
                found[bond(task.id)] = int(task.bond)
        return [
            Balance(account=name, amount=_coins(held))
            for name, held in sorted(found.items())
            if held
        ]

    async def history(
        self, team_id: str, name: str, *, limit: int, before: int | None
    ) -> Sequence[LedgerLine]:
        """What a party gained and paid through tasks, newest first.

        The balance of a line is the sum up to it: what a wallet did besides is not known here.
        """
        tasks = {
            task.id: task
            for selection in (TaskFilter(poster=name), TaskFilter(agent=name))
            for task in await self._tasks(team_id, selection)
        }
        lines: list[LedgerLine] = []
        total = 0
        for task_id, task in sorted(tasks.items()):
            for entry in entries_of(task):
                change = sum(one.amount for one in entry.postings if one.account == user(name))
                total += change
                line = LedgerLine(
                    entry_id=task_id * LINES_PER_TASK + entry.id,
                    task_id=task_id,
                    kind=entry.kind,
                    at=entry.at,
                    amount=_coins(change),
                    balance=_coins(total),
                )
                lines += [line] if change else []
        older = [one for one in reversed(lines) if before is None or one.entry_id < before]
        return older[:limit]

    async def audit(self, team_id: str) -> Audit:
        """Compare every task with the contract, and what the contract holds with what it owes."""
        await self._projection.read()
        tasks = [
            task
            for task in await self._tasks(team_id, TaskFilter())
            if task.contract == self._contract and task.chain_task is not None
        ]
        block = await self._projection.block_of(self._contract)
        views = await asyncio.gather(
            *(self._view("getTask", task.chain_task, block=block) for task in tasks)
        )
        violations = [
            fault for task, view in zip(tasks, views, strict=True) for fault in _faults(task, view)
        ]
        held = int(await self._view("held", block=block))
        balance = await self._node.balance(self._contract, block)
        live = [task for task in tasks if not task.state.is_final]
        owed = sum(task.reward for task in live)
        owed += sum(task.bond for task in live if task.state is TaskState.DISPUTED)
        # More than the tasks of this team: credits, and tasks that are not shown.
        if held < owed:
            violations.append(_violation("I3", f"holds {held}, its tasks need {owed}"))
        if balance < held:
            violations.append(_violation("I3", f"has {balance}, it owes {held}"))
        entries = [entry for task in tasks for entry in entries_of(task)]
        return Audit(
            tasks=len(tasks),
            entries=len(entries),
            postings=sum(len(entry.postings) for entry in entries),
            accounts=len({one.account for entry in entries for one in entry.postings}),
            violations=tuple(violations),
        )

    async def _tasks(self, team_id: str, selection: TaskFilter) -> list[Task]:
        tasks: list[Task] = []
        while True:
            before = tasks[-1].id if tasks else None
            page = await self._reader.tasks(team_id, selection, limit=MAX_PAGE, before=before)
            tasks += page
            if len(page) < MAX_PAGE:
                return [task for task in tasks if task.ledger == EVM]

    async def _view(self, function: str, *arguments: object, block: int | None = None) -> Any:
        data = encode_call(function, *arguments)
        tag = "latest" if block is None else block
        return decode_result(function, await self._node.call(self._contract, data, block=tag))


def _faults(task: Task, view: dict[str, Any]) -> list[Violation]:
    state = STATES[int(view["state"])]
    faults: list[Violation] = []
    if state is not task.state:
        faults.append(_violation("I12", f"says that task {task.chain_task} is {state}", task))
    if int(view["reward"]) != task.reward:
        faults.append(_violation("I12", f"has the reward {view['reward']}", task))
    if int(view["applicantCount"]) != task.applicant_count:
        faults.append(_violation("I12", f"counts {view['applicantCount']} applicants", task))
    return faults


def _violation(invariant: str, what: str, task: Task | None = None) -> Violation:
    where = "" if task is None else f"task {task.id} is {task.state} here: "
    return Violation(invariant=invariant, what=f"{where}the contract {what}")


def _coins(wei: int) -> Amount:
    return Amount(wei, MAX_DECIMALS)
