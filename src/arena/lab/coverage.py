"""Coverage, computed from requirements, test cases and executions."""

from dataclasses import dataclass
from enum import StrEnum

from arena.lab.lab import Lab
from arena.lab.records import Execution, Outcome, Requirement, Testcase

PRIORITIES = ("high", "medium", "low")


class Evidence(StrEnum):
    """What is known about a requirement."""

    VERIFIED = "verified"
    """The latest execution of each of its executed test cases passed."""
    FAILING = "failing"
    """A test case covers it and its latest execution did not pass."""
    UNTESTED = "never executed"
    """Test cases cover it and none of them was ever executed."""
    UNCOVERED = "uncovered"
    """No test case covers it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """One requirement with its test cases."""

    requirement: Requirement
    testcases: tuple[Testcase, ...]
    latest: tuple[Execution, ...]
    """The latest execution of each test case that has one."""

    @property
    def evidence(self) -> Evidence:
        """What the test cases and executions show."""
        if not self.testcases:
            return Evidence.UNCOVERED
        if not self.latest:
            return Evidence.UNTESTED
        passed = all(run.status is Outcome.PASSED for run in self.latest)
        return Evidence.VERIFIED if passed else Evidence.FAILING


def coverage_of(lab: Lab) -> tuple[Coverage, ...]:
    """The coverage of every requirement, the highest priority first."""
    latest = {run.testcase: run for run in lab.executions}  # later ones overwrite earlier ones
    found: list[Coverage] = []
    for requirement in lab.requirements:
        cases = lab.testcases_covering(requirement)
        runs = tuple(latest[case.id] for case in cases if case.id in latest)
        found.append(Coverage(requirement=requirement, testcases=cases, latest=runs))
    # A stable sort: within a priority the order of the data stays.
    return tuple(sorted(found, key=lambda item: PRIORITIES.index(item.requirement.priority)))
