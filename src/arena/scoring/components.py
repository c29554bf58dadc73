"""The four components of a score, each from whole numbers, each None where there is no data.

How every number is made, so that SQL can make the same one to the cent. All divisions are between
whole numbers that are not negative, `//` drops the remainder (on PostgreSQL: `div(a, b)` on
`numeric`, which is exact; `round(a / b, 2)` rounds twice, as the quotient is rounded before).

1. A component in cents (hundredths of a point, 0 to 10000) is `(2·n + d) // (2·d)`, which rounds
   halves up, and is null where d = 0:

       benchmark        n = 10000 · passed                      d = total
       user rating      n = 10000 · (rating_sum − count)        d = 4 · count
       success rate     n = 10000 · completed                   d = executions
       cost efficiency  n = 10000 · Σ earned_micropoints        d = Σ possible_micropoints

2. Cost efficiency adds up passed results with known tokens. Per result:
       possible_micropoints = points · 10^6, halves up, to a whole number
       earned_micropoints   = possible, where tokens <= budget (so also for 0 tokens), otherwise
                              (2 · possible · budget + tokens) // (2 · tokens)
   with the budget in whole tokens, halves up, at least 1.
3. The overall score in cents is made from the components *as rounded in 1*, so that a reader can
   check it with what the page shows; see `overall.py`.
"""

from dataclasses import dataclass, fields
from decimal import ROUND_HALF_UP, Decimal

from arena.errors import InvalidInput
from arena.scoring.share import HIGHEST_RATING, LOWEST_RATING, divide_half_up, share_score

MICROPOINTS = 1_000_000
"""Micropoints in a point: points are counted in whole numbers, so sums have no rounding."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Components:
    """The four component scores, 0 to 100; None means no data, which is not a zero."""

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


COMPONENT_NAMES = tuple(field.name for field in fields(Components))


@dataclass(frozen=True, slots=True, kw_only=True)
class CostContribution:
    """What one passed result adds to cost efficiency."""

    earned_micropoints: int
    possible_micropoints: int


def benchmark_score(passed: int, total: int) -> Decimal | None:
    """Tests passed of tests run, in per cent."""
    return share_score(passed, total)


def user_rating_score(rating_sum: int, rating_count: int) -> Decimal | None:
    """(average − 1) × 25: one star is 0, five are 100. Nobody's vote is None, not −25."""
    lowest, highest = LOWEST_RATING * rating_count, HIGHEST_RATING * rating_count
    if not lowest <= rating_sum <= highest:
        raise InvalidInput(
            f"{rating_count} ratings of 1 to 5 cannot add up to {rating_sum}; "
            f"between {lowest} and {highest} is possible"
        )
    return share_score(rating_sum - lowest, highest - lowest)


def average_rating(rating_sum: int, rating_count: int) -> Decimal | None:
    """The mean number of stars to two decimals, halves up."""
    if not rating_count:
        return None
    return Decimal(divide_half_up(100 * rating_sum, rating_count)).scaleb(-2)


def success_rate_score(successes: int, total: int) -> Decimal | None:
    """Executions that finished and answered in time, in per cent of all that ended."""
    return share_score(successes, total)


def cost_efficiency_score(earned_micropoints: int, possible_micropoints: int) -> Decimal | None:
    """Points kept after the token budget is applied, in per cent of the points passed."""
    return share_score(earned_micropoints, possible_micropoints)


def cost_contribution(
    points: Decimal | float, budget_tokens: Decimal | float, tokens: int | None
) -> CostContribution | None:
    """What a passed result adds to cost efficiency; None where its tokens are not known.

    An answer within its budget keeps all its points, so spending nothing is full efficiency: a
    program that needs no model is as cheap as can be, and unlike None the zero was reported.
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
    # By way of the decimal digits a person wrote: 0.1 is a tenth, not the binary float next to it.
    number = Decimal(str(value))
    if not number.is_finite() or number < 0:
        raise InvalidInput(f"{name} is {value}, must be a number of 0 or more")
    return int((number * scale).to_integral_value(rounding=ROUND_HALF_UP))
