"""Two runs side by side: against a baseline for a gate, or simply compared."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from arena.catalog.suite import SuiteDifference
from arena.runs.environment import EnvironmentDifference, differences
from arena.runs.run import Run
from arena.scoring.comparison import Contender, compare_pair
from arena.scoring.intervals import Interval
from arena.scoring.power import Power
from arena.scoring.regression import ChangedTest, Regression, regression
from arena.scoring.trials import TrialCounts

SCHEMA_VERSION = 1
"""Of the JSON of a comparison: raised if a field is removed or changes its meaning."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredRun:
    """A run with the counts of its tests."""

    run: Run
    counts: Sequence[TrialCounts]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRegression:
    """A run beside its baseline: what a gate decides by."""

    baseline: Run
    regression: Regression
    suite_difference: SuiteDifference | None
    """How the tests of the suite changed since the baseline; null if they did not, or if the two
    runs are of different suites."""
    environment: list[EnvironmentDifference]
    """What else differs, the baseline's value first; nothing if one of the two is not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunComparison:
    """Two runs on the tests that both have, each test with equal weight."""

    schema_version: int = SCHEMA_VERSION
    """Of this document."""
    first: Run
    second: Run
    suite_difference: SuiteDifference | None
    """How the suite's tests changed from the first to the second; null if they did not, or if the
    two runs are of different suites."""
    environment: list[EnvironmentDifference]
    """What else differs; nothing if one of the two is not known."""
    common_tests: int
    clusters: int
    """Independent units among the common tests."""
    first_pass_rate: float | None
    """0 to 1 over the common tests; null if there are none."""
    second_pass_rate: float | None
    difference: float | None
    """Second minus first, as a share of 1: below 0 the second is worse."""
    interval: Interval | None
    """Of the difference, in per cent (95 %)."""
    p_value: float | None
    """Two-sided and exact: that they differ; null without common tests. From as many trials of each
    test as both runs have, the first ones."""
    unmatched_tests: int
    """How many tests have more trials in one of the runs; the p-value leaves the rest out."""
    significant: bool
    """Whether the p-value is below 0.05."""
    power: Power | None
    """What the common tests could detect; null if there are none."""
    worse: list[ChangedTest]
    """Passed less often in the second run, the largest change first; `baseline` is the first."""
    better: list[ChangedTest]
    flaky: list[ChangedTest]
    """Mixed outcomes within one of the runs, whether or not the rate has changed."""
    only_first: list[str]
    """Tests that cannot be compared: not in the second run, or edited."""
    only_second: list[str]


def check_against(
    baseline: MeasuredRun,
    now: MeasuredRun,
    *,
    quarantined: Collection[str] = (),
    suite_difference: SuiteDifference | None = None,
) -> RunRegression:
    """Test whether a run is worse than its baseline."""
    return RunRegression(
        baseline=baseline.run,
        regression=regression(baseline.counts, now.counts, quarantined=quarantined),
        suite_difference=suite_difference,
        environment=differences(baseline.run.environment, now.run.environment),
    )


def compare(
    first: MeasuredRun, second: MeasuredRun, *, suite_difference: SuiteDifference | None = None
) -> RunComparison:
    """Compare two runs; without common tests there is no difference."""
    one, two = (
        Contender(name=f"{side.run.agent_id}:{side.run.agent_version}", tests=side.counts)
        for side in (first, second)
    )
    pair = compare_pair(one, two)
    changes = regression(first.counts, second.counts)
    return RunComparison(
        first=first.run,
        second=second.run,
        suite_difference=suite_difference,
        environment=differences(first.run.environment, second.run.environment),
        common_tests=pair.common_tests,
        clusters=pair.clusters,
        first_pass_rate=pair.first_pass_rate,
        second_pass_rate=pair.second_pass_rate,
        # Turned round: people read the second run as the later one. 0.0 - x has no negative zero.
        difference=None if pair.difference is None else 0.0 - pair.difference,
        interval=pair.interval.mirrored().rounded() if pair.interval else None,
        p_value=pair.p_value,
        unmatched_tests=changes.unmatched_tests,
        significant=pair.significant,
        power=pair.power,
        worse=changes.worse,
        better=changes.better,
        flaky=changes.flaky,
        only_first=pair.only_first,
        only_second=pair.only_second,
    )
