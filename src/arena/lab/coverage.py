"""What the test cases show, worked out from test cases, requirements and executions."""

from dataclasses import dataclass
from enum import StrEnum

from arena.lab.lab import Lab
from arena.lab.records import Execution, Outcome, Requirement, Testcase, Userinterface

PRIORITIES = ("high", "medium", "low")


class Evidence(StrEnum):
    """What is known of a requirement."""

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
    """One requirement and what shows that it holds."""

    requirement: Requirement
    testcases: tuple[Testcase, ...]
    latest: tuple[Execution, ...]
    """The latest execution of each test case that has one."""

    @property
    def evidence(self) -> Evidence:
        """What is known of the requirement."""
        if not self.testcases:
            return Evidence.UNCOVERED
        if not self.latest:
            return Evidence.UNTESTED
        if all(run.status is Outcome.PASSED for run in self.latest):
            return Evidence.VERIFIED
        return Evidence.FAILING


@dataclass(frozen=True, slots=True, kw_only=True)
class Gaps:
    """Where the tests leave something open."""

    uncovered: tuple[Coverage, ...]
    untested: tuple[Coverage, ...]
    failing: tuple[Coverage, ...]
    unvisited: dict[str, tuple[str, ...]]
    """The nodes of each interface that no test case visits."""


def coverage_of(lab: Lab) -> tuple[Coverage, ...]:
    """The coverage of every requirement, the most important first."""
    latest = {run.testcase: run for run in lab.executions}  # later ones overwrite earlier ones
    found: list[Coverage] = []
    for requirement in lab.requirements:
        cases = lab.testcases_covering(requirement)
        runs = tuple(latest[case.id] for case in cases if case.id in latest)
        found.append(Coverage(requirement=requirement, testcases=cases, latest=runs))
    return tuple(sorted(found, key=lambda item: PRIORITIES.index(item.requirement.priority)))


def gaps_of(lab: Lab) -> Gaps:
    """All gaps: requirements without evidence, and screens without a visitor."""
    coverage = coverage_of(lab)
    return Gaps(
        uncovered=tuple(item for item in coverage if item.evidence is Evidence.UNCOVERED),
        untested=tuple(item for item in coverage if item.evidence is Evidence.UNTESTED),
        failing=tuple(item for item in coverage if item.evidence is Evidence.FAILING),
        unvisited={ui.id: unvisited_nodes(lab, ui) for ui in lab.userinterfaces},
    )


def unvisited_nodes(lab: Lab, ui: Userinterface) -> tuple[str, ...]:
    """The nodes that no test case names as a goal, in the order of the tree."""
    goals = {step.node for case in lab.testcases_for(ui) for step in case.steps}
    return tuple(node.id for node in ui.nodes if node.id not in goals and node.id != ui.entry)
