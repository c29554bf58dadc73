"""The market by the names of the API: amounts as decimal text, times and parties as they are."""

from typing import Annotated, Any

from fastapi import Query

from arena import schemas
from arena.errors import InvalidInput
from arena.market import (
    Applicant,
    Assignment,
    Entry,
    Event,
    MarketAgent,
    Proof,
    Receipt,
    Reputation,
    Task,
    TaskStory,
    Terms,
    TimeoutPolicy,
)
from arena.schemas import decimal_text, minor_units

PageLimit = Annotated[int, Query(ge=1, le=500, description="How many at most.")]

MONEY = ("reward", "bond", "amount", "to_agent")
"""What is an amount in an event's data."""

UNCHANGED = (
    "judge_window_seconds",
    "fallback_judge",
    "fallback_window_seconds",
    "agent_share_percent",
    "dispute_window_seconds",
    "arbiter",
    "arbiter_window_seconds",
    "commit_deadline",
    "max_applicants",
    "is_self_judged",
    "apply_until",
)
"""Terms that are called the same and mean the same here and there."""


def terms_of(post: schemas.TaskPost) -> Terms:
    """The terms a request asks for."""
    judge = post.judge or (post.poster if post.is_self_judged else None)
    if judge is None:
        raise InvalidInput("judge is missing: name one, or say is_self_judged")
    same: dict[str, Any] = {name: getattr(post, name) for name in UNCHANGED}
    return Terms(
        reward=minor_units(post.reward),
        deadline=post.deadline,
        judge=judge,
        timeout_policy=TimeoutPolicy(post.timeout_policy),
        bond=minor_units(post.bond),
        assignment=Assignment(post.assignment),
        **same,
    )


def proof_of(proof: schemas.Proof) -> Proof:
    """The signature of a request."""
    return Proof(nonce=proof.nonce, expires_at=proof.expires_at, signature=proof.signature)


def shown_task(task: Task) -> schemas.Task:
    """A task with its terms."""
    terms = task.terms
    same: dict[str, Any] = {name: getattr(terms, name) for name in UNCHANGED}
    own = {
        name: getattr(task, name)
        for name in schemas.Task.model_fields
        if name not in schemas.TaskTerms.model_fields and name != "payout"
    }
    return schemas.Task(
        **own,
        **same,
        reward=decimal_text(terms.reward),
        deadline=terms.deadline,
        judge=terms.judge,
        timeout_policy=terms.timeout_policy.value,
        bond=decimal_text(terms.bond),
        assignment=terms.assignment.value,
        payout=decimal_text(task.payout),
    )


def shown_story(story: TaskStory) -> schemas.TaskStory:
    """A task with all that happened to it."""
    return schemas.TaskStory(
        task=shown_task(story.task),
        applicants=[shown_applicant(one) for one in story.applicants],
        events=[shown_event(event) for event in story.events],
        entries=[_entry(entry) for entry in story.entries],
    )


def shown_applicant(applicant: Applicant) -> schemas.Applicant:
    """An agent that applied."""
    return schemas.Applicant(
        rank=applicant.rank,
        agent=applicant.agent,
        version=applicant.version,
        applied_at=applicant.applied_at,
        reputation=_reputation(applicant.reputation),
    )


def shown_agent(agent: MarketAgent) -> schemas.MarketAgent:
    """An agent of the market."""
    return schemas.MarketAgent(
        id=agent.id,
        version=agent.version,
        public_key=agent.public_key,
        registered_at=agent.registered_at,
        reputation=_reputation(agent.reputation),
    )


def shown_event(event: Event) -> schemas.MarketEvent:
    """An event; the amounts in it are text too."""
    data = {
        name: decimal_text(value) if name in MONEY and isinstance(value, int) else value
        for name, value in event.data.items()
    }
    return schemas.MarketEvent(
        id=event.id,
        task_id=event.task_id,
        kind=event.kind.value,
        who=event.who,
        at=event.at,
        why=event.why,
        data=data,
    )


def shown_receipt(receipt: Receipt) -> schemas.Receipt:
    """What a call answers."""
    return schemas.Receipt(
        ref=receipt.ref,
        task_id=receipt.task_id,
        state=receipt.state.value if receipt.state else None,
        at=receipt.at,
    )


def _reputation(known: Reputation) -> schemas.Reputation:
    return schemas.Reputation.model_validate(known)


def _entry(entry: Entry) -> schemas.LedgerEntry:
    return schemas.LedgerEntry(
        id=entry.id,
        kind=entry.kind.value,
        at=entry.at,
        postings=[
            schemas.Posting(account=posting.account, amount=decimal_text(posting.amount))
            for posting in entry.postings
        ],
    )
