"""Runs a submission against test cases and reports which it passes."""

import asyncio
import math
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass
from typing import Protocol

from arena.errors import InvalidInput
from arena.pools.effort import effort
from arena.pools.workers import SMALL_EFFORT, TooMuchWork, by_effort
from arena.sandbox.arguments import checked_name
from arena.sandbox.languages import FUNCTION_LANGUAGES
from arena.sandbox.limits import TimeBudget
from arena.sandbox.ports import (
    CaseOutcome,
    CaseResult,
    FunctionCall,
    FunctionCaller,
    FunctionOutcome,
    SandboxProvider,
    SharedMachine,
    TestCase,
)
from arena.sandbox.programs import call_in_sandbox, run_program
from arena.sandbox.submission import Code, read_submission
from arena.sandbox.values import equal


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseOptions:
    """How the cases of a standard are run and compared."""

    fresh: bool = False
    """A separate process for every case, so that no state is shared between cases."""
    tolerance: float | None = None
    """The allowed difference between two numbers."""
    budget: TimeBudget | None = None
    """The time that all runs of a program may take together; None: no limit but each run's own."""


DEFAULTS = CaseOptions()
SHORT_LINE = 2
"""Characters: an answer may have as many lines, and reading it takes as long as it has lines."""


async def run_tests(
    provider: SandboxProvider,
    code: str,
    function_name: str | None,
    cases: Sequence[TestCase],
    *,
    language: str | None = None,
    options: CaseOptions = DEFAULTS,
) -> list[CaseResult]:
    """One result per case, in order. The expected values never enter the sandbox.

    With a `function_name` the function of that name is called (Python and JavaScript); without
    one the code is a whole program that reads its input as JSON from standard input and prints
    its result as JSON.
    """
    if not cases:
        return []
    submission = await _read(code, language, function_name)
    inputs = [case.input for case in cases]
    if function_name is None:
        async with _slot(provider):
            budget = options.budget or TimeBudget(math.inf)
            outcome = await run_program(provider, submission, inputs, budget)
    else:
        if submission.language not in FUNCTION_LANGUAGES:
            raise InvalidInput(
                f"functions are called in python and javascript; a {submission.language} "
                "submission is a program: leave the function name out"
            )
        calls = [
            FunctionCall(
                language=submission.language,
                source=submission.source,
                function_name=checked_name(function_name),
                inputs=part,
            )
            for part in ([[one] for one in inputs] if options.fresh else [inputs])
        ]
        outcome = _joined(await asyncio.gather(*(_call(provider, call) for call in calls)))
    passed = await _compared(cases, outcome.cases, options.tolerance)
    return [
        _judged(case, result, outcome.engine, is_passed)
        for case, result, is_passed in zip(cases, outcome.cases, passed, strict=True)
    ]


async def _read(code: str, language: str | None, function_name: str | None) -> Code:
    """The code in the answer; a long answer is read in a worker process."""
    try:
        return await by_effort(
            len(code) // SHORT_LINE, read_submission, code, language, function_name=function_name
        )
    except TooMuchWork as error:
        raise InvalidInput(f"finding the code in the answer {error}") from None


async def _compared(
    cases: Sequence[TestCase], outcomes: Sequence[CaseOutcome], tolerance: float | None
) -> list[bool]:
    """Whether each case passes; many values are compared in a worker process."""
    given = [
        (
            outcome.error is None,
            outcome.value,
            case.expected,
            tolerance if case.tolerance is None else case.tolerance,
        )
        for case, outcome in zip(cases, outcomes, strict=True)
    ]
    # No more is compared than the returned values hold.
    amount = effort([value for _, value, _, _ in given], limit=SMALL_EFFORT)
    try:
        return await by_effort(amount, _equal_each, given)
    except TooMuchWork as error:
        raise InvalidInput(f"comparing the values {error}") from None


def _equal_each(given: Sequence[tuple[bool, object, object, float | None]]) -> list[bool]:
    return [
        has_value and equal(value, expected, tolerance)
        for has_value, value, expected, tolerance in given
    ]


async def _call(provider: SandboxProvider, call: FunctionCall) -> FunctionOutcome:
    if isinstance(provider, FunctionCaller):
        return await provider.call(call)
    async with _slot(provider):
        return await call_in_sandbox(provider, call)


def _slot(provider: SandboxProvider) -> AbstractAsyncContextManager[object]:
    # A provider on another machine needs no slot of this one.
    return provider.slot() if isinstance(provider, SharedMachine) else nullcontext()


def _joined(outcomes: Sequence[FunctionOutcome]) -> FunctionOutcome:
    engines = dict.fromkeys(outcome.engine for outcome in outcomes)
    cases = [case for outcome in outcomes for case in outcome.cases]
    return FunctionOutcome(engine=", ".join(engines), cases=cases)


def _judged(case: TestCase, outcome: CaseOutcome, engine: str, is_passed: bool) -> CaseResult:
    return CaseResult(
        desc=case.desc,
        passed=is_passed,
        got=outcome.value,
        expected=case.expected,
        error=outcome.error,
        limit=outcome.limit,
        duration_ms=outcome.duration_ms,
        stdout=outcome.stdout,
        engine=engine,
    )


class Judged(Protocol):
    """Anything with `passed`: the result of a case, or a finding about it."""

    @property
    def passed(self) -> bool:
        """Whether it passed."""
        ...


def calc_score(results: Sequence[Judged], max_points: int = 100) -> int:
    """The points for the share of passed cases, rounded down: 2 of 3 gives 66 of 100."""
    if not results:
        return 0
    return sum(result.passed for result in results) * max_points // len(results)
