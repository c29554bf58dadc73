"""The core of judging: a standard and a submission in, a verdict out."""

import asyncio
import math
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import replace

from arena.errors import InvalidInput
from arena.evaluation.pattern import NotQuick, only_quick
from arena.evaluation.resources import NO_RESOURCES, NotJudged, Resources, ReviewNeeded
from arena.evaluation.sealed import seal_name, unopened
from arena.evaluation.standard import (
    AllOf,
    AnyOf,
    Checklist,
    JudgePrompt,
    Leaf,
    PartPath,
    Standard,
    TestCases,
    checklists,
    leaves,
)
from arena.evaluation.text import excerpt
from arena.evaluation.time_limit import program_limits
from arena.evaluation.validators import Validator
from arena.evaluation.verdict import Finding, ItemAnswer, Opening, Submission, Verdict
from arena.pools.effort import effort
from arena.pools.threads import CHECKS
from arena.pools.workers import SMALL_EFFORT, TooMuchWork, by_effort, heavy
from arena.sandbox.errors import LanguageRefused
from arena.sandbox.ports import SandboxProvider

PartJudge = Callable[[Leaf, PartPath], Awaitable[Verdict]]
"""Judges one part of a standard, given its path."""

MAX_EFFORT = 100_000
"""Characters that all parts together check at once; more are checked in a worker process."""
CHECKABLE = "the answer can be checked"
"""The only criterion of an answer whose check takes too long."""


async def evaluate(
    standard: Standard, submission: Submission, resources: Resources = NO_RESOURCES
) -> Verdict:
    """Judge the submission by the standard.

    Plain validators and test cases give the same verdict every time. Raises `ReviewNeeded` if
    people have not answered yet, `NotJudged` if a needed resource is missing, and
    `LanguageRefused` if the code's language is unclear or is not the standard's.
    """
    if isinstance(standard, AllOf | AnyOf) and resources.sandbox is not None:
        # Before a model or a person spends anything on the other parts.
        await _check_languages(standard, submission, resources.sandbox)
    unanswered = {
        place: checklist
        for place, checklist in checklists(standard).items()
        if place not in resources.answers
    }
    if unanswered:
        # Before anything runs: judging the other parts may cost money and would be repeated later.
        raise ReviewNeeded(unanswered)
    limits, parts = program_limits(standard), len(list(leaves(standard)))

    async def judge(part: Leaf, at: PartPath) -> Verdict:
        match part:
            case Validator():
                return await validate(part, submission, parts=parts)
            case TestCases():
                # Imported here: the sandbox's values take long, and most standards run no code.
                from arena.evaluation.cases import judge_cases

                openings = await _unsealed(part, resources)
                return await judge_cases(
                    part, submission, resources.sandbox, openings, seconds=limits.get(at)
                )
            case JudgePrompt():
                if resources.judge is None:
                    raise NotJudged(
                        "no judge is set up: set ARENA_JUDGE_BASE_URL and ARENA_JUDGE_MODELS",
                        retryable=False,
                    )
                return await resources.judge(part, submission, resources.purpose)
            case Checklist():
                return judge_checklist(part, resources.answers[at])

    return await combine(judge, standard, submission)


async def combine(judge: PartJudge, standard: Standard, submission: Submission) -> Verdict:
    """The verdict on the whole, from the verdicts of `judge` on its parts."""
    verdict = await _combined(standard, judge, ())
    if verdict.passed:
        return verdict
    # Added once at the end, or every part of a composite would repeat it.
    output = submission.output
    read = f'"{excerpt(output)}"' if output.strip() else "an empty answer"
    return replace(verdict, reasoning=f"{verdict.reasoning} (read: {read})")


async def _combined(standard: Standard, judge: PartJudge, at: PartPath) -> Verdict:
    if not isinstance(standard, AllOf | AnyOf):
        return await judge(standard, at)
    if isinstance(standard, AllOf):
        verdicts = [await _combined(part, judge, (*at, i)) for i, part in enumerate(standard.parts)]
        whole = _all(standard, verdicts)
    else:
        verdicts = await _alternatives(standard, judge, at)
        whole = _best(verdicts)
    findings = tuple(finding for verdict in verdicts for finding in verdict.findings)
    return replace(whole, findings=findings, parts=tuple(verdicts))


async def _alternatives(standard: AnyOf, judge: PartJudge, at: PartPath) -> list[Verdict]:
    """The verdicts of the parts; one that refuses the code's language is one that does not fit."""
    verdicts: list[Verdict] = []
    refused: list[LanguageRefused] = []
    for i, part in enumerate(standard.parts):
        try:
            verdicts.append(await _combined(part, judge, (*at, i)))
        except LanguageRefused as error:
            from arena.evaluation.cases import not_runnable  # as above

            refused.append(error)
            verdicts.append(not_runnable(error.message))
    if len(refused) == len(verdicts):
        raise refused[0]
    return verdicts


