"""Test cases: the submission's code runs in the sandbox, its values are compared outside."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace

from arena.documents.validation import Fault
from arena.errors import AgentFault, InvalidInput, NotFound
from arena.evaluation.fields import InvalidStandard, read
from arena.evaluation.language import check_named_language
from arena.evaluation.resources import NotJudged
from arena.evaluation.standard import Case, TestCases
from arena.evaluation.text import EXCERPT_CHARACTERS, excerpt
from arena.evaluation.verdict import Finding, Opening, Submission, Verdict
from arena.pools.workers import TooMuchWork, by_effort
from arena.sandbox.cases import CaseOptions, Judged, calc_score, run_tests
from arena.sandbox.errors import LanguageRefused
from arena.sandbox.limits import TimeBudget
from arena.sandbox.ports import CaseResult, SandboxProvider
from arena.sandbox.values import MapValue, SetValue
from arena.text import storable

CASE_EFFORT = 10
"""The fields of a case, each checked."""
FINDINGS_AT_ONCE = 200
RUNNABLE = "the code can be run"
"""The only criterion of a submission whose code could not be run at all."""


async def judge_cases(
    standard: TestCases,
    submission: Submission,
    sandbox: SandboxProvider | None,
    openings: Sequence[Opening] = (),
    *,
    seconds: float | None = None,
) -> Verdict:
    """The share of the cases that pass, rounded down; the openings show the hidden ones.

    `seconds` is the time of all runs of a program together; cases not reached by then fail.
    """
    if sandbox is None:
        raise NotJudged("test cases need a sandbox, and none is set up", retryable=False)
    hidden = [opening.case for opening in openings]
    try:
        whole = await by_effort(CASE_EFFORT * len(hidden), with_hidden_cases, standard, hidden)
    except (InvalidStandard, TooMuchWork) as error:
        raise NotJudged(f"the hidden cases cannot be used: {error}", retryable=False) from None
    await check_named_language(whole, submission)
    try:
        results = await _run(whole, submission, sandbox, seconds)
    except LanguageRefused:
        raise  # not a score: whoever submitted it can name the language
    except (InvalidInput, NotFound, AgentFault) as error:
        # Standard and language were checked before, so the fault is the submission's.
        return not_runnable(error.message, openings)
    public = len(standard.cases)
    score = score_of(results, public)
    engines = dict.fromkeys(result.engine for result in results if result.engine)
    return Verdict(
        score=score,
        passed=score >= standard.pass_score,
        reasoning=_summary(results, public),
        findings=await _findings(results, public),
        engine=", ".join(engines),
        openings=tuple(openings),
    )


def not_runnable(reason: str, openings: Sequence[Opening] = ()) -> Verdict:
    """The verdict on code that could not be run at all."""
    finding = Finding(criterion=RUNNABLE, passed=False, reason=reason)
    return Verdict(
        score=0, passed=False, reasoning=reason, findings=(finding,), openings=tuple(openings)
    )


def with_hidden_cases(standard: TestCases, documents: Sequence[object]) -> TestCases:
    """The standard with its hidden cases after the public ones; an error with all faults."""
    faults: list[Fault] = []
    hidden = [read(Case, one, faults, ("sealed", i)) for i, one in enumerate(documents)]
    whole = replace(standard, cases=(*standard.cases, *filter(None, hidden)))
    faults += whole.faults()
    if faults:
        raise InvalidStandard(faults)
    return whole


def recount(standard: TestCases, verdict: Verdict) -> Verdict:
    """The verdict recomputed from recorded findings, if the code cannot be run here."""
    count = len(standard.cases) + len(standard.sealed)
    findings = verdict.findings
    if len(findings) == 1 and not findings[0].passed and findings[0].criterion == RUNNABLE:
        score = 0
    elif len(findings) == count:
        score = score_of(findings, len(standard.cases))
    else:
        raise InvalidInput(f"{len(findings)} findings for {count} cases")
    return replace(verdict, score=score, passed=score >= standard.pass_score)


def score_of(cases: Sequence[Judged], public: int) -> int:
    """The share that passed, of all cases or of the hidden ones alone, whichever is less.

    So hard-coding the answers to the public cases of a sealed standard gains nothing.
    """
    return min(calc_score(part) for part in (cases, cases[public:]) if part)


async def _run(
    standard: TestCases, submission: Submission, sandbox: SandboxProvider, seconds: float | None
) -> list[CaseResult]:
    """One result per case, in order; the cases of one language share one sandbox run."""
    budget = None if seconds is None else TimeBudget(seconds)
    options = CaseOptions(tolerance=standard.tolerance, budget=budget)
    groups: dict[str | None, list[int]] = {}
    for place, case in enumerate(standard.cases):
        language = case.language or standard.language or submission.language
        groups.setdefault(language, []).append(place)
    results: dict[int, CaseResult] = {}
    for language, places in groups.items():
        batch = await run_tests(
            sandbox,
            submission.output,
            standard.function_name,
            [standard.cases[place] for place in places],
            language=language,
            options=options,
        )
        results |= zip(places, batch, strict=True)
    return [results[place] for place in range(len(standard.cases))]


async def _findings(results: Sequence[CaseResult], public: int) -> tuple[Finding, ...]:
    findings: list[Finding] = []
    for place, result in enumerate(results):
        if place % FINDINGS_AT_ONCE == FINDINGS_AT_ONCE - 1:
            await asyncio.sleep(0)  # others are waiting for the event loop
        findings.append(_finding(place, result, public))
    return tuple(findings)


def _finding(place: int, result: CaseResult, public: int) -> Finding:
    name = f"case {place + 1}" if place < public else f"case {place + 1} (sealed)"
    name += f": {result.desc}" if result.desc else ""
    got = _text(result.got)
    if result.passed:
        return Finding(criterion=name, passed=True, reason=f"gives {got}", evidence=got)
    if result.error is not None:
        return Finding(criterion=name, passed=False, reason=storable(result.error))
    reason = f"expected {_text(result.expected)}, got {got}"
    return Finding(criterion=name, passed=False, reason=reason, evidence=got)


def _summary(results: Sequence[CaseResult], public: int) -> str:
    """How many passed, and the first one that failed."""
    passed = sum(result.passed for result in results)
    summary = f"{passed} of {len(results)} cases passed"
    hidden = results[public:]
    if hidden:
        summary += f", {sum(result.passed for result in hidden)} of {len(hidden)} sealed ones"
    for place, result in enumerate(results):
        if not result.passed:
            finding = _finding(place, result, public)
            return f"{summary}; {finding.criterion}: {finding.reason}"
    return summary


def _text(value: object) -> str:
    """A value as JSON on one line, shortened if it is long.

    A function may return half of a surrogate pair, which cannot be sent or stored.
    """
    text = ""
    try:
        # Piece by piece: of a million values only the first few are shown.
        for piece in ENCODER.iterencode(value):
            text += piece
            if len(text) > EXCERPT_CHARACTERS:
                break
        return storable(excerpt(text))
    except RecursionError:
        return "a value nested too deep to show"


def _as_json(value: object) -> object:
    """Values that a function can return but JSON cannot represent."""
    match value:
        case SetValue():
            return {"Set": value.members}
        case MapValue():
            return {"Map": value.entries}
        case _:
            return str(value)


ENCODER = json.JSONEncoder(ensure_ascii=False, default=_as_json)
