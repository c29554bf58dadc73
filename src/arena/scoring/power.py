"""What a paired comparison can detect, and how much more of it would detect what was observed.

A difference is *detected* if the test finds it significant in 80 of 100 repetitions. The formulas
are those of the paired t test, with clusters as units: a difference is detectable if it is
`t(1 − α/2) + t(0.8)` standard errors large (Bloom, Evaluation Review 19 (1995) 547-556). The tests
that Arena uses count sign patterns, which matters if there are few clusters: so many of them must
change that a p-value can be small at all, and the exact test needs a little more, because its
p-value moves in steps. With both, the power at the stated difference is 77 to 81 % where every test
has one trial (tests/unit/scoring/test_power.py).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

from arena.scoring.intervals import t_quantile
from arena.scoring.pairing import Pairing, TestPair

POWER = 0.8

BISECTIONS = 40
"""Halvings of the interval in which a difference is looked for: more digits than are shown."""
MOST_TESTS = 10**7
"""If more are needed, the difference is too small to be looked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Power:
    """What the tests of a comparison can detect, with a power of 80 %."""

    detectable_difference: float | None
    """The smallest difference of the pass rates, in percentage points; null if there are too few
    clusters to detect any."""
    tests_needed: int | None
    """Tests in all, clustered like these, to detect the observed difference; null if there is none,
    or if ten million would not be enough."""
    trials_needed: int | None
    """Trials per test, of the same tests, to detect the observed difference; null if no number
    would do, or none can be computed."""
    trials_reason: str | None
    """Why `trials_needed` is null."""


def paired_power(
    pairing: Pairing, *, alpha: float, is_two_sided: bool = True, most: float = 1.0
) -> Power:
    """The power of the paired test at the level `alpha`, for differences of at most `most`."""
    clusters = pairing.clusters
    # At least two, because one has no spread.
    fewest = max(2, fewest_clusters(alpha, is_two_sided=is_two_sided))
    count, tests = len(clusters.sizes), len(pairing.tests)
    size, observed = clusters.effective_count, abs(clusters.difference or 0.0)
    variance = clusters.variance()
    # Where no difference was seen, nothing is known of its form: whole tests may have changed.
    step = _smallest_step(pairing) if variance else 1.0
    # The exact test loses up to a step of its sum; the mid-p-value loses nothing.
    loss = step if is_two_sided else 0.0
    detectable = reach = None
    if count >= fewest:
        reach = _reach(count, alpha, is_two_sided=is_two_sided)
        spread = _Spread(variance=variance * size, observed=observed, step=step)
        detectable = _detectable(spread, size, reach, fewest, loss)
    needed = None
    if observed and count > 1:
        ratio = variance * size / observed**2
        units = _units_needed(ratio, alpha, fewest, is_two_sided=is_two_sided)
        units *= (1 + math.sqrt(1 + 2 * loss / (units * observed))) ** 2 / 4
        if units * tests / size <= MOST_TESTS:
            needed = math.ceil(units * tests / size)
    trials, reason = None, f"with fewer than {fewest} clusters no difference can be significant"
    if reach is not None:
        trials, reason = _trials_needed(pairing, variance, reach)
    return Power(
        detectable_difference=None
        if detectable is None or detectable > most
        else round(100 * detectable, 2),
        tests_needed=needed,
        trials_needed=trials,
        trials_reason=reason,
    )


def fewest_clusters(alpha: float, *, is_two_sided: bool) -> int:
    """How many must differ, all in one direction, before the paired test can be significant.

    The two-sided test is exact, its smallest p-value from n clusters is 2 / 2^n; the one-sided one
    counts the observed pattern half, so its smallest is 1 / 2^(n + 1).
    """
    exponent = 1 if is_two_sided else -1
    count = 1
    while 2.0 ** (exponent - count) >= alpha:
        count += 1
    return count


