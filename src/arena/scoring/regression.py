"""Whether a run is worse than its baseline: the test behind a gate."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Self

from arena.errors import InvalidInput
from arena.scoring.intervals import Interval
from arena.scoring.pairing import Pairing, TestPair, pair_up
from arena.scoring.power import Power, fewest_clusters, paired_power
from arena.scoring.significance import one_sided_mid_p_value
from arena.scoring.trials import TrialCounts


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedTest:
    """A test's results in the baseline and now."""

    test_id: str
    baseline_passed: int
    baseline_trials: int
    passed: int
    trials: int
    flaky: bool
    """Some trials passed and some did not, in either run."""

    @classmethod
    def of(cls, pair: TestPair) -> Self:
        """The two results of a test, the baseline's first."""
        baseline, now = pair
        return cls(
            test_id=now.test_id,
            baseline_passed=baseline.passed,
            baseline_trials=baseline.trials,
            passed=now.passed,
            trials=now.trials,
            flaky=baseline.flaky or now.flaky,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Regression:
    """A run beside its baseline, on the tests that both have and that are not quarantined."""

    is_regression: bool
    """Whether it is worse, and the p-value is below `alpha`."""
    can_detect: bool
    """Whether any result could be a regression: false if fewer clusters can get worse than the
    smallest p-value takes."""
    alpha: float
    """The rate of false alarms when nothing has changed."""
    p_value: float | None
    """One-sided: that the run is worse; null without common tests. From as many trials of each test
    as both runs have, the first ones."""
    unmatched_tests: int
    """How many tests have more trials in one of the runs; the p-value leaves the rest out."""
    common_tests: int
    clusters: int
    difference: float | None
    """Pass rate now minus that of the baseline, as a share of 1; below 0 is worse."""
    interval: Interval | None
    """Of the difference, in per cent (95 %, two-sided)."""
    power: Power | None
    worse: list[ChangedTest]
    """Passed less often than in the baseline, the largest change first; flaky ones included."""
    better: list[ChangedTest]
    flaky: list[ChangedTest]
    """Mixed outcomes within one of the runs, whether or not the rate has changed."""
    new_failures: list[ChangedTest]
    """Every trial passed in the baseline, and none does now."""
    quarantined: list[ChangedTest]
    """They are not part of any number above."""
    only_baseline: list[str]
    """Tests that cannot be compared: not in this run, or edited."""
    only_now: list[str]


def regression(
    baseline: Sequence[TrialCounts],
    now: Sequence[TrialCounts],
    *,
    quarantined: Collection[str] = (),
    alpha: float = 0.05,
) -> Regression:
    """Test whether `now` is worse than `baseline`, with `alpha` as the rate of false alarms.

    The test is one-sided, because a gate only asks about worse, and paired by cluster: if nothing
    has changed, the two results of a cluster could equally have been swapped. It uses the
    mid-p-value, because a gate that states its rate of false alarms should have that rate. The
    exact test, which the comparison of agents uses, has a lower one, the lower the fewer tests
    differ, and misses changes for it. Fagerland, Lydersen & Laake, BMC Medical Research
    Methodology 13:91 (2013), recommend the mid-p version of McNemar's test: in their study it kept
    its level and was about as powerful as the asymptotic test.
    """
    if not 0 < alpha < 0.5:
        raise InvalidInput(f"alpha is {alpha}, must lie between 0 and 0.5")
    apart = set(quarantined)
    pairing = pair_up(baseline, now, names=("the baseline", "the run"), without=apart)
    clusters = pairing.clusters
    # First minus second is baseline minus now: above 0 is worse.
    swappable = pairing.swappable()
    p_value = one_sided_mid_p_value(swappable.differences) if pairing.tests else None
    interval = clusters.interval()
    changes = _changes(pairing.tests, clusters.unit)
    return Regression(
        # Also over all trials it must be worse: the p-value may leave some of them out.
        is_regression=p_value is not None and p_value < alpha and sum(clusters.differences) > 0,
        can_detect=sum(passed > 0 for passed in swappable.first)
        >= fewest_clusters(alpha, is_two_sided=False),
        alpha=alpha,
        p_value=p_value,
        unmatched_tests=pairing.unmatched_tests,
        common_tests=len(pairing.tests),
        clusters=len(clusters.sizes),
        difference=None if clusters.difference is None else 0.0 - clusters.difference,
        interval=interval.mirrored().scaled(100).rounded() if interval else None,
        power=_power(pairing, alpha) if pairing.tests else None,
        worse=[test for change, test in changes if change < 0],
        better=[test for change, test in reversed(changes) if change > 0],
        flaky=[ChangedTest.of(pair) for pair in pairing.tests if pair[0].flaky or pair[1].flaky],
        new_failures=[test for change, test in changes if change == -clusters.unit],
        quarantined=[ChangedTest.of(pair) for pair in _quarantined(baseline, now, apart)],
        only_baseline=pairing.only_first,
        only_now=pairing.only_second,
    )


def _power(pairing: Pairing, alpha: float) -> Power:
    """What the gate can detect: no more than the baseline has to lose."""
    rate = pairing.clusters.shares()[0].value or 0.0
    return paired_power(pairing, alpha=alpha, is_two_sided=False, most=rate)


def _changes(tests: Sequence[TestPair], unit: int) -> list[tuple[int, ChangedTest]]:
    """The tests whose pass rate has changed, with the change in units of 1/`unit`; worst first."""
    changes = [
        (change, ChangedTest.of((before, now)))
        for before, now in tests
        if (change := now.passed * (unit // now.trials) - before.passed * (unit // before.trials))
    ]
    return sorted(changes, key=lambda item: (item[0], item[1].test_id))


def _quarantined(
    baseline: Sequence[TrialCounts], now: Sequence[TrialCounts], apart: set[str]
) -> Sequence[TestPair]:
    before, after = ([one for one in side if one.test_id in apart] for side in (baseline, now))
    return pair_up(before, after, names=("the baseline", "the run")).tests
