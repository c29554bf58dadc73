"""A task of the contract, computed from its events. Pure.

Every event is applied by the same effects as a move on the embedded ledger (`market/effects.py`),
so that a task looks the same on both. The contract has checked the move already.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from arena.amounts import Currency
from arena.chain.contract import ContractEvent
from arena.chain.terms import from_contract
from arena.errors import InfrastructureError
from arena.market import effects
from arena.market.call import Action, Call, NewEvent, Step
from arena.market.task import EVM, Task, TaskState

DEFAULT_VERSION = "1.0.0"
"""Of an agent that named none."""
NameOf = Callable[[str], str]
EFFECTS: Mapping[str, Callable[[Task, Call, datetime], Step]] = {
    "Applied": effects.apply,
    "Assigned": effects.assign,
    "Cancelled": effects.cancel,
    "Committed": effects.commit,
    "ResultSubmitted": effects.submit,
    "Judged": effects.judge,
    "Disputed": effects.dispute,
    "Resolved": effects.resolve,
    "Paid": effects.settle,
    "Refunded": effects.settle,
    "Expired": effects.expire_unsubmitted,
}
"""What the call does that an event is the first of."""
ACTIONS: Mapping[str, tuple[Action, str]] = {
    "Applied": (Action.APPLY, "agent"),
    "Assigned": (Action.ASSIGN, "by"),
    "Cancelled": (Action.CANCEL, "poster"),
    "Committed": (Action.COMMIT, "agent"),
    "ResultSubmitted": (Action.SUBMIT, "agent"),
    "Judged": (Action.JUDGE, "judge"),
    "Disputed": (Action.DISPUTE, "by"),
    "Resolved": (Action.RESOLVE, "arbiter"),
    "Paid": (Action.SETTLE, "by"),
    "Refunded": (Action.SETTLE, "by"),
    "Expired": (Action.EXPIRE, "by"),
}
"""That call, and which argument of the event is the party that made it."""


class UnknownHistory(InfrastructureError):
    """The contract's events do not fit together as Arena knows them."""

    code = "unknown_history"

    def __init__(self, message: str) -> None:
        super().__init__(message, retryable=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where the contract's tasks are, and what they are paid in."""

    team_id: str
    network: str
    contract: str
    currency: Currency


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied:
    """Who applied, with which version, and when."""

    version: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Happened:
    """An event of the contract as an event of the market."""

    event: ContractEvent
    new: NewEvent
    who: str
    task: Task
    """The task after the call that the event is of."""


@dataclass(slots=True, kw_only=True)
class History:
    """What a task's events tell."""

    task: Task
    happened: list[Happened] = field(default_factory=list[Happened])
    applications: dict[str, Applied] = field(default_factory=dict[str, Applied])


def replay(
    place: Place,
    task_id: int,
    events: Sequence[ContractEvent],
    name_of: NameOf,
    description_of: Callable[[str], str],
) -> History:
    """The history of a task from all of its events, in order; `task_id` is its number here."""
    first = events[0]
    if first.name != "TaskPosted":
        raise UnknownHistory(
            f"task {first.chain_task} of {place.contract} begins with {first.name}"
        )
    task = _posted(place, task_id, first, name_of, description_of)
    step = Step(task=task, events=(effects.posted(task),))
    history = History(task=task)
    _add(history, step, [first], task.poster)
    position = 1
    while position < len(events):
        event = events[position]
        call = _call(event, history, name_of)
        step = _effect(history.task, event)(history.task, call, event.at)
        group = events[position : position + len(step.events)]
        expected = [one.kind.value for one in step.events]
        if [one.name for one in group] != expected:
            found = ", ".join(one.name for one in group)
            raise UnknownHistory(
                f"task {event.chain_task} of {place.contract} has the events {found}, "
                f"expected were {', '.join(expected)}"
            )
        if event.name == "Applied":
            history.applications[call.by] = Applied(version=str(call.version), at=event.at)
        history.task = step.task
        _add(history, step, group, call.by)
        position += len(group)
    return history


def _add(history: History, step: Step, group: Sequence[ContractEvent], who: str) -> None:
    history.happened += [
        Happened(event=event, new=new, who=who, task=step.task)
        for event, new in zip(group, step.events, strict=True)
    ]


def _posted(
    place: Place,
    task_id: int,
    event: ContractEvent,
    name_of: NameOf,
    description_of: Callable[[str], str],
) -> Task:
    args, currency = event.args, place.currency
    terms = from_contract(args["terms"], currency.amount(int(args["reward"])), name_of)
    return Task(
        **terms,
        id=task_id,
        team_id=place.team_id,
        poster=name_of(args["poster"]),
        description=description_of(args["descriptionCID"]),
        evaluation_cid=args["evaluationCID"],
        ledger=EVM,
        currency=currency.code,
        decimals=currency.decimals,
        network=place.network,
        contract=place.contract,
        chain_task=event.chain_task,
        state=TaskState.OPEN,
        posted_at=event.at,
        payout=currency.amount(0),
    )


def _call(event: ContractEvent, history: History, name_of: NameOf) -> Call:
    """The call that an event is the first of."""
    if event.name not in ACTIONS:
        raise UnknownHistory(f"the contract has an event {event.name} that Arena does not know")
    action, role = ACTIONS[event.name]
    args, task = event.args, history.task
    call = Call(action=action, by=name_of(args[role]))
    match event.name:
        case "Applied":
            return replace(call, version=args["version"].strip() or DEFAULT_VERSION)
        case "Assigned":
            agent = name_of(args["agent"])
            return replace(call, agent=agent, version=history.applications[agent].version)
        case "Committed":
            return replace(call, commitment=args["commitment"])
        case "ResultSubmitted":
            return replace(call, result_hash=args["resultHash"], language=args["language"] or None)
        case "Judged":
            # The contract has compared agent and result, as the texts that they are there.
            call = replace(call, agent=task.agent, result_hash=task.result_hash)
            return replace(call, score=int(args["score"]), reason_uri=args["reasonURI"])
        case "Disputed":
            return replace(call, reason_uri=args["reasonURI"])
        case "Resolved":
            return replace(call, score=int(args["score"]), reason_uri=args["reasonURI"])
        case _:
            return call


def _effect(task: Task, event: ContractEvent) -> Callable[[Task, Call, datetime], Step]:
    if event.name == "Judged" and task.dispute_window_seconds == 0:
        return effects.judge_and_pay
    if event.name == "Expired" and event.args["hasSubmission"]:
        return effects.expire_unjudged
    return EFFECTS[event.name]
