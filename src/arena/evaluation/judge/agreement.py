"""Agreement of scores with those of people: kappa, error and bias, each with an interval.

Pure arithmetic. Intervals of means and of kappa come from a bootstrap over the items with a fixed
seed, so that the same data give the same figures. Rates use Wilson's interval: a bootstrap
would claim certainty for a rate of 0.
"""

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import NormalDist, fmean
from typing import TypeVar

from arena.evaluation.verdict import Estimate

SEED = 20_261_115
RESAMPLES = 2000
MAX_DRAWS = 4_000_000
"""Draws in total: very many items get fewer resamples, and need fewer."""
CONFIDENCE = 0.95
MIN_ITEMS = 2
"""For an interval; one item says nothing about the variance."""

T = TypeVar("T")
Pair = tuple[float, float]
"""The judge's score and people's score."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """The agreement on one criterion, or on the whole."""

    name: str
    items: int
    kappa: Estimate
    mean_error: Estimate
    bias: Estimate


def agreement(name: str, pairs: Sequence[Pair]) -> Agreement:
    """The figures of these pairs."""
    return Agreement(
        name=name,
        items=len(pairs),
        kappa=bootstrapped(pairs, weighted_kappa),
        mean_error=bootstrapped(pairs, _mean_error),
        bias=bootstrapped(pairs, _bias),
    )


def weighted_kappa(pairs: Sequence[Pair]) -> float | None:
    """Cohen's kappa with quadratic weights on the scale of 0 to 100, every point a category.

    One minus the squared error over that of chance: the same margins, paired at random. On a
    scale without bins that is Lin's concordance coefficient. None if people gave everything the
    same score: then there is nothing to agree about.

    Cohen, Psychological Bulletin 70 (1968) 213-220; Lin, Biometrics 45 (1989) 255-268.
    """
    judge, people = fmean(j for j, _ in pairs), fmean(p for _, p in pairs)
    if len({p for _, p in pairs}) < 2:
        return None
    variance = fmean((j - judge) ** 2 + (p - people) ** 2 for j, p in pairs)
    by_chance = variance + (judge - people) ** 2
    return 1 - fmean((j - p) ** 2 for j, p in pairs) / by_chance


def _mean_error(pairs: Sequence[Pair]) -> float:
    return fmean(abs(j - p) for j, p in pairs)


def _bias(pairs: Sequence[Pair]) -> float:
    return fmean(j - p for j, p in pairs)


def mean_of(values: Sequence[float]) -> Estimate:
    """The mean of values, one for each item."""
    return bootstrapped(values, fmean)


def bootstrapped(items: Sequence[T], figure: Callable[[Sequence[T]], float | None]) -> Estimate:
    """The figure of the items with its percentile interval."""
    value = figure(items) if items else None
    if value is None or len(items) < MIN_ITEMS:
        return Estimate(value=value)
    chance = random.Random(SEED)
    count = max(200, min(RESAMPLES, MAX_DRAWS // len(items)))
    drawn = (figure(chance.choices(items, k=len(items))) for _ in range(count))
    # A resample in which all scores are equal has no kappa and is left out.
    figures = sorted(one for one in drawn if one is not None) or [value]
    tail = (1 - CONFIDENCE) / 2
    low = figures[math.floor(tail * (len(figures) - 1))]
    high = figures[math.ceil((1 - tail) * (len(figures) - 1))]
    # With very few items the figure itself can fall outside the interval.
    return Estimate(value=value, low=min(low, value), high=max(high, value))


def rate_of(happened: int, total: int) -> Estimate:
    """A rate with Wilson's interval."""
    if total < 1:
        return Estimate(value=None)
    share = happened / total
    shift = NormalDist().inv_cdf((1 + CONFIDENCE) / 2) ** 2 / total
    centre = (share + shift / 2) / (1 + shift)
    reach = math.sqrt(shift * share * (1 - share) + shift * shift / 4) / (1 + shift)
    low, high = max(0.0, centre - reach), min(1.0, centre + reach)
    return Estimate(value=share, low=min(low, share), high=max(high, share))
