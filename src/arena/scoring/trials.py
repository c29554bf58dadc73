"""Repeated trials: pass@k, pass^k and flaky tests.

With n trials of a test of which c passed, two questions have an unbiased answer: would at least
one of k trials pass (pass@k: the best of k), and would all k (pass^k: can it be relied on)?
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from arena.errors import InvalidInput
from arena.scoring.share import Share


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialResult:
    """How one trial of one test ended."""

    test_id: str
    trial: int
    """Counts from 1; only has to differ between the trials of a test."""
    passed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialCounts:
    """All trials of one test, counted."""

    test_id: str
    trials: int
    passed: int

    def __post_init__(self) -> None:
        if not 0 <= self.passed <= self.trials or not self.trials:
            raise InvalidInput(
                f"test {self.test_id!r}: {self.passed} passes in {self.trials} trials; "
                "at least one trial is needed and no more passes than trials"
            )

    @property
    def pass_rate(self) -> float:
        """The share of trials that passed; the same as pass@1 and pass^1."""
        return self.passed / self.trials

    @property
    def is_flaky(self) -> bool:
        """Whether some trials passed and some did not."""
        return 0 < self.passed < self.trials

    def pass_at(self, k: int) -> float | None:
        """pass@k of this test; None where it has fewer than k trials."""
        return pass_at_k(self.trials, self.passed, k)

    def pass_all(self, k: int) -> float | None:
        """pass^k of this test; None where it has fewer than k trials."""
        return pass_all_k(self.trials, self.passed, k)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialSummary:
    """The trials of a whole run; every test counts the same."""

    tests: tuple[TrialCounts, ...]
    """In the order of their ids."""

    @property
    def trials(self) -> int:
        """The trials that every test has: the largest k that can be asked of the run."""
        return min((test.trials for test in self.tests), default=0)

    @property
    def flaky(self) -> tuple[str, ...]:
        """The ids of the tests that neither always passed nor always failed."""
        return tuple(test.test_id for test in self.tests if test.is_flaky)

    @property
    def share(self) -> Share:
        """Passes of trials with each test as one unit, for the score and its interval."""
        return Share.of_groups((test.passed, test.trials) for test in self.tests)

    def pass_at(self, k: int) -> float | None:
        """The mean pass@k over the tests; None where a test has fewer than k trials."""
        return _mean([test.pass_at(k) for test in self.tests])

    def pass_all(self, k: int) -> float | None:
        """The mean pass^k over the tests; None where a test has fewer than k trials."""
        return _mean([test.pass_all(k) for test in self.tests])


def pass_at_k(trials: int, passed: int, k: int) -> float | None:
    """1 − C(n−c, k) / C(n, k): the chance that k trials drawn from the n hold a pass.

    None for k above n: what was not tried cannot be estimated without bias.
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


def summarise_trials(results: Iterable[TrialResult]) -> TrialSummary:
    """The trials counted per test; a trial that appears twice is an error, not a second trial."""
    outcomes: dict[str, dict[int, bool]] = {}
    for result in results:
        trials = outcomes.setdefault(result.test_id, {})
        if result.trial in trials:
            raise InvalidInput(
                f"test {result.test_id!r} has two results for trial {result.trial}; "
                "give each trial once"
            )
        trials[result.trial] = result.passed
    return TrialSummary(
        tests=tuple(
            TrialCounts(test_id=test_id, trials=len(trials), passed=sum(trials.values()))
            for test_id, trials in sorted(outcomes.items())
        )
    )


def _check(trials: int, passed: int, k: int) -> None:
    if not 0 <= passed <= trials or k < 1:
        raise InvalidInput(
            f"{passed} passes in {trials} trials, k = {k}: needed are 0 <= passes <= trials, k >= 1"
        )


def _mean(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return math.fsum(known) / len(known) if known and len(known) == len(values) else None
