"""Tests against agents: how each test went with each agent, and where they differ."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar
from uuid import UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class TestOutcome:
    """How one test went in one run."""

    __test__: ClassVar[bool] = False  # keeps pytest from collecting the class

    test_id: str
    digest: str
    """Of what the test says: two tests of one id and another digest are two tests."""
    name: str
    category: str
    trials: int
    passed: int
    result_id: UUID
    """The trial to look at: the first that failed, else the first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixRow:
    """One test, with an outcome for each agent; None where it was not asked."""

    test_id: str
    name: str
    category: str
    is_edited: bool
    """Whether another row has the same id: the test was changed between the runs."""
    outcomes: tuple[TestOutcome | None, ...]

    @property
    def differs(self) -> bool:
        """Whether two of the agents that were asked did not pass it equally often."""
        return len({Fraction(one.passed, one.trials) for one in self.outcomes if one}) > 1


def matrix(agents: Sequence[str], outcomes: Mapping[str, Sequence[TestOutcome]]) -> list[MatrixRow]:
    """A row for each test that any of the agents was asked, by id."""
    by_test: dict[tuple[str, str], dict[str, TestOutcome]] = {}
    for agent in agents:
        for outcome in outcomes.get(agent, ()):
            by_test.setdefault((outcome.test_id, outcome.digest), {})[agent] = outcome
    rows_of = Counter(test_id for test_id, _ in by_test)
    return [_row(by_test[key], agents, is_edited=rows_of[key[0]] > 1) for key in sorted(by_test)]


def _row(found: Mapping[str, TestOutcome], agents: Sequence[str], *, is_edited: bool) -> MatrixRow:
    any_of_them = next(iter(found.values()))
    return MatrixRow(
        test_id=any_of_them.test_id,
        name=any_of_them.name,
        category=any_of_them.category,
        is_edited=is_edited,
        outcomes=tuple(found.get(agent) for agent in agents),
    )
