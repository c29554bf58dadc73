"""How sure a number is: confidence intervals, all closed formulas, no random numbers.

Rates and bounded means (stars, efficiency) get Wilson's score interval: it stays on the scale,
holds the estimate, and does not shrink to nothing when every test passed. The usual t interval
fails at the first and the last near the ends of a scale, where good agents live: for stars as they
usually fall, five, eight or ten votes and 95 % on the label, it covers the truth 79, 85 and 87 % of
the time, Wilson's with an effective sample size 99, 94 and 94 %
(tests/unit/scoring/test_intervals.py).
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from arena.errors import InvalidInput
from arena.scoring.share import Share
from arena.scoring.student import normal_quantile, t_quantile

CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """The values that the data allow, from `low` to `high`, both included."""

    low: float
    high: float
    method: str
    """`wilson`, `wilson-effective`, `t`, `square-and-add` or `newcombe`; docs/scoring.md."""
    confidence: float = CONFIDENCE

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    def scaled(self, factor: float) -> "Interval":
        """The interval in another unit, as per cent for a share: `scaled(100)`."""
        return Interval(
            low=self.low * factor,
            high=self.high * factor,
            method=self.method,
            confidence=self.confidence,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightedEstimate:
    """One term of a weighted mean, for `weighted_interval`."""

    weight: float
    estimate: float
    interval: Interval
    source: str
    """Terms of one source may err together; terms of different sources err independently."""


def wilson_interval(successes: int, total: int, confidence: float = CONFIDENCE) -> Interval | None:
    """Wilson's score interval for a rate, without continuity correction; None for 0 of 0.

    E. B. Wilson, JASA 22 (1927) 209-212; recommended by Brown, Cai & DasGupta, Statistical
    Science 16 (2001) 101-133.
    """
    return share_interval(Share.of_counts(successes, total), confidence)


def share_interval(share: Share, confidence: float = CONFIDENCE) -> Interval | None:
    """Wilson's interval for a share whose units may be partly fulfilled and of unequal size.

    Plain Wilson where every unit is all or nothing (a test with one trial, an execution), with
    Kish's effective number of units where they weigh differently. Otherwise the variance between
    units, as of a ratio estimate, says how many all-or-nothing units the data are worth, and the
    t quantile pays for having estimated it: trials of one test count as the correlated
    observations they are, and votes that agree give a narrow interval.

    Korn & Graubard, Survey Methodology 24 (1998) 193-201; Franco, Little, Louis & Slud, Journal of
    Survey Statistics and Methodology 7 (2019) 334-364.
    """
    if share.value is None:
        return None
    kish = share.whole**2 / share.whole_squares
    variance = _ratio_variance(share)
    # Without any spread the t formula would claim certainty; the whole-or-nothing case is the
    # widest that values on a bounded scale can be, so it is the honest answer there.
    if share.is_all_or_nothing or not variance:
        return _wilson(share.value, kish, normal_quantile(confidence), confidence)
    worth = max(kish, share.value * (1 - share.value) / variance)
    quantile = t_quantile(confidence, share.units - 1)
    return _wilson(share.value, worth, quantile, confidence, method="wilson-effective")


def t_interval(
    count: int, total: float, square_total: float, confidence: float = CONFIDENCE
) -> Interval | None:
    """Student's interval for a mean without bounds (seconds, dollars), from three sums.

    None for fewer than two values: one value says nothing about how far the next will be.
    Student, Biometrika 6 (1908) 1-25.
    """
    if count < 2:
        return None
    mean = total / count
    # Rounding can bring a variance of zero slightly below it.
    variance = max(0.0, (square_total - count * mean * mean) / (count - 1))
    reach = t_quantile(confidence, count - 1) * math.sqrt(variance / count)
    return Interval(low=mean - reach, high=mean + reach, method="t", confidence=confidence)


def weighted_interval(estimates: Iterable[WeightedEstimate]) -> Interval | None:
    """The interval of a weighted mean from the intervals of its terms; None without terms.

    The distances from estimate to limit are squared and added, separately below and above, so a
    skewed interval stays skewed (MOVER: Zou & Donner, Statistics in Medicine 27 (2008) 1693-1702).
    Terms of one source are added before squaring, which is the bound for any correlation between
    them. The weights are renormalised to 1; the intervals must have one confidence.
    """
    terms = list(estimates)
    total = sum(term.weight for term in terms)
    if not terms or total <= 0:
        return None
    if len({term.interval.confidence for term in terms}) > 1:
        raise InvalidInput("intervals of different confidence cannot be joined; use one for all")
    below: dict[str, float] = {}
    above: dict[str, float] = {}
    for term in terms:
        if term.estimate not in term.interval:
            raise InvalidInput(f"{term.estimate} does not lie in its interval {term.interval}")
        share = term.weight / total
        down, up = term.estimate - term.interval.low, term.interval.high - term.estimate
        below[term.source] = below.get(term.source, 0.0) + share * down
        above[term.source] = above.get(term.source, 0.0) + share * up
    mean = sum(term.weight * term.estimate for term in terms) / total
    return Interval(
        low=mean - math.hypot(*below.values()),
        high=mean + math.hypot(*above.values()),
        method="square-and-add",
        confidence=terms[0].interval.confidence,
    )


def _wilson(
    share: float, size: float, quantile: float, confidence: float, method: str = "wilson"
) -> Interval:
    shift = quantile * quantile / size
    centre = (share + shift / 2) / (1 + shift)
    reach = math.sqrt(shift * share * (1 - share) + shift * shift / 4) / (1 + shift)
    # At the ends of the scale the limit is the end itself, which a float misses by a hair.
    return Interval(
        low=max(0.0, min(share, centre - reach)),
        high=min(1.0, max(share, centre + reach)),
        method=method,
        confidence=confidence,
    )


def _ratio_variance(share: Share) -> float:
    """The variance of part/whole between units, by linearisation; 0 for a single unit."""
    if share.units < 2:
        return 0.0
    # Σ(part − ratio·whole)², times whole², in whole numbers: no cancellation, exactly 0 when 0.
    spread = (
        share.part_squares * share.whole**2
        - 2 * share.products * share.part * share.whole
        + share.whole_squares * share.part**2
    )
    return share.units / (share.units - 1) * (spread / share.whole**4)
