"""Runs a submission against test cases and says which of them it passes."""

import asyncio
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass

from arena.errors import InvalidInput
from arena.sandbox.driver import call_in_sandbox
from arena.sandbox.languages import Languages
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
from arena.sandbox.programs import run_program
from arena.sandbox.submission import checked_name, read_submission
from arena.sandbox.values import equal

FUNCTION_LANGUAGES = ("python", "javascript")


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseOptions:
    """How the cases of a standard are run and compared."""

    fresh: bool = False
    """A process of its own for every case, so that none can learn from an earlier one."""
    tolerance: float | None = None
    """The difference that two numbers may have."""
    languages: Languages | None = None
    """The languages of programs; None is the built-in table."""


DEFAULTS = CaseOptions()


async def run_tests(
    provider: SandboxProvider,
    code: str,
    function_name: str | None,
    cases: Sequence[TestCase],
    *,
    language: str | None = None,
    options: CaseOptions = DEFAULTS,
) -> list[CaseResult]:
    """One result per case, in order. The expected values stay on this side of the wall.

    With a `function_name` the function of that name is called (Python and JavaScript); without
    one the code is a whole program that reads the input as JSON from standard input and prints
    the result as JSON.
    """
    if not cases:
        return []
    table = options.languages or Languages.builtin()
    submission = read_submission(
        code, language, function_name=function_name, known=table.table.keys()
    )
    inputs = [case.input for case in cases]
    if function_name is None:
        async with _turn(provider):
            outcome = await run_program(provider, submission, inputs, table)
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
    return [
        _judged(case, result, outcome.engine, options.tolerance)
        for case, result in zip(cases, outcome.cases, strict=True)
    ]


async def _call(provider: SandboxProvider, call: FunctionCall) -> FunctionOutcome:
    if isinstance(provider, FunctionCaller):
        return await provider.call(call)
    async with _turn(provider):
        return await call_in_sandbox(provider, call)


def _turn(provider: SandboxProvider) -> AbstractAsyncContextManager[object]:
    return provider.turn() if isinstance(provider, SharedMachine) else nullcontext()


def _joined(outcomes: Sequence[FunctionOutcome]) -> FunctionOutcome:
    engines = dict.fromkeys(outcome.engine for outcome in outcomes)
    cases = [case for outcome in outcomes for case in outcome.cases]
    return FunctionOutcome(engine=", ".join(engines), cases=cases)


def _judged(
    case: TestCase, outcome: CaseOutcome, engine: str, tolerance: float | None
) -> CaseResult:
    if case.tolerance is not None:
        tolerance = case.tolerance
    passed = outcome.error is None and equal(outcome.value, case.expected, tolerance)
    return CaseResult(
        desc=case.desc,
        passed=passed,
        got=outcome.value,
        expected=case.expected,
        error=outcome.error,
        limit=outcome.limit,
        duration_ms=outcome.duration_ms,
        stdout=outcome.stdout,
        engine=engine,
    )


def calc_score(results: Sequence[CaseResult], max_points: int = 100) -> int:
    """The points for the share of cases that passed, rounded down: 2 of 3 of 100 are 66."""
    if not results:
        return 0
    passed = sum(result.passed for result in results)
    return passed * max_points // len(results)
