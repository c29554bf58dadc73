"""What it adds up to: ratings, reported executions, the leaderboard, comparisons."""

import asyncio
from decimal import Decimal
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
from arena.scoring import (
    Comparison,
    CostPoint,
    Execution,
    ExecutionStatus,
    Interval,
    Pair,
    RecordedVote,
    Source,
    Subject,
    Vote,
    Weights,
    average_rating,
    pareto_front,
)
from arena.scoring.records import BoardFilter, BoardRow

router = room_router("/api/benchmarks", "scores")

MAX_COMPARED = 20


@router.post("/feedback", responses=responses(404, 409))
async def submit_feedback(
    house: House, team: Team, body: schemas.FeedbackCreate
) -> schemas.FeedbackCreated:
    """Rate an agent with 1 to 5 stars; a user's later rating takes the earlier one's place."""
    subject = await _subject(house, team, body.agent_id, body.version)
    vote = Vote(
        rating=body.rating,
        user_id=body.user_id,
        execution_id=body.execution_id,
        comment=body.comment,
        task_description=body.task_description,
    )
    recorded = await house.scores.vote(subject, vote)
    return schemas.FeedbackCreated(feedback_id=recorded.id)


@router.get("/feedback", responses=responses())
async def list_feedback(
    house: House,
    team: Team,
    agent_id: Annotated[str | None, Query(max_length=100)] = None,
    version: Annotated[str | None, Query(max_length=20)] = None,
    history: Annotated[bool, Query(description="Also ratings that were replaced.")] = False,
    limit: paging.Limit = 20,
    cursor: paging.Cursor = None,
) -> schemas.FeedbackList:
    """List the team's ratings, newest first."""
    votes = await house.scores.votes(
        team,
        agent_id=agent_id,
        version=version,
        with_history=history,
        limit=limit + 1,
        before=paging.decode_moment(cursor),
    )
    page = votes[:limit]
    last = page[-1] if len(votes) > limit else None
    return schemas.FeedbackList(
        feedback=[_shown_vote(vote) for vote in page],
        count=len(page),
        next_cursor=paging.encode(last.created_at.isoformat(), last.id) if last else None,
    )


@router.post("/executions", responses=responses(404, 409))
async def report_executions(
    house: House, team: Team, body: schemas.ExecutionsReport
) -> schemas.ExecutionsReported:
    """Report executions that happened in your own system; all of them count, or none does."""
    names = dict.fromkeys((one.agent_id, one.version) for one in body.executions)
    subjects = {name: await _subject(house, team, *name) for name in names}
    # In a thread: the price list takes long to load.
    executions = await asyncio.to_thread(lambda: [_execution(one) for one in body.executions])
    batch = [
        (subjects[one.agent_id, one.version], execution)
        for one, execution in zip(body.executions, executions, strict=True)
    ]
    report = await house.scores.report(team, batch)
    return schemas.ExecutionsReported(accepted=report.accepted, duplicates=report.duplicates)


@router.get("/leaderboard", responses=responses())
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
) -> schemas.Leaderboard:
    """The team's agents, best first, with how sure each place is."""
    if category and tag:
        raise InvalidInput("category and tag: give one of them")
    group = ("category", category) if category else ("tag", tag) if tag else None
    offset = paging.decode_number(cursor)
    board = await house.scores.board(
        team,
        wanted=BoardFilter(group=group, min_coverage=min_coverage, agent_id=agent_id),
        limit=limit,
        offset=offset,
    )
    end = offset + len(board.rows)
    return schemas.Leaderboard(
        leaderboard=[_shown_row(row) for row in board.rows],
        count=len(board.rows),
        total=board.total,
        weights=_shown_weights(board.weights),
        next_cursor=paging.encode(end) if end < board.total and board.rows else None,
    )


@router.get("/compare", responses=responses())
async def compare_agents(
    house: House,
    team: Team,
    agents: Annotated[
        str, Query(max_length=4000, examples=["qa-web-manager:1.0.0,qa-mobile-manager:1.0.0"])
    ],
) -> schemas.Comparison:
    """Set agents side by side: who is ahead, where they differ, and whether it is luck."""
    subjects = named(agents, team)
    comparison, rows = await house.scores.compare(subjects)
    by_key = {str(subject): subject for subject in subjects}
    winner = by_key[comparison.winner] if comparison.winner else None
    return schemas.Comparison(
        comparison=[_shown_row(rows[one.key]) for one in comparison.contenders],
        unknown=list(comparison.unknown),
        winner=winner.agent_id if winner else None,
        winner_version=winner.version if winner else None,
        significant=comparison.significant,
        pairs=_shown_pairs(comparison),
    )


