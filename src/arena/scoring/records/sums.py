"""The running sums of one agent version, and the row of scores that they give."""

from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any
from uuid import UUID

from sqlalchemy import Row, select
from sqlalchemy.ext.asyncio import AsyncConnection

from arena.scoring.history import Subject
from arena.scoring.overall import WEIGHT_PARTS, Weights
from arena.scoring.scorecard import Evidence, scorecard
from arena.scoring.share import Share
from arena.store.tables import Scores, ScoreWeights

SHARE_FIELDS = ("units", "part", "whole", "part_squares", "products", "whole_squares")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sums:
    """All that is known of an agent version, added up."""

    rating_count: int = 0
    rating_sum: int = 0
    rating_square_sum: int = 0
    execution_count: int = 0
    success_count: int = 0
    benchmark_run_id: UUID | None = None
    benchmark: Share = field(default_factory=Share)
    cost: Share = field(default_factory=Share)

    @property
    def is_known(self) -> bool:
        """Whether there is any evidence."""
        return bool(self.rating_count or self.execution_count or self.benchmark_run_id)

    @property
    def evidence(self) -> Evidence:
        """The sums as the four components want them."""
        return Evidence(
            benchmark=self.benchmark,
            user_rating=Share.of_ratings(
                self.rating_count, self.rating_sum, self.rating_square_sum
            ),
            success_rate=Share.of_counts(self.success_count, self.execution_count),
            cost_efficiency=self.cost,
        )

    def with_rating(self, rating: int, count: int = 1) -> "Sums":
        """With a vote more, or with `count` -1 one less."""
        return replace(
            self,
            rating_count=self.rating_count + count,
            rating_sum=self.rating_sum + count * rating,
            rating_square_sum=self.rating_square_sum + count * rating * rating,
        )

    def with_executions(self, total: int, successes: int) -> "Sums":
        """With so many executions more."""
        return replace(
            self,
            execution_count=self.execution_count + total,
            success_count=self.success_count + successes,
        )


def sums_of(row: Row[Any]) -> Sums:
    """The sums in a row of scores."""
    return Sums(
        rating_count=row.rating_count,
        rating_sum=row.rating_sum,
        rating_square_sum=row.rating_square_sum,
        execution_count=row.execution_count,
        success_count=row.success_count,
        benchmark_run_id=row.benchmark_run_id,
        benchmark=share_from(row.benchmark_share),
        cost=share_from(row.cost_share),
    )


def columns_of(sums: Sums, weights: Weights) -> dict[str, object]:
    """The columns that the sums give: themselves and every score that follows from them."""
    card = scorecard(sums.evidence, weights)
    interval = card.overall_interval
    return {
        "rating_count": sums.rating_count,
        "rating_sum": sums.rating_sum,
        "rating_square_sum": sums.rating_square_sum,
        "execution_count": sums.execution_count,
        "success_count": sums.success_count,
        "benchmark_run_id": sums.benchmark_run_id,
        "benchmark_share": share_list(sums.benchmark),
        "cost_share": share_list(sums.cost),
        "benchmark_score": _number(card.components.benchmark),
        "user_rating_score": _number(card.components.user_rating),
        "success_rate_score": _number(card.components.success_rate),
        "cost_efficiency_score": _number(card.components.cost_efficiency),
        "overall_score": _number(card.overall.score),
        "overall_low": interval.low if interval else None,
        "overall_high": interval.high if interval else None,
        "coverage": float(card.overall.coverage),
    }


def share_list(share: Share) -> list[int]:
    """A share as the database keeps it."""
    return [getattr(share, name) for name in SHARE_FIELDS]


def share_from(numbers: list[Any]) -> Share:
    """The share that the database has kept."""
    return Share(**dict(zip(SHARE_FIELDS, map(int, numbers), strict=True)))


async def stored_weights(connection: AsyncConnection) -> Weights:
    """The weights in force for the stored scores."""
    row = (await connection.execute(select(ScoreWeights.__table__))).one()
    return Weights(
        benchmark=Decimal(row.benchmark) / WEIGHT_PARTS,
        user_rating=Decimal(row.user_rating) / WEIGHT_PARTS,
        success_rate=Decimal(row.success_rate) / WEIGHT_PARTS,
        cost_efficiency=Decimal(row.cost_efficiency) / WEIGHT_PARTS,
    )


def is_subject(subject: Subject) -> tuple[Any, ...]:
    """The conditions that pick the subject's row of scores."""
    return (
        Scores.team_id == subject.team_id,
        Scores.agent_id == subject.agent_id,
        Scores.agent_version == subject.version,
    )


def _number(score: Decimal | None) -> float | None:
    return None if score is None else float(score)
