"""Answers about executions: what came of them, and why some ran out of time."""

from collections import Counter

from arena.lab.answers.choosing import (
    counted,
    interface_named,
    refuse_unknown,
    scope_name,
    scope_of,
)
from arena.lab.concepts import Concept
from arena.lab.desk import Answer, Desk
from arena.lab.lab import shortest_path
from arena.lab.records import Edge, Execution, Outcome, Testcase
from arena.lab.request import Request

STATUS_OF_CONCEPT = {
    Concept.PASSED: Outcome.PASSED,
    Concept.FAILED: Outcome.FAILED,
    Concept.TIMEOUT: Outcome.TIMEOUT,
    Concept.ERROR: Outcome.ERROR,
}
SHOWN = 10
"""Executions that are listed when the request names no number."""


def report_results(desk: Desk, request: Request) -> Answer:
    """The executions that the request asks for, the latest first, with their figures."""
    refuse_unknown(desk, request, "testcase")
    found = matching(desk, request)
    counts = Counter(run.status for run in found)
    figures = ", ".join(f"{counts[status]} {status}" for status in Outcome if counts[status])
    scope = scope_name(scope_of(desk, request))
    if not found:
        return Answer(text=f"No results: no execution for {scope} fits that.", read=())
    latest = tuple(reversed(found))[: number_asked(request)]
    lines = [run_line(run) for run in latest]
    heading = f"results of {counted(len(found), 'execution')} for {scope}, status: {figures}."
    shown = f"The latest {len(latest)}:" if len(latest) < len(found) else "All of them:"
    text = "\n".join([heading, shown, *lines, *timeout_advice(desk, latest)])
    return Answer(text=text, read=found)


def matching(desk: Desk, request: Request) -> tuple[Execution, ...]:
    """The executions of the lab and of this desk that fit every filter of the request."""
    scope = scope_of(desk, request)
    scoped = {case.id for case in scope.testcases}
    cases = set(request.names("testcase"))
    runs = set(request.names("execution"))
    devices = set(request.names("device"))
    interfaces = set(request.names("userinterface"))
    statuses = {STATUS_OF_CONCEPT[c] for c in request.concepts if c in STATUS_OF_CONCEPT}
    if {Outcome.PASSED, Outcome.FAILED} <= statuses:
        statuses = set[Outcome]()  # "which passed and which failed" asks for all of them
    return tuple(
        run
        for run in (*desk.lab.executions, *desk.executions)
        if run.testcase in scoped
        and (not cases or run.testcase in cases)
        and (not runs or run.id in runs)
        and (not devices or run.device in devices)
        and (not interfaces or interface_named(desk, run.testcase) in interfaces)
        and (not statuses or run.status in statuses)
    )


def number_asked(request: Request) -> int:
    """How many executions the request wants to see."""
    for before, word in zip(request.stems, request.stems[1:], strict=False):
        if before in {"last", "latest", "recent"} and word.isdecimal() and len(word) < 4:
            return max(int(word), 1)
    return SHOWN


def run_line(run: Execution) -> str:
    """One execution in words."""
    text = (
        f"- {run.id}: {run.testcase} on {run.device}, {run.started_at:%Y-%m-%d %H:%M} UTC, status"
        f" {run.status}, {run.duration_ms / 1000:.1f} s"
    )
    tried = ", after one retry" if run.attempts > 1 else ""
    return f"{text}, step {run.failed_step}: {run.message}{tried}" if run.message else text + tried


def timeout_advice(desk: Desk, runs: tuple[Execution, ...]) -> list[str]:
    """For every test case that ran out of time: what the figures say a retry would do."""
    advice: dict[str, str] = {}
    for run in runs:
        if run.status is Outcome.TIMEOUT and run.testcase not in advice:
            advice[run.testcase] = advice_for(desk, run)
    return [f"Timeout of {case}: {text}" for case, text in advice.items() if text]


def advice_for(desk: Desk, run: Execution) -> str:
    """What a cold and a warm load of the slow node take on that device, against the limit."""
    case = desk.lab.testcase(run.testcase)
    device = desk.lab.device(run.device)
    edge = slow_edge(desk, case, run.failed_step) if case and run.failed_step else None
    ui = desk.lab.userinterface(case.userinterface) if case else None
    node = ui.node(edge.target) if ui and edge else None
    if device is None or edge is None or node is None:
        return ""
    cold, warm = (round(ms * device.load_factor) for ms in (node.cold_load_ms, node.warm_load_ms))
    figures = (
        f"node {node.id} needs {cold} ms cold and {warm} ms warm on {device.id}, the edge allows"
        f" {edge.timeout_ms} ms"
    )
    if warm <= edge.timeout_ms:
        return f"{figures}: a retry recovers."
    return f"{figures}: a retry does not help, the screen or the limit must change."


def slow_edge(desk: Desk, case: Testcase, failed_step: int) -> Edge | None:
    """The edge that a failed walk ended with: the last one on the way to the step's node."""
    ui = desk.lab.userinterface(case.userinterface)
    goal = case.steps[failed_step - 1].node
    if ui is None or goal is None:
        return None
    visited = [step.node for step in case.steps[: failed_step - 1] if step.node]
    way = shortest_path(ui, visited[-1] if visited else ui.entry, goal)
    return way[-1] if way else None
