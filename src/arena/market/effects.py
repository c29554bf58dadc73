"""What each move does to the task and the money. Pure.

`moves.check` has checked state, role and window; only the content is left to check here.
"""

from dataclasses import replace
from datetime import datetime

from arena.content.cid import parse_cid
from arena.errors import InvalidInput
from arena.evaluation.verdict import MIN_PASS_SCORE
from arena.market.call import Call, EventKind, NewEvent, Step
from arena.market.errors import BadContent, BadScore, WrongRole
from arena.market.money import EntryKind, NewEntry, Posting, bond, escrow, transfer, user
from arena.market.task import Assignment, ExpiryReason, Task, TaskState, TimeoutPolicy


def posted(task: Task) -> NewEvent:
    """The event of a new task."""
    data = {"evaluationCID": task.evaluation_cid, "reward": task.reward}
    return NewEvent(kind=EventKind.TASK_POSTED, why="offered", data=data)


def apply(task: Task, call: Call, at: datetime) -> Step:
    """One more applicant; with the assignment `first`, it gets the task."""
    applied = replace(task, applicant_count=task.applicant_count + 1)
    event = NewEvent(
        kind=EventKind.APPLIED, why="applied for the task", data={"version": call.version}
    )
    if task.assignment is not Assignment.FIRST:
        return Step(task=applied, events=(event,))
    assigned = assign(applied, replace(call, agent=call.by), at)
    return replace(assigned, events=(event, *assigned.events))


def assign(task: Task, call: Call, at: datetime) -> Step:
    """The agent gets the task."""
    assigned = replace(
        task,
        state=TaskState.ASSIGNED,
        agent=call.agent,
        agent_version=call.version,
        assigned_at=at,
    )
    event = NewEvent(
        kind=EventKind.ASSIGNED,
        why=f"chosen: {task.assignment}" if call.by != task.poster else "assigned by its poster",
        data={"agent": call.agent, "version": call.version},
    )
    return Step(task=assigned, events=(event,))


def cancel(task: Task, call: Call, at: datetime) -> Step:
    """Everything goes back to the poster."""
    ended = replace(task, state=TaskState.CANCELLED, ended_at=at)
    event = NewEvent(
        kind=EventKind.CANCELLED, why="cancelled by its poster", data={"reward": task.reward}
    )
    return Step(task=ended, events=(event,), entry=_refund(task))


def commit(task: Task, call: Call, at: datetime) -> Step:
    """The agent is committed to a result that nobody has seen."""
    committed = replace(task, state=TaskState.COMMITTED, commitment=call.commitment)
    event = NewEvent(
        kind=EventKind.COMMITTED,
        why="committed to a result that is not revealed yet",
        data={"commitment": call.commitment},
    )
    return Step(task=committed, events=(event,))


def submit(task: Task, call: Call, at: datetime) -> Step:
    """The result is frozen; the judge's window begins."""
    submitted = replace(
        task,
        state=TaskState.SUBMITTED,
        result_hash=call.result_hash,
        language=call.language,
        submitted_at=at,
    )
    language = {"language": call.language} if call.language else {}
    event = NewEvent(
        kind=EventKind.RESULT_SUBMITTED,
        why="submitted",
        data={"resultHash": call.result_hash, **language},
    )
    return Step(task=submitted, events=(event,))


def reveal(task: Task, call: Call, at: datetime) -> Step:
    """A submission that shows what was committed to."""
    if call.commitment is None or call.commitment != task.commitment:
        raise BadContent(
            f"result and salt do not give the commitment of task {task.id}: "
            "send the result and the salt it was made with"
        )
    return submit(task, call, at)


def judge(task: Task, call: Call, at: datetime) -> Step:
    """The verdict is recorded, and can be disputed."""
    score = _checked(task, call)
    judged = replace(
        task,
        state=TaskState.JUDGED,
        score=score,
        judged_by=call.by,
        judged_at=at,
        reason_uri=call.reason_uri,
    )
    event = NewEvent(
        kind=EventKind.JUDGED,
        why="passed" if score >= MIN_PASS_SCORE else "did not pass",
        data={
            "score": score,
            "winner": call.agent,
            "resultHash": task.result_hash,
            "reasonURI": call.reason_uri,
        },
    )
    return Step(task=judged, events=(event,))


def judge_and_pay(task: Task, call: Call, at: datetime) -> Step:
    """The verdict is recorded and settled at once."""
    judged = judge(task, call, at)
    settled = settle(judged.task, call, at)
    return replace(settled, events=(*judged.events, *settled.events))


def dispute(task: Task, call: Call, at: datetime) -> Step:
    """The bond is locked and the arbiter's window begins."""
    disputed = replace(
        task,
        state=TaskState.DISPUTED,
        disputed_by=call.by,
        disputed_at=at,
        dispute_reason_uri=call.reason_uri,
    )
    event = NewEvent(
        kind=EventKind.DISPUTED,
        why="the verdict is disputed",
        data={"bond": task.bond, "reasonURI": call.reason_uri},
    )
    amount = task.bond
    entry = transfer(EntryKind.BOND, user(call.by), bond(task.id), amount) if amount else None
    return Step(task=disputed, events=(event,), entry=entry)


