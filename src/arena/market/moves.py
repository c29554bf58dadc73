"""The table of allowed moves, and the function that checks a call against it. Pure.

Every window is half-open, `opens <= t < closes`: when one closes the next opens, so every instant
is in exactly one. docs/market.md explains the table; `row` is the row number there. Row 1, posting,
has no state to start from: see `checks.check_terms`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from operator import attrgetter

from arena.evaluation.verdict import MIN_PASS_SCORE
from arena.market import effects
from arena.market.call import Action, Call, Step
from arena.market.errors import TooEarly, TooLate, WrongRole, WrongState
from arena.market.task import Assignment, Task, TaskState

Moment = Callable[[Task], datetime | None]
Effect = Callable[[Task, Call, datetime], Step]


class Role(StrEnum):
    """Who may make a move."""

    POSTER = "the poster"
    CANDIDATE = "an agent that is neither poster, judge nor arbiter"
    AGENT = "the assigned agent"
    JUDGE = "the judge"
    FALLBACK = "the fallback judge"
    LOSER = "the side that lost by the verdict"
    ARBITER = "the arbiter"
    ANYONE = "anyone"


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """One row of the table."""

    row: int
    state: TaskState
    action: Action
    role: Role
    opens: Moment | None = None
    closes: Moment | None = None
    when: Callable[[Task], bool] = lambda _task: True
    """Whether this row applies under the task's terms."""
    effect: Effect


deadline: Moment = attrgetter("deadline")
commit_deadline: Moment = attrgetter("commit_deadline")
apply_until: Moment = attrgetter("apply_until")
judge_until: Moment = attrgetter("judge_until")
fallback_until: Moment = attrgetter("fallback_until")
dispute_until: Moment = attrgetter("dispute_until")
arbiter_until: Moment = attrgetter("arbiter_until")


def commits(task: Task) -> bool:
    """Whether the agent must commit before it submits."""
    return task.commit_deadline is not None


def submits_openly(task: Task) -> bool:
    """Whether the agent submits without a commitment."""
    return task.commit_deadline is None


def is_disputable(task: Task) -> bool:
    """Whether a verdict can be disputed."""
    return task.dispute_window_seconds > 0


def settles_at_once(task: Task) -> bool:
    """Whether a verdict is final."""
    return task.dispute_window_seconds == 0


def chooses_by_reputation(task: Task) -> bool:
    """Whether anyone may assign the best applicant."""
    return task.assignment is Assignment.BEST_REPUTATION


S, A, R = TaskState, Action, Role

# fmt: off
# Rows 3 and 13 occur twice: one row of the document, two conditions.
MOVES: tuple[Move, ...] = (
    Move(row=2, state=S.OPEN, action=A.APPLY, role=R.CANDIDATE,
         closes=deadline, effect=effects.apply),
    Move(row=3, state=S.OPEN, action=A.ASSIGN, role=R.POSTER,
         closes=deadline, effect=effects.assign),
    Move(row=3, state=S.OPEN, action=A.ASSIGN_BEST, role=R.ANYONE,
         opens=apply_until, closes=deadline, when=chooses_by_reputation, effect=effects.assign),
    Move(row=4, state=S.OPEN, action=A.CANCEL, role=R.POSTER,
         closes=deadline, effect=effects.cancel),
    Move(row=5, state=S.OPEN, action=A.EXPIRE, role=R.ANYONE,
         opens=deadline, effect=effects.expire_unsubmitted),
    Move(row=6, state=S.ASSIGNED, action=A.SUBMIT, role=R.AGENT,
         closes=deadline, when=submits_openly, effect=effects.submit),
    Move(row=7, state=S.ASSIGNED, action=A.EXPIRE, role=R.ANYONE,
         opens=deadline, effect=effects.expire_unsubmitted),
    Move(row=8, state=S.ASSIGNED, action=A.COMMIT, role=R.AGENT,
         closes=commit_deadline, when=commits, effect=effects.commit),
    Move(row=9, state=S.COMMITTED, action=A.SUBMIT, role=R.AGENT,
         opens=commit_deadline, closes=deadline, effect=effects.reveal),
    Move(row=10, state=S.COMMITTED, action=A.EXPIRE, role=R.ANYONE,
         opens=deadline, effect=effects.expire_unsubmitted),
    Move(row=11, state=S.SUBMITTED, action=A.JUDGE, role=R.JUDGE,
         closes=judge_until, when=settles_at_once, effect=effects.judge_and_pay),
    Move(row=12, state=S.SUBMITTED, action=A.JUDGE, role=R.JUDGE,
         closes=judge_until, when=is_disputable, effect=effects.judge),
    Move(row=13, state=S.SUBMITTED, action=A.JUDGE, role=R.FALLBACK,
         opens=judge_until, closes=fallback_until, when=settles_at_once,
         effect=effects.judge_and_pay),
    Move(row=13, state=S.SUBMITTED, action=A.JUDGE, role=R.FALLBACK,
         opens=judge_until, closes=fallback_until, when=is_disputable, effect=effects.judge),
    Move(row=14, state=S.SUBMITTED, action=A.EXPIRE, role=R.ANYONE,
         opens=fallback_until, effect=effects.expire_unjudged),
    Move(row=15, state=S.JUDGED, action=A.DISPUTE, role=R.LOSER,
         closes=dispute_until, effect=effects.dispute),
    Move(row=16, state=S.JUDGED, action=A.SETTLE, role=R.ANYONE,
         opens=dispute_until, effect=effects.settle),
    Move(row=17, state=S.DISPUTED, action=A.RESOLVE, role=R.ARBITER,
         closes=arbiter_until, effect=effects.resolve),
    Move(row=18, state=S.DISPUTED, action=A.SETTLE, role=R.ANYONE,
         opens=arbiter_until, effect=effects.settle),
)
# fmt: on


