"""Tasks: post, list, show, apply, assign, submit, judge, dispute, end.

A token stands for a team, not for a person: who acts is named in the request, and agents prove
themselves by their signatures.
"""

from typing import Annotated

from fastapi import Path, Query

from arena import schemas
from arena.api.access import Team
from arena.api.arena import House
from arena.api.market_shapes import (
    PageLimit,
    proof_of,
    shown_receipt,
    shown_story,
    shown_task,
    terms_of,
)
from arena.api.problems import responses
from arena.api.room import room_router
from arena.api.routes.reviews import shown as shown_review
from arena.errors import InvalidInput
from arena.market import (
    ANYONE,
    BadSignature,
    Judgement,
    NewTask,
    TaskFilter,
    TaskState,
)
from arena.operations import paging
from arena.reviews import SubjectKind
from arena.schemas import minor_units
from arena.text import utf8

router = room_router("/api/tasks", "tasks")

MAX_ID = 2**63 - 1

TaskId = Annotated[int, Path(ge=1, le=MAX_ID)]
Name = Annotated[str | None, Query(max_length=100)]


@router.post("", responses=responses(403, 404, 409))
async def post_task(house: House, team: Team, body: schemas.TaskPost) -> schemas.Receipt:
    """Offer a task; the standard is checked and pinned, then the reward is locked."""
    if (body.evaluation is None) == (body.evaluation_cid is None):
        raise InvalidInput("give evaluation (the standard) or evaluationCID: one of them")
    evaluation = body.evaluation_cid if body.evaluation is None else body.evaluation
    assert evaluation is not None
    new = NewTask(description=body.description, evaluation=evaluation, terms=terms_of(body))
    key = body.idempotency_key
    return shown_receipt(await house.market.post_task(team, body.poster, new, key=key))


@router.get("", responses=responses())
async def list_tasks(
    house: House,
    team: Team,
    state: Annotated[list[TaskState] | None, Query(description="Repeatable.")] = None,
    poster: Name = None,
    agent: Annotated[str | None, Query(max_length=100, description="Assigned to it.")] = None,
    applicant: Annotated[str | None, Query(max_length=100, description="It has applied.")] = None,
    judge: Annotated[
        str | None, Query(max_length=100, description="Judge, fallback judge or arbiter.")
    ] = None,
    min_reward: Annotated[str | None, Query(max_length=20, examples=["0.05"])] = None,
    limit: PageLimit = 20,
    cursor: paging.Cursor = None,
) -> schemas.TaskList:
    """List the team's tasks, newest first."""
    wanted = TaskFilter(
        states=frozenset(state) if state else None,
        poster=poster,
        agent=agent,
        applicant=applicant,
        judge=judge,
        min_reward=None if min_reward is None else _amount("min_reward", min_reward),
    )
    before = paging.decode_number(cursor) or None
    tasks = await house.market.tasks(team, wanted, limit=limit + 1, before=before)
    page = tasks[:limit]
    return schemas.TaskList(
        tasks=[shown_task(task) for task in page],
        count=len(page),
        next_cursor=paging.encode(page[-1].id) if len(tasks) > limit else None,
    )


@router.get("/{task_id}", responses=responses(404))
async def get_task(house: House, team: Team, task_id: TaskId) -> schemas.TaskStory:
    """A task with its applicants, its events and the money that moved."""
    return shown_story(await house.market.story(team, task_id))


@router.post("/{task_id}/apply", responses=responses(404, 409))
async def apply_for_task(
    house: House, team: Team, task_id: TaskId, body: schemas.TaskApply
) -> schemas.Receipt:
    """Ask for a task as an agent; signed."""
    proof, key = proof_of(body.proof), body.idempotency_key
    return shown_receipt(await house.market.apply(team, task_id, body.agent, proof, key=key))


@router.post("/{task_id}/assign", responses=responses(404, 409))
async def assign_task(
    house: House, team: Team, task_id: TaskId, body: schemas.TaskAssign
) -> schemas.Receipt:
    """Give a task to an applicant; without one, to the best where the terms say so."""
    market, key = house.market, body.idempotency_key
    if body.agent is None:
        return shown_receipt(await market.assign_best(team, task_id, by=body.by, key=key))
    return shown_receipt(await market.assign(team, task_id, body.agent, by=body.by, key=key))


@router.post("/{task_id}/commit", responses=responses(404, 409))
async def commit_result(
    house: House, team: Team, task_id: TaskId, body: schemas.TaskCommit
) -> schemas.Receipt:
    """Bind an agent to a result that it does not show yet; signed."""
    receipt = await house.market.commit_result(
        team,
        task_id,
        body.agent,
        body.commitment,
        proof_of(body.proof),
        key=body.idempotency_key,
    )
    return shown_receipt(receipt)


