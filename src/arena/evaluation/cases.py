"""Test cases: the submission's code runs in the sandbox, its values are compared outside."""

import json
from collections.abc import Sequence

from arena.errors import InvalidInput
from arena.evaluation.means import NotJudged
from arena.evaluation.standard import TestCases
from arena.evaluation.text import excerpt
from arena.evaluation.verdict import Finding, Submission, Verdict
from arena.sandbox import (
    CaseOptions,
    CaseResult,
    MapValue,
    SandboxProvider,
    SetValue,
    calc_score,
    run_tests,
)


async def judge_cases(
    standard: TestCases, submission: Submission, sandbox: SandboxProvider | None
) -> Verdict:
    """The share of the cases that pass, rounded down."""
    if sandbox is None:
        raise NotJudged("test cases need a sandbox, and none is set up", retryable=False)
    try:
        results = await _run(standard, submission, sandbox)
    except InvalidInput as wrong:
        # The standard was checked when it was read: what is wrong here is the submission.
        finding = Finding(criterion="the code can be run", passed=False, reason=wrong.message)
        return Verdict(score=0, passed=False, reasoning=wrong.message, findings=(finding,))
    score = calc_score(results, 100)
    engines = dict.fromkeys(result.engine for result in results if result.engine)
    return Verdict(
        score=score,
        passed=score >= standard.pass_score,
        reasoning=_told(results),
        findings=tuple(_finding(i, result) for i, result in enumerate(results, start=1)),
        engine=", ".join(engines),
    )


async def _run(
    standard: TestCases, submission: Submission, sandbox: SandboxProvider
) -> list[CaseResult]:
    """One result per case, in order; the cases of one language share one run."""
    options = CaseOptions(tolerance=standard.tolerance)
    groups: dict[str | None, list[int]] = {}
    for place, language in enumerate(standard.languages):
        groups.setdefault(language or submission.language, []).append(place)
    results: dict[int, CaseResult] = {}
    for language, places in groups.items():
        given = await run_tests(
            sandbox,
            submission.output,
            standard.function_name,
            [standard.cases[place] for place in places],
            language=language,
            options=options,
        )
        results |= zip(places, given, strict=True)
    return [results[place] for place in range(len(standard.cases))]


def _finding(number: int, result: CaseResult) -> Finding:
    name = f"case {number}: {result.desc}" if result.desc else f"case {number}"
    got = _text(result.got)
    if result.passed:
        return Finding(criterion=name, passed=True, reason=f"gives {got}", evidence=got)
    if result.error is not None:
        return Finding(criterion=name, passed=False, reason=result.error)
    reason = f"expected {_text(result.expected)}, got {got}"
    return Finding(criterion=name, passed=False, reason=reason, evidence=got)


def _told(results: Sequence[CaseResult]) -> str:
    """How many passed, and the first that did not."""
    passed = sum(result.passed for result in results)
    told = f"{passed} of {len(results)} cases passed"
    for number, result in enumerate(results, start=1):
        if not result.passed:
            finding = _finding(number, result)
            return f"{told}; {finding.criterion}: {finding.reason}"
    return told


def _text(value: object) -> str:
    """A value as JSON writes it, on one line, cut where it is long."""
    try:
        return excerpt(json.dumps(value, ensure_ascii=False, default=_written))
    except RecursionError:
        return "a value nested too deep to show"


def _written(value: object) -> object:
    """What a function can return and JSON cannot say."""
    match value:
        case SetValue():
            return {"Set": value.members}
        case MapValue():
            return {"Map": value.entries}
        case _:
            return str(value)
