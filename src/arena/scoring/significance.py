"""Whether one agent is better than another on the same tests: exact tests and an interval.

Two agents that answer the same tests are compared test by test, which removes the difficulty of
each test. Nothing here is random: the same results always give the same p-value.
"""

import math
from collections.abc import Sequence

from arena.errors import InvalidInput
from arena.scoring.components import Share
from arena.scoring.intervals import CONFIDENCE, Interval, share_interval

EXACT_WORK_BITS = 5_000_000_000
"""Work limit of the exact sign-flip count, a fraction of a second; above, the normal curve."""
FEW_DIFFERENCES = 20
"""Up to this many, every sign pattern is looked at if the differences are too large to count: the
normal curve could find a difference between tests that are too few for any."""
EXACT_PAIRS = 10_000
"""Discordant pairs up to which McNemar's test is exact; above, the normal curve."""


def mcnemar_p_value(only_first: int, only_second: int) -> float:
    """McNemar's exact test, two-sided: 1 if no test separates the two.

    `only_first` tests were passed by the first alone, `only_second` by the second alone; under the
    null hypothesis each of them was a coin toss. Exact, not mid-p: it can only be too conservative,
    and a false "better" costs more here than a missed one.
    McNemar, Psychometrika 12 (1947) 153-157; Fagerland, Lydersen & Laake, BMC Medical Research
    Methodology 13:91 (2013).
    """
    if only_first < 0 or only_second < 0:
        raise InvalidInput(f"counts of tests cannot be negative: {only_first}, {only_second}")
    tests, fewer = only_first + only_second, min(only_first, only_second)
    if tests > EXACT_PAIRS:
        return _normal_p_value(abs(only_first - only_second), squares=tests)
    # Binomial coefficients one after the other, in integers: exact for thousands of tests.
    ways, tail = 1, 0
    for chosen in range(fewer + 1):
        tail += ways
        ways = ways * (tests - chosen) // (chosen + 1)
    return min(1.0, 2 * tail / 2**tests)


