"""The running sums of what was observed of one agent version, and the scores that follow."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from arena.scoring.board import BoardRun
from arena.scoring.components import Share
from arena.scoring.scorecard import Evidence, Scorecard, Weights, scorecard


@dataclass(frozen=True, slots=True, kw_only=True)
class Sums:
    """Ratings and executions of an agent version, whatever the suite; named like the columns."""

    rating_count: int = 0
    rating_sum: int = 0
    rating_square_sum: int = 0
    execution_count: int = 0
    success_count: int = 0

    @classmethod
    def of_row(cls, row: Any) -> "Sums":
        """The sums in a row of scores; none if there is no row."""
        if row is None:
            return cls()
        return cls(**{one.name: getattr(row, one.name) for one in fields(cls)})

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> "Sums":
        """The sums in a stored state."""
        return cls(**{one.name: body[one.name] for one in fields(cls)})

    @property
    def has_evidence(self) -> bool:
        """Whether anything has been observed."""
        return bool(self.rating_count or self.execution_count)

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

    def scorecard(self, run: BoardRun | None, weights: Weights) -> Scorecard:
        """The scores on the board that the run is of; without a run, those of the rest."""
        evidence = Evidence(
            benchmark=run.benchmark if run else Share(),
            user_rating=Share.of_ratings(
                self.rating_count, self.rating_sum, self.rating_square_sum
            ),
            success_rate=Share.of_counts(self.success_count, self.execution_count),
            cost_efficiency=run.cost if run else Share(),
        )
        return scorecard(evidence, weights)
