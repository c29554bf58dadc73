"""Weak tests of a suite: everybody passes them, nobody does, or they do not tell agents apart.

A test's results with each agent version come from its latest complete run, as for `standing`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from pydantic import Field

from arena.errors import InvalidInput
from arena.scoring.matrix import TestRecord, discrimination

FEWEST_FOR_EXTREMES = 2
"""Agents before "all" or "none" says anything about a test rather than about one agent."""
WEAK_DISCRIMINATION = 0.1


class Weakness(StrEnum):
    """Why a test says little."""

    SATURATED = "saturated"
    """Every agent passed every trial."""
    DEAD = "dead"
    """No agent passed any trial."""
    NON_DISCRIMINATING = "non_discriminating"
    """Passing it is hardly correlated with passing the rest, or in the wrong direction."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WeakTest:
    """A test that says little about agents."""

    test_id: Annotated[str, Field(examples=["bench_nav_001"])]
    weakness: Weakness
    agents: int
    """Agent versions with results of it."""
    trials: int
    passed: int
    discrimination: float | None
    """See `Standing`; null if all did the same."""
    is_reversed: bool
    """Weak agents pass it more often than strong ones: check its standard."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteQuality:
    """The weak tests of a suite, as far as its results tell."""

    tests: int
    """How many tests there are."""
    agents: int
    """The most agent versions that ran one test."""
    weak: list[WeakTest]
    """Saturated ones first, then dead ones, then the least discriminating."""
    too_few_agents: list[str]
    """Tests with results of fewer than two agent versions: nothing can be said about them."""


def suite_quality(records: Mapping[str, Sequence[TestRecord]]) -> SuiteQuality:
    """Find the weak tests among `records`: of each test the results with each agent version.

    All records of a test must be of the same content.
    """
    weak = [found for test_id, own in records.items() if (found := _weakness(test_id, own))]
    order = list(Weakness)
    return SuiteQuality(
        tests=len(records),
        agents=max((len(own) for own in records.values()), default=0),
        weak=sorted(
            weak,
            key=lambda one: (order.index(one.weakness), one.discrimination or 0.0, one.test_id),
        ),
        too_few_agents=sorted(
            test_id for test_id, own in records.items() if len(own) < FEWEST_FOR_EXTREMES
        ),
    )


def _weakness(test_id: str, records: Sequence[TestRecord]) -> WeakTest | None:
    if len({one.digest for one in records}) > 1:
        raise InvalidInput(f"test {test_id!r} was edited between these results; give one content")
    if len(records) < FEWEST_FOR_EXTREMES:
        return None
    trials, passed = (sum(one.trials for one in records), sum(one.passed for one in records))
    # None for fewer than three agents: two points always lie on a line.
    correlation = discrimination(records)
    if passed == trials:
        weakness = Weakness.SATURATED
    elif not passed:
        weakness = Weakness.DEAD
    elif correlation is not None and correlation < WEAK_DISCRIMINATION:
        weakness = Weakness.NON_DISCRIMINATING
    else:
        return None
    return WeakTest(
        test_id=test_id,
        weakness=weakness,
        agents=len(records),
        trials=trials,
        passed=passed,
        discrimination=None if correlation is None else round(correlation, 3),
        is_reversed=correlation is not None and correlation < 0,
    )
