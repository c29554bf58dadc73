"""The gate's error rates, by simulation: false alarms at the stated rate, large changes found.

A scenario draws the results of two runs. Without a change both come from the same distribution; the
tests of a suite, their pass probabilities and their clusters are drawn anew each time.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from scipy import stats

from arena.scoring.comparison import Contender, compare_pair
from arena.scoring.regression import regression
from arena.scoring.trials import TrialCounts

PAIRS = 2000
CHANGED_PAIRS = 300
ALPHA = 0.05

Numbers = np.ndarray


@dataclass(frozen=True)
class Scenario:
    """How the tests of a suite behave."""

    sizes: Callable[[np.random.Generator], Numbers]
    """Tests per cluster."""
    trials: int
    chances: Callable[[np.random.Generator, int], Numbers]
    """Pass probabilities of so many tests."""
    drop: float
    """What a large change takes from each probability, as a share of it."""
    shared: float = 0.0
    """How much the tests of a cluster rise and fall together in a run, in logits."""

    def run(
        self, random: np.random.Generator, sizes: Numbers, chances: Numbers
    ) -> list[TrialCounts]:
        effect = np.repeat(self.shared * random.standard_normal(len(sizes)), sizes)
        logits = np.log(chances / (1 - chances)) + effect
        passed = random.binomial(self.trials, 1 / (1 + np.exp(-logits)))
        clusters = np.repeat(np.arange(len(sizes)), sizes)
        return [
            TrialCounts(
                test_id=str(place),
                trials=self.trials,
                passed=int(count),
                cluster=str(cluster) if self.shared else "",
            )
            for place, (count, cluster) in enumerate(zip(passed, clusters, strict=True))
        ]

    def alarms(self, pairs: int, *, is_worse: bool) -> int:
        random = np.random.default_rng(20_130_618)
        found = 0
        for _ in range(pairs):
            sizes = self.sizes(random)
            chances = np.clip(self.chances(random, int(sizes.sum())), 0.01, 0.99)
            before = self.run(random, sizes, chances)
            after = self.run(random, sizes, chances * (1 - self.drop * is_worse))
            result = regression(before, after, alpha=ALPHA)
            assert result.can_detect
            found += result.is_regression
        return found


SCENARIOS = {
    "single trials": Scenario(
        sizes=lambda random: np.ones(80, int),
        trials=1,
        chances=lambda random, tests: random.beta(4, 2, tests),
        drop=0.5,
    ),
    # Most tests nearly always pass or fail; a third are anything between.
    "flaky tests": Scenario(
        sizes=lambda random: np.ones(60, int),
        trials=3,
        chances=lambda random, tests: random.choice([0.05, 0.3, 0.6, 0.9, 0.98], tests),
        drop=0.4,
    ),
    "clustered tests": Scenario(
        sizes=lambda random: np.full(35, 3),
        trials=1,
        chances=lambda random, tests: random.beta(4, 2, tests),
        shared=1.0,
        drop=0.5,
    ),
    "clustered, flaky, of unequal size": Scenario(
        sizes=lambda random: random.integers(1, 7, 35),
        trials=3,
        chances=lambda random, tests: random.choice([0.3, 0.6, 0.8, 0.95], tests),
        shared=1.0,
        drop=0.5,
    ),
}


@pytest.mark.parametrize("scenario", SCENARIOS.values(), ids=SCENARIOS)
def test_without_a_change_false_alarms_come_at_the_stated_rate(scenario: Scenario) -> None:
    low, high = stats.binom.interval(0.99, PAIRS, ALPHA)
    assert low <= scenario.alarms(PAIRS, is_worse=False) <= high


@pytest.mark.parametrize("scenario", SCENARIOS.values(), ids=SCENARIOS)
def test_at_least_95_of_100_large_changes_are_found(scenario: Scenario) -> None:
    assert scenario.alarms(CHANGED_PAIRS, is_worse=True) >= 0.95 * CHANGED_PAIRS


def test_tests_that_are_clustered_but_not_declared_so_raise_too_many_alarms() -> None:
    """Shows that the scenario is hard: without its clusters the rate would be missed."""
    clustered = SCENARIOS["clustered tests"]

    class Undeclared(Scenario):
        def run(
            self, random: np.random.Generator, sizes: Numbers, chances: Numbers
        ) -> list[TrialCounts]:
            counts = super().run(random, sizes, chances)
            return [
                TrialCounts(test_id=one.test_id, trials=one.trials, passed=one.passed)
                for one in counts
            ]

    undeclared = Undeclared(**vars(clustered))
    _, high = stats.binom.interval(0.99, PAIRS, ALPHA)
    assert undeclared.alarms(PAIRS, is_worse=False) > high


def runs_of(random: np.random.Generator, chances: Numbers, trials: int) -> list[TrialCounts]:
    passed = random.random((len(chances), trials)) < chances[:, None]
    return [
        TrialCounts(
            test_id=str(place),
            trials=trials,
            passed=int(row.sum()),
            passed_trials=frozenset(int(n) + 1 for n in np.flatnonzero(row)),
        )
        for place, row in enumerate(passed)
    ]


@pytest.mark.parametrize(
    ("tests", "chance", "before", "after"),
    [(20, 0.95, 1, 5), (20, 0.95, 1, 10), (10, 0.9, 1, 10), (50, 0.95, 1, 5), (20, 0.05, 5, 1)],
)
def test_runs_with_other_numbers_of_trials_raise_no_more_alarms_than_stated(
    tests: int, chance: float, before: int, after: int
) -> None:
    """The mean of five trials lies closer to their rate than one trial: not to be swapped."""
    random = np.random.default_rng(11)
    chances = np.full(tests, chance)
    gate = exact = 0
    for _ in range(500):
        one, two = runs_of(random, chances, before), runs_of(random, chances, after)
        gate += regression(one, two, alpha=ALPHA).is_regression
        exact += compare_pair(
            Contender(name="a", tests=one), Contender(name="b", tests=two)
        ).significant
    most = stats.binom.ppf(0.995, 500, ALPHA)
    assert gate <= most
    assert exact <= most
