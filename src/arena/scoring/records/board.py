"""Reading the leaderboard: a page of it as stored, or a view of it ranked anew."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy import Select, collate, func, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from arena.scoring.history import Subject
from arena.scoring.overall import Weights
from arena.scoring.ranking import Entry, rank
from arena.scoring.records.ranks import lock_team
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

OTHER = Scores.__table__.alias("other")
IS_SCORED = OTHER.c.overall_score.is_not(None)


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
    agent_id: str | None = None
    """Only this agent's versions; their ranks stay those of the board they are taken from."""

    @property
    def is_empty(self) -> bool:
        """Whether it lets everything through."""
        return self.group is None and self.min_coverage <= 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Board:
    """A page of a leaderboard."""

    rows: Sequence[BoardRow]
    total: int
    weights: Weights
    """What the scores were made with."""


async def read_board(
    connection: AsyncConnection, team_id: str, wanted: BoardFilter, limit: int, offset: int = 0
) -> Board:
    """A page of the team's leaderboard; what a filter leaves is ranked among itself."""
    weights = await stored_weights(connection)
    if wanted.is_empty:
        rows = await _page(connection, team_id, weights, wanted.agent_id, limit, offset)
        is_meant = () if wanted.agent_id is None else (OTHER.c.agent_id == wanted.agent_id,)
        counting = select(_count(team_id, IS_SCORED, *is_meant))
        total = (await connection.execute(counting)).scalar_one()
        return Board(rows=rows, total=total, weights=weights)
    every = await _filtered(connection, team_id, weights, wanted)
    if wanted.agent_id is not None:
        every = [row for row in every if row.subject.agent_id == wanted.agent_id]
    return Board(rows=every[offset : offset + limit], total=len(every), weights=weights)


async def score_row(connection: AsyncConnection, subject: Subject) -> BoardRow | None:
    """One agent version as it stands; None where nothing is known of it."""
    query = _placed(subject.team_id).where(*is_subject(subject))
    row = (await connection.execute(query)).one_or_none()
    if row is None or not sums_of(row).is_known:
        return None
    return _row(row, await stored_weights(connection))


async def known_versions(connection: AsyncConnection, team_id: str, agent_id: str) -> Sequence[str]:
    """Every version of the agent that something is written down of."""
    query = select(Scores.agent_version).where(
        Scores.team_id == team_id, Scores.agent_id == agent_id
    )
    return (await connection.execute(query)).scalars().all()


async def _page(
    connection: AsyncConnection,
    team_id: str,
    weights: Weights,
    agent_id: str | None,
    limit: int,
    offset: int,
) -> list[BoardRow]:
    # Ranks are stored and their ranges are counted by index: a page costs about the same whether
    # the board has ten entries or thousands.
    names: tuple[Any, ...] = (Scores.agent_id, Scores.agent_version)
    if connection.dialect.name == "postgresql":
        # As everywhere else in Arena, not by the customs of the database's country.
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
    return [_row(row, weights) for row in await connection.execute(query)]


async def _filtered(
    connection: AsyncConnection, team_id: str, weights: Weights, wanted: BoardFilter
) -> list[BoardRow]:
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
    return _ranked(row for row in rows if float(row.card.overall.coverage) >= wanted.min_coverage)


def _placed(team_id: str) -> Select[Any]:
    """Rows of scores, each with how many of the team lie wholly above and below it."""
    return select(
        Scores.__table__,
        _count(team_id, IS_SCORED).label("total"),
        _count(team_id, OTHER.c.overall_low > Scores.overall_high).label("above"),
        _count(team_id, OTHER.c.overall_high < Scores.overall_low).label("below"),
    )


def _count(team_id: str, *conditions: Any) -> Any:
    query = select(func.count()).select_from(OTHER).where(OTHER.c.team_id == team_id)
    return query.where(*conditions).scalar_subquery()


async def heal_intervals(connection: AsyncConnection, team_id: str) -> None:
    """Compute the intervals that SQL has left open: its function knows scores only."""
    await lock_team(connection, team_id)
    weights = await stored_weights(connection)
    query = select(Scores.__table__).where(_is_open(team_id))
    for row in (await connection.execute(query)).all():
        columns = columns_of(sums_of(row), weights)
        open_ones = {name: columns[name] for name in ("overall_low", "overall_high")}
        await connection.execute(update(Scores).where(Scores.id == row.id).values(**open_ones))


async def last_change(connection: AsyncConnection, team_id: str) -> datetime | None:
    """When a score of the team last changed; None where it has none."""
    query = select(func.max(Scores.updated_at)).where(Scores.team_id == team_id)
    return (await connection.execute(query)).scalar_one()


async def has_open_intervals(connection: AsyncConnection, team_id: str) -> bool:
    """Whether some interval is to be computed anew."""
    query = select(Scores.id).where(_is_open(team_id)).limit(1)
    return (await connection.execute(query)).first() is not None


def _is_open(team_id: str) -> Any:
    is_scored = Scores.overall_score.is_not(None)
    return (Scores.team_id == team_id) & is_scored & Scores.overall_low.is_(None)


def _row(row: Any, weights: Weights) -> BoardRow:
    sums = sums_of(row)
    if "b" in row._fields:
        sums = replace(sums, benchmark=share_from(row.b), cost=share_from(row.c))
    is_placed = "above" in row._fields and row.overall_score is not None
    subject = Subject(team_id=row.team_id, agent_id=row.agent_id, version=row.agent_version)
    return BoardRow(
        subject=subject,
        sums=sums,
        card=scorecard(sums.evidence, weights),
        rank=row.rank_overall,
        rank_low=1 + row.above if is_placed else None,
        rank_high=row.total - row.below if is_placed else None,
    )


def _ranked(rows: Iterable[BoardRow]) -> list[BoardRow]:
    by_key = {str(row.subject): row for row in rows}
    entries = [
        Entry(
            key=key,
            score=row.card.overall.score,
            interval=row.card.overall_interval,
            provisional=row.card.overall.provisional,
        )
        for key, row in by_key.items()
    ]
    placed = [
        (
            place.rank,
            replace(
                by_key[place.entry.key],
                rank=place.rank,
                rank_low=place.rank_low,
                rank_high=place.rank_high,
            ),
        )
        for place in rank(entries)
        if place.rank is not None
    ]
    placed.sort(key=lambda one: (one[0], one[1].subject.agent_id, one[1].subject.version))
    return [row for _, row in placed]