def _reach(count: int, alpha: float, *, is_two_sided: bool) -> float:
    """How many standard errors a difference between `count` clusters must be to be detected."""
    confidence = 1 - alpha if is_two_sided else 1 - 2 * alpha
    return t_quantile(confidence, count - 1) + t_quantile(2 * POWER - 1, count - 1)


def _smallest_step(pairing: Pairing) -> float:
    """The smallest change of a test's pass rate: one trial."""
    return 1 / max(counts.trials for pair in pairing.tests for counts in pair)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Spread:
    """How much the differences of clusters vary."""

    variance: float
    """As observed, of a single cluster."""
    observed: float
    """The observed difference."""
    step: float
    """By which a test's difference moves: 1 if every test has one trial."""

    def at(self, difference: float) -> float:
        """The variance if the difference were this large.

        With one trial, a cluster that gets worse does so by the whole of its test: a share δ of
        such clusters adds δ(1 − δ) to what varies anyway.
        """
        if self.step < 1:
            return self.variance
        noise = max(0.0, self.variance - self.observed * (1 - self.observed))
        return noise + difference * (1 - difference)


def _detectable(
    spread: _Spread, size: float, reach: float, fewest: int, loss: float
) -> float | None:
    """The smallest difference that `size` clusters detect; None if they detect none."""

    def is_detected(difference: float) -> bool:
        return difference >= reach * math.sqrt(spread.at(difference) / size) + loss / size

    floor = spread.step * _share_that_reaches(fewest, max(fewest, round(size)))
    if is_detected(floor):
        return floor
    return _smallest(is_detected, floor) if is_detected(1.0) else None


def _share_that_reaches(fewest: int, count: int) -> float:
    """The share of clusters that must change so that, in 80 of 100 cases, `fewest` of them do."""

    def is_enough(share: float) -> bool:
        fewer = (
            math.comb(count, changed) * share**changed * (1 - share) ** (count - changed)
            for changed in range(fewest)
        )
        return math.fsum(fewer) <= 1 - POWER

    return _smallest(is_enough, 0.0)


def _smallest(is_enough: Callable[[float], bool], low: float) -> float:
    """The smallest number from `low` to 1 that is enough, if 1 is."""
    high = 1.0
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high


def _units_needed(spread: float, alpha: float, fewest: int, *, is_two_sided: bool) -> int:
    """How many clusters detect a difference, given their variance relative to its square.

    At least: if it is more than anyone has, the number need not be exact.
    """

    def is_enough(count: int) -> bool:
        return _reach(count, alpha, is_two_sided=is_two_sided) ** 2 * spread <= count

    high = fewest
    while not is_enough(high) and high <= MOST_TESTS:
        high *= 2
    low = max(fewest, high // 2)
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle + 1, high)
    return high


def _trials_needed(
    pairing: Pairing, variance: float, reach: float
) -> tuple[int | None, str | None]:
    """The number of trials, or why there is none."""
    observed = pairing.clusters.difference
    if not observed:
        return None, "no difference was observed"
    if min(counts.trials for pair in pairing.tests for counts in pair) < 2:
        return None, "one trial per test does not show how much its trials vary"
    squared = len(pairing.tests) ** 2
    within = math.fsum(_noise(pair, repeated=True) for pair in pairing.tests) / squared
    single = math.fsum(_noise(pair, repeated=False) for pair in pairing.tests) / squared
    between = max(0.0, variance - within)
    allowed = (observed / reach) ** 2
    if allowed <= between:
        return None, "the difference varies between tests: more tests are needed, not more trials"
    return max(1, math.ceil(single / (allowed - between))), None


def _noise(pair: TestPair, *, repeated: bool) -> float:
    """The variance of a test's difference between repetitions: of its trials, or of a single one.

    Unbiased: the variance of m trials around their own mean is too small by (m − 1) / m.
    """
    noise = 0.0
    for counts in pair:
        rate = counts.passed / counts.trials
        free = counts.trials - 1
        noise += rate * (1 - rate) / free * (1 if repeated else counts.trials)
    return noise
