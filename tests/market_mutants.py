"""Bugs that the tests must find: each makes the running market do one thing wrong.

They are patched in at the seams of the market, not in its source: in the table of moves, in the
effect of a move (a step), and in the few functions through which the ledger writes.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import pytest

from arena.market import effects, moves
from arena.market.call import Action, Call, EventKind, Step
from arena.market.errors import InsufficientFunds
from arena.market.money import OUTSIDE, EntryKind, NewEntry, Posting, transfer, user
from arena.market.moves import Move, Role
from arena.market.records import embedded, projecting
from arena.market.task import Task, TaskState

TICK = timedelta(microseconds=1)
SETTLING = (TaskState.PAID, TaskState.REFUNDED)

Patch = pytest.MonkeyPatch
Plant = Callable[[Patch], None]


@dataclass(frozen=True, kw_only=True)
class Mutant:
    """One bug, and how to patch it in."""

    name: str
    plant: Plant
    history: int
    """A history that finds it early; it is tried first, because the others take time."""


def every_move(change: Callable[[Move], Move]) -> Plant:
    """Change the table of moves."""

    def plant(patch: Patch) -> None:
        changed = tuple(map(change, moves.MOVES))
        assert changed != moves.MOVES, "the table is the same"
        patch.setattr(moves, "MOVES", changed)

    return plant


def every_step(
    change: Callable[[Task, Call, Step], Step], *, seen: Callable[[Task, Call], Call] | None = None
) -> Plant:
    """Change the effect of every move; `seen` gives the call that the move sees."""

    def wrapped(effect: moves.Effect) -> moves.Effect:
        def mutated(task: Task, call: Call, at: Any) -> Step:
            return change(task, call, effect(task, seen(task, call) if seen else call, at))

        return mutated

    return every_move(lambda move: replace(move, effect=wrapped(move.effect)))


def believed(seen: Callable[[Task, Call], Call]) -> Plant:
    """Moves that do not check all of a call."""
    return every_step(lambda _task, _call, step: step, seen=seen)


def in_ledger(name: str, mutated: Callable[..., Any]) -> Plant:
    """Replace a function of the ledger; the new one gets the original first."""

    def plant(patch: Patch) -> None:
        original = getattr(embedded, name)
        patch.setattr(embedded, name, lambda *given, **named: mutated(original, *given, **named))

    return plant


def later(moment: moves.Moment | None) -> moves.Moment | None:
    def one_tick_later(task: Task) -> Any:
        assert moment is not None
        at = moment(task)
        return at and at + TICK

    return moment and one_tick_later


def with_role(whose: Role, /, **changes: Any) -> Plant:
    return every_move(lambda move: replace(move, **changes) if move.role is whose else move)


def paid_twice(task: Task, postings: Iterable[Posting], other: str) -> tuple[Posting, ...]:
    return (
        *postings,
        Posting(account=OUTSIDE, amount=-task.reward),
        Posting(account=user(other), amount=task.reward),
    )


def both_are_paid(task: Task, call: Call, step: Step) -> Step:
    if step.entry is None or step.task.state not in SETTLING:
        return step
    other = task.poster if step.task.state is TaskState.PAID else str(task.agent)
    postings = paid_twice(task, step.entry.postings, other)
    return replace(step, entry=replace(step.entry, postings=postings))


def paid_on_submission(task: Task, call: Call, step: Step) -> Step:
    if step.task.state is not TaskState.SUBMITTED:
        return step
    escrow = effects.escrow(task.id)
    return replace(
        step, entry=transfer(EntryKind.SETTLEMENT, escrow, user(str(task.agent)), task.reward)
    )


def bond_to_disputer(task: Task, call: Call, step: Step) -> Step:
    if call.action is not Action.RESOLVE or step.entry is None or not task.bond:
        return step
    *others, _ = step.entry.postings  # the bond comes last
    back = Posting(account=user(str(task.disputed_by)), amount=task.bond)
    return replace(step, entry=replace(step.entry, postings=(*others, back)))


def no_fault(patch: Patch) -> None:
    right = projecting.gained_reputation
    patch.setattr(
        projecting,
        "gained_reputation",
        lambda task, kind: None if kind is EventKind.EXPIRED else right(task, kind),
    )


async def escrow_stays_full(right: Any, connection: Any, team: str, entry: NewEntry, *rest: Any):
    taken = [one for one in entry.postings if one.amount < 0 and one.account.startswith("escrow")]
    from_outside = [replace(one, account=OUTSIDE) for one in taken]
    kept = [one for one in entry.postings if one not in taken]
    await right(connection, team, replace(entry, postings=(*kept, *from_outside)), *rest)


async def overdrawn(right: Any, connection: Any, team: str, entry: NewEntry, *rest: Any) -> None:
    try:
        await right(connection, team, entry, *rest)
    except InsufficientFunds:
        lent = [replace(one, account=OUTSIDE) if one.amount < 0 else one for one in entry.postings]
        await right(connection, team, replace(entry, postings=tuple(lent)), *rest)


async def no_earlier_call(right: Any, *given: Any) -> None:
    return None


MUTANTS = [
    Mutant(
        name="the state is not written",
        history=12,
        plant=every_step(
            lambda task, _, step: replace(step, task=replace(step.task, state=task.state))
        ),
    ),
    Mutant(
        name="nobody asks whether the judge is the judge",
        history=13,
        plant=with_role(Role.JUDGE, role=Role.ANYONE),
    ),
    Mutant(
        name="a window is shut one tick too late",
        history=16,
        plant=every_move(lambda move: replace(move, closes=later(move.closes))),
    ),
    Mutant(
        name="a window opens one tick too late",
        history=13,
        plant=every_move(lambda move: replace(move, opens=later(move.opens))),
    ),
    Mutant(
        name="sixty does not pay",
        history=13,
        plant=lambda patch: patch.setattr(effects, "MIN_PASS_SCORE", 61),
    ),
    Mutant(
        name="the agent is paid when it submits",
        history=23,
        plant=every_step(paid_on_submission),
    ),
    Mutant(
        name="a verdict settles although it can be disputed",
        history=23,
        plant=every_move(
            lambda move: (
                replace(move, effect=effects.judge_and_pay)
                if move.effect is effects.judge
                else move
            )
        ),
    ),
    Mutant(
        name="a key is not looked up",
        history=23,
        plant=in_ledger("find_call", no_earlier_call),
    ),
    Mutant(
        name="the escrow is not emptied",
        history=12,
        plant=in_ledger("post_entry", escrow_stays_full),
    ),
    Mutant(
        name="poster and agent are both paid",
        history=23,
        plant=every_step(both_are_paid),
    ),
    Mutant(
        name="a verdict may be about any result",
        history=5,
        plant=believed(
            lambda task, call: (
                replace(call, result_hash=task.result_hash) if call.action is Action.JUDGE else call
            )
        ),
    ),
    Mutant(
        name="a verdict may name any winner",
        history=17,
        plant=believed(
            lambda task, call: (
                replace(call, agent=task.agent) if call.action is Action.JUDGE else call
            )
        ),
    ),
    Mutant(
        name="a winner that is not the agent takes it all",
        history=17,
        plant=believed(
            lambda task, call: (
                replace(call, agent=task.agent)
                if call.action is Action.JUDGE and (call.score or 0) >= 60
                else call
            )
        ),
    ),
    Mutant(
        name="a score above 100 is taken",
        history=11,
        plant=believed(
            lambda _, call: replace(call, score=100) if (call.score or 0) > 100 else call
        ),
    ),
    Mutant(
        name="the bond always returns to the disputer",
        history=3,
        plant=every_step(bond_to_disputer),
    ),
    Mutant(
        name="signatures are not checked",
        history=23,
        plant=in_ledger("check_proof", lambda right, *given: None),
    ),
    Mutant(
        name="the fallback judge need not wait",
        history=0,
        plant=with_role(Role.FALLBACK, opens=None),
    ),
    Mutant(
        name="an account may be overdrawn",
        history=23,
        plant=in_ledger("post_entry", overdrawn),
    ),
    Mutant(
        name="a missed deadline is nobody's fault",
        history=27,
        plant=no_fault,
    ),
]
