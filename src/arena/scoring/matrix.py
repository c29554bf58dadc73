"""Tests against agents: the results of each test with each agent, and its discrimination."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, ClassVar
from uuid import UUID

from pydantic import Field

from arena.scoring.components import Share
from arena.scoring.intervals import Interval, share_interval

FEWEST_AGENTS = 3
"""For a correlation: two points always lie on a line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TestOutcome:
    """The results of one test in one run."""

    __test__: ClassVar[bool] = False  # keeps pytest from collecting the class

    test_id: str
    digest: str
    """Of the test's content: an id with two digests counts as two tests."""
    name: str
    category: str
    trials: int
    passed: int
    result_id: UUID
    """The trial to look at: the first that failed, else the first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixCell:
    """The results of a test with an agent."""

    trials: int
    passed: int
    result_id: UUID
    """The trial to look at: the first that failed, if any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixRow:
    """A test and its results with each agent, in the order of `agents`."""

    test_id: Annotated[str, Field(examples=["bench_nav_001"])]
    name: Annotated[str, Field(examples=["List User Interfaces"])]
    category: Annotated[str, Field(examples=["navigation"])]
    is_edited: bool
    """The test was changed between the runs; see its other row."""
    differs: bool
    """Two of the agents did not pass it equally often."""
    cells: list[MatrixCell | None]
    """null if the agent's run does not include the test."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixAgent:
    """A column of the matrix."""

    agent: Annotated[str, Field(examples=["qa-web-manager:1.0.0"])]
    run_id: UUID
    """Its latest full run, which is compared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Matrix:
    """A page of tests against agents, by the ids of the tests."""

    agents: list[MatrixAgent]
    without_run: list[str]
    """Agents without a completed full run."""
    rows: list[MatrixRow]
    count: int
    total: int
    """How many rows match the request."""
    tests: int
    """How many tests there are."""
    differing: int
    """On how many of them the agents differ."""
    next_cursor: str | None = None
    suite: str | None = None
    """The suite whose tests these are; null if the runs are of different ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StandingRow:
    """The results of a test in the latest full run of one agent version."""

    agent_id: str
    agent_version: str
    run_id: UUID
    result_id: UUID
    """The trial to look at: the first that failed, if any."""
    trials: int
    passed: int
    rest_percent: float | None
    """The pass rate of the run's other tests."""
    is_current: bool
    """Whether the test has not changed since that run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Statistics of a test: its difficulty and its discrimination between agents."""

    test_id: str
    rows: list[StandingRow]
    counted: int
    """Rows behind the statistics: those of the current test."""
    pass_percent: float | None
    interval: Interval | None
    """Of that percentage."""
    discrimination: float | None
    """Correlation of passing it with passing the rest, from -1 to 1; null if fewer than three
    agents ran it, or all did the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TestRecord:
    """The results of one test with one agent version, and of the rest of that run."""

    __test__: ClassVar[bool] = False  # keeps pytest from collecting the class

    agent_id: str
    agent_version: str
    run_id: UUID
    result_id: UUID
    digest: str
    trials: int
    passed: int
    rest_trials: int
    rest_passed: int

    @property
    def rest_rate(self) -> float | None:
        """The pass rate of all other tests of the run; None if there are none."""
        return self.rest_passed / self.rest_trials if self.rest_trials else None


def matrix_rows(
    agents: Sequence[str], outcomes: Mapping[str, Sequence[TestOutcome]]
) -> list[MatrixRow]:
    """A row for each test that any of the agents ran, by id."""
    by_test: dict[tuple[str, str], dict[str, TestOutcome]] = {}
    for agent in agents:
        for outcome in outcomes.get(agent, ()):
            by_test.setdefault((outcome.test_id, outcome.digest), {})[agent] = outcome
    rows_of = Counter(test_id for test_id, _ in by_test)
    rows: list[MatrixRow] = []
    for (test_id, _), found in sorted(by_test.items(), key=lambda item: item[0]):
        cells = [
            MatrixCell(trials=one.trials, passed=one.passed, result_id=one.result_id)
            if (one := found.get(agent))
            else None
            for agent in agents
        ]
        some = next(iter(found.values()))
        row = MatrixRow(
            test_id=test_id,
            name=some.name,
            category=some.category,
            is_edited=rows_of[test_id] > 1,
            # Exact: 2 of 4 and 1 of 2 are the same rate.
            differs=len({Fraction(cell.passed, cell.trials) for cell in cells if cell}) > 1,
            cells=cells,
        )
        rows.append(row)
    return rows


def standing(test_id: str, digest: str, records: Sequence[TestRecord]) -> Standing:
    """Statistics of a test from the agents' latest full runs; `digest` is its current content."""
    counted = [one for one in records if one.digest == digest]
    share = Share.of_groups((one.passed, one.trials) for one in counted)
    interval = share_interval(share)
    correlation = discrimination(counted)
    return Standing(
        test_id=test_id,
        rows=[
            StandingRow(
                agent_id=one.agent_id,
                agent_version=one.agent_version,
                run_id=one.run_id,
                result_id=one.result_id,
                trials=one.trials,
                passed=one.passed,
                rest_percent=None if (rest := one.rest_rate) is None else round(100 * rest, 2),
                is_current=one.digest == digest,
            )
            for one in records
        ],
        counted=len(counted),
        pass_percent=None if share.value is None else round(100 * share.value, 2),
        interval=interval.scaled(100).rounded() if interval else None,
        discrimination=None if correlation is None else round(correlation, 3),
    )


def discrimination(records: Sequence[TestRecord]) -> float | None:
    """The correlation of passing the test with passing the rest (item-rest correlation).

    Near 1: strong agents pass it and weak ones do not. Near 0: it does not distinguish agents.
    Below 0: weak agents pass it more often; such a test should be checked. None if fewer than
    three agents ran it, or if all did equally well on either side.
    """
    known = [
        (one.passed / one.trials, rest) for one in records if (rest := one.rest_rate) is not None
    ]
    if len(known) < FEWEST_AGENTS:
        return None
    own_mean = math.fsum(own for own, _ in known) / len(known)
    rest_mean = math.fsum(rest for _, rest in known) / len(known)
    own_spread = math.fsum((own - own_mean) ** 2 for own, _ in known)
    rest_spread = math.fsum((rest - rest_mean) ** 2 for _, rest in known)
    if own_spread < 1e-12 or rest_spread < 1e-12:
        return None
    together = math.fsum((own - own_mean) * (rest - rest_mean) for own, rest in known)
    # Rounding can push a perfect correlation above 1.
    return max(-1.0, min(1.0, together / math.sqrt(own_spread * rest_spread)))
