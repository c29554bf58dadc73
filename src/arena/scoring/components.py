"""The four components of a score, each a share of a whole, each None if there is no data.

A component is passes of trials, stars of the stars possible, successes of executions, or points
earned at full efficiency of points earned. Evidence comes in *units* (a test, a rating, an
execution); a unit adds `part` of `whole`, with 0 <= part <= whole. Six whole numbers are enough for
the score and its interval, so nothing has to be read again when a unit is added or replaced.

The exact computation, so that SQL can compute the same number to the cent. All divisions are
between non-negative integers, `//` drops the remainder (on PostgreSQL: `div(a, b)` on
`numeric`, which is exact; `round(a / b, 2)` rounds twice, as the quotient is rounded before).

1. A component in cents (hundredths of a point, 0 to 10000) is `(2·n + d) // (2·d)`, which rounds
   halves up, and is null if d = 0:

       benchmark        n = 10000 · passed                      d = total
       user rating      n = 10000 · (rating_sum − count)        d = 4 · count
       success rate     n = 10000 · completed                   d = executions
       cost efficiency  n = 10000 · Σ earned_micropoints        d = Σ possible_micropoints

2. Cost efficiency adds up passed results with known tokens. Per result:
       possible_micropoints = points · 10^6, halves up, to a whole number
       earned_micropoints   = possible, if tokens <= budget (so also for 0 tokens), otherwise
                              (2 · possible · budget + tokens) // (2 · tokens)
   with the budget in whole tokens, halves up, at least 1.
3. The overall score in cents is computed from the components *as rounded in 1*, so that a reader
   can check it with the displayed numbers; see `scorecard.py`.
"""

from collections.abc import Iterable
from dataclasses import dataclass, fields
from decimal import ROUND_HALF_UP, Decimal
from typing import Any, Self

from arena.errors import InvalidInput

LOWEST_RATING = 1
HIGHEST_RATING = 5

