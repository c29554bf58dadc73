"""Two sets of results on the same tests: rates, difference, interval and spread, by cluster."""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from arena.errors import InvalidInput
from arena.scoring.clusters import clustered_share, connected
from arena.scoring.components import Share, divide_half_up
from arena.scoring.intervals import Interval, share_interval
from arena.scoring.significance import paired_difference_interval
from arena.scoring.trials import TrialCounts

TestPair = tuple[TrialCounts, TrialCounts]
"""The results of one test on both sides."""

LARGEST_UNIT = 10**6
"""Of the rates behind the limits of unequal clusters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedClusters:
    """Clusters of tests: how many tests each has, and the sums of their pass rates."""

    unit: int
    """What a test that always passes adds to a sum. Rates are whole numbers of it, so that equal
    rates differ by exactly 0."""
    sizes: Sequence[int]
    first: Sequence[int]
    second: Sequence[int]

    @property
    def differences(self) -> list[int]:
        """First minus second, by cluster: what a paired test compares with 0."""
        return [one - two for one, two in zip(self.first, self.second, strict=True)]

    @property
    def difference(self) -> float | None:
        """Of the pass rates, each test with equal weight; None without tests."""
        tests = sum(self.sizes)
        return sum(self.differences) / (tests * self.unit) if tests else None

    @property
    def effective_count(self) -> float:
        """Kish's number of clusters: fewer than there are if some outweigh others."""
        return sum(self.sizes) ** 2 / sum(size * size for size in self.sizes)

    def shares(self) -> tuple[Share, Share]:
        """The pass rates of both sides, a unit per cluster."""
        one, two = (Share.of_groups(self._groups(sums)) for sums in (self.first, self.second))
        return one, two

    def interval(self) -> Interval | None:
        """Of the difference, as a share of 1; None without tests.

        With clusters of unequal size it is at least as wide as if each cluster counted once.
        """
        interval = self._newcombe()
        if interval is None or len(set(self.sizes)) == 1:
            return interval
        once = self._counted_once()._newcombe()
        return interval if once is None else interval.widened(once.width, -1, 1)

    def variance(self) -> float:
        """Of the difference, between clusters; 0 if nothing is known of it.

        As cluster-robust standard errors have it, and as if the clusters had equal variance:
        the larger, because the former is too small if one cluster outweighs the others.
        """
        if len(self.sizes) < 2:
            return 0.0
        if len(set(self.sizes)) == 1:
            return self._variance_between()
        return max(self._variance_between(), self._variance_if_alike())

    def _newcombe(self) -> Interval | None:
        one, two = self.shares()
        if not one.units:
            return None
        tests, squares = sum(self.sizes), sum(size * size for size in self.sizes)
        pairs = zip(self._deviations(self.first), self._deviations(self.second), strict=True)
        covariance = sum(a * b for a, b in pairs) / (squares * (tests * self.unit) ** 2)
        ours, theirs = (self._limits(sums) for sums in (self.first, self.second))
        return paired_difference_interval(one, two, covariance, limits=(ours, theirs))

    def _limits(self, sums: Sequence[int]) -> Interval | None:
        if len(set(self.sizes)) == 1:
            return share_interval(Share.of_groups(self._groups(sums)))
        # A unit of hundreds of digits, from tests with many numbers of trials, fits no float.
        unit = min(self.unit, LARGEST_UNIT)
        parts = (divide_half_up(part * unit, self.unit) for part in sums)
        groups = [(part, size * unit) for part, size in zip(parts, self.sizes, strict=True)]
        return share_interval(clustered_share(groups))

    def _variance_between(self) -> float:
        count, tests = len(self.sizes), sum(self.sizes)
        squares = sum(deviation**2 for deviation in self._deviations(self.differences))
        return count / (count - 1) * (squares / (tests**2 * self.unit) ** 2)

    def _variance_if_alike(self) -> float:
        tests = sum(self.sizes)
        deviations = zip(self._deviations(self.differences), self.sizes, strict=True)
        scale = (tests * self.unit) ** 2
        squares = math.fsum(deviation**2 / (size * scale) for deviation, size in deviations)
        return squares / tests / (self.effective_count - 1)

    def _deviations(self, sums: Sequence[int]) -> list[int]:
        """How far each cluster's sum is from the mean, times the number of tests: integers."""
        tests, total = sum(self.sizes), sum(sums)
        return [part * tests - total * size for part, size in zip(sums, self.sizes, strict=True)]

    def _groups(self, sums: Sequence[int]) -> list[tuple[int, int]]:
        return [(part, size * self.unit) for part, size in zip(sums, self.sizes, strict=True)]

    def _counted_once(self) -> "PairedClusters":
        """The same clusters, each with the weight of one test."""
        scale = math.lcm(*self.sizes)
        factors = [scale // size for size in self.sizes]
        return PairedClusters(
            unit=self.unit * scale,
            sizes=[1] * len(factors),
            first=[one * factor for one, factor in zip(self.first, factors, strict=True)],
            second=[two * factor for two, factor in zip(self.second, factors, strict=True)],
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairing:
    """The tests that two sides have in common, and those that only one has."""

    tests: Sequence[TestPair]
    """By id."""
    clusters: PairedClusters
    only_first: list[str]
    only_second: list[str]

    @property
    def unmatched_tests(self) -> int:
        """How many tests have more trials on one side than on the other."""
        return sum(one.trials != two.trials for one, two in self.tests)

    def swappable(self) -> PairedClusters:
        """The clusters with as many trials of each test on both sides: the first ones.

        A paired test asks what would be if the two results of a cluster were swapped. One trial
        cannot be swapped with five: the mean of five lies closer to their rate.
        """
        if not self.unmatched_tests:
            return self.clusters
        return clusters_of(
            [(one.first(two.trials), two.first(one.trials)) for one, two in self.tests]
        )


def pair_up(
    first: Sequence[TrialCounts],
    second: Sequence[TrialCounts],
    *,
    names: tuple[str, str] = ("the first", "the second"),
    without: Collection[str] = (),
) -> Pairing:
    """Pair the results of the same test, by id and content: an edited test is another test.

    The tests `without` are left out altogether.
    """
    ours, theirs = (
        _by_test(name, counts, without) for name, counts in zip(names, (first, second), strict=True)
    )
    tests = [(ours[key], theirs[key]) for key in sorted(ours.keys() & theirs.keys())]
    return Pairing(
        tests=tests,
        clusters=clusters_of(tests),
        only_first=[test_id for test_id, _ in sorted(ours.keys() - theirs.keys())],
        only_second=[test_id for test_id, _ in sorted(theirs.keys() - ours.keys())],
    )


def clusters_of(tests: Sequence[TestPair]) -> PairedClusters:
    """The clusters of paired tests: two are in one if either side says so."""
    numbers = connected({one.cluster, two.cluster} - {""} for one, two in tests)
    count = max(numbers, default=-1) + 1
    unit = math.lcm(*{counts.trials for pair in tests for counts in pair})
    sizes, first, second = [0] * count, [0] * count, [0] * count
    for number, (one, two) in zip(numbers, tests, strict=True):
        sizes[number] += 1
        first[number] += one.passed * (unit // one.trials)
        second[number] += two.passed * (unit // two.trials)
    return PairedClusters(unit=unit, sizes=sizes, first=first, second=second)


def _by_test(
    name: str, counts: Sequence[TrialCounts], without: Collection[str]
) -> dict[tuple[str, str], TrialCounts]:
    kept = [one for one in counts if one.test_id not in without]
    tests = {(one.test_id, one.digest): one for one in kept}
    if len(tests) < len(kept):
        raise InvalidInput(f"{name}: a test is listed twice; count its trials together")
    return tests
