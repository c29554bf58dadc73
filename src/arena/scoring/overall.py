"""From four components to one overall score: a weighted mean of those that have data.

The exact rule, for SQL to mirror: a weight is kept as whole billionths (`parts`), a component as
whole cents. With the sums taken over the components that have data,

    overall_cents = (2 · Σ parts·cents + Σ parts) // (2 · Σ parts)        null where Σ parts = 0
    coverage      = Σ parts / Σ parts of all four, to four decimals, halves up
    provisional   = Σ parts < Σ parts of all four        (before rounding)
"""

from dataclasses import dataclass, fields
from decimal import ROUND_HALF_UP, Decimal

from arena.errors import InvalidInput
from arena.scoring.components import COMPONENT_NAMES, Components
from arena.scoring.share import divide_half_up, in_cents

WEIGHT_PARTS = 1_000_000_000
"""Billionths in a weight of 1."""
WEIGHT_TOLERANCE = Decimal("1e-9")


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """What each component counts for in the overall score; together 1."""

    benchmark: Decimal | float = Decimal("0.4")
    user_rating: Decimal | float = Decimal("0.3")
    success_rate: Decimal | float = Decimal("0.2")
    cost_efficiency: Decimal | float = Decimal("0.1")

    def __post_init__(self) -> None:
        total = Decimal(0)
        for field in fields(self):
            # By way of the digits: 0.1 as a person means it, in Python and in SQL alike.
            weight = Decimal(str(getattr(self, field.name)))
            if not weight.is_finite() or not 0 <= weight <= 1:
                raise InvalidInput(f"weight {field.name} is {weight}, must be from 0 to 1")
            # Only what the database keeps is counted; what it gives back is then valid as well.
            weight = weight.quantize(WEIGHT_TOLERANCE, ROUND_HALF_UP).normalize()
            object.__setattr__(self, field.name, weight)
            total += weight
        if abs(total - 1) > WEIGHT_TOLERANCE:
            raise InvalidInput(
                f"the weights add up to {total}, must add up to 1: "
                + ", ".join(f"{name} {getattr(self, name)}" for name in COMPONENT_NAMES)
            )

    @property
    def parts(self) -> dict[str, int]:
        """Each weight by its component's name, in whole billionths."""
        return {
            name: int(
                (Decimal(getattr(self, name)) * WEIGHT_PARTS).to_integral_value(ROUND_HALF_UP)
            )
            for name in COMPONENT_NAMES
        }


DEFAULT_WEIGHTS = Weights()


@dataclass(frozen=True, slots=True, kw_only=True)
class Overall:
    """The overall score and how much of it rests on data."""

    score: Decimal | None
    """0 to 100 with two decimals; None where no component that counts has data."""
    coverage: Decimal
    """The share of the weight that has data, 0 to 1 with four decimals."""
    provisional: bool
    """Whether some of the weight is still without data."""


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


def _cents(score: Decimal) -> int:
    cents = score.scaleb(2)
    if cents != cents.to_integral_value():
        raise InvalidInput(f"a component of {score} has more than two decimals; round it first")
    return int(cents)
