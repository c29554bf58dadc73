"""Computes all leaderboard numbers of one agent version from its evidence.

The overall score is a weighted mean of the components that have data. The exact rule, which SQL
mirrors: a weight is stored in billionths (`parts`), a component in cents, both integers. With the
sums over the components that have data,

    overall_cents = (2 · Σ parts·cents + Σ parts) // (2 · Σ parts)        null if Σ parts = 0
    coverage      = Σ parts / Σ parts of all four, to four decimals, halves up
    provisional   = Σ parts < Σ parts of all four        (before rounding)
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from decimal import ROUND_HALF_UP, Decimal

from arena.errors import InvalidInput
from arena.scoring.components import Share, divide_half_up, in_cents
from arena.scoring.intervals import (
    CONFIDENCE,
    Interval,
    WeightedEstimate,
    share_interval,
    weighted_interval,
)
from arena.store.weights import DEFAULT_PARTS

WEIGHT_PARTS = 1_000_000_000
"""Billionths in a weight of 1."""
WEIGHT_TOLERANCE = Decimal("1e-9")

SOURCES = {
    "benchmark": "executions",
    "user_rating": "people",
    "success_rate": "executions",
    "cost_efficiency": "executions",
}
"""The source of a component's randomness. One execution can count in three components, so their
errors may be correlated; people's ratings are independent of them."""

