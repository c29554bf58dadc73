"""The answers of the agents, one function per intent.

Every answer is a function of the desk and the request. It calls the lab's objects by the lab's own
words: `userinterface`, `node`, `edge`, `device`, `host`, `service`, `testcase`, `requirement`.
"""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from arena.lab.coverage import Coverage, Evidence, coverage_of
from arena.lab.desk import SPECIALISTS, CannotAnswer, Desk, ids, scope_name
from arena.lab.health import (
    Level,
    age_seconds,
    check_all,
    check_device,
    status_of,
)
from arena.lab.prompt import Intent, Request
from arena.lab.records import (
    Device,
    Execution,
    Host,
    Node,
    Outcome,
    Requirement,
    Testcase,
    Userinterface,
)
from arena.lab.walking import Arrival, Move, StepResult, Walker, execute

SHOWN = 10
"""Executions that are listed at most."""
STARTS = re.compile(r"\bfrom (?:the )?@node")
"""The prompt names a start before the goal: "from the cart to the checkout"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The lines of an answer, and the records that were read for it."""

    lines: list[str]
    read: tuple[object, ...] = ()


def list_userinterfaces(desk: Desk, request: Request) -> Answer:
    """The interfaces of the scope, with the size of their trees."""
    scope = desk.scope(request)
    lines = [
        f"- {ui.id}: {ui.title} {ui.version}, platform {ui.platform}, {len(ui.nodes)} nodes and"
        f" {len(ui.edges)} edges, entry node {ui.entry}. {ui.description}"
        for ui in scope.userinterfaces
    ]
    heading = f"userinterface list for {scope_name(scope)} ({len(lines)}):"
    return Answer(lines=[heading, *lines], read=scope.userinterfaces)


def describe_tree(desk: Desk, request: Request) -> Answer:
    """The nodes and edges of one interface."""
    ui = desk.choose_userinterface(request)
    heading = (
        f"Navigation tree of userinterface {ui.id} ({ui.title} {ui.version}):"
        f" {len(ui.nodes)} nodes, {len(ui.edges)} edges. Entry node: {ui.entry}."
    )
    nodes = [f"- node {node.id}: {node.title}" for node in ui.nodes]
    edges = [f"- edge {edge.source} -> {edge.target}: {edge.how}" for edge in ui.edges]
    return Answer(lines=[heading, *nodes, *edges], read=(ui,))


def navigate(desk: Desk, request: Request) -> Answer:
    """A walk to a node, or a dry run of it for an agent that may not act."""
    ui = desk.choose_userinterface(request)
    nodes = [node.id for node in request.of(Node) if node in ui.nodes]
    if not nodes and not request.of(Userinterface):
        known = ", ".join(node.id for node in ui.nodes)
        raise CannotAnswer(f"Error: that names no node of userinterface {ui.id}. Known: {known}.")
    device = desk.choose_device(request, ui)
    start = nodes.pop(0) if len(nodes) > 1 and STARTS.search(request.text) else ui.entry
    walker = Walker(ui=ui, device=device, limit_ms=request.limit_ms, position=start)
    journey = walker.navigate(nodes[0] if nodes else ui.entry)
    where = f"node {journey.goal} of userinterface {ui.id} on device {device.id}"
    end = f"Navigated from node {journey.start} to {where} in {journey.spent_ms / 1000:.1f} s."
    if not journey.reached:
        status, message = journey.failure
        end = f"Did not reach {where}: {status}, {message}. It stays at node {walker.position}."
    moves = [f"{n}. {describe_move(move)}" for n, move in enumerate(journey.moves, 1)]
    return Answer(lines=[*hand_over(desk, ui), end, *moves], read=(ui, device))


def describe_move(move: Move) -> str:
    """One move with its load times."""
    step = f"{move.edge.source} -> {move.edge.target}: {move.edge.how}"
    if move.arrival is Arrival.MISSING:
        return f"{step}: failed, element {move.edge.element} is missing"
    retried = f"timeout after {move.allowed_ms} ms, retry: " if move.loads_ms[1:] else ""
    end = "loaded in" if move.arrival is Arrival.ARRIVED else "timeout again, it needs"
    return f"{step}: {retried}{end} {move.loads_ms[-1]} ms"


def report_devices(desk: Desk, request: Request) -> Answer:
    """The status of the named devices, or of all."""
    devices = request.of(Device) or desk.scope(request).machines.devices
    counts = Counter(status_of(desk.lab, device) for device in devices)
    figures = ", ".join(f"{count} {status}" for status, count in counts.items())
    lines = [describe_device(desk, device) for device in devices]
    heading = f"device status ({len(devices)}): {figures}."
    return Answer(lines=[heading, *lines], read=devices)


def describe_device(desk: Desk, device: Device) -> str:
    """One device with its figures and whatever is wrong with it."""
    battery = "" if device.battery_percent is None else f", battery {device.battery_percent} %"
    health = check_device(desk.lab, device)
    trouble = f"; {health.level.name.lower()}: {'; '.join(health.reasons)}" if health.level else ""
    minutes = age_seconds(desk.lab, device.last_seen) // 60
    return (
        f"- device {device.id} ({device.title}, {device.os}) on host {device.host}: status"
        f" {status_of(desk.lab, device)}, temperature {device.temperature_celsius} °C{battery},"
        f" last seen {minutes} min ago{trouble}"
    )