@router.get("/pareto", responses=responses())
async def get_pareto(house: House, team: Team) -> schemas.Pareto:
    """Accuracy against cost: the agents that nobody beats on both."""
    points: dict[str, schemas.ParetoPoint] = {}
    for point in await house.runs.costs(team):
        points[f"{point.agent_id}:{point.agent_version}"] = schemas.ParetoPoint(
            agent_id=point.agent_id,
            agent_version=point.agent_version,
            run_id=point.id,
            accuracy=point.score_percent or 0.0,
            cost_usd_per_test=_mean(point.cost_usd, point.costed_tests),
            costed_tests=point.costed_tests,
            total_tests=point.total_tests,
        )
    front = pareto_front(
        CostPoint(key=key, cost=point.cost_usd_per_test, accuracy=point.accuracy)
        for key, point in points.items()
    )
    return schemas.Pareto(
        front=[points[point.key] for point in front.front],
        dominated=[
            schemas.ParetoDominated(**points[one.point.key].model_dump(), by=one.by)
            for one in front.dominated
        ],
        unknown_cost=[points[point.key] for point in front.unknown_cost],
    )


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
        if await house.scores.scored(subject):
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


def _mean(total: float | None, count: int) -> float | None:
    return total / count if total is not None and count else None


def _shown_row(row: BoardRow) -> schemas.BoardEntry:
    card, sums = row.card, row.sums
    return schemas.BoardEntry(
        rank=row.rank,
        rank_low=row.rank_low,
        rank_high=row.rank_high,
        agent_id=row.subject.agent_id,
        agent_version=row.subject.version,
        overall_score=_number(card.overall.score),
        benchmark_score=_number(card.components.benchmark),
        user_rating_score=_number(card.components.user_rating),
        success_rate_score=_number(card.components.success_rate),
        cost_efficiency_score=_number(card.components.cost_efficiency),
        avg_user_rating=_number(average_rating(sums.rating_sum, sums.rating_count)),
        coverage=float(card.overall.coverage),
        provisional=card.overall.provisional,
        feedback_count=sums.rating_count,
        execution_count=sums.execution_count,
        benchmark_run_id=sums.benchmark_run_id,
        intervals=schemas.Intervals(
            overall=_shown_interval(card.overall_interval),
            benchmark=_shown_interval(card.intervals.get("benchmark")),
            user_rating=_shown_interval(card.intervals.get("user_rating")),
            success_rate=_shown_interval(card.intervals.get("success_rate")),
            cost_efficiency=_shown_interval(card.intervals.get("cost_efficiency")),
        ),
    )


def _shown_interval(interval: Interval | None) -> schemas.Interval | None:
    if interval is None:
        return None
    return schemas.Interval(
        low=round(interval.low, 2),
        high=round(interval.high, 2),
        method=interval.method,
        confidence=interval.confidence,
    )


def _shown_weights(weights: Weights) -> schemas.Weights:
    return schemas.Weights(
        benchmark=float(weights.benchmark),
        user_rating=float(weights.user_rating),
        success_rate=float(weights.success_rate),
        cost_efficiency=float(weights.cost_efficiency),
    )


def _shown_pairs(comparison: Comparison) -> list[schemas.ComparedPair]:
    return [_shown_pair(pair) for pair in comparison.pairs]


def _shown_pair(pair: Pair) -> schemas.ComparedPair:
    return schemas.ComparedPair(
        first=pair.first,
        second=pair.second,
        common_tests=pair.common_tests,
        first_pass_rate=pair.first_pass_rate,
        second_pass_rate=pair.second_pass_rate,
        difference=pair.difference,
        interval=_shown_interval(pair.interval.scaled(100)) if pair.interval else None,
        p_value=pair.p_value,
        adjusted_p_value=pair.adjusted_p_value,
        significant=pair.significant,
        differing=[
            schemas.DifferingTest(
                test_id=test.test_id.partition("@")[0],
                first_passed=test.first.passed,
                first_trials=test.first.trials,
                second_passed=test.second.passed,
                second_trials=test.second.trials,
            )
            for test in pair.differing
        ],
        only_first=[test_id.partition("@")[0] for test_id in pair.only_first],
        only_second=[test_id.partition("@")[0] for test_id in pair.only_second],
    )


def _shown_vote(recorded: RecordedVote) -> schemas.Feedback:
    return schemas.Feedback(
        id=recorded.id,
        agent_id=recorded.subject.agent_id,
        agent_version=recorded.subject.version,
        user_id=recorded.vote.user_id,
        execution_id=recorded.vote.execution_id,
        rating=recorded.vote.rating,
        comment=recorded.vote.comment,
        task_description=recorded.vote.task_description,
        is_standing=recorded.is_standing,
        created_at=recorded.created_at,
    )


def _number(score: Decimal | None) -> float | None:
    return None if score is None else float(score)
