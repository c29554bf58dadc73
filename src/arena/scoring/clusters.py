"""Clusters: tests that are no independent evidence, because they are of one kind.

Rows of one data set, variants of one prompt and copies of a test rise and fall together. What they
are worth is decided between clusters, never within one: intervals and paired tests take
the cluster as their unit, so copies of a test add no certainty.
"""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from arena.scoring.components import Share
from arena.scoring.intervals import (
    CONFIDENCE,
    kish_size,
    normal_quantile,
    normal_size,
    share_interval,
    t_quantile,
)
from arena.scoring.trials import TrialCounts

SMALLEST_SIZE = 0.01
"""Of a widened share, in units: its interval is practically the whole scale."""

Groups = Counter[tuple[int, int]]
"""Clusters of (part, whole), and how many are alike: a hundred thousand are of few kinds."""

FINE_UNIT = 1_000_000
"""A millionth of a pass rate, where tests have different numbers of trials."""
ROUNDING = 1e-9
"""Sizes that differ by less are equal: one is computed by way of another share."""


def connected(labels: Iterable[Collection[str]]) -> list[int]:
    """The cluster of each item, numbered from 0: items that share a label are in one.

    Also if they share it through others: with labels {a}, {a, b} and {b} all three are together.
    """
    parents: list[int] = []
    holders: dict[str, int] = {}

    def root(place: int) -> int:
        while parents[place] != place:
            parents[place] = parents[parents[place]]
            place = parents[place]
        return place

    for place, own in enumerate(labels):
        parents.append(place)
        for label in own:
            first, second = root(holders.setdefault(label, place)), root(place)
            parents[max(first, second)] = min(first, second)
    numbers: dict[int, int] = {}
    return [numbers.setdefault(root(place), len(numbers)) for place in range(len(parents))]


def rate_unit(trials: Collection[int]) -> int:
    """What a test that always passes adds to a benchmark: the same for every test.

    Pass rates are whole numbers of it: exactly if all tests have the same number of trials.
    """
    return next(iter(trials)) if len(set(trials)) == 1 else FINE_UNIT


def share_of_tests(counts: Sequence[TrialCounts]) -> Share:
    """The share of trials that passed, with a unit per cluster; for `share_interval`.

    On a board every test weighs the same; here every trial does, as in the score of a run.

    Part and whole are passes and trials.
    """
    numbers = connected([one.cluster] if one.cluster else [] for one in counts)
    sums: dict[int, tuple[int, int]] = {}
    for number, one in zip(numbers, counts, strict=True):
        passed, trials = sums.get(number, (0, 0))
        sums[number] = passed + one.passed, trials + one.trials
    return clustered_share(sums.values())


def clustered_share(groups: Iterable[tuple[int, int]] | Groups) -> Share:
    """A share of clusters of (part, whole), whose interval is not too narrow for unequal ones.

    The usual variance between units is too small if one of them outweighs the others: the share
    then follows that cluster, which hardly deviates from it. So a cluster's variance is at least
    that of an average cluster, and the interval is at least as wide as the one in which every
    cluster counts once, which copies cannot narrow. Where that makes a difference, the sums of
    squares are larger than those of the clusters, so that the interval (of 95 %) is as wide.
    """
    counts = groups if isinstance(groups, Counter) else Counter(groups)
    # In the smallest whole numbers, so that copies of *every* test change nothing at all.
    step = math.gcd(*(number for group in counts for number in group)) or 1
    share = Share.of_groups((part // step, whole // step) for part, whole in counts.elements())
    if share.value is not None and len({whole for _, whole in counts}) > 1:
        size = min(_size_if_alike(share, counts), _size_as_wide(share, _counted_once(counts)))
        if size < normal_size(share) * (1 - ROUNDING):
            share = _with_size(share, size)
    factors = (1, step, step, step**2, step**2, step**2)
    sums = zip(share.to_list(), factors, strict=True)
    return Share.from_list(number * factor for number, factor in sums)


def _counted_once(groups: Groups) -> Share:
    """The share in which every cluster has the same weight."""
    unit = math.lcm(*(whole for _, whole in groups))
    return Share.of_groups((part * (unit // whole), unit) for part, whole in groups.elements())


def _size_if_alike(share: Share, groups: Groups) -> float:
    """How many all-or-nothing units the clusters are worth if all have the same variance."""
    kish, value = kish_size(share), share.part / share.whole
    total = sum(whole for _, whole in groups.elements())
    squares = math.fsum((part - value * whole) ** 2 / whole for part, whole in groups.elements())
    variance = squares / total / (kish - 1)
    if share.is_all_or_nothing or not variance:
        return kish
    worth = max(kish, value * (1 - value) / variance)
    quantiles = normal_quantile(CONFIDENCE) / t_quantile(CONFIDENCE, share.units - 1)
    return worth * quantiles**2


def _size_as_wide(share: Share, once: Share) -> float:
    """The number of all-or-nothing units that makes the share's interval as wide as that of `once`.

    With s = z² / size, the half-width h solves (1/4 − h²)·s² + (p(1 − p) − 2h²)·s − h² = 0.
    """
    limits, value = share_interval(once), share.part / share.whole
    square = limits.width**2 / 4 if limits else 0.0
    rest = max(1 / 4 - square, ROUNDING)
    half = (square - value * (1 - value) / 2) / rest
    shift = half + math.sqrt(half * half + square / rest)
    return max(normal_quantile(CONFIDENCE) ** 2 / shift, SMALLEST_SIZE)


def _with_size(share: Share, size: float) -> Share:
    """The share with larger sums of squares, so that it is worth `size` units, or just below."""
    kish, value = kish_size(share), share.part / share.whole
    quantiles = t_quantile(CONFIDENCE, share.units - 1) / normal_quantile(CONFIDENCE)
    if size > kish:
        # A larger variance between the units: what the worth in `share_interval` is derived from.
        variance = value * (1 - value) / (size * quantiles**2)
        residual = variance * (share.units - 1) / share.units * share.whole**2
        crossed = 2 * share.products * value - share.whole_squares * value**2
        squares = math.ceil(residual + crossed)
        if squares < share.products:
            return replace(share, part_squares=max(squares, share.part_squares))
    # All-or-nothing units, which weigh so differently that their Kish size is this.
    weights = max(share.whole_squares, math.ceil(share.whole**2 / size))
    passed = -(-weights * share.part // share.whole)
    return replace(share, part_squares=passed, products=passed, whole_squares=weights)
