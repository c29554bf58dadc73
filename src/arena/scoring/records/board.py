"""Reads the leaderboard: a stored page, or a filtered view with its own ranks."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import Select, collate, func, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from arena.scoring.board import BoardEntry, BoardFilter, Candidate, Intervals, Leaderboard, rank
from arena.scoring.components import Share, average_rating
from arena.scoring.history import Subject
from arena.scoring.records.ranks import lock_team
from arena.scoring.records.sums import Sums, is_about, stored_weights
from arena.scoring.scorecard import Scorecard, Weights, scorecard
from arena.store.tables.runs import RunGroups
from arena.store.tables.scores import Scores

OTHER = Scores.__table__.alias("other")
IS_SCORED = OTHER.c.overall_score.is_not(None)


async def read_board(
    connection: AsyncConnection, team_id: str, selection: BoardFilter, limit: int, offset: int = 0
) -> Leaderboard:
    """A page of the team's leaderboard; a filtered view gets its own ranks."""
    weights = await stored_weights(connection)
    agent_id = selection.agent_id
    if selection.keeps_ranks:
        page = await _stored_page(connection, team_id, weights, agent_id, limit, offset)
        of_agent = () if agent_id is None else (OTHER.c.agent_id == agent_id,)
        counting = select(_count(team_id, IS_SCORED, *of_agent))
        total = (await connection.execute(counting)).scalar_one()
    else:
        entries = await _filtered(connection, team_id, weights, selection)
        if agent_id is not None:
            entries = [entry for entry in entries if entry.agent_id == agent_id]
        page, total = entries[offset : offset + limit], len(entries)
    return Leaderboard(leaderboard=page, count=len(page), total=total, weights=weights)


async def board_entry(connection: AsyncConnection, subject: Subject) -> BoardEntry | None:
    """The entry of one agent version; None if there is no evidence about it."""
    query = _placed(subject.team_id).where(*is_about(Scores, subject))
    row = (await connection.execute(query)).one_or_none()
    if row is None or not Sums.of_row(row).has_evidence:
        return None
    return _placed_entry(row, await stored_weights(connection))


async def known_versions(connection: AsyncConnection, team_id: str, agent_id: str) -> Sequence[str]:
    """Every version of the agent that has a row of scores."""
    query = select(Scores.agent_version).where(
        Scores.team_id == team_id, Scores.agent_id == agent_id
    )
    return (await connection.execute(query)).scalars().all()


async def last_change(connection: AsyncConnection, team_id: str) -> datetime | None:
    """When a score of the team last changed; None if it has none."""
    query = select(func.max(Scores.updated_at)).where(Scores.team_id == team_id)
    return (await connection.execute(query)).scalar_one()


async def has_missing_intervals(connection: AsyncConnection, team_id: str) -> bool:
    """Whether intervals are missing: the SQL function computes only scores."""
    query = select(Scores.id).where(_lacks_interval(team_id)).limit(1)
    return (await connection.execute(query)).first() is not None


async def fill_intervals(connection: AsyncConnection, team_id: str) -> None:
    """Compute the intervals that the SQL function left out."""
    await lock_team(connection, team_id)
    weights = await stored_weights(connection)
    query = select(Scores.__table__).where(_lacks_interval(team_id))
    for row in (await connection.execute(query)).all():
        columns = Sums.of_row(row).columns(weights)
        missing = {name: columns[name] for name in ("overall_low", "overall_high")}
        await connection.execute(update(Scores).where(Scores.id == row.id).values(**missing))


async def _stored_page(
    connection: AsyncConnection,
    team_id: str,
    weights: Weights,
    agent_id: str | None,
    limit: int,
    offset: int,
) -> list[BoardEntry]:
    # Ranks are stored and their ranges are counted by index: a page costs about the same for ten
    # entries as for thousands.
    names: tuple[Any, ...] = (Scores.agent_id, Scores.agent_version)
    if connection.dialect.name == "postgresql":
        # By code point, like SQLite and Python, not by the database collation.
        names = tuple(collate(name, "C") for name in names)
    query = (
        _placed(team_id)
        .where(Scores.team_id == team_id, Scores.overall_score.is_not(None))
        .order_by(Scores.overall_score.desc(), *names)
        .limit(limit)
        .offset(offset)
    )
    if agent_id is not None:
        query = query.where(Scores.agent_id == agent_id)
    return [_placed_entry(row, weights) for row in await connection.execute(query)]


