"""Repeated trials: pass@k, pass^k and flaky tests.

From n trials of a test, c of them passed, two probabilities can be estimated without bias: that at
least one of k trials passes (pass@k: the best of k), and that all k pass (pass^k: reliability).
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from arena.errors import InvalidInput


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialCounts:
    """The counts of all trials of one test."""

    test_id: str
    digest: str = ""
    """Of the test's content."""
    trials: int
    passed: int
    cluster: str = ""
    """Tests with the same cluster are no independent evidence; empty: the test is its own."""
    passed_trials: frozenset[int] | None = None
    """The numbers of the trials that passed, from 1; None if they are not known."""

    @property
    def flaky(self) -> bool:
        """Whether some trials passed and some did not."""
        return 0 < self.passed < self.trials

    def first(self, trials: int) -> "TrialCounts":
        """Only the first `trials` of them."""
        if trials >= self.trials:
            return self
        if self.passed_trials is None and 0 < self.passed < self.trials:
            raise InvalidInput(f"test {self.test_id!r}: which of its trials passed is not known")
        numbers = self.passed_trials
        if numbers is None:
            numbers = frozenset(range(1, self.passed + 1))
        kept = frozenset(number for number in numbers if number <= trials)
        return replace(self, trials=trials, passed=len(kept), passed_trials=kept)

    def __post_init__(self) -> None:
        if not 0 <= self.passed <= self.trials or not self.trials:
            raise InvalidInput(
                f"test {self.test_id!r}: {self.passed} passes in {self.trials} trials; "
                "at least one trial is needed and no more passes than trials"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class TestTrials:
    """How often one test passed."""

    __test__: ClassVar[bool] = False  # keeps pytest from collecting the class

    test_id: str
    trials: int
    passed: int
    pass_at_k: float | None
    """The chance that one of k trials passes."""
    pass_all_k: float | None
    """pass^k: the chance that all k trials pass."""
    flaky: bool
    """Whether some trials passed and some did not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trials:
    """Repeats of a run's tests, with unbiased estimators; every test has equal weight."""

    k: int
    """The trials that every test has."""
    pass_at_k: float | None
    pass_all_k: float | None
    flaky: list[str]
    """The tests that neither always passed nor always failed."""
    tests: list[TestTrials]


def summarise(tests: Sequence[TrialCounts]) -> Trials:
    """The repeats of a run, with the largest k that every test allows."""
    k = min((test.trials for test in tests), default=0)

    def mean(estimate: Callable[[int, int, int], float | None]) -> float | None:
        # Never None: k is the smallest number of trials.
        values = [estimate(test.trials, test.passed, k) or 0.0 for test in tests]
        return math.fsum(values) / len(values) if values else None

    return Trials(
        k=k,
        pass_at_k=mean(pass_at_k),
        pass_all_k=mean(pass_all_k),
        flaky=[test.test_id for test in tests if test.flaky],
        tests=[
            TestTrials(
                test_id=test.test_id,
                trials=test.trials,
                passed=test.passed,
                pass_at_k=pass_at_k(test.trials, test.passed, k),
                pass_all_k=pass_all_k(test.trials, test.passed, k),
                flaky=test.flaky,
            )
            for test in tests
        ],
    )


def pass_at_k(trials: int, passed: int, k: int) -> float | None:
    """1 − C(n−c, k) / C(n, k): the chance that k trials drawn from the n hold a pass.

    None for k above n: there is no unbiased estimate.
    Chen et al., Evaluating Large Language Models Trained on Code, arXiv 2107.03374 (2021).
    """
    _check(trials, passed, k)
    if k > trials:
        return None
    ways = math.comb(trials, k)
    return (ways - math.comb(trials - passed, k)) / ways


def pass_all_k(trials: int, passed: int, k: int) -> float | None:
    """C(c, k) / C(n, k), known as pass^k: the chance that k trials drawn from the n all pass.

    None for k above n. Yao et al., τ-bench, arXiv 2406.12045 (2024).
    """
    _check(trials, passed, k)
    return math.comb(passed, k) / math.comb(trials, k) if k <= trials else None


def _check(trials: int, passed: int, k: int) -> None:
    if not 0 <= passed <= trials or k < 1:
        raise InvalidInput(
            f"{passed} passes in {trials} trials, k = {k}: needed are 0 <= passes <= trials, k >= 1"
        )