def _all(standard: AllOf, verdicts: Sequence[Verdict]) -> Verdict:
    """The weighted mean of the parts, with the reasons of those that failed, else of all."""
    score = weighted_mean(
        [verdict.score for verdict in verdicts], [part.weight for part in standard.all_of]
    )
    every = all(verdict.passed for verdict in verdicts)
    return Verdict(
        score=score,
        passed=every if standard.pass_score is None else score >= standard.pass_score,
        reasoning="; ".join(verdict.reasoning for verdict in verdicts if verdict.passed is every),
        findings=(),
    )


def _best(verdicts: Sequence[Verdict]) -> Verdict:
    """The best of the parts; the reasons of the others would only distract."""
    best = max(verdicts, key=_rank)
    reasoning = best.reasoning
    if not best.passed and len(verdicts) > 1:
        reasoning = f"none of {len(verdicts)} alternatives fits; the nearest: {reasoning}"
    return Verdict(score=best.score, passed=best.passed, reasoning=reasoning, findings=())


def _rank(verdict: Verdict) -> tuple[bool, float, float]:
    """How close a verdict is to a pass; with equal scores, more passed findings win."""
    share = sum(finding.passed for finding in verdict.findings) / max(1, len(verdict.findings))
    return verdict.passed, verdict.score, share


def weighted_mean(scores: Sequence[float], weights: Sequence[float]) -> float:
    """The weighted mean, rounded to six decimals to remove floating-point error.

    Three parts of 60 with weights of 0.1 give exactly 60; 59.999… would fail.
    """
    total = math.fsum(score * weight for score, weight in zip(scores, weights, strict=True))
    return round(total / math.fsum(weights), 6)


async def validate(standard: Validator, submission: Submission, *, parts: int = 1) -> Verdict:
    """The verdict of a plain validator: 100 or 0; `parts` is how many the whole standard has."""
    findings = await _findings(standard, submission.output, parts)
    passed = all(finding.passed for finding in findings)
    reasoning = "; ".join(finding.reason for finding in findings if finding.passed is passed)
    score = 100.0 if passed else 0.0
    return Verdict(score=score, passed=passed, reasoning=reasoning, findings=findings)


async def _findings(standard: Validator, text: str, parts: int) -> tuple[Finding, ...]:
    """What the validator finds; the event loop does only what takes a moment, for all parts."""
    if parts * standard.effort(text) <= MAX_EFFORT:
        if not standard.is_slow:
            return standard.check(text)
        with suppress(NotQuick):
            return await CHECKS.run(_quick_findings, standard, text)
    try:
        return await heavy(standard.check, text)
    except TooMuchWork as error:
        reason = f"checking the answer {error}"
        return (Finding(criterion=CHECKABLE, passed=False, reason=reason),)


def _quick_findings(standard: Validator, text: str) -> tuple[Finding, ...]:
    with only_quick():
        return standard.check(text)


def judge_checklist(standard: Checklist, answers: Sequence[ItemAnswer]) -> Verdict:
    """The verdict from people's answers, one for each item, in order."""
    count = len(standard.items)
    if len(answers) != count:
        raise InvalidInput(f"{len(answers)} answers to {count} items: give one for each item")
    passed = sum(answer.passed for answer in answers)
    score = passed * 100 // count
    reasons = [f"{passed} of {count} items passed"]
    findings: list[Finding] = []
    for item, answer in zip(standard.items, answers, strict=True):
        if not answer.passed:
            reasons.append(f"not met: {item}" + (f" ({answer.note})" if answer.note else ""))
        reason = "passed" if answer.passed else "failed"
        reason += f" by {answer.reviewer}" if answer.reviewer else ""
        reason += f": {answer.note}" if answer.note else ""
        findings.append(Finding(criterion=item, passed=answer.passed, reason=reason))
    return Verdict(
        score=score,
        passed=score >= standard.pass_score,
        reasoning="; ".join(reasons),
        findings=tuple(findings),
        answers=tuple(answers),
    )


async def _check_languages(
    standard: Standard, submission: Submission, sandbox: SandboxProvider
) -> None:
    if not any(isinstance(part, TestCases) for part in leaves(standard)):
        return
    from arena.evaluation.language import check_languages  # as above

    await check_languages(standard, submission, sandbox)


async def _unsealed(standard: TestCases, resources: Resources) -> Sequence[Opening]:
    """The hidden cases; a sealed standard is never judged by its public ones alone."""
    if not standard.sealed:
        return ()
    name = seal_name(standard.sealed)
    found = None
    if resources.unseal is not None:
        found = await asyncio.to_thread(resources.unseal, standard.sealed)
    if found is None:
        raise NotJudged(
            f"the private part ({name}.json) of the standard's {len(standard.sealed)} sealed cases "
            "is missing: put it into ARENA_HOME/sealed (for a task of a team with a token: into "
            "its folder team-NAME there), or give it with --sealed",
            retryable=False,
        )
    amount = effort([dict(opening.case) for opening in found], limit=SMALL_EFFORT)
    if mismatch := await by_effort(amount, unopened, standard.sealed, found):
        raise NotJudged(f"the private part {name} does not open {mismatch}", retryable=False)
    return found