def check(task: Task, call: Call, at: datetime, *, has_applied: bool = False) -> Step:
    """The effect of the call at this time; an error if it is not allowed.

    Checked in this order: the state, the role, the window, the content.
    """
    moves = [
        move
        for move in MOVES
        if move.state is task.state and move.action is call.action and move.when(task)
    ]
    if not moves:
        raise WrongState(_possible(task, call.action))
    # The state came first: complaining about the role of an impossible move would mislead.
    move = next((move for move in moves if plays(task, call.by, move.role)), None)
    if move is None:
        allowed = " or ".join(move.role for move in moves)
        raise WrongRole(f"task {task.id}: {call.action} is for {allowed}, not for {call.by!r}")
    _check_window(task, move, at)
    _check_application(task, call, has_applied)
    return move.effect(task, call, at)


def must_sign(task: Task, call: Call) -> bool:
    """Whether the agent must sign the call: nobody else may commit its work or its bond."""
    if call.action is Action.DISPUTE:
        return call.by == task.agent
    return call.action in (Action.APPLY, Action.COMMIT, Action.SUBMIT)


def plays(task: Task, who: str, role: Role) -> bool:
    """Whether `who` has this role in the task."""
    match role:
        case Role.POSTER:
            return who == task.poster
        case Role.CANDIDATE:
            # All roles are held by different parties (I9).
            return who not in (task.poster, task.judge, task.fallback_judge, task.arbiter)
        case Role.AGENT:
            return who == task.agent
        case Role.JUDGE:
            return who == task.judge
        case Role.FALLBACK:
            return who == task.fallback_judge
        case Role.LOSER:
            return who == _loser(task)
        case Role.ARBITER:
            return who == task.arbiter
        case Role.ANYONE:
            return True


def _loser(task: Task) -> str | None:
    is_passed = task.score is not None and task.score >= MIN_PASS_SCORE
    return task.poster if is_passed else task.agent


def _check_window(task: Task, move: Move, at: datetime) -> None:
    opens = move.opens(task) if move.opens else None
    closes = move.closes(task) if move.closes else None
    if opens is not None and at < opens:
        raise TooEarly(f"task {task.id}: {move.action} opens at {opens.isoformat()}")
    if closes is not None and at >= closes:
        raise TooLate(f"task {task.id}: {move.action} was possible before {closes.isoformat()}")


def _check_application(task: Task, call: Call, has_applied: bool) -> None:
    if call.action is Action.APPLY:
        if has_applied:
            raise WrongState(f"{call.by!r} has already applied for task {task.id}")
        if task.applicant_count >= task.max_applicants:
            raise WrongState(f"task {task.id} has {task.applicant_count} applicants: it is full")
    if call.action in (Action.ASSIGN, Action.ASSIGN_BEST) and not has_applied:
        missing = f"{call.agent!r} has not applied" if call.agent else "nobody has applied"
        raise WrongState(f"{missing} for task {task.id}")


def _possible(task: Task, action: Action) -> str:
    """Why the move is not possible in this state, and which moves are."""
    known = [move.action for move in MOVES if move.state is task.state and move.when(task)]
    rest = f"possible: {', '.join(dict.fromkeys(known))}" if known else "it has ended"
    return f"task {task.id} is {task.state}, {action} is not possible; {rest}"
