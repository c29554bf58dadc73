"""Executing a test case: its steps, walked on a device, until one does not work."""

from dataclasses import dataclass
from datetime import datetime

from arena.lab.records import Execution, Outcome, Step, Testcase
from arena.lab.walking import ACTION_MS, Arrival, Journey, Walker


@dataclass(frozen=True, slots=True, kw_only=True)
class StepResult:
    """What came of one step."""

    step: Step
    status: Outcome
    spent_ms: int
    message: str | None = None
    attempts: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """An execution and the steps it is made of."""

    execution: Execution
    steps: tuple[StepResult, ...]


def execute(case: Testcase, walker: Walker, *, name: str, started_at: datetime) -> Trace:
    """Walks every step of the test case; the first one that does not pass ends it."""
    spent = walker.load_ms(walker.position)
    results: list[StepResult] = []
    for step in case.steps:
        results.append(perform(step, walker))
        if results[-1].status is not Outcome.PASSED:
            break
    last = results[-1]
    failed = last.status is not Outcome.PASSED
    execution = Execution(
        id=name,
        testcase=case.id,
        device=walker.device.id,
        started_at=started_at,
        status=last.status,
        duration_ms=spent + sum(result.spent_ms for result in results),
        attempts=max(result.attempts for result in results),
        failed_step=len(results) if failed else None,
        message=last.message if failed else None,
    )
    return Trace(execution=execution, steps=tuple(results))


def perform(step: Step, walker: Walker) -> StepResult:
    """One step: a walk to a node, or a look at an element of the present one."""
    if step.node is not None:
        return walked(step, walker.navigate(step.node))
    present = step.element in walker.screen.elements
    return StepResult(
        step=step,
        status=Outcome.PASSED if present else Outcome.FAILED,
        spent_ms=ACTION_MS,
        message=None if present else missing(str(step.element), walker.position),
    )


def walked(step: Step, journey: Journey) -> StepResult:
    """The result of a step that was a walk."""
    status, message = Outcome.PASSED, None
    if not journey.reached:
        status, message = blame(journey)
    return StepResult(
        step=step,
        status=status,
        spent_ms=journey.spent_ms,
        message=message,
        attempts=journey.attempts,
    )


def blame(journey: Journey) -> tuple[Outcome, str]:
    """Why a journey ended before its goal."""
    move = journey.obstacle
    if move is None:
        return Outcome.FAILED, f"no way leads from node '{journey.start}' to '{journey.goal}'"
    if move.arrival is Arrival.TIMEOUT:
        return (
            Outcome.TIMEOUT,
            f"node '{move.edge.target}' did not load within {move.allowed_ms} ms",
        )
    return Outcome.FAILED, missing(str(move.edge.element), move.edge.source)


def missing(element: str, node: str) -> str:
    """The words for an element that is not where it should be."""
    return f"element '{element}' is missing on node '{node}'"
