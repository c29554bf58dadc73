"""Two agents on the tests that both ran: the difference, its interval and its p-value."""

import math
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import ClassVar

from arena.errors import InvalidInput
from arena.scoring.intervals import Interval
from arena.scoring.share import Share
from arena.scoring.significance import paired_difference_interval, sign_flip_p_value
from arena.scoring.trials import TrialCounts

SIGNIFICANCE = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Contender:
    """An agent version that is known, with what it scored and how its tests went."""

    key: str
    """As `agent:version`."""
    score: Decimal | None
    """The overall score, None where there is no data."""
    tests: tuple[TrialCounts, ...] = ()
    """The tests it ran. A test whose content has changed must have another `test_id`."""

    def by_test(self) -> dict[str, TrialCounts]:
        """Its tests by their ids."""
        tests = {counts.test_id: counts for counts in self.tests}
        if len(tests) < len(self.tests):
            raise InvalidInput(f"{self.key}: a test is listed twice; count its trials together")
        return tests


@dataclass(frozen=True, slots=True, kw_only=True)
class TestDifference:
    """A test on which two agents did not pass equally often."""

    __test__: ClassVar[bool] = False  # keeps pytest from collecting the class

    test_id: str
    first: TrialCounts
    second: TrialCounts


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two agents on the tests that both ran, each test counting the same."""

    first: str
    second: str
    common_tests: int = 0
    first_pass_rate: float | None = None
    """0 to 1 over the common tests; None where there are none."""
    second_pass_rate: float | None = None
    difference: float | None = None
    """First minus second."""
    interval: Interval | None = None
    p_value: float | None = None
    adjusted_p_value: float | None = None
    """The p-value after Holm's adjustment for the number of pairs compared with this one."""
    differing: tuple[TestDifference, ...] = ()
    only_first: tuple[str, ...] = ()
    """Ids of tests that the second did not run."""
    only_second: tuple[str, ...] = ()

    @property
    def significant(self) -> bool:
        """Whether the adjusted p-value is below 0.05; False where nothing could be tested."""
        return self.adjusted_p_value is not None and self.adjusted_p_value < SIGNIFICANCE

    @property
    def ahead(self) -> str | None:
        """Who passed more of the common tests; None where neither did."""
        if not self.difference:
            return None
        return self.first if self.difference > 0 else self.second


def compare_pair(first: Contender, second: Contender) -> Pair:
    """The two on the tests both ran; without a common test there is no difference and no test."""
    ours, theirs = first.by_test(), second.by_test()
    pair = Pair(
        first=first.key,
        second=second.key,
        only_first=tuple(sorted(ours.keys() - theirs.keys())),
        only_second=tuple(sorted(theirs.keys() - ours.keys())),
    )
    common = sorted(ours.keys() & theirs.keys())
    if not common:
        return pair
    return _tested(pair, [ours[test_id] for test_id in common], [theirs[t] for t in common])


def _tested(pair: Pair, first: list[TrialCounts], second: list[TrialCounts]) -> Pair:
    # Pass rates as whole steps of one size, so that equal rates differ by exactly nothing.
    unit = math.lcm(*(counts.trials for counts in first + second))
    ours, theirs = _rates(first, unit), _rates(second, unit)
    one, two = (Share.of_groups((rate, unit) for rate in rates) for rates in (ours, theirs))
    count = len(ours)
    together = sum(a * b for a, b in zip(ours, theirs, strict=True))
    covariance = (count * together - one.part * two.part) / (count * unit) ** 2
    p_value = sign_flip_p_value([a - b for a, b in zip(ours, theirs, strict=True)])
    return replace(
        pair,
        common_tests=count,
        first_pass_rate=one.value,
        second_pass_rate=two.value,
        difference=(one.part - two.part) / (count * unit),
        interval=paired_difference_interval(one, two, covariance),
        p_value=p_value,
        adjusted_p_value=p_value,
        differing=tuple(
            TestDifference(test_id=a.test_id, first=a, second=b)
            for a, b in zip(first, second, strict=True)
            if a.passed * b.trials != b.passed * a.trials
        ),
    )


def _rates(tests: list[TrialCounts], unit: int) -> list[int]:
    return [counts.passed * (unit // counts.trials) for counts in tests]
