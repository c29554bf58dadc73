"""Answers about test cases: which there are, what is in them, and what comes of executing them."""

from collections import Counter

from arena.lab.answers.choosing import (
    choose_device,
    choose_testcase,
    counted,
    refuse_unknown,
    scope_name,
    scope_of,
)
from arena.lab.answers.userinterfaces import handed_over
from arena.lab.desk import Answer, CannotAnswer, Desk
from arena.lab.execution import StepResult, Trace, execute
from arena.lab.records import Device, Outcome, Testcase, Userinterface
from arena.lab.request import Request
from arena.lab.walking import Walker

ALL_WORDS = frozenset({"all", "every", "suit", "regression", "whol"})


def list_testcases(desk: Desk, request: Request) -> Answer:
    """The test cases of the scope, of one interface, or of one requirement."""
    refuse_unknown(desk, request, "userinterface")
    scope = scope_of(desk, request)
    interfaces = set(request.names("userinterface"))
    requirements = set(request.names("requirement"))
    cases = tuple(
        case
        for case in scope.testcases
        if (not interfaces or case.userinterface in interfaces)
        and (not requirements or requirements & set(case.requirements))
    )
    lines = [
        f"- {case.id}: {case.title} (userinterface {case.userinterface}, priority {case.priority},"
        f" {len(case.steps)} steps, covers {', '.join(case.requirements)})"
        for case in cases
    ]
    whose = ", ".join(sorted(interfaces | requirements)) or scope_name(scope)
    heading = f"testcase list for {whose} ({len(cases)}):"
    return Answer(text="\n".join([heading, *lines]), read=cases)


def load_testcase(desk: Desk, request: Request) -> Answer:
    """One test case with its steps and the latest that came of it."""
    case, named = choose_testcase(desk, request)
    steps = [f"{n}. {step.what}" for n, step in enumerate(case.steps, 1)]
    runs = desk.lab.executions_of(case)
    latest = (
        f"Latest execution: {runs[-1].id} on {runs[-1].device}, {runs[-1].status}."
        if runs
        else "It was never executed."
    )
    text = "\n".join(
        [
            f"{chosen(named, case)}Loaded testcase {case.id} '{case.title}': userinterface"
            f" {case.userinterface}, priority {case.priority}, covers requirement"
            f" {', '.join(case.requirements)}, {len(steps)} steps:",
            *steps,
            latest,
        ]
    )
    return Answer(text=text, read=(case, *runs))


def execute_testcase(desk: Desk, request: Request) -> Answer:
    """Executes one test case, or all of the scope, on a device of the lab."""
    if asks_for_all(request):
        return execute_all(desk, request)
    case, named = choose_testcase(desk, request)
    ui = interface_of(desk, case)
    device = choose_device(desk, request, ui)
    trace = executed(desk, request, case, device)
    text = chosen(named, case) + trace_told(trace, case, acted=desk.role.may_act)
    if not desk.role.may_act:
        text = f"{handed_over(ui)}\n{text}"
    return Answer(text=text, read=(case, ui, device))


def execute_all(desk: Desk, request: Request) -> Answer:
    """Executes every test case of the scope, each on the first device that is free for it."""
    wanted = set(request.names("userinterface"))
    cases = scope_of(desk, request).testcases
    cases = tuple(case for case in cases if not wanted or case.userinterface in wanted)
    if not desk.role.may_act:
        raise CannotAnswer(
            f"I read and analyse, I do not act on devices. The {len(cases)} testcases belong to the"
            f" specialists for {scope_name(scope_of(desk, request))}: ask them to execute them."
        )
    traces: list[Trace] = []
    for case in cases:
        device = choose_device(desk, request, interface_of(desk, case))
        traces.append(executed(desk, request, case, device))
    counts = Counter(trace.execution.status for trace in traces)
    figures = ", ".join(f"{counts[status]} {status}" for status in Outcome if counts[status])
    lines = [
        f"- {trace.execution.testcase} on {trace.execution.device}: {trace.execution.status} in"
        f" {trace.execution.duration_ms / 1000:.1f} s"
        + (f" ({trace.execution.message})" if trace.execution.message else "")
        for trace in traces
    ]
    heading = f"Executed {len(traces)} testcases: {figures}."
    return Answer(text="\n".join([heading, *lines]), read=cases)


def executed(desk: Desk, request: Request, case: Testcase, device: Device) -> Trace:
    """The test case, walked; noted at the desk where the role may act."""
    ui = interface_of(desk, case)
    walker = Walker(ui=ui, device=device, limit_ms=request.limit_ms)
    name, started_at = desk.next_execution()
    trace = execute(case, walker, name=name, started_at=started_at)
    if desk.role.may_act:
        desk.executions.append(trace.execution)
        desk.positions[device.id] = (ui.id, walker.position)
    return trace


def interface_of(desk: Desk, case: Testcase) -> Userinterface:
    """The interface that a test case walks."""
    ui = desk.everything.userinterface(case.userinterface)
    if ui is None:
        raise CannotAnswer(f"Error: userinterface {case.userinterface} of {case.id} is missing.")
    return ui


def asks_for_all(request: Request) -> bool:
    """True where the request wants more than one test case executed."""
    return not request.names("testcase") and bool(ALL_WORDS & set(request.stems))


def chosen(named: bool, case: Testcase) -> str:
    """The honest word that the request left the choice to the agent."""
    return "" if named else f"You named no testcase, so I took {case.id}. "


def trace_told(trace: Trace, case: Testcase, *, acted: bool) -> str:
    """An execution in words, step by step; without `acted` it is what would have come of it."""
    run = trace.execution
    name = f"testcase {case.id} '{case.title}'"
    heading = (
        f"{f'Executed {name} as {run.id}' if acted else f'Dry run of {name}'} on device"
        f" {run.device} (userinterface {case.userinterface}): status {run.status} in"
        f" {run.duration_ms / 1000:.1f} s."
    )
    lines = [f"{n}. {step_told(result)}" for n, result in enumerate(trace.steps, 1)]
    left = len(case.steps) - len(trace.steps)
    tail = [f"Not tried after that: {counted(left, 'step')}."] if left else []
    return "\n".join([heading, *lines, *tail])


def step_told(result: StepResult) -> str:
    """One step in words."""
    text = f"{result.step.what}: {result.status} in {result.spent_ms} ms"
    if result.status is Outcome.TIMEOUT:
        return f"{text}: {result.message}; retried once, timed out again, gave up"
    if result.message:
        return f"{text}: {result.message}"
    return f"{text}, after a timeout and one retry" if result.attempts > 1 else text