COMPONENT_NAMES = tuple(SOURCES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """The weight of each component; they add up to 1."""

    benchmark: float
    user_rating: float
    success_rate: float
    cost_efficiency: float

    def __post_init__(self) -> None:
        total = Decimal(0)
        for name in COMPONENT_NAMES:
            # Through the decimal digits, so that 0.1 is exactly a tenth, in Python and in SQL.
            weight = Decimal(str(getattr(self, name)))
            if not weight.is_finite() or not 0 <= weight <= 1:
                raise InvalidInput(f"weight {name} is {weight}, must be from 0 to 1")
            # Rounded to the digits that the database stores, so that what it returns is valid too.
            weight = weight.quantize(WEIGHT_TOLERANCE, ROUND_HALF_UP).normalize()
            object.__setattr__(self, name, float(weight))
            total += weight
        if abs(total - 1) > WEIGHT_TOLERANCE:
            raise InvalidInput(
                f"the weights add up to {total}, must add up to 1: "
                + ", ".join(f"{name} {getattr(self, name)}" for name in COMPONENT_NAMES)
            )

    @classmethod
    def from_settings(cls, named: Mapping[str, Decimal]) -> "Weights":
        """The defaults, overridden by the weights in the settings."""
        changed = {name: float(weight) for name, weight in named.items()}
        return cls(**asdict(DEFAULT_WEIGHTS) | changed)

    @classmethod
    def from_parts(cls, **parts: int) -> "Weights":
        """The weights from billionths, as stored in the database."""
        return cls(**{name: part / WEIGHT_PARTS for name, part in parts.items()})

    @property
    def parts(self) -> dict[str, int]:
        """Each weight by its component's name, in billionths."""
        return {name: round(getattr(self, name) * WEIGHT_PARTS) for name in COMPONENT_NAMES}


DEFAULT_WEIGHTS = Weights.from_parts(**DEFAULT_PARTS)
"""Used for weights that the settings leave out. A new database starts with the same four; an
existing one keeps its own, so changing them for everybody needs a migration too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Components:
    """The four component scores, 0 to 100; None means no data, not zero."""

    benchmark: Decimal | None = None
    user_rating: Decimal | None = None
    success_rate: Decimal | None = None
    cost_efficiency: Decimal | None = None

    def __post_init__(self) -> None:
        for name, score in self.by_name().items():
            if score is not None and not 0 <= score <= 100:
                raise InvalidInput(f"{name} is {score}, must be between 0 and 100 or missing")

    def by_name(self) -> dict[str, Decimal | None]:
        """Each component's score by its name, in the order of the weights."""
        return {name: getattr(self, name) for name in COMPONENT_NAMES}


@dataclass(frozen=True, slots=True, kw_only=True)
class Overall:
    """The overall score, and how much of its weight has data."""

    score: Decimal | None
    """0 to 100 with two decimals; None if no component that counts has data."""
    coverage: Decimal
    """The share of the weight that has data, 0 to 1 with four decimals."""
    provisional: bool
    """Whether some of the weight has no data yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Everything observed of one agent version, as sums; empty if nothing was."""

    benchmark: Share = field(default_factory=Share)
    """Passes of trials, a unit per test (`Share.of_groups`)."""
    user_rating: Share = field(default_factory=Share)
    """A unit per current rating (`Share.of_ratings`)."""
    success_rate: Share = field(default_factory=Share)
    """A unit per execution (`Share.of_counts`)."""
    cost_efficiency: Share = field(default_factory=Share)
    """Micropoints earned of possible, a unit per test with a passed result (`of_groups`)."""

    def by_name(self) -> dict[str, Share]:
        """Each component's share by its name."""
        return {name: getattr(self, name) for name in COMPONENT_NAMES}


@dataclass(frozen=True, slots=True, kw_only=True)
class Scorecard:
    """The scores of one agent version with their intervals, all on the scale 0 to 100."""

    components: Components
    intervals: dict[str, Interval]
    """By component name, only for those with data."""
    overall: Overall
    overall_interval: Interval | None

    def scores(self) -> dict[str, float | None]:
        """The five scores by the names of their columns."""
        by_name = {**self.components.by_name(), "overall": self.overall.score}
        return {
            f"{name}_score": None if score is None else float(score)
            for name, score in by_name.items()
        }


def overall(components: Components, weights: Weights = DEFAULT_WEIGHTS) -> Overall:
    """The weighted mean over the components that have data."""
    parts = weights.parts
    known = {name: score for name, score in components.by_name().items() if score is not None}
    covered, everything = sum(parts[name] for name in known), sum(parts.values())
    score = None
    if covered:
        weighted = sum(parts[name] * _cents(score) for name, score in known.items())
        score = in_cents(divide_half_up(weighted, covered))
    return Overall(
        score=score,
        coverage=Decimal(divide_half_up(10_000 * covered, everything)).scaleb(-4),
        provisional=covered < everything,
    )


def scorecard(
    evidence: Evidence, weights: Weights = DEFAULT_WEIGHTS, confidence: float = CONFIDENCE
) -> Scorecard:
    """Every score and interval that follows from the evidence."""
    shares = evidence.by_name()
    components = Components(**{name: share.score for name, share in shares.items()})
    known = {name: score for name, score in components.by_name().items() if score is not None}
    intervals: dict[str, Interval] = {}
    for name, score in known.items():
        interval = share_interval(shares[name], confidence)
        assert interval is not None  # a share with a score has an interval
        intervals[name] = _around(score, interval.scaled(100))
    total = overall(components, weights)
    parts = weights.parts
    joined = weighted_interval(
        WeightedEstimate(
            weight=parts[name],
            estimate=float(score),
            interval=intervals[name],
            source=SOURCES[name],
        )
        for name, score in known.items()
    )
    return Scorecard(
        components=components,
        intervals=intervals,
        overall=total,
        overall_interval=_around(total.score, joined)
        if joined and total.score is not None
        else None,
    )


def _cents(score: Decimal) -> int:
    cents = score.scaleb(2)
    if cents != cents.to_integral_value():
        raise InvalidInput(f"a component of {score} has more than two decimals; round it first")
    return int(cents)


def _around(score: Decimal, interval: Interval) -> Interval:
    """The interval, clipped to the scale and widened to contain the rounded score."""
    return Interval(
        low=max(0.0, min(interval.low, float(score))),
        high=min(100.0, max(interval.high, float(score))),
        method=interval.method,
        confidence=interval.confidence,
    )
