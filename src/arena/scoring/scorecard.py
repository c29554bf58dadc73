"""From what was observed to all the numbers a leaderboard shows of one agent version."""

from dataclasses import dataclass, field
from decimal import Decimal

from arena.scoring.components import COMPONENT_NAMES, Components
from arena.scoring.intervals import (
    CONFIDENCE,
    Interval,
    WeightedEstimate,
    share_interval,
    weighted_interval,
)
from arena.scoring.overall import DEFAULT_WEIGHTS, Overall, Weights, overall
from arena.scoring.share import Share

SOURCES = {
    "benchmark": "executions",
    "user_rating": "people",
    "success_rate": "executions",
    "cost_efficiency": "executions",
}
"""Who a component's luck comes from. One execution can count in three components, so these may err
together; what people vote does not depend on it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What was observed of one agent version, as sums; empty where nothing was."""

    benchmark: Share = field(default_factory=Share)
    """Passes of trials, a unit per test (`TrialSummary.share`)."""
    user_rating: Share = field(default_factory=Share)
    """A unit per standing vote (`Share.of_ratings`)."""
    success_rate: Share = field(default_factory=Share)
    """A unit per execution (`Share.of_counts`)."""
    cost_efficiency: Share = field(default_factory=Share)
    """Micropoints earned of possible, a unit per test with a passed result (`of_groups`)."""

    def by_name(self) -> dict[str, Share]:
        """Each component's share by its name."""
        return {name: getattr(self, name) for name in COMPONENT_NAMES}


@dataclass(frozen=True, slots=True, kw_only=True)
class Scorecard:
    """The scores of one agent version and how sure they are, all on the scale 0 to 100."""

    components: Components
    intervals: dict[str, Interval]
    """By component name, only for those with data."""
    overall: Overall
    overall_interval: Interval | None
    weights: Weights


def scorecard(
    evidence: Evidence, weights: Weights = DEFAULT_WEIGHTS, confidence: float = CONFIDENCE
) -> Scorecard:
    """Every score and interval that follows from the evidence."""
    shares = evidence.by_name()
    components = Components(**{name: share.score for name, share in shares.items()})
    intervals = {
        name: interval
        for name, share in shares.items()
        if (interval := _score_interval(share, confidence)) is not None
    }
    total = overall(components, weights)
    return Scorecard(
        components=components,
        intervals=intervals,
        overall=total,
        overall_interval=_overall_interval(components, intervals, total, weights),
        weights=weights,
    )


def _score_interval(share: Share, confidence: float) -> Interval | None:
    interval = share_interval(share, confidence)
    if interval is None or share.score is None:
        return None
    return _holding(share.score, interval.scaled(100))


def _overall_interval(
    components: Components, intervals: dict[str, Interval], total: Overall, weights: Weights
) -> Interval | None:
    if total.score is None:
        return None
    parts = weights.parts
    terms = [
        WeightedEstimate(
            weight=parts[name],
            estimate=float(score),
            interval=intervals[name],
            source=SOURCES[name],
        )
        for name, score in components.by_name().items()
        if score is not None
    ]
    interval = weighted_interval(terms)
    return interval and _holding(total.score, interval)


def _holding(score: Decimal, interval: Interval) -> Interval:
    """The interval kept on the scale and around the score as shown, which is rounded."""
    return Interval(
        low=max(0.0, min(interval.low, float(score))),
        high=min(100.0, max(interval.high, float(score))),
        method=interval.method,
        confidence=interval.confidence,
    )
