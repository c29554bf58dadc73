"""The core of judging: a standard and a submission in, a verdict out."""

import asyncio
import math
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from arena.errors import InvalidInput
from arena.evaluation.checks import Check
from arena.evaluation.grader import Grader, Packaged
from arena.evaluation.guarded import guarded
from arena.evaluation.resources import NO_RESOURCES, NotJudged, Resources, ReviewNeeded
from arena.evaluation.sealed import seal_name, unopened
from arena.evaluation.standard import (
    AllOf,
    AnyOf,
    Checklist,
    Composite,
    JudgePrompt,
    Leaf,
    PartPath,
    Reply,
    Standard,
    TestCases,
    VerifyFiles,
    checklists,
    leaves,
)
from arena.evaluation.submission import of_turn
from arena.evaluation.text import excerpt
from arena.evaluation.time_limit import program_limits
from arena.evaluation.validators import Validator
from arena.evaluation.verdict import Finding, ItemAnswer, Opening, Submission, Verdict
from arena.pools.effort import effort
from arena.pools.workers import SMALL_EFFORT, TooMuchWork, by_effort
from arena.sandbox.errors import LanguageRefused
from arena.sandbox.ports import SandboxProvider

PartJudge = Callable[[Leaf, PartPath, Submission], Awaitable[Verdict]]
"""Judges one part of a standard, given its path and what it is to judge."""

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
    if isinstance(standard, Composite) and resources.sandbox is not None:
        # Before a model or a person spends anything on the other parts.
        await _check_languages(standard, submission, resources.sandbox)
    _refuse_unanswered(standard, resources)
    limits, parts = program_limits(standard), len(list(leaves(standard)))

    async def judge(part: Leaf, at: PartPath, submission: Submission) -> Verdict:
        match part:
            case Validator():
                return await validate(part, submission, parts=parts)
            case Check():
                return await run_check(part, submission, parts=parts)
            case TestCases():
                # Imported here: the sandbox's values take long, and most standards run no code.
                from arena.evaluation.cases import judge_cases

                openings = await _unsealed(part, resources)
                return await judge_cases(
                    part, submission, resources.sandbox, openings, seconds=limits.get(at)
                )
            case Grader() | Packaged():
                from arena.evaluation.grading import judge_by_grader  # as above

                return await judge_by_grader(part, submission, resources.sandbox)
            case JudgePrompt():
                return await _by_model(part, submission, resources)
            case Checklist():
                return judge_checklist(part, resources.answers[at])
            case VerifyFiles():
                from arena.evaluation.verification import judge_files  # as above

                return await judge_files(part, submission, resources.sandbox)

    return await combine(judge, standard, submission)


def _refuse_unanswered(standard: Standard, resources: Resources) -> None:
    """Raise before anything runs: judging the other parts may cost, and would be repeated."""
    unanswered = {
        place: checklist
        for place, checklist in checklists(standard).items()
        if place not in resources.answers
    }
    if unanswered:
        raise ReviewNeeded(unanswered)


async def _by_model(part: JudgePrompt, submission: Submission, resources: Resources) -> Verdict:
    if resources.judge is None:
        raise NotJudged(
            "no judge is set up: set ARENA_JUDGE_BASE_URL and ARENA_JUDGE_MODELS", retryable=False
        )
    return await resources.judge(part, submission, resources.purpose)


async def combine(judge: PartJudge, standard: Standard, submission: Submission) -> Verdict:
    """The verdict on the whole, from the verdicts of `judge` on its parts."""
    verdict = await _combined(standard, judge, (), submission)
    if verdict.passed:
        return verdict
    # Added once at the end, or every part of a composite would repeat it.
    output = submission.output
    read = f'"{excerpt(output)}"' if output.strip() else "an empty answer"
    return replace(verdict, reasoning=f"{verdict.reasoning} (read: {read})")


async def _combined(
    standard: Standard, judge: PartJudge, at: PartPath, submission: Submission
) -> Verdict:
    if isinstance(standard, Reply):
        return await _reply(standard, judge, at, submission)
    if not isinstance(standard, Composite):
        return await judge(standard, at, submission)
    if isinstance(standard, AllOf):
        verdicts = [
            await _combined(part, judge, (*at, i), submission)
            for i, part in enumerate(standard.parts)
        ]
        whole = _all(standard, verdicts)
    else:
        verdicts = await _alternatives(standard, judge, at, submission)
        whole = _best(verdicts)
    findings = tuple(finding for verdict in verdicts for finding in verdict.findings)
    return replace(whole, findings=findings, parts=tuple(verdicts))


async def _reply(
    standard: Reply, judge: PartJudge, at: PartPath, submission: Submission
) -> Verdict:
    """The verdict on one reply; its findings say which reply they are about."""
    name = f"reply {standard.turn}"
    reply = of_turn(submission, standard.turn)
    if reply is None:
        reason = f"{name}: the conversation ended before it"
        missing = Verdict(score=0, passed=False, reasoning=reason, findings=())
        return replace(missing, findings=(Finding(criterion=name, passed=False, reason=reason),))
    verdict = await _combined(standard.standard, judge, (*at, 0), reply)
    findings = tuple(replace(one, criterion=f"{name}: {one.criterion}") for one in verdict.findings)
    return replace(
        verdict, reasoning=f"{name}: {verdict.reasoning}", findings=findings, parts=(verdict,)
    )


async def _alternatives(
    standard: AnyOf, judge: PartJudge, at: PartPath, submission: Submission
) -> list[Verdict]:
    """The verdicts of the parts; one that refuses the code's language is one that does not fit."""
    verdicts: list[Verdict] = []
    refused: list[LanguageRefused] = []
    for i, part in enumerate(standard.parts):
        try:
            verdicts.append(await _combined(part, judge, (*at, i), submission))
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
    return verdict_of(await _findings(standard, submission.output, parts))


def verdict_of(findings: tuple[Finding, ...]) -> Verdict:
    """100 if every finding passed, else 0."""
    passed = all(finding.passed for finding in findings)
    reasoning = "; ".join(finding.reason for finding in findings if finding.passed is passed)
    score = 100.0 if passed else 0.0
    return Verdict(score=score, passed=passed, reasoning=reasoning, findings=findings)


async def run_check(check: Check, submission: Submission, *, parts: int = 1) -> Verdict:
    """The verdict of a check of what the agent did; `parts` is how many the standard has."""
    limit = SMALL_EFFORT // parts
    is_small = check.effort(submission, limit=limit) <= limit
    try:
        findings = await guarded(check.check, submission, is_small=is_small, is_slow=check.is_slow)
    except TooMuchWork as error:
        findings = _not_checkable(error)
    return verdict_of(findings)


async def _findings(standard: Validator, text: str, parts: int) -> tuple[Finding, ...]:
    """What the validator finds; the event loop does only what takes a moment, for all parts."""
    is_small = parts * standard.effort(text) <= MAX_EFFORT
    try:
        return await guarded(standard.check, text, is_small=is_small, is_slow=standard.is_slow)
    except TooMuchWork as error:
        return _not_checkable(error)


def _not_checkable(error: TooMuchWork) -> tuple[Finding, ...]:
    reason = f"checking the answer {error}"
    return (Finding(criterion=CHECKABLE, passed=False, reason=reason),)


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
    if not any(isinstance(part, TestCases | Grader) for part in leaves(standard)):
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