async def _filtered(
    connection: AsyncConnection, team_id: str, weights: Weights, selection: BoardFilter
) -> list[BoardEntry]:
    query = select(Scores.__table__).where(Scores.team_id == team_id)
    if selection.group:
        kind, name = selection.group
        shares = RunGroups.benchmark_share.label("b"), RunGroups.cost_share.label("c")
        query = (
            query.add_columns(*shares)
            .join(RunGroups, RunGroups.run_id == Scores.benchmark_run_id)
            .where(RunGroups.kind == kind, RunGroups.name == name)
        )
    entries: dict[str, BoardEntry] = {}
    candidates: list[Candidate] = []
    for row in await connection.execute(query):
        sums = Sums.of_row(row)
        if selection.group:
            shares = Share.from_list(row.b), Share.from_list(row.c)
            sums = replace(sums, benchmark_share=shares[0], cost_share=shares[1])
        card = scorecard(sums.evidence, weights)
        if float(card.overall.coverage) < selection.min_coverage or card.overall.score is None:
            continue
        entry = _entry(row, sums, card)
        entries[entry.name] = entry
        candidates.append(
            Candidate(key=entry.name, score=card.overall.score, interval=card.overall_interval)
        )
    ranked = [
        replace(
            entries[one.candidate.key],
            rank=one.rank,
            rank_low=one.rank_low,
            rank_high=one.rank_high,
        )
        for one in rank(candidates)
    ]
    # Equal scores by agent, then version, like a stored page; sorted by `agent:version`, `a-b`
    # would come before `a`.
    return sorted(ranked, key=lambda entry: (entry.rank or 0, entry.agent_id, entry.agent_version))


def _placed(team_id: str) -> Select[Any]:
    """Rows of scores, each with how many of the team's intervals are wholly above and below."""
    return select(
        Scores.__table__,
        _count(team_id, IS_SCORED).label("total"),
        _count(team_id, OTHER.c.overall_low > Scores.overall_high).label("above"),
        _count(team_id, OTHER.c.overall_high < Scores.overall_low).label("below"),
    )


def _count(team_id: str, *conditions: Any) -> Any:
    query = select(func.count()).select_from(OTHER).where(OTHER.c.team_id == team_id)
    return query.where(*conditions).scalar_subquery()


def _lacks_interval(team_id: str) -> Any:
    is_scored = Scores.overall_score.is_not(None)
    return (Scores.team_id == team_id) & is_scored & Scores.overall_low.is_(None)


def _placed_entry(row: Any, weights: Weights) -> BoardEntry:
    sums = Sums.of_row(row)
    entry = _entry(row, sums, scorecard(sums.evidence, weights))
    if row.overall_score is None:
        return entry
    rank_low, rank_high = 1 + row.above, row.total - row.below
    return replace(entry, rank=row.rank_overall, rank_low=rank_low, rank_high=rank_high)


def _entry(row: Any, sums: Sums, card: Scorecard) -> BoardEntry:
    """The entry of a row, not ranked yet."""
    average = average_rating(sums.rating_sum, sums.rating_count)
    return BoardEntry(
        rank=None,
        rank_low=None,
        rank_high=None,
        agent_id=row.agent_id,
        agent_version=row.agent_version,
        **card.scores(),
        avg_user_rating=None if average is None else float(average),
        coverage=float(card.overall.coverage),
        provisional=card.overall.provisional,
        feedback_count=sums.rating_count,
        execution_count=sums.execution_count,
        benchmark_run_id=sums.benchmark_run_id,
        intervals=Intervals.of_card(card),
    )