def settle(task: Task, call: Call, at: datetime) -> Step:
    """Pay or refund by the judge's score; a bond goes back to the disputer."""
    assert task.score is not None
    why = f"score {task.score}, {MIN_PASS_SCORE} is needed"
    if task.state is TaskState.DISPUTED:
        why += "; the arbiter let the dispute lapse"
    return _settled(task, task.score, at, why=why, bond_to=task.disputed_by)


def resolve(task: Task, call: Call, at: datetime) -> Step:
    """Pay or refund by the arbiter's score; the bond goes to the side that won the dispute."""
    score = _score(call)
    assert task.score is not None
    is_overturned = (score >= MIN_PASS_SCORE) != (task.score >= MIN_PASS_SCORE)
    # Only the loser may dispute, so the other side is the one that the verdict favoured.
    other = task.poster if task.disputed_by == task.agent else task.agent
    bond_to = task.disputed_by if is_overturned else other
    event = NewEvent(
        kind=EventKind.RESOLVED,
        why="the verdict is overturned" if is_overturned else "the verdict is upheld",
        data={"score": score, "reasonURI": call.reason_uri, "bondTo": bond_to},
    )
    resolved = replace(task, resolution_uri=call.reason_uri)
    why = f"score {score} by the arbiter, {MIN_PASS_SCORE} is needed"
    step = _settled(resolved, score, at, why=why, bond_to=bond_to)
    return replace(step, events=(event, *step.events))


def expire_unsubmitted(task: Task, call: Call, at: datetime) -> Step:
    """Nothing was submitted: everything goes back to the poster."""
    ended = replace(
        task,
        state=TaskState.EXPIRED,
        expiry_reason=ExpiryReason.NO_SUBMISSION,
        ended_at=at,
    )
    event = NewEvent(
        kind=EventKind.EXPIRED,
        why="nothing was submitted before the deadline",
        data={"reason": ExpiryReason.NO_SUBMISSION.value, "to_agent": 0},
    )
    return Step(task=ended, events=(event,), entry=_refund(task))


def expire_unjudged(task: Task, call: Call, at: datetime) -> Step:
    """Nobody judged: the terms decide about the reward."""
    share = task.amount(0)
    if task.timeout_policy is TimeoutPolicy.SPLIT:
        # Rounded down: the poster gets the rest, so the two parts always sum to the reward.
        share = task.amount(task.reward * task.agent_share_percent // 100)
    ended = replace(
        task,
        state=TaskState.EXPIRED,
        expiry_reason=ExpiryReason.NO_VERDICT,
        ended_at=at,
        payout=share,
    )
    event = NewEvent(
        kind=EventKind.EXPIRED,
        why="nobody gave a verdict in time",
        data={"reason": ExpiryReason.NO_VERDICT.value, "to_agent": share},
    )
    assert task.agent is not None
    parts = ((task.agent, share), (task.poster, task.reward - share))
    return Step(task=ended, events=(event,), entry=_payout(task, parts))


def _settled(task: Task, score: int, at: datetime, *, why: str, bond_to: str | None) -> Step:
    is_paid = score >= MIN_PASS_SCORE
    reward = task.reward
    assert task.agent is not None
    receiver = task.agent if is_paid else task.poster
    ended = replace(
        task,
        state=TaskState.PAID if is_paid else TaskState.REFUNDED,
        final_score=score,
        ended_at=at,
        payout=reward if is_paid else task.amount(0),
    )
    event = NewEvent(
        kind=EventKind.PAID if is_paid else EventKind.REFUNDED,
        why=why,
        data={"to": receiver, "amount": reward},
    )
    entry = _payout(task, ((receiver, reward),), bond_to=bond_to)
    return Step(task=ended, events=(event,), entry=entry)


def _refund(task: Task) -> NewEntry:
    return _payout(task, ((task.poster, task.reward),))


def _payout(
    task: Task, parts: tuple[tuple[str, int], ...], *, bond_to: str | None = None
) -> NewEntry:
    """The single entry that empties a task's accounts."""
    postings = [Posting(account=escrow(task.id), amount=task.amount(-task.reward))]
    postings += [
        Posting(account=user(who), amount=task.amount(amount)) for who, amount in parts if amount
    ]
    if bond_to is not None and task.bond:
        postings.append(Posting(account=bond(task.id), amount=task.amount(-task.bond)))
        postings.append(Posting(account=user(bond_to), amount=task.bond))
    return NewEntry(kind=EntryKind.SETTLEMENT, postings=tuple(postings))


def _checked(task: Task, call: Call) -> int:
    """The score of a verdict, checked to be about this task's agent and result."""
    score = _score(call)
    if call.agent != task.agent:
        raise WrongRole(
            f"the verdict names {call.agent!r} as winner, task {task.id} is {task.agent!r}'s: "
            "name that agent, whatever the score"
        )
    if not _is_same_content(call.result_hash, task.result_hash):
        raise BadContent(
            f"the verdict is about {call.result_hash}, but {task.result_hash} was submitted"
        )
    return score


def _score(call: Call) -> int:
    score = call.score
    if not isinstance(score, int) or isinstance(score, bool) or not 0 <= score <= 100:
        raise BadScore(f"the score is {score!r}, must be a whole number from 0 to 100")
    return score


def _is_same_content(named: str | None, stored: str | None) -> bool:
    # The same CID can be written in several ways, so compare values, never texts.
    if named is None or stored is None:
        return False
    if named == stored:
        return True
    try:
        return parse_cid(named).key == parse_cid(stored).key
    except InvalidInput:
        return False
