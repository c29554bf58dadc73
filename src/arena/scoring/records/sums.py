"""The running sums of one agent version, and its row of scores."""

from dataclasses import dataclass, field, fields, replace
from typing import Any
from uuid import UUID

from sqlalchemy import Row, select
from sqlalchemy.ext.asyncio import AsyncConnection

from arena.scoring.components import Share
from arena.scoring.history import Subject
from arena.scoring.scorecard import COMPONENT_NAMES, Evidence, Weights, scorecard
from arena.store.tables.scores import ScoreWeights

SHARES = ("benchmark_share", "cost_share")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sums:
    """The sums of all evidence about an agent version, named like the columns."""

    rating_count: int = 0
    rating_sum: int = 0
    rating_square_sum: int = 0
    execution_count: int = 0
    success_count: int = 0
    benchmark_run_id: UUID | None = None
    benchmark_share: Share = field(default_factory=Share)
    cost_share: Share = field(default_factory=Share)

    @classmethod
    def of_row(cls, row: Row[Any]) -> "Sums":
        """The sums in a row of scores."""
        columns: dict[str, Any] = {one.name: getattr(row, one.name) for one in fields(cls)}
        columns.update({name: Share.from_list(columns[name]) for name in SHARES})
        return cls(**columns)

    @property
    def has_evidence(self) -> bool:
        """Whether anything has been observed."""
        return bool(self.rating_count or self.execution_count or self.benchmark_run_id)

    @property
    def evidence(self) -> Evidence:
        """The sums as shares, one per component."""
        return Evidence(
            benchmark=self.benchmark_share,
            user_rating=Share.of_ratings(
                self.rating_count, self.rating_sum, self.rating_square_sum
            ),
            success_rate=Share.of_counts(self.success_count, self.execution_count),
            cost_efficiency=self.cost_share,
        )

    def with_rating(self, rating: int, count: int = 1) -> "Sums":
        """With one more rating; with `count` -1, one less."""
        return replace(
            self,
            rating_count=self.rating_count + count,
            rating_sum=self.rating_sum + count * rating,
            rating_square_sum=self.rating_square_sum + count * rating * rating,
        )

    def with_executions(self, total: int, successes: int) -> "Sums":
        """With `total` more executions."""
        return replace(
            self,
            execution_count=self.execution_count + total,
            success_count=self.success_count + successes,
        )

    def columns(self, weights: Weights) -> dict[str, Any]:
        """The columns of the row: the sums and the scores computed from them."""
        card = scorecard(self.evidence, weights)
        interval = card.overall_interval
        return {
            **{one.name: getattr(self, one.name) for one in fields(self)},
            **{name: getattr(self, name).to_list() for name in SHARES},
            **card.scores(),
            "overall_low": interval.low if interval else None,
            "overall_high": interval.high if interval else None,
            "coverage": float(card.overall.coverage),
        }


async def stored_weights(connection: AsyncConnection) -> Weights:
    """The weights of the stored scores."""
    row = (await connection.execute(select(ScoreWeights.__table__))).one()
    return Weights.from_parts(**{name: getattr(row, name) for name in COMPONENT_NAMES})


def is_about(table: Any, subject: Subject) -> list[Any]:
    """The conditions that select a table's rows about the subject."""
    return [getattr(table, name) == value for name, value in subject.columns.items()]
