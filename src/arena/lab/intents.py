"""What the prompt wants: rules that give points, and the one with the most points wins."""

import re
from dataclasses import dataclass, field
from enum import StrEnum

from arena.lab.concepts import Concept as C
from arena.lab.request import Request
from arena.lab.words import folded


class Intent(StrEnum):
    """What an agent of the lab can be asked for."""

    LIST_USERINTERFACES = "list the user interfaces"
    NAVIGATE = "navigate to a node"
    DESCRIBE_TREE = "describe a navigation tree"
    DEVICE_STATUS = "report the status of devices"
    HEALTH_CHECK = "check the health of services, hosts and devices"
    LIST_HOSTS = "discover the hosts"
    LIST_TESTCASES = "list the test cases"
    LOAD_TESTCASE = "load a test case"
    EXECUTE_TESTCASE = "execute a test case"
    RESULTS = "report the results of executions"
    COVERAGE = "sum up the coverage"
    LIST_REQUIREMENTS = "list the requirements"
    UNCOVERED = "find uncovered requirements"
    GAPS = "analyse the gaps in the tests"
    HELP = "say what I can do"
    POSITION = "say where a device is"


Sign = C | str
"""A concept, the kind of a mention with an @ before it, @unknown, @rest for other words, @many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One way to recognise an intent."""

    intent: Intent
    needs: tuple[frozenset[Sign], ...]
    """At least one sign of each group must be there."""
    helps: frozenset[Sign] = field(default_factory=frozenset[Sign])
    clashes: frozenset[Sign] = field(default_factory=frozenset[Sign])

    def points(self, signs: frozenset[Sign]) -> float:
        """How well the signs of a prompt fit this rule; 0 where they do not."""
        if not all(group & signs for group in self.needs):
            return 0.0
        return 2.0 * len(self.needs) + len(self.helps & signs) - 1.5 * len(self.clashes & signs)


def rule(intent: Intent, *needs: set[Sign], helps: set[Sign], clashes: set[Sign]) -> Rule:
    """A rule, written short."""
    return Rule(
        intent=intent,
        needs=tuple(frozenset(group) for group in needs),
        helps=frozenset(helps),
        clashes=frozenset(clashes),
    )


SUBJECTS: set[Sign] = {C.TESTCASE, C.REQUIREMENT, C.COVERAGE, C.RESULT, C.GAP}
MACHINES: set[Sign] = {C.DEVICE, C.HOST, C.SERVICE, C.HEALTH, "@device", "@host", "@service"}