@router.post("/{task_id}/submit", responses=responses(404, 409))
async def submit_result(
    house: House, team: Team, task_id: TaskId, body: schemas.TaskSubmit
) -> schemas.Receipt:
    """Hand in the result, once; signed. What is judged is the whole content behind the hash."""
    if (body.result is None) == (body.result_hash is None):
        raise InvalidInput("give result (the full answer) or resultHash: one of them")
    result = body.result_hash or utf8(body.result or "", "result")
    receipt = await house.market.submit_result(
        team,
        task_id,
        body.agent,
        result,
        proof_of(body.proof),
        salt=body.salt,
        key=body.idempotency_key,
    )
    return shown_receipt(receipt)


@router.post("/{task_id}/review", responses=responses(404, 409))
async def review_task(
    house: House, team: Team, task_id: TaskId, body: schemas.TaskReview
) -> schemas.Review:
    """Let people answer the checklists of a submitted task; their verdict is the judge's."""
    await house.reviews.open(await house.task_reviews.wanted(team, task_id, by=body.by))
    found = await house.reviews.list(team, subject=(SubjectKind.TASK, str(task_id)), limit=1)
    return shown_review(found[0])


@router.post("/{task_id}/judge", responses=responses(404, 409))
async def judge_task(
    house: House, team: Team, task_id: TaskId, body: schemas.TaskJudge
) -> schemas.Receipt:
    """Give the one verdict (judgeAndPay); 60 pays the agent, 59 refunds the poster."""
    judgement = Judgement(
        score=body.score,
        winner=body.winner,
        result_hash=body.result_hash,
        reason_uri=body.reason_uri,
    )
    key = body.idempotency_key
    return shown_receipt(await house.market.judge(team, task_id, judgement, by=body.by, key=key))


@router.post("/{task_id}/dispute", responses=responses(404, 409))
async def dispute_verdict(
    house: House, team: Team, task_id: TaskId, body: schemas.TaskDispute
) -> schemas.Receipt:
    """Contest the verdict, once, as the side that lost; locks the bond. An agent signs it."""
    proof = proof_of(body.proof) if body.proof else None
    if proof is None and (await house.market.task(team, task_id)).agent == body.by:
        raise BadSignature(
            f"agent {body.by!r} must sign its dispute: nobody else may risk its bond"
        )
    receipt = await house.market.dispute(
        team,
        task_id,
        by=body.by,
        reason_uri=body.reason_uri,
        proof=proof,
        key=body.idempotency_key,
    )
    return shown_receipt(receipt)


@router.post("/{task_id}/resolve", responses=responses(404, 409))
async def resolve_dispute(
    house: House, team: Team, task_id: TaskId, body: schemas.TaskResolve
) -> schemas.Receipt:
    """Decide a dispute as the arbiter; settles at once."""
    receipt = await house.market.resolve(
        team,
        task_id,
        body.score,
        by=body.by,
        reason_uri=body.reason_uri,
        key=body.idempotency_key,
    )
    return shown_receipt(receipt)


@router.post("/{task_id}/cancel", responses=responses(404, 409))
async def cancel_task(
    house: House, team: Team, task_id: TaskId, body: schemas.TaskEnd
) -> schemas.Receipt:
    """Take an unassigned task back as its poster; the reward returns."""
    if body.by is None:
        raise InvalidInput("by is missing: only the poster may cancel")
    key = body.idempotency_key
    return shown_receipt(await house.market.cancel(team, task_id, by=body.by, key=key))


@router.post("/{task_id}/expire", responses=responses(404, 409))
async def expire_task(
    house: House, team: Team, task_id: TaskId, body: schemas.TaskEnd
) -> schemas.Receipt:
    """End a task whose time has run out: nothing submitted, or nothing judged. Anyone may."""
    by, key = body.by or ANYONE, body.idempotency_key
    return shown_receipt(await house.market.expire(team, task_id, by=by, key=key))


@router.post("/{task_id}/settle", responses=responses(404, 409))
async def settle_task(
    house: House, team: Team, task_id: TaskId, body: schemas.TaskEnd
) -> schemas.Receipt:
    """Pay or refund by the verdict once its time for disputes has passed. Anyone may."""
    by, key = body.by or ANYONE, body.idempotency_key
    return shown_receipt(await house.market.settle(team, task_id, by=by, key=key))


def _amount(name: str, text: str) -> int:
    try:
        return minor_units(text)
    except ValueError as wrong:
        raise InvalidInput(f"{name}: {wrong}") from None
