"""The leaderboard: an entry per agent version, and ranks with the range the intervals allow.

Competition ranking: equal scores share the better rank and the next rank counts them all (1, 1, 3).
The range shows how certain a rank is: `rank_low` counts only agents whose whole interval is above,
`rank_high` all except those whose whole interval is below.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated
from uuid import UUID

from pydantic import Field

from arena.errors import InvalidInput
from arena.scoring.intervals import Interval
from arena.scoring.scorecard import COMPONENT_NAMES, Scorecard, Weights


@dataclass(frozen=True, slots=True, kw_only=True)
class Intervals:
    """The interval of each score; null if there is no data."""

    overall: Interval | None
    benchmark: Interval | None
    user_rating: Interval | None
    success_rate: Interval | None
    cost_efficiency: Interval | None

    @classmethod
    def of_card(cls, card: Scorecard) -> "Intervals":
        """The intervals of a scorecard, rounded for display."""
        known = {**card.intervals, "overall": card.overall_interval}
        rounded = {
            name: interval.rounded() if interval else None for name, interval in known.items()
        }
        return cls(**dict.fromkeys(COMPONENT_NAMES) | rounded)


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardEntry:
    """An agent version on the leaderboard; null means no data, not zero."""

    rank: Annotated[int | None, Field(examples=[1])]
    """Equal scores share a rank."""
    rank_low: int | None
    """The best rank that the intervals allow."""
    rank_high: int | None
    """The worst rank that the intervals allow."""
    agent_id: Annotated[str, Field(examples=["qa-web-manager"])]
    agent_version: Annotated[str, Field(examples=["1.0.0"])]
    overall_score: Annotated[float | None, Field(examples=[85.5])]
    benchmark_score: Annotated[float | None, Field(examples=[100.0])]
    user_rating_score: Annotated[float | None, Field(examples=[75.0])]
    success_rate_score: Annotated[float | None, Field(examples=[80.0])]
    cost_efficiency_score: Annotated[float | None, Field(examples=[70.0])]
    avg_user_rating: Annotated[float | None, Field(examples=[4.0])]
    coverage: Annotated[float, Field(examples=[1.0])]
    """The share of the weight that has data."""
    provisional: bool
    """Whether some of the weight has no data yet."""
    feedback_count: int
    execution_count: int
    benchmark_run_id: UUID | None
    """The run behind benchmark and cost."""
    intervals: Intervals

    @property
    def name(self) -> str:
        """The agent version as `agent:version`."""
        return f"{self.agent_id}:{self.agent_version}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaderboard:
    """A page of the leaderboard, best first."""

    leaderboard: list[BoardEntry]
    count: int
    total: int
    weights: Weights
    """The weights that the scores were made with."""
    next_cursor: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalculated:
    """The agent versions whose scores were recomputed."""

    recalculated: list[str]
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardFilter:
    """A view of the board: only some tests count, or only scores with enough coverage."""

    group: tuple[str, str] | None = None
    """`("category", name)` or `("tag", name)`: only those tests count."""
    min_coverage: float = 0.0
    agent_id: str | None = None
    """Only this agent's versions; their ranks are those on the whole board."""

    @property
    def keeps_ranks(self) -> bool:
        """Whether the stored ranks are valid for this view."""
        return self.group is None and self.min_coverage <= 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One agent version to be ranked."""

    key: str
    """Identifies the candidate, as `agent:version`; also orders equal scores."""
    score: Decimal | None
    """The overall score as displayed: two that look the same are equal."""
    interval: Interval | None = None
    """None if the uncertainty is unknown: it then excludes no rank."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """A candidate with its rank; the ranks are None if it has no score."""

    candidate: Candidate
    rank: int | None = None
    rank_low: int | None = None
    rank_high: int | None = None


def rank(candidates: Iterable[Candidate]) -> list[Ranked]:
    """The candidates in order: best score first, equals by key, those without a score last."""
    listed = sorted(candidates, key=lambda one: one.key)
    keys = [one.key for one in listed]
    if len(set(keys)) < len(keys):
        twice = sorted({key for key in keys if keys.count(key) > 1})
        raise InvalidInput(f"ranked twice: {', '.join(twice)}; give each candidate once")
    scored = [(one, one.score) for one in listed if one.score is not None]
    scored.sort(key=lambda pair: pair[1], reverse=True)
    count = len(scored)
    # With sorted limits each range is two binary searches, so a board of thousands stays fast.
    scores = sorted(score for _, score in scored)
    spans = [_span(one, score) for one, score in scored]
    lows, highs = sorted(low for low, _ in spans), sorted(high for _, high in spans)
    ranked = [
        Ranked(
            candidate=one,
            rank=1 + count - bisect_right(scores, score),
            rank_low=1 + count - bisect_right(lows, high),
            rank_high=count - bisect_left(highs, low),
        )
        for (one, score), (low, high) in zip(scored, spans, strict=True)
    ]
    return ranked + [Ranked(candidate=one) for one in listed if one.score is None]


def _span(candidate: Candidate, score: Decimal) -> tuple[float, float]:
    interval = candidate.interval
    if interval is None:
        # Compatible with every rank.
        return float("-inf"), float("inf")
    # Rounding may put an interval just beside its own score; ranks must not.
    return min(interval.low, float(score)), max(interval.high, float(score))