def list_hosts(desk: Desk, request: Request) -> Answer:
    """The named hosts, or all, with what is attached to them."""
    hosts = request.of(Host) or desk.lab.machines.hosts
    online = sum(status_of(desk.lab, host) == "online" for host in hosts)
    heading = f"host list ({len(hosts)}): {online} online, {len(hosts) - online} offline."
    # A host serves every platform, so all of its devices are named, not only the desk's own.
    devices, services = desk.everything.machines.devices, desk.lab.machines.services
    lines = [
        f"- host {host.id} ({host.title}, {host.os}) at {host.address}, {host.location}: status"
        f" {status_of(desk.lab, host)}, cpu {host.cpu_percent} %, memory {host.memory_percent} %,"
        f" disk {host.disk_percent} %; devices: {ids([d for d in devices if d.host == host.id])};"
        f" services: {ids([s for s in services if s.host == host.id])}"
        for host in hosts
    ]
    return Answer(lines=[heading, *lines], read=hosts)


def check_health(desk: Desk, request: Request) -> Answer:
    """A health check of what is named, of the kinds that are named, or of everything."""
    everything = check_all(desk.lab)
    named = {record.id for record in request.mentioned}
    checked = [health for health in everything if health.name in named]
    checked = checked or [health for health in everything if health.kind in request.text]
    checked = sorted(checked or everything, key=lambda health: -health.level)
    counts = Counter(health.level for health in checked)
    figures = ", ".join(f"{counts[level]} {level.name.lower()}" for level in Level)
    lines = [
        f"- {health.kind} {health.name}: {health.level.name.lower()}"
        + (f" ({'; '.join(health.reasons)})" if health.reasons else "")
        for health in checked
    ]
    machines = desk.lab.machines
    heading = f"health check of {len(checked)} parts of the lab: {figures}."
    read = (*machines.services, *machines.hosts, *machines.devices)
    return Answer(lines=[heading, *lines], read=read)


def list_testcases(desk: Desk, request: Request) -> Answer:
    """The test cases of the scope, or of the named interfaces."""
    cases = desk.testcases(request)
    lines = [
        f"- {case.id}: {case.title} (userinterface {case.userinterface}, priority {case.priority},"
        f" {len(case.steps)} steps, covers {', '.join(case.requirements)})"
        for case in cases
    ]
    heading = f"testcase list for {scope_name(desk.scope(request))} ({len(cases)}):"
    return Answer(lines=[heading, *lines], read=cases)


def load_testcase(desk: Desk, request: Request) -> Answer:
    """One test case with its steps and its latest execution."""
    case = desk.testcases(request)[0]
    runs = [run for run in desk.lab.executions if run.testcase == case.id]
    steps = [f"{n}. {step.what}" for n, step in enumerate(case.steps, 1)]
    heading = (
        f"Loaded testcase {case.id} '{case.title}': userinterface {case.userinterface}, priority"
        f" {case.priority}, covers requirement {', '.join(case.requirements)},"
        f" {len(steps)} steps:"
    )
    latest = f"Latest execution: {describe_run(runs[-1])}" if runs else "It was never executed."
    return Answer(lines=[heading, *steps, latest], read=(case, *runs))


def execute_testcases(desk: Desk, request: Request) -> Answer:
    """The named test case, or all of the scope, executed; a dry run if the role may not act."""
    cases = request.of(Testcase)[:1] or desk.testcases(request)
    executed = [execute_one(desk, request, case) for case in cases]
    counts = Counter(run.status for run, _ in executed)
    figures = ", ".join(f"{count} {status}" for status, count in counts.items())
    lines = hand_over(desk, desk.lab.interface_of(cases[0]))
    lines.append(f"Testcases executed: {len(cases)} ({figures}).")
    for run, steps in executed:
        lines.append(f"- {describe_run(run)}")
        if len(executed) == 1:
            lines += [
                f"{n}. {result.step.what}: {result.status} in {result.spent_ms} ms"
                + (", after one retry" if result.attempts > 1 else "")
                for n, result in enumerate(steps, 1)
            ]
    return Answer(lines=lines, read=cases)


def execute_one(desk: Desk, request: Request, case: Testcase) -> tuple[Execution, list[StepResult]]:
    """One test case, executed on a device; recorded if the role may act."""
    ui = desk.lab.interface_of(case)
    walker = Walker(ui=ui, device=desk.choose_device(request, ui), limit_ms=request.limit_ms)
    name, started_at = desk.next_execution()
    run, steps = execute(case, walker, name=name, started_at=started_at)
    if desk.role.may_act:
        desk.executions.append(run)
    return run, steps


