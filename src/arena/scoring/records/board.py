"""Reading the leaderboard: a page of it as stored, or a view of it ranked anew."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import func, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from arena.scoring.history import Subject
from arena.scoring.overall import Weights
from arena.scoring.ranking import Entry, rank
from arena.scoring.records.sums import (
    Sums,
    columns_of,
    is_subject,
    share_from,
    stored_weights,
    sums_of,
)
from arena.scoring.scorecard import Scorecard, scorecard
from arena.store.tables import RunGroups, Scores


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardRow:
    """One agent version on the board."""

    subject: Subject
    sums: Sums
    card: Scorecard
    rank: int | None
    rank_low: int | None
    """The best place that the intervals allow."""
    rank_high: int | None
    """The worst place that they allow."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardFilter:
    """A part of the board: only what some tests say, or only well-founded scores."""

    group: tuple[str, str] | None = None
    """`("category", name)` or `("tag", name)`: only those tests count."""
    min_coverage: float = 0.0

    @property
    def is_empty(self) -> bool:
        """Whether it lets everything through."""
        return self.group is None and self.min_coverage <= 0


async def board_page(
    connection: AsyncConnection, team_id: str, limit: int, offset: int = 0
) -> tuple[list[BoardRow], int]:
    """A page of the team's leaderboard, and how many entries it has in all.

    Ranks are stored and the ranges are counted by index, so a page costs about the same whether
    the board has ten entries or thousands.
    """
    weights = await stored_weights(connection)
    other = Scores.__table__.alias("other")

    def count(*conditions: Any) -> Any:
        query = select(func.count()).where(other.c.team_id == team_id, *conditions)
        return query.scalar_subquery()

    total = count(other.c.overall_score.is_not(None))
    query = (
        select(
            Scores.__table__,
            total.label("total"),
            count(other.c.overall_low > Scores.overall_high).label("above"),
            count(other.c.overall_high < Scores.overall_low).label("below"),
        )
        .where(Scores.team_id == team_id, Scores.overall_score.is_not(None))
        .order_by(Scores.overall_score.desc(), Scores.agent_id, Scores.agent_version)
        .limit(limit)
        .offset(offset)
    )
    rows = (await connection.execute(query)).all()
    page = [
        _row(row, weights, rank_low=1 + row.above, rank_high=row.total - row.below) for row in rows
    ]
    return page, rows[0].total if rows else 0


async def filtered_board(
    connection: AsyncConnection, team_id: str, wanted: BoardFilter
) -> list[BoardRow]:
    """The board that a filter leaves, ranked among itself."""
    weights = await stored_weights(connection)
    query = select(Scores.__table__).where(Scores.team_id == team_id)
    if wanted.group:
        kind, name = wanted.group
        shares = RunGroups.benchmark_share.label("b"), RunGroups.cost_share.label("c")
        query = (
            query.add_columns(*shares)
            .join(RunGroups, RunGroups.run_id == Scores.benchmark_run_id)
            .where(RunGroups.kind == kind, RunGroups.name == name)
        )
    rows = [_row(row, weights) for row in await connection.execute(query)]
    kept = [row for row in rows if float(row.card.overall.coverage) >= wanted.min_coverage]
    return _ranked(kept)


async def score_row(connection: AsyncConnection, subject: Subject) -> BoardRow | None:
    """One agent version as it stands; None where nothing is known of it."""
    query = select(Scores.__table__).where(*is_subject(subject))
    row = (await connection.execute(query)).one_or_none()
    return _row(row, await stored_weights(connection)) if row else None


async def heal_intervals(connection: AsyncConnection, team_id: str) -> None:
    """Compute the intervals that SQL has left open: its function knows scores only."""
    weights = await stored_weights(connection)
    query = select(Scores.__table__).where(_is_open(team_id))
    for row in (await connection.execute(query)).all():
        columns = columns_of(sums_of(row), weights)
        open_ones = {name: columns[name] for name in ("overall_low", "overall_high")}
        await connection.execute(update(Scores).where(Scores.id == row.id).values(**open_ones))


async def has_open_intervals(connection: AsyncConnection, team_id: str) -> bool:
    """Whether some interval is to be computed anew."""
    query = select(Scores.id).where(_is_open(team_id)).limit(1)
    return (await connection.execute(query)).first() is not None


def _is_open(team_id: str) -> Any:
    is_scored = Scores.overall_score.is_not(None)
    return (Scores.team_id == team_id) & is_scored & Scores.overall_low.is_(None)


def _row(row: Any, weights: Weights, **ranks: int) -> BoardRow:
    sums = sums_of(row)
    if "b" in row._fields:
        sums = replace(sums, benchmark=share_from(row.b), cost=share_from(row.c))
    subject = Subject(team_id=row.team_id, agent_id=row.agent_id, version=row.agent_version)
    return BoardRow(
        subject=subject,
        sums=sums,
        card=scorecard(sums.evidence, weights),
        rank=row.rank_overall,
        rank_low=ranks.get("rank_low"),
        rank_high=ranks.get("rank_high"),
    )


def _ranked(rows: Iterable[BoardRow]) -> list[BoardRow]:
    by_key = {str(row.subject): row for row in rows}
    places = rank(
        Entry(
            key=key,
            score=row.card.overall.score,
            interval=row.card.overall_interval,
            provisional=row.card.overall.provisional,
        )
        for key, row in by_key.items()
    )
    return [
        replace(
            by_key[place.entry.key],
            rank=place.rank,
            rank_low=place.rank_low,
            rank_high=place.rank_high,
        )
        for place in places
        if place.rank is not None
    ]
