"""The invariants of one task, whatever was done to it. Pure.

Independent of `effects.py` on purpose: it derives from the terms and the outcome who should have
what, so that a mistake there is found here.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from arena.evaluation.verdict import MIN_PASS_SCORE
from arena.market.call import EventKind
from arena.market.money import EntryKind, Violation, bond, escrow, user
from arena.market.task import ExpiryReason, Task, TaskState, TimeoutPolicy

ENDS = {
    EventKind.PAID: TaskState.PAID,
    EventKind.REFUNDED: TaskState.REFUNDED,
    EventKind.EXPIRED: TaskState.EXPIRED,
    EventKind.CANCELLED: TaskState.CANCELLED,
}
STANDS = {
    EventKind.TASK_POSTED: TaskState.OPEN,
    EventKind.APPLIED: TaskState.OPEN,
    EventKind.ASSIGNED: TaskState.ASSIGNED,
    EventKind.COMMITTED: TaskState.COMMITTED,
    EventKind.RESULT_SUBMITTED: TaskState.SUBMITTED,
    EventKind.JUDGED: TaskState.JUDGED,
    EventKind.DISPUTED: TaskState.DISPUTED,
    **ENDS,
}
"""The state that a task's last event leaves it in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trail:
    """The raw rows of a task."""

    task: Task
    flows: Mapping[str, int]
    """The sum of its postings, per account."""
    entries: Mapping[EntryKind, int]
    """How many entries it has of each kind."""
    kinds: Sequence[EventKind]
    """Its events, in order."""


def faults_of(trail: Trail) -> Iterator[Violation]:
    """Every invariant that this task violates."""
    for invariant, fault in (*_money(trail), *_verdict(trail.task), *_life(trail)):
        yield Violation(invariant=invariant, what=f"task {trail.task.id}: {fault}")


def _money(trail: Trail) -> Iterator[tuple[str, str]]:
    task, flows = trail.task, trail.flows
    held = flows.get(escrow(task.id), 0)
    should = 0 if task.state.is_final else task.reward
    if held != should:
        yield "I2", f"is {task.state}, escrow holds {held}, must hold {should}"
    held = flows.get(bond(task.id), 0)
    should = task.bond if task.state is TaskState.DISPUTED else 0
    if held != should:
        yield "I2", f"is {task.state}, bond holds {held}, must hold {should}"
    settled = trail.entries.get(EntryKind.SETTLEMENT, 0)
    if settled != int(task.state.is_final):
        yield "I4", f"is {task.state} and was settled {settled} times"
    moved = {name: amount for name, amount in flows.items() if amount and ":" in name}
    parties = {name: amount for name, amount in moved.items() if name.startswith("user:")}
    expected = {name: amount for name, amount in _shares(task).items() if amount}
    if parties != expected:
        yield "I4", f"is {task.state}, its parties moved by {parties}, must be {expected}"


def _shares(task: Task) -> Mapping[str, int]:
    """What each party should have gained or paid through the task so far."""
    shares: Counter[str] = Counter({user(task.poster): -task.reward})
    if task.disputed_by is not None:
        shares[user(task.disputed_by)] -= task.bond
    if not task.state.is_final:
        return shares
    share = _agent_share(task)
    shares[user(task.poster)] += task.reward - share
    if task.agent is not None:
        shares[user(task.agent)] += share
    if task.disputed_by is not None and task.agent is not None:
        shares[user(_bond_winner(task, task.disputed_by, task.agent))] += task.bond
    return shares


def _agent_share(task: Task) -> int:
    if task.state is TaskState.PAID:
        return task.reward
    is_split = task.timeout_policy is TimeoutPolicy.SPLIT
    if task.expiry_reason is ExpiryReason.NO_VERDICT and is_split:
        return task.reward * task.agent_share_percent // 100
    return 0


def _bond_winner(task: Task, disputer: str, agent: str) -> str:
    if task.resolution_uri is None:
        return disputer  # the arbiter did not decide in time
    gained = agent if task.state is TaskState.PAID else task.poster
    return disputer if gained == disputer else gained


def _verdict(task: Task) -> Iterator[tuple[str, str]]:
    score = task.final_score
    for given in (task.score, score):
        if given is not None and not 0 <= given <= 100:
            yield "I5", f"has the score {given}"
    if task.state is not TaskState.PAID:
        if task.state is TaskState.REFUNDED and (score is None or score >= MIN_PASS_SCORE):
            yield "I5", f"was refunded with the score {score}"
        return
    if score is None or score < MIN_PASS_SCORE:
        yield "I5", f"was paid with the score {score}"
    if task.judged_by is None or task.judged_by not in (task.judge, task.fallback_judge):
        yield "I5", f"was paid on a verdict by {task.judged_by!r}"
    if task.submitted_at is None or task.submitted_at >= task.deadline or not task.result_hash:
        yield "I5", "was paid without a result submitted before the deadline"
    if score != task.score and task.resolution_uri is None:
        yield "I5", "was settled by another score than the verdict's, without a resolution"


def _life(trail: Trail) -> Iterator[tuple[str, str]]:
    task, kinds = trail.task, trail.kinds
    ends = [kind for kind in kinds if kind in ENDS]
    if len(ends) > 1 or (ends and kinds[-1] not in ENDS):
        yield "I6", f"has events after its end: {', '.join(kinds)}"
    stands = STANDS.get(kinds[-1]) if kinds else None
    if stands is not task.state:
        yield "I6", f"is {task.state}, but its last event makes it {stands}"
    if not task.state.is_final and task.exit_at is None:
        yield "I8", f"is {task.state} and has no exit time"
    parties = [task.poster, task.agent, task.fallback_judge, task.arbiter]
    parties += [] if task.is_self_judged else [task.judge]
    named = [party for party in parties if party is not None]
    if len(set(named)) < len(named):
        yield "I9", f"has one party in two roles: {', '.join(sorted(named))}"
