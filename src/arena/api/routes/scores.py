"""What it adds up to: ratings, reported executions, the leaderboard, comparisons."""

import asyncio
from dataclasses import replace
from typing import Annotated

from fastapi import Query

from arena import clock, schemas
from arena.agents import Usage
from arena.api.access import Team
from arena.api.arena import House
from arena.api.problems import responses
from arena.api.room import room_router
from arena.assembly import Arena
from arena.errors import InvalidInput, NotFound
from arena.models.pricing import priced
from arena.operations import paging
from arena.scoring.board import BoardFilter, Leaderboard
from arena.scoring.comparison import Comparison
from arena.scoring.history import (
    Execution,
    ExecutionsReported,
    ExecutionStatus,
    FeedbackList,
    Source,
    Subject,
)
from arena.scoring.pareto import Pareto

router = room_router("/api/benchmarks", "scores")

MAX_COMPARED = 20


@router.post("/feedback", responses=responses(404, 409))
async def submit_feedback(
    house: House, team: Team, body: schemas.FeedbackCreate
) -> schemas.FeedbackCreated:
    """Rate an agent with 1 to 5 stars; a user's later rating takes the earlier one's place."""
    subject = await _subject(house, team, body.agent_id, body.version)
    feedback = await house.scores.submit_feedback(
        subject,
        rating=body.rating,
        user_id=body.user_id,
        execution_id=body.execution_id,
        comment=body.comment,
        task_description=body.task_description,
    )
    return schemas.FeedbackCreated(feedback_id=feedback.id)


@router.get("/feedback", response_model=schemas.FeedbackList, responses=responses())
async def list_feedback(
    house: House,
    team: Team,
    agent_id: Annotated[str | None, Query(max_length=100)] = None,
    version: Annotated[str | None, Query(max_length=20)] = None,
    history: Annotated[bool, Query(description="Also ratings that were replaced.")] = False,
    limit: paging.Limit = 20,
    cursor: paging.Cursor = None,
) -> FeedbackList:
    """List the team's ratings, newest first."""
    found = await house.scores.feedback(
        team,
        agent_id=agent_id,
        version=version,
        with_history=history,
        limit=limit + 1,
        before=paging.decode_moment(cursor),
    )
    page = found[:limit]
    last = page[-1] if len(found) > limit else None
    return FeedbackList(
        feedback=page,
        count=len(page),
        next_cursor=paging.encode(last.created_at.isoformat(), last.id) if last else None,
    )


@router.post(
    "/executions", response_model=schemas.ExecutionsReported, responses=responses(404, 409)
)
async def report_executions(
    house: House, team: Team, body: schemas.ExecutionsReport
) -> ExecutionsReported:
    """Report executions that happened in your own system; all of them count, or none does."""
    names = dict.fromkeys((one.agent_id, one.version) for one in body.executions)
    subjects = {name: await _subject(house, team, *name) for name in names}
    # In a thread: the price list takes long to load.
    executions = await asyncio.to_thread(lambda: [_execution(one) for one in body.executions])
    batch = [
        (subjects[one.agent_id, one.version], execution)
        for one, execution in zip(body.executions, executions, strict=True)
    ]
    return await house.scores.report_executions(team, batch)


@router.get("/leaderboard", response_model=schemas.Leaderboard, responses=responses())
async def get_leaderboard(
    house: House,
    team: Team,
    category: Annotated[
        str | None, Query(max_length=100, description="Only tests of this category count.")
    ] = None,
    tag: Annotated[
        str | None, Query(max_length=100, description="Only tests with this tag count.")
    ] = None,
    min_coverage: Annotated[
        float, Query(ge=0, le=1, description="Only scores that rest on so much of the weight.")
    ] = 0.0,
    agent_id: Annotated[
        str | None, Query(max_length=100, description="Only its versions; ranks stay.")
    ] = None,
    limit: paging.Limit = 20,
    cursor: paging.Cursor = None,
) -> Leaderboard:
    """The team's agents, best first, with how sure each place is."""
    if category and tag:
        raise InvalidInput("category and tag: give one of them")
    group = ("category", category) if category else ("tag", tag) if tag else None
    offset = paging.decode_number(cursor)
    wanted = BoardFilter(group=group, min_coverage=min_coverage, agent_id=agent_id)
    board = await house.scores.leaderboard(team, wanted, limit=limit, offset=offset)
    end = offset + board.count
    has_more = board.count and end < board.total
    return replace(board, next_cursor=paging.encode(end) if has_more else None)


@router.get("/compare", response_model=schemas.Comparison, responses=responses())
async def compare_agents(
    house: House,
    team: Team,
    agents: Annotated[
        str, Query(max_length=4000, examples=["qa-web-manager:1.0.0,qa-mobile-manager:1.0.0"])
    ],
) -> Comparison:
    """Set agents side by side: who is ahead, where they differ, and whether it is luck."""
    return await house.scores.compare(named(agents, team))


@router.get("/pareto", response_model=schemas.Pareto, responses=responses())
async def get_pareto(house: House, team: Team) -> Pareto:
    """Accuracy against cost: the agents that nobody beats on both."""
    return await house.scores.pareto(team)


@router.post("/scores/recalculate", responses=responses(404, 409))
async def recalculate_scores(
    house: House,
    team: Team,
    agent_id: Annotated[str | None, Query(max_length=100, description="Default: all.")] = None,
    version: Annotated[str | None, Query(max_length=20)] = None,
) -> schemas.Recalculated:
    """Add the team's scores up again from the raw rows."""
    subject = await _subject(house, team, agent_id, version) if agent_id else None
    subjects = await house.scores.recalculate(team, subject)
    return schemas.Recalculated(recalculated=[str(one) for one in subjects], count=len(subjects))


async def _subject(house: Arena, team: str, agent_id: str, version: str | None) -> Subject:
    """The agent version meant: one that is registered, or that something is known of."""
    house.registry.refresh()
    if version is not None:
        subject = Subject(team_id=team, agent_id=agent_id, version=version)
        if await house.scores.entry(subject):
            return subject
    try:
        agent = house.registry.find(agent_id, version)
    except NotFound:
        # It may have been run from a folder that is not always looked into.
        known = await house.scores.newest(team, agent_id) if version is None else None
        if known is None:
            raise
        return known
    return Subject(team_id=team, agent_id=agent.id, version=agent.version)


def _execution(told: schemas.ExecutionReport) -> Execution:
    """An execution as reported, with its price where the model's is known."""
    usage = Usage(
        input_tokens=told.input_tokens,
        output_tokens=told.output_tokens,
        model=told.model,
        cost_usd=told.cost_usd,
    )
    return Execution(
        status=ExecutionStatus(told.status),
        source=Source.REPORTED,
        created_at=told.finished_at or clock.now(),
        usage=priced(usage),
        duration_seconds=told.duration_seconds,
        idempotency_key=told.idempotency_key,
    )


def named(agents: str, team: str) -> list[Subject]:
    """The agents a comparison names, as `id:version`, separated by commas."""
    subjects: list[Subject] = []
    for entry in agents.split(","):
        agent_id, _, version = entry.strip().partition(":")
        if not agent_id or not version or ":" in version:
            raise InvalidInput(f"agents: {entry!r} is not agent:version, as in my-agent:1.0.0")
        subjects.append(Subject(team_id=team, agent_id=agent_id, version=version))
    if not 2 <= len(subjects) <= MAX_COMPARED:
        raise InvalidInput(f"agents: name 2 to {MAX_COMPARED} agents, not {len(subjects)}")
    return subjects
