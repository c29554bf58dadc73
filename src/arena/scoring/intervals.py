"""Confidence intervals: closed formulas, no random numbers.

Rates and bounded means (stars, efficiency) get Wilson's score interval: it stays on the scale,
contains the estimate, and does not shrink to nothing when every test passed. The usual t interval
fails at the first and the last near the ends of a scale, where good agents are. With typically
distributed ratings, a 95 % t interval from five, eight or ten of them covers the truth
79, 85 and 87 % of the time; Wilson's with an effective sample size 99, 94 and 94 %
(tests/unit/scoring/test_intervals.py).

Student's t quantiles are computed here in plain Python: scipy would be needed only for them, and it
is larger than the rest of Arena.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from statistics import NormalDist
from typing import Annotated

from pydantic import Field

from arena.errors import InvalidInput
from arena.scoring.components import Share

CONFIDENCE = 0.95

SERIES_UP_TO = 200
"""Degrees of freedom summed term by term; above, the expansion is accurate to ten digits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """The values that the data allow, from `low` to `high`, both included."""

    low: float
    high: float
    method: Annotated[str, Field(examples=["wilson"])]
    """`wilson`, `wilson-effective`, `square-and-add` or `newcombe`; see docs/scoring.md."""
    confidence: Annotated[float, Field(examples=[0.95])]

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    @property
    def width(self) -> float:
        """From limit to limit."""
        return self.high - self.low

    def widened(self, width: float, lowest: float, highest: float) -> "Interval":
        """The interval at least `width` wide, by equal parts unless an end of the scale is near."""
        missing = width - self.width
        if missing <= 0:
            return self
        low = max(lowest, min(self.low - missing / 2, highest - width))
        return replace(self, low=low, high=min(highest, max(self.high, low + width)))

    def mirrored(self) -> "Interval":
        """The interval of the negative value."""
        return replace(self, low=0.0 - self.high, high=0.0 - self.low)

    def scaled(self, factor: float) -> "Interval":
        """The interval in another unit: `scaled(100)` is a share in per cent."""
        return replace(self, low=self.low * factor, high=self.high * factor)

    def rounded(self) -> "Interval":
        """The interval to two decimals, as the API shows it."""
        return replace(self, low=round(self.low, 2), high=round(self.high, 2))


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightedEstimate:
    """One term of a weighted mean, for `weighted_interval`."""

    weight: float
    estimate: float
    interval: Interval
    source: str
    """Terms of one source may have correlated errors; different sources are independent."""


def wilson_interval(successes: int, total: int, confidence: float = CONFIDENCE) -> Interval | None:
    """Wilson's score interval for a rate, without continuity correction; None for 0 of 0.

    E. B. Wilson, JASA 22 (1927) 209-212; recommended by Brown, Cai & DasGupta, Statistical
    Science 16 (2001) 101-133.
    """
    return share_interval(Share.of_counts(successes, total), confidence)


def share_interval(share: Share, confidence: float = CONFIDENCE) -> Interval | None:
    """Wilson's interval for a share whose units may be partly fulfilled and of unequal size.

    Plain Wilson if every unit is all or nothing (a test with one trial, an execution), with Kish's
    effective number of units if they weigh differently. Otherwise the variance between units, as of
    a ratio estimate, determines how many all-or-nothing units the data are worth, and the t
    quantile accounts for having estimated it: trials of one test count as the correlated
    observations they are, and ratings that agree give a narrow interval.

    Korn & Graubard, Survey Methodology 24 (1998) 193-201; Franco, Little, Louis & Slud, Journal of
    Survey Statistics and Methodology 7 (2019) 334-364.
    """
    if share.value is None:
        return None
    size, quantile, method = _worth(share, confidence)
    return _wilson(share.value, size, quantile, confidence, method)


def normal_size(share: Share, confidence: float = CONFIDENCE) -> float:
    """How many all-or-nothing units have the interval of `share`, around the same value."""
    size, quantile, _ = _worth(share, confidence)
    return size * (normal_quantile(confidence) / quantile) ** 2


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


def _worth(share: Share, confidence: float) -> tuple[float, float, str]:
    """How many all-or-nothing units the share is worth, with which quantile and method."""
    value = share.value or 0.0
    kish = kish_size(share)
    variance = _ratio_variance(share)
    # Without any spread the t formula would claim certainty; the all-or-nothing case is the widest
    # possible on a bounded scale, so it is the honest answer.
    if share.is_all_or_nothing or not variance:
        return kish, normal_quantile(confidence), "wilson"
    worth = max(kish, value * (1 - value) / variance)
    return worth, t_quantile(confidence, share.units - 1), "wilson-effective"


def kish_size(share: Share) -> float:
    """Kish's effective number of units: their number if all weigh the same, else fewer."""
    return share.whole**2 / share.whole_squares


def _wilson(share: float, size: float, quantile: float, confidence: float, method: str) -> Interval:
    shift = quantile * quantile / size
    centre = (share + shift / 2) / (1 + shift)
    reach = math.sqrt(shift * share * (1 - share) + shift * shift / 4) / (1 + shift)
    # At the ends of the scale the limit is the end itself, which a float may just miss.
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
    # Σ(part − ratio·whole)², times whole², in integers: no cancellation, and exactly 0 if it is 0.
    spread = (
        share.part_squares * share.whole**2
        - 2 * share.products * share.part * share.whole
        + share.whole_squares * share.part**2
    )
    return share.units / (share.units - 1) * (spread / share.whole**4)


def normal_quantile(confidence: float) -> float:
    """The z with P(|Z| <= z) = confidence: 1.96 for 0.95."""
    _check(confidence)
    return NormalDist().inv_cdf((1 + confidence) / 2)


@lru_cache(maxsize=4096)
def t_quantile(confidence: float, degrees: int) -> float:
    """The t with P(|T| <= t) = confidence at `degrees` of freedom: 2.262 for 0.95 and 9.

    Up to 200 degrees by bisection on the finite series of Abramowitz & Stegun (1964), 26.7.3 and
    26.7.4; above by their expansion 26.7.5 around the normal quantile.
    """
    _check(confidence)
    if degrees < 1:
        raise InvalidInput(f"{degrees} degrees of freedom; a t quantile needs at least 1")
    if degrees > SERIES_UP_TO:
        return _expansion(normal_quantile(confidence), degrees)
    low, high = 0.0, math.pi / 2
    # Bisects the angle atan(t/√degrees), because it is bounded and t is not; 60 halvings exhaust
    # a float.
    for _ in range(60):
        middle = (low + high) / 2
        if _mass_within(middle, degrees) < confidence:
            low = middle
        else:
            high = middle
    return math.tan((low + high) / 2) * math.sqrt(degrees)


def _check(confidence: float) -> None:
    if not 0 < confidence < 1:
        raise InvalidInput(f"confidence is {confidence}, must lie between 0 and 1")


def _mass_within(angle: float, degrees: int) -> float:
    """P(|T| <= t) for t = tan(angle)·√degrees."""
    sine, cosine = math.sin(angle), math.cos(angle)
    odd = degrees % 2
    term = cosine if odd else 1.0
    total = term if degrees > 1 else 0.0
    for step in range(2 + odd, degrees, 2):
        term *= cosine * cosine * (step - 1) / step
        total += term
    return (angle + sine * total) * 2 / math.pi if odd else sine * total


def _expansion(z: float, degrees: int) -> float:
    first = (z**3 + z) / 4
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    fourth = (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160
    return z + first / degrees + second / degrees**2 + third / degrees**3 + fourth / degrees**4