def sign_flip_p_value(differences: Sequence[int]) -> float:
    """The exact paired permutation test of "mean difference 0", two-sided.

    If the two agents were equal, each difference could equally have had the other sign. The p-value
    is the share of all sign patterns whose sum is at least as far from 0 as the observed one. For
    differences of −1, 0 and 1 this *is* McNemar's exact test. Differences are whole numbers: give
    rates over a common denominator. Fisher, The Design of Experiments (1935), section 21.
    """
    sizes = [abs(difference) for difference in differences if difference]
    if not sizes:
        return 1.0
    step = math.gcd(*sizes)
    sizes = [size // step for size in sizes]
    observed = abs(sum(differences)) // step
    if max(sizes) == 1:
        more = (len(sizes) + observed) // 2
        return mcnemar_p_value(more, len(sizes) - more)
    if not observed:
        return 1.0
    if not _is_countable(sizes):
        return _normal_p_value(observed, squares=sum(size * size for size in sizes))
    above, equal = _count_patterns(sizes, observed)
    return min(1.0, 2 * (above + equal) / 2 ** len(sizes))


def one_sided_mid_p_value(differences: Sequence[int]) -> float:
    """The paired permutation test of "mean difference 0" against "above 0", as a mid-p-value.

    As `sign_flip_p_value`, but the patterns with exactly the observed sum count half. An exact test
    on few pairs rejects less often than its level says, because its p-value moves in large
    steps; the mid-p-value removes that on average, at the price that the level is not a strict
    bound. Lancaster, JASA 56 (1961) 223-234; for paired tests Fagerland, Lydersen & Laake, BMC
    Medical Research Methodology 13:91 (2013).
    """
    sizes = [abs(difference) for difference in differences if difference]
    if not sizes:
        return 0.5
    step = math.gcd(*sizes)
    sizes = [size // step for size in sizes]
    observed = sum(differences) // step
    if not _is_countable(sizes):
        # One division of integers, because a float may not hold either of them. No correction for
        # the steps of the sum: counting the observed one half is that correction.
        deviations = math.sqrt(observed**2 / (2 * sum(size * size for size in sizes)))
        return math.erfc(deviations if observed > 0 else -deviations) / 2
    above, equal = _count_patterns(sizes, observed)
    return (2 * above + equal) / 2 ** (len(sizes) + 1)


def paired_difference_interval(
    first: Share,
    second: Share,
    covariance: float,
    confidence: float = CONFIDENCE,
    *,
    limits: tuple[Interval | None, Interval | None] | None = None,
) -> Interval | None:
    """Newcombe's interval for the difference first − second of two shares of the same units.

    Square-and-add of the two Wilson intervals with the correlation between the agents, reduced by
    half a unit as in his method 10. `covariance` is that of the two values over the units (divided
    by n; weighted by the square of their size if they weigh differently). `limits` are the
    intervals of the two shares if they are not the usual ones.
    Newcombe, Statistics in Medicine 17 (1998) 2635-2650.
    """
    if first.units != second.units:
        raise InvalidInput(f"{first.units} and {second.units} units are not pairs")
    one, two = limits or (share_interval(first, confidence), share_interval(second, confidence))
    if one is None or two is None or first.value is None or second.value is None:
        return None
    if covariance > 0:
        covariance = max(0.0, covariance - first.whole_squares / (2 * first.whole**2))
    scale = math.sqrt(_unit_variance(first) * _unit_variance(second))
    correlation = max(-1.0, min(1.0, covariance / scale)) if scale else 0.0
    difference = first.value - second.value
    return Interval(
        low=difference - _joined(first.value - one.low, two.high - second.value, correlation),
        high=difference + _joined(one.high - first.value, second.value - two.low, correlation),
        method="newcombe",
        confidence=confidence,
    )


def holm(p_values: Sequence[float]) -> list[float]:
    """P-values adjusted for multiple tests, in the given order: bounds the family-wise error.

    Holm, Scandinavian Journal of Statistics 6 (1979) 65-70.
    """
    order = sorted(range(len(p_values)), key=lambda place: p_values[place])
    adjusted = [1.0] * len(p_values)
    highest = 0.0
    for rank, place in enumerate(order):
        highest = max(highest, min(1.0, p_values[place] * (len(p_values) - rank)))
        adjusted[place] = highest
    return adjusted


def _joined(one: float, two: float, correlation: float) -> float:
    return math.sqrt(max(0.0, one * one - 2 * correlation * one * two + two * two))


def _unit_variance(share: Share) -> float:
    """The variance of the value over the units, weighted by the square of their size."""
    spread = (
        share.part_squares * share.whole**2
        - 2 * share.products * share.part * share.whole
        + share.whole_squares * share.part**2
    )
    return spread / (share.whole**2 * share.whole_squares) if share.whole else 0.0


def _is_countable(sizes: Sequence[int]) -> bool:
    return len(sizes) <= FEW_DIFFERENCES or len(sizes) ** 2 * sum(sizes) <= EXACT_WORK_BITS


def _count_patterns(sizes: list[int], observed: int) -> tuple[int, int]:
    """How many sign patterns have a sum above `observed`, and how many exactly that sum."""
    if len(sizes) ** 2 * sum(sizes) > EXACT_WORK_BITS:
        sums = [0]
        for size in sizes:
            sums = [one + size for one in sums] + [one - size for one in sums]
        return sum(one > observed for one in sums), sums.count(observed)
    return _count_subsets(sizes, observed)


def _count_subsets(sizes: list[int], observed: int) -> tuple[int, int]:
    """The same, counted by subset sums.

    One big integer holds all the counts side by side, `width` bits each:
    adding it to itself shifted by a size is one step of the usual table, at the speed of native
    arithmetic.
    """
    width = len(sizes) + 1
    counts = 1
    for size in sizes:
        counts += counts << (size * width)
    # The signed sum is `observed` or more exactly if the positive sizes sum to this much.
    counts >>= (sum(sizes) + observed) // 2 * width
    # Modulo 2^width − 1 adds up the counts, whose sum is smaller than that.
    return (counts >> width) % ((1 << width) - 1), counts & ((1 << width) - 1)


def _normal_p_value(observed: int, squares: int) -> float:
    """The normal curve for a sum of random signs; the sum moves in steps of 2, hence the 1."""
    # One division of integers, because a float may not hold either of them.
    return math.erfc(math.sqrt(max(0, observed - 1) ** 2 / (2 * squares)))
