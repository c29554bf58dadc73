"""Answers about requirements: which there are, what covers them, and what nothing covers."""

from collections import Counter
from collections.abc import Callable, Sequence

from arena.lab.answers.choosing import refuse_unknown, scope_name, scope_of
from arena.lab.coverage import PRIORITIES, Coverage, Evidence, coverage_of, gaps_of
from arena.lab.desk import Answer, Desk
from arena.lab.lab import Lab
from arena.lab.request import Request


def list_requirements(desk: Desk, request: Request) -> Answer:
    """The requirements of the scope, or the named ones with what covers them."""
    refuse_unknown(desk, request, "requirement")
    scope = scope_of(desk, request)
    if named := named_coverage(desk, request):
        return Answer(text="\n".join(detail(item) for item in named), read=tuple(named))
    areas = Counter(requirement.priority for requirement in scope.requirements)
    figures = ", ".join(f"{areas[priority]} {priority}" for priority in PRIORITIES)
    lines = [
        f"- {requirement.id} ({requirement.priority}, {requirement.area}): {requirement.title}"
        for requirement in scope.requirements
    ]
    heading = f"requirement list for {scope_name(scope)} ({len(lines)}; priority {figures}):"
    return Answer(text="\n".join([heading, *lines]), read=scope.requirements)


def sum_up_coverage(desk: Desk, request: Request) -> Answer:
    """How many requirements are covered and verified, by priority and by area."""
    refuse_unknown(desk, request, "requirement")
    if named := named_coverage(desk, request):
        return Answer(text="\n".join(detail(item) for item in named), read=tuple(named))
    scope = scope_of(desk, request)
    items = coverage_of(scope)
    evidence = Counter(item.evidence for item in items)
    text = "\n".join(
        [
            f"coverage summary for {scope_name(scope)}: {share(items)} requirements are covered by"
            f" {len(scope.testcases)} testcases.",
            "Evidence: " + ", ".join(f"{evidence[kind]} {kind}" for kind in Evidence) + ".",
            "By priority: " + shares(items, lambda item: item.requirement.priority) + ".",
            "By area: " + shares(items, lambda item: item.requirement.area) + ".",
            *([by_platform(items)] if len(desk.role.platforms) > 1 else []),
        ]
    )
    return Answer(text=text, read=read_for_coverage(scope))


def list_uncovered(desk: Desk, request: Request) -> Answer:
    """The requirements that no test case covers, the most important first."""
    refuse_unknown(desk, request, "requirement")
    scope = scope_of(desk, request)
    uncovered = gaps_of(scope).uncovered
    lines = [requirement_line(item) for item in uncovered]
    heading = (
        f"uncovered requirement list for {scope_name(scope)} ({len(uncovered)} of"
        f" {len(scope.requirements)} have no testcase):"
    )
    return Answer(text="\n".join([heading, *lines]), read=read_for_coverage(scope))


def analyse_gaps(desk: Desk, request: Request) -> Answer:
    """All gaps of the scope, and what to write first."""
    scope = scope_of(desk, request)
    gaps = gaps_of(scope)
    first = [*gaps.uncovered, *gaps.untested, *gaps.failing][:3]
    text = "\n".join(
        [
            f"Test gap analysis for {scope_name(scope)}: coverage is {share(coverage_of(scope))}"
            f" requirements.",
            *section("Gap: uncovered, no testcase", gaps.uncovered),
            *section("Gap: covered but never executed", gaps.untested),
            *section("Gap: covered, but the latest execution did not pass", gaps.failing),
            "Gap: nodes that no testcase goes to:",
            *(f"- {ui}: {', '.join(nodes) or 'none'}" for ui, nodes in gaps.unvisited.items()),
            "Close these first: " + ", ".join(item.requirement.id for item in first) + ".",
        ]
    )
    return Answer(text=text, read=read_for_coverage(scope))


def named_coverage(desk: Desk, request: Request) -> list[Coverage]:
    """The coverage of the requirements that the request names."""
    names = request.names("requirement")
    return [item for item in coverage_of(desk.lab) if item.requirement.id in names]


def section(heading: str, items: Sequence[Coverage]) -> list[str]:
    """A kind of gap with its requirements."""
    return [f"{heading} ({len(items)}):", *(requirement_line(item) for item in items)]


def requirement_line(item: Coverage) -> str:
    """A requirement with what is known of it."""
    what = item.requirement
    cases = ", ".join(case.id for case in item.testcases)
    covered = f"; covered by {cases}" if cases else ""
    return f"- {what.id} ({what.priority}, {what.area}): {what.title}{covered}"


def detail(item: Coverage) -> str:
    """One requirement and everything that speaks for it."""
    requirement = item.requirement
    cases = ", ".join(f"{case.id} '{case.title}'" for case in item.testcases) or "no testcase"
    runs = ", ".join(f"{run.id} {run.status}" for run in item.latest) or "none"
    return (
        f"requirement {requirement.id}: {requirement.title} (platform {requirement.platform}, area"
        f" {requirement.area}, priority {requirement.priority}). Coverage: {cases}. Latest"
        f" executions: {runs}. Evidence: {item.evidence}."
    )


def share(items: Sequence[Coverage]) -> str:
    """How many of these are covered: `8 of 12 (67 %)`."""
    covered = sum(bool(item.testcases) for item in items)
    percent = round(100 * covered / len(items)) if items else 0
    return f"{covered} of {len(items)} ({percent} %)"


def shares(items: Sequence[Coverage], key: Callable[[Coverage], str]) -> str:
    """The share of every group."""
    groups: dict[str, list[Coverage]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return ", ".join(f"{name} {share(group)}" for name, group in groups.items())


def by_platform(items: Sequence[Coverage]) -> str:
    """The share of every platform."""
    return "By platform: " + shares(items, lambda item: item.requirement.platform) + "."


def read_for_coverage(lab: Lab) -> tuple[object, ...]:
    """All that coverage is worked out from."""
    return (*lab.requirements, *lab.testcases, *lab.executions)