RULES = (
    rule(
        Intent.LIST_USERINTERFACES,
        {C.INTERFACE},
        helps={C.LIST},
        clashes={
            C.TREE,
            C.NODE,
            C.EDGE,
            C.EXECUTE,
            C.GO,
            "@node",
            "@unknown",
            *SUBJECTS,
            *MACHINES,
        },
    ),
    rule(
        Intent.NAVIGATE,
        {C.GO},
        {C.NODE, "@node", "@userinterface", "@unknown", C.INTERFACE},
        helps={"@node", C.NODE, C.TIMEOUT},
        clashes={C.TREE, C.EDGE, C.LIST, "@testcase", "@requirement", "@execution", *SUBJECTS},
    ),
    rule(
        Intent.NAVIGATE,
        {C.NODE},
        {"@node"},
        helps={"@userinterface"},
        clashes={C.TREE, C.EDGE, C.POSITION, "@testcase", *SUBJECTS, *MACHINES},
    ),
    rule(
        Intent.NAVIGATE,
        {C.GO},
        {"@rest"},
        helps=set(),
        clashes={C.TREE, C.EDGE, C.LIST, C.INTERFACE, *SUBJECTS, *MACHINES},
    ),
    rule(
        Intent.DESCRIBE_TREE,
        {C.TREE, C.EDGE},
        helps={C.NODE, C.EDGE, C.TREE, C.INTERFACE, "@userinterface", C.LIST},
        clashes={*SUBJECTS, *MACHINES, "@testcase"},
    ),
    rule(
        Intent.DESCRIBE_TREE,
        {C.NODE},
        {C.LIST, C.SUMMARY},
        helps={C.INTERFACE, "@userinterface"},
        clashes={C.GO, "@node", *SUBJECTS, *MACHINES, "@testcase", C.POSITION},
    ),
    rule(
        Intent.DEVICE_STATUS,
        {C.DEVICE, "@device"},
        helps={C.STATUS, C.LIST, "@device"},
        clashes={C.EXECUTE, C.GO, C.HEALTH, C.SERVICE, *SUBJECTS, "@testcase", "@host", C.HOST},
    ),
    rule(
        Intent.DEVICE_STATUS,
        {"@unknown"},
        {C.STATUS},
        helps={C.DEVICE},
        clashes={C.HOST, C.SERVICE, C.EXECUTE, C.GO, C.LOAD, *SUBJECTS},
    ),
    rule(
        Intent.HEALTH_CHECK,
        {C.HEALTH},
        helps={C.SERVICE, C.HOST, C.DEVICE, "@service", "@host", "@device", C.STATUS},
        clashes=SUBJECTS,
    ),
    rule(
        Intent.HEALTH_CHECK,
        {C.SERVICE, "@service"},
        helps={C.STATUS, C.LIST, "@service", C.HEALTH},
        clashes=SUBJECTS,
    ),
    rule(
        Intent.LIST_HOSTS,
        {C.HOST, "@host"},
        helps={C.DISCOVER, C.LIST, C.STATUS, "@host"},
        clashes={C.HEALTH, C.SERVICE, *SUBJECTS},
    ),
    rule(
        Intent.LIST_TESTCASES,
        {C.TESTCASE},
        helps={C.LIST, "@many", "@requirement", "@userinterface"},
        clashes={C.EXECUTE, C.RESULT, C.COVERAGE, C.GAP, C.LACK, "@testcase", "@unknown", C.FAILED}
        | {C.PASSED, C.TIMEOUT, C.REQUIREMENT},
    ),
    rule(
        Intent.LOAD_TESTCASE,
        {C.TESTCASE, "@testcase", "@unknown"},
        {C.LOAD},
        helps={"@testcase", "@unknown"},
        clashes={C.EXECUTE, C.RESULT, C.COVERAGE, C.LACK, C.GAP, C.FAILED, C.NODE, C.DEVICE}
        | {C.TREE, C.EDGE, C.REQUIREMENT, C.HOST, C.SERVICE},
    ),
    rule(
        Intent.LOAD_TESTCASE,
        {"@testcase"},
        helps={C.TESTCASE},
        clashes={C.EXECUTE, C.RESULT, C.COVERAGE, C.FAILED, C.PASSED, C.TIMEOUT},
    ),
    rule(
        Intent.EXECUTE_TESTCASE,
        {C.EXECUTE},
        {C.TESTCASE, "@testcase", "@unknown"},
        helps={"@testcase", "@device", C.TESTCASE},
        clashes={C.COVERAGE, C.GAP, C.LACK, C.RESULT},
    ),
    rule(
        Intent.RESULTS,
        {C.RESULT, "@execution"},
        helps={
            C.TESTCASE,
            "@testcase",
            C.LIST,
            C.STATUS,
            C.TIMEOUT,
            C.FAILED,
            C.PASSED,
            "@execution",
        },
        clashes={C.COVERAGE, C.GAP, C.LACK, C.REQUIREMENT, C.EXECUTE},
    ),
    rule(
        Intent.RESULTS,
        {C.FAILED, C.PASSED, C.TIMEOUT, C.ERROR},
        helps={C.TESTCASE, "@testcase", C.LIST, C.RESULT},
        clashes={C.COVERAGE, C.GAP, C.EXECUTE, C.GO, C.REQUIREMENT},
    ),
    rule(
        Intent.COVERAGE,
        {C.COVERAGE},
        helps={C.SUMMARY, C.REQUIREMENT, C.TESTCASE, "@requirement", "@userinterface"},
        clashes={C.GAP, C.LACK},
    ),
    rule(
        Intent.COVERAGE,
        {C.REQUIREMENT},
        {C.TESTCASE},
        {C.SUMMARY},
        helps=set(),
        clashes={C.GAP, C.LACK},
    ),
    rule(
        Intent.LIST_REQUIREMENTS,
        {C.REQUIREMENT, "@requirement"},
        helps={C.LIST, "@requirement"},
        clashes={C.COVERAGE, C.LACK, C.GAP, C.EXECUTE},
    ),
    rule(
        Intent.UNCOVERED,
        {C.REQUIREMENT, C.COVERAGE},
        {C.LACK},
        helps={C.TESTCASE, C.LIST, C.REQUIREMENT},
        clashes={C.GAP},
    ),
    rule(
        Intent.GAPS,
        {C.GAP},
        helps={C.COVERAGE, C.TESTCASE, C.REQUIREMENT, C.SUMMARY, C.LACK},
        clashes={C.EXECUTE, *MACHINES},
    ),
    rule(Intent.HELP, {C.HELP}, helps=set(), clashes={*SUBJECTS, *MACHINES, "@testcase"}),
    rule(Intent.POSITION, {C.POSITION}, helps={C.DEVICE, "@device"}, clashes=SUBJECTS),
)

MANY = re.compile(r"\b(?:all|every|tests|test ?cases|scenarios|test scripts)\b")
"""The plural of a test case: whoever says it rarely means one."""
ENOUGH = 1.5
"""Fewer points than this are a guess, and a guess is not acted upon."""


def recognise(request: Request) -> Intent | None:
    """What the prompt wants, or None where that is not clear; of equals the first rule wins."""
    signs = signs_of(request)
    best = max(RULES, key=lambda candidate: candidate.points(signs))
    return best.intent if best.points(signs) >= ENOUGH else None


def signs_of(request: Request) -> frozenset[Sign]:
    """All that the rules look at."""
    mentioned = {f"@{mention.kind}" for mention in request.mentions}
    unknown = {"@unknown"} if request.unknown else set[str]()
    rest = {"@rest"} if request.rest else set[str]()
    many = {"@many"} if MANY.search(folded(request.prompt)) else set[str]()
    return frozenset({*request.concepts, *mentioned, *unknown, *rest, *many})
