"""Runs a submission against test cases and reports which it passes."""

import asyncio
import math
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, fields
from functools import partial
from typing import Any, Protocol

from arena.errors import InvalidInput, nearest
from arena.pools.effort import effort
from arena.pools.workers import SMALL_EFFORT, TooMuchWork, by_effort
from arena.sandbox.arguments import checked_name
from arena.sandbox.errors import LanguageRefused, ToolchainMissing
from arena.sandbox.evident_language import evident_code
from arena.sandbox.languages import FUNCTION_LANGUAGES
from arena.sandbox.limits import TimeBudget
from arena.sandbox.ports import (
    CaseOutcome,
    CaseResult,
    FewLanguages,
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
    cases: Sequence[TestCase | Mapping[str, Any]],
    *,
    language: str | None = None,
    options: CaseOptions = DEFAULTS,
) -> list[CaseResult]:
    """One result per case, in order. The expected values never enter the sandbox.

    With a `function_name` the function of that name is called (Python and JavaScript); without
    one the code is a whole program that reads its input as JSON from standard input and prints
    its result as JSON. A case may be a mapping: `{"input": [1, 2], "expected": 3, "desc": "…"}`.
    Raises `LanguageRefused` if the language of the code is neither named nor evident.
    """
    known = [_test_case(place, case) for place, case in enumerate(cases)]
    if not known:
        return []
    if function_name is not None:
        checked_name(function_name)
    submission = await read_code(provider, code, language, function_name=function_name)
    inputs = [case.input for case in known]
    if function_name is None:
        async with _slot(provider):
            budget = options.budget or TimeBudget(math.inf)
            outcome = await run_program(provider, submission, inputs, budget)
    else:
        calls = [
            FunctionCall(
                language=submission.language,
                source=submission.source,
                function_name=function_name,
                inputs=part,
            )
            for part in ([[one] for one in inputs] if options.fresh else [inputs])
        ]
        outcome = _joined(await asyncio.gather(*(_call(provider, call) for call in calls)))
    passed = await _compared(known, outcome.cases, options.tolerance)
    return [
        _judged(case, result, outcome.engine, is_passed)
        for case, result, is_passed in zip(known, outcome.cases, passed, strict=True)
    ]


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


async def read_code(
    provider: SandboxProvider,
    text: str,
    language: str | None = None,
    *,
    function_name: str | None = None,
) -> Code:
    """The code in an answer, in the language that is named or evident; else `LanguageRefused`."""
    offered = provider.languages if isinstance(provider, FewLanguages) else ()
    read = partial(_read, text, function_name)
    readings = await read(language)
    if len(readings) == 1:
        [code] = readings
    elif len(offered) == 1:
        [code] = await read(offered[0])
    else:
        possible = [one for one in readings if not offered or one.language in offered]
        code = await evident_code(possible, function_name, partial(_call, provider))
    if function_name is not None and code.language not in FUNCTION_LANGUAGES:
        raise LanguageRefused(
            f"functions are called in python and javascript; a {code.language} "
            "submission is a program: leave the function name out"
        )
    if offered and code.language not in offered:
        raise ToolchainMissing(f"this sandbox runs {', '.join(offered)}, not {code.language}")
    return code


async def _read(text: str, function_name: str | None, language: str | None) -> Sequence[Code]:
    """The possible codes in the answer; a long answer is read in a worker process."""
    read = partial(read_submission, text, language=language, function_name=function_name)
    try:
        return await by_effort(len(text) // SHORT_LINE, read)
    except TooMuchWork as error:
        raise InvalidInput(f"finding the code in the answer {error}") from None


def _test_case(place: int, case: TestCase | Mapping[str, Any]) -> TestCase:
    """The case, if need be from a mapping with its fields."""
    if isinstance(case, TestCase):
        return case
    known = {field.name for field in fields(TestCase)}
    for key in case.keys() - known:
        raise InvalidInput(f"cases[{place}]: unknown field {key!r}{nearest(key, known)}")
    for key in ("input", "expected"):
        if key not in case:
            raise InvalidInput(f"cases[{place}]: {key} is missing")
    if not isinstance(case["input"], list | tuple):
        raise InvalidInput(f"cases[{place}]: input must be a list of arguments")
    return TestCase(**case)


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
