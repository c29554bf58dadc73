"""The gate of a run, `--fail-under`: whether it is met, why, and the exit code."""

from dataclasses import dataclass

from arena.cli import output
from arena.runs.run import Run
from arena.text import percent_text


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """Whether a run meets the score that it was started with."""

    passed: bool | None
    """None if it cannot be decided: the run was not measured to its end, or people still judge."""
    minimum: float
    score: float | None
    """In per cent of all tests; None if the run was not measured to its end."""
    reason: str


def gate_of(run: Run, minimum: float) -> Gate:
    """The gate of a run that has ended or waits for people."""
    if run.status not in ("completed", "awaiting_review"):
        reason = f"not decided: the run is {run.state}, so not every test has a result"
        return Gate(passed=None, minimum=minimum, score=None, reason=reason)
    score = _percent(run.passed_tests, run.total_tests)
    least, most = (
        _meets(passed, run.total_tests, minimum)
        for passed in (run.passed_tests, run.passed_tests + run.awaiting_tests)
    )
    passed = least if least == most else None
    return Gate(passed=passed, minimum=minimum, score=score, reason=_reason(run, passed, minimum))


def _reason(run: Run, passed: bool | None, minimum: float) -> str:
    """Why the gate is met or missed, or cannot be decided yet."""
    total = run.total_tests
    shown = percent_text(_percent(run.passed_tests, total))
    if passed is None:
        waiting = output.counted(run.awaiting_tests, "answer")
        return f"not decided: {shown} so far, and people still have to judge {waiting}"
    if passed:
        return f"met: the score {shown} is not below {minimum:g} %"
    if run.awaiting_tests:
        best = percent_text(_percent(run.passed_tests + run.awaiting_tests, total))
        return f"missed: even if people accept every answer, {best} is below {minimum:g} %"
    return f"missed: the score {shown} is below {minimum:g} %"


def exit_code(run: Run, minimum: float | None) -> int:
    """The exit code for a run: 1 if its gate is missed, 3 if it was not measured to its end."""
    if minimum is None:
        return 0 if run.status in ("completed", "awaiting_review") else 3
    return {True: 0, False: 1, None: 3}[gate_of(run, minimum).passed]


def _meets(passed: int, total: int, minimum: float) -> bool:
    """Whether the score, rounded as the server does, meets the gate; 100 means all passed."""
    return _percent(passed, total) >= minimum and (minimum < 100 or passed == total)


def _percent(passed: int, total: int) -> float:
    # In integers and hundredths, halves up, like the server: a float could differ by a cent.
    return (20_000 * passed + total) // (2 * total) / 100