def report_results(desk: Desk, request: Request) -> Answer:
    """The executions that fit the request, latest first."""
    cases = {case.id for case in desk.testcases(request)}
    named = request.of(Execution)
    statuses = [outcome for outcome in Outcome if outcome in request.text]
    found = tuple(
        run
        for run in (*desk.lab.executions, *desk.executions)
        if run.testcase in cases
        and (not named or run in named)
        and (not statuses or run.status in statuses)
    )
    counts = Counter(run.status for run in found)
    figures = ", ".join(f"{counts[status]} {status}" for status in Outcome if counts[status])
    heading = f"results of {len(found)} executions, status: {figures or 'none found'}."
    lines = [f"- {describe_run(run)}" for run in found[: -SHOWN - 1 : -1]]
    return Answer(lines=[heading, *lines], read=found)


def describe_run(run: Execution) -> str:
    """One execution in one line."""
    text = (
        f"{run.id}: {run.testcase} on {run.device}, {run.started_at:%Y-%m-%d %H:%M} UTC, status"
        f" {run.status}, {run.duration_ms / 1000:.1f} s"
    )
    return f"{text}, step {run.failed_step}: {run.message}" if run.message else text


def list_requirements(desk: Desk, request: Request) -> Answer:
    """The requirements of the scope, or the named ones, each with what covers it."""
    scope = desk.scope(request)
    named = request.of(Requirement) or scope.requirements
    items = tuple(item for item in coverage_of(desk.lab) if item.requirement in named)
    lines = [f"- {describe_coverage(item)}; {item.evidence}" for item in items]
    heading = f"requirement list for {scope_name(scope)} ({len(items)}):"
    return Answer(lines=[heading, *lines], read=items)


def summarise_coverage(desk: Desk, request: Request) -> Answer:
    """How many requirements are covered, by priority, area and platform."""
    if request.of(Requirement):
        return list_requirements(desk, request)
    scope = desk.scope(request)
    items = coverage_of(scope)
    evidence = Counter(item.evidence for item in items)
    return Answer(
        lines=[
            f"coverage summary for {scope_name(scope)}: {share(items)} requirements are covered by"
            f" {len(scope.testcases)} testcases.",
            "Evidence: " + ", ".join(f"{evidence[kind]} {kind}" for kind in Evidence) + ".",
            "By priority: " + shares(items, lambda item: item.requirement.priority) + ".",
            "By area: " + shares(items, lambda item: item.requirement.area) + ".",
            "By platform: " + shares(items, lambda item: item.requirement.platform) + ".",
        ],
        read=items,
    )


def list_uncovered(desk: Desk, request: Request) -> Answer:
    """The requirements that no test case covers, the highest priority first."""
    scope = desk.scope(request)
    items = coverage_of(scope)
    uncovered = [item for item in items if not item.testcases]
    lines = [f"- {describe_coverage(item)}" for item in uncovered]
    heading = (
        f"uncovered requirement list for {scope_name(scope)} ({len(uncovered)} of"
        f" {len(scope.requirements)} have no testcase):"
    )
    return Answer(lines=[heading, *lines], read=items)


def analyse_gaps(desk: Desk, request: Request) -> Answer:
    """The requirements that no passed execution verifies, by what is missing."""
    scope = desk.scope(request)
    items = coverage_of(scope)
    lines = [f"Test gap analysis for {scope_name(scope)}: coverage is {share(items)} requirements."]
    for evidence in (Evidence.UNCOVERED, Evidence.UNTESTED, Evidence.FAILING):
        found = [item for item in items if item.evidence is evidence]
        lines += [f"Gap: {evidence} ({len(found)}):", *(f"- {describe_coverage(i)}" for i in found)]
    return Answer(lines=lines, read=items)


def describe_coverage(item: Coverage) -> str:
    """A requirement with the test cases that cover it."""
    what = item.requirement
    covered = f"; covered by {ids(item.testcases)}" if item.testcases else ""
    return f"{what.id} ({what.priority}, {what.area}): {what.title}{covered}"


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


def hand_over(desk: Desk, ui: Userinterface) -> list[str]:
    """For an agent that only reads: that it does not act, and who does."""
    if desk.role.may_act:
        return []
    specialist = f"{SPECIALISTS[ui.platform].id} ({SPECIALISTS[ui.platform].nickname})"
    return [f"I do not act on devices, so this is a dry run. Ask {specialist} to do it."]


ANSWERS: dict[Intent, Callable[[Desk, Request], Answer]] = {
    Intent.LIST_USERINTERFACES: list_userinterfaces,
    Intent.NAVIGATE: navigate,
    Intent.DESCRIBE_TREE: describe_tree,
    Intent.DEVICE_STATUS: report_devices,
    Intent.HEALTH_CHECK: check_health,
    Intent.LIST_HOSTS: list_hosts,
    Intent.LIST_TESTCASES: list_testcases,
    Intent.LOAD_TESTCASE: load_testcase,
    Intent.EXECUTE_TESTCASE: execute_testcases,
    Intent.RESULTS: report_results,
    Intent.COVERAGE: summarise_coverage,
    Intent.LIST_REQUIREMENTS: list_requirements,
    Intent.UNCOVERED: list_uncovered,
    Intent.GAPS: analyse_gaps,
}