MICROPOINTS = 1_000_000
"""Micropoints in a point: points are counted in integers, so sums have no rounding error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """Sums over units; all zero if nothing was observed."""

    units: int = 0
    """How many units: tests, ratings, executions."""
    part: int = 0
    whole: int = 0
    part_squares: int = 0
    """Sum of part × part over the units."""
    products: int = 0
    """Sum of part × whole over the units."""
    whole_squares: int = 0
    """Sum of whole × whole over the units."""

    def __post_init__(self) -> None:
        is_possible = (
            self.units >= 0
            and 0 <= self.part <= self.whole
            and 0 <= self.part_squares <= self.products <= self.whole_squares
            and (self.whole > 0) == (self.units > 0)
            # Cauchy-Schwarz: squares too small for their sum would be a negative variance.
            and self.part**2 <= self.units * self.part_squares
            and self.whole**2 <= self.units * self.whole_squares
        )
        if not is_possible:
            raise InvalidInput(
                f"no units add up to {self}; every unit must have 0 <= part <= whole, "
                "and only what was added can be subtracted"
            )

    @classmethod
    def of_groups(cls, groups: Iterable[tuple[int, int]]) -> Self:
        """One unit per (part, whole); a whole of 0 is no evidence and is skipped."""
        # Plain sums in one pass: no object per test in a run of thousands.
        units = part_sum = whole_sum = part_squares = products = whole_squares = 0
        for part, whole in groups:
            if not 0 <= part <= whole:
                raise InvalidInput(f"{part} of {whole} is not a share: 0 <= part <= whole")
            units += whole > 0
            part_sum += part
            whole_sum += whole
            part_squares += part * part
            products += part * whole
            whole_squares += whole * whole
        return cls.from_list([units, part_sum, whole_sum, part_squares, products, whole_squares])

    @classmethod
    def of_counts(cls, part: int, whole: int) -> Self:
        """`whole` units of which `part` were a success: passed of total, completed of executed."""
        # Each unit is 0 or 1, so squares and products equal the values.
        return cls.from_list([whole, part, whole, part, part, whole])

    @classmethod
    def of_ratings(cls, count: int, rating_sum: int, rating_square_sum: int) -> Self:
        """`count` ratings of 1 to 5 stars: each adds its stars above the lowest, of four."""
        span = HIGHEST_RATING - LOWEST_RATING
        part = rating_sum - LOWEST_RATING * count
        # Σ(r − 1)² = Σr² − 2·Σr + n, with 1 the lowest rating.
        squares = rating_square_sum - 2 * LOWEST_RATING * rating_sum + LOWEST_RATING**2 * count
        return cls.from_list([count, part, span * count, squares, span * part, span * span * count])

    @classmethod
    def from_list(cls, numbers: Iterable[Any]) -> Self:
        """The share with the six sums `numbers`, in the order of the database."""
        return cls(**dict(zip(SHARE_FIELDS, map(int, numbers), strict=True)))

    def to_list(self) -> list[int]:
        """The six sums as stored in the database."""
        return [getattr(self, name) for name in SHARE_FIELDS]

    def __add__(self, other: "Share") -> Self:
        return self.from_list(a + b for a, b in zip(self.to_list(), other.to_list(), strict=True))

    def __sub__(self, other: "Share") -> Self:
        return self.from_list(a - b for a, b in zip(self.to_list(), other.to_list(), strict=True))

    @property
    def value(self) -> float | None:
        """The share itself, 0 to 1, or None if nothing was observed."""
        return self.part / self.whole if self.whole else None

    @property
    def score(self) -> Decimal | None:
        """The share on the scale 0 to 100, to the cent."""
        return share_score(self.part, self.whole)

    @property
    def is_all_or_nothing(self) -> bool:
        """Whether every unit was 0 or its whole, as for single trials."""
        return self.part_squares == self.products


SHARE_FIELDS = tuple(field.name for field in fields(Share))


@dataclass(frozen=True, slots=True, kw_only=True)
class CostContribution:
    """What one passed result adds to cost efficiency."""

    earned_micropoints: int
    possible_micropoints: int


def divide_half_up(numerator: int, denominator: int) -> int:
    """The nearest integer, halves up; exact for any size, without floats."""
    return (2 * numerator + denominator) // (2 * denominator)


def in_cents(cents: int) -> Decimal:
    """A score from its cents (hundredths), always with two decimals."""
    return Decimal(cents).scaleb(-2)


def share_score(part: int, whole: int) -> Decimal | None:
    """100 × part / whole to the cent; None if the whole is 0."""
    if not 0 <= part <= whole:
        raise InvalidInput(f"{part} of {whole} is not a share: 0 <= part <= whole")
    return in_cents(divide_half_up(10_000 * part, whole)) if whole else None


def average_rating(rating_sum: int, rating_count: int) -> Decimal | None:
    """The mean number of stars, to two decimals, halves up."""
    return in_cents(divide_half_up(100 * rating_sum, rating_count)) if rating_count else None


def cost_contribution(
    points: Decimal | float, budget_tokens: Decimal | float, tokens: int | None
) -> CostContribution | None:
    """What a passed result adds to cost efficiency; None if its tokens are not known.

    An answer within its budget keeps all its points, so zero tokens are full efficiency: a program
    that calls no model is as cheap as possible, and unlike None the zero was reported.
    """
    if tokens is None:
        return None
    possible = _rounded("points", points, MICROPOINTS)
    budget = max(1, _rounded("budget_tokens", budget_tokens, 1))
    if tokens < 0:
        raise InvalidInput(f"tokens is {tokens}, must be 0 or more, or missing where not known")
    earned = possible if tokens <= budget else divide_half_up(possible * budget, tokens)
    return CostContribution(earned_micropoints=earned, possible_micropoints=possible)


def _rounded(name: str, value: Decimal | float, scale: int) -> int:
    # Through the decimal digits as written: 0.1 is a tenth, not the nearest binary float.
    number = Decimal(str(value))
    if not number.is_finite() or number < 0:
        raise InvalidInput(f"{name} is {value}, must be a number of 0 or more")
    return int((number * scale).to_integral_value(rounding=ROUND_HALF_UP))
