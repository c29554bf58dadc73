"""A share of a whole, kept as sums that can be added, taken away and compared exactly.

Every component of a score is such a share: passes of trials, stars of the stars possible,
successes of executions, points earned at full efficiency of points earned. What is observed comes
in *units* (a test, a vote, an execution) and a unit adds `part` of `whole`, with
0 <= part <= whole. Six whole numbers are enough for the score and for its interval, so nothing has
to be read again when one more unit arrives or a vote is replaced.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Self

from arena.errors import InvalidInput

LOWEST_RATING = 1
HIGHEST_RATING = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """The sums over some units; all zero where nothing was observed."""

    units: int = 0
    """How many units: tests, votes, executions."""
    part: int = 0
    whole: int = 0
    part_squares: int = 0
    """Sum of part × part over the units."""
    products: int = 0
    """Sum of part × whole over the units."""
    whole_squares: int = 0
    """Sum of whole × whole over the units."""

    def __post_init__(self) -> None:
        if not self.is_possible:
            raise InvalidInput(
                f"no units add up to {self}; every unit must have 0 <= part <= whole, "
                "and only what was added can be taken away"
            )

    @property
    def is_possible(self) -> bool:
        """Whether real units could have these sums."""
        return (
            self.units >= 0
            and 0 <= self.part <= self.whole
            and 0 <= self.part_squares <= self.products <= self.whole_squares
            and (self.whole > 0) == (self.units > 0)
            # Cauchy-Schwarz: squares too small for their sum would be a negative variance.
            and self.part**2 <= self.units * self.part_squares
            and self.whole**2 <= self.units * self.whole_squares
        )

    @classmethod
    def of_groups(cls, groups: Iterable[tuple[int, int]]) -> Self:
        """One unit per (part, whole). A unit without a whole says nothing and is left out."""
        units = [(part, whole) for part, whole in groups if part or whole]
        for part, whole in units:
            if not 0 <= part <= whole:
                raise InvalidInput(f"{part} of {whole} is no share: 0 <= part <= whole is needed")
        return cls(
            units=len(units),
            part=sum(part for part, _ in units),
            whole=sum(whole for _, whole in units),
            part_squares=sum(part * part for part, _ in units),
            products=sum(part * whole for part, whole in units),
            whole_squares=sum(whole * whole for _, whole in units),
        )

    @classmethod
    def of_counts(cls, part: int, whole: int) -> Self:
        """`whole` units of which `part` were a success: passed of total, completed of executed."""
        return cls(
            units=whole,
            part=part,
            whole=whole,
            part_squares=part,
            products=part,
            whole_squares=whole,
        )

    @classmethod
    def of_ratings(cls, count: int, rating_sum: int, rating_square_sum: int) -> Self:
        """`count` votes of 1 to 5 stars: a vote adds its stars above the lowest, of four."""
        span = HIGHEST_RATING - LOWEST_RATING
        part = rating_sum - LOWEST_RATING * count
        squares = rating_square_sum - 2 * LOWEST_RATING * rating_sum + LOWEST_RATING**2 * count
        return cls(
            units=count,
            part=part,
            whole=span * count,
            part_squares=squares,
            products=span * part,
            whole_squares=span * span * count,
        )

    def __add__(self, other: "Share") -> Self:
        return self._combined(other, 1)

    def __sub__(self, other: "Share") -> Self:
        return self._combined(other, -1)

    @property
    def value(self) -> float | None:
        """The share itself, 0 to 1, or None where nothing was observed."""
        return self.part / self.whole if self.whole else None

    @property
    def score(self) -> Decimal | None:
        """The share on the scale 0 to 100, to the cent."""
        return share_score(self.part, self.whole)

    @property
    def is_all_or_nothing(self) -> bool:
        """Whether every unit gave its whole or nothing, as a single trial does."""
        return self.part_squares == self.products

    def _combined(self, other: "Share", sign: int) -> Self:
        return type(self)(
            units=self.units + sign * other.units,
            part=self.part + sign * other.part,
            whole=self.whole + sign * other.whole,
            part_squares=self.part_squares + sign * other.part_squares,
            products=self.products + sign * other.products,
            whole_squares=self.whole_squares + sign * other.whole_squares,
        )


def divide_half_up(numerator: int, denominator: int) -> int:
    """The nearest whole number, halves upwards; exact for any size, never by way of a float."""
    return (2 * numerator + denominator) // (2 * denominator)


def share_score(part: int, whole: int) -> Decimal | None:
    """100 × part / whole to the cent; None where there is no whole."""
    if not 0 <= part <= whole:
        raise InvalidInput(f"{part} of {whole} is no share: 0 <= part <= whole is needed")
    return in_cents(divide_half_up(10_000 * part, whole)) if whole else None


def in_cents(cents: int) -> Decimal:
    """A score from its whole number of hundredths, always with two decimals."""
    return Decimal(cents).scaleb(-2)
