"""The core: a standard and a submission in, a verdict out."""

import asyncio
import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace

from arena.evaluation.cases import judge_cases
from arena.evaluation.checklist import judge_checklist
from arena.evaluation.resources import NO_RESOURCES, NotJudged, PartPath, Resources, ReviewNeeded
from arena.evaluation.sealed import Opening, seal_name, unopened
from arena.evaluation.standard import (
    Checklist,
    Composite,
    Graded,
    JsonSchema,
    JudgePrompt,
    Pattern,
    Simple,
    Standard,
    TestCases,
)
from arena.evaluation.text import excerpt
from arena.evaluation.validators import check
from arena.evaluation.verdict import Finding, Submission, Verdict

Leaf = Simple | Graded
"""A standard that is not made of others."""
PartJudge = Callable[[Leaf, PartPath], Awaitable[Verdict]]
"""Judges one part of a standard, at its place."""

LONG_CHARACTERS = 100_000
"""An answer longer than this is looked through in a thread, whatever is looked for."""


async def evaluate(
    standard: Standard, submission: Submission, resources: Resources = NO_RESOURCES
) -> Verdict:
    """Judge the submission by the standard.

    Plain validators and test cases give the same verdict every time. Raises `ReviewNeeded` where
    people have not yet answered, and `NotJudged` where the means for a verdict are missing.
    """
    waiting = {
        place: checklist
        for place, checklist in checklists(standard).items()
        if place not in resources.answers
    }
    if waiting:
        raise ReviewNeeded(waiting)

    async def judge(part: Leaf, at: PartPath) -> Verdict:
        return await _judge(part, submission, resources, at)

    return await judged_by(judge, standard, submission)


async def judged_by(judge: PartJudge, standard: Standard, submission: Submission) -> Verdict:
    """The verdict on the whole, added up from those that `judge` gives on its parts."""
    verdict = await _added_up(standard, judge, ())
    if verdict.passed:
        return verdict
    return replace(verdict, reasoning=f"{verdict.reasoning} (read: {_read(submission)})")


def checklists(standard: Standard, at: PartPath = ()) -> Mapping[PartPath, Checklist]:
    """Every checklist in a standard, with its place."""
    if isinstance(standard, Checklist):
        return {at: standard}
    found: dict[PartPath, Checklist] = {}
    if isinstance(standard, Composite):
        for i, part in enumerate(standard.parts):
            found |= checklists(part, (*at, i))
    return found


async def _added_up(standard: Standard, judge: PartJudge, at: PartPath) -> Verdict:
    """The verdict; what was read is not told yet, so that parts do not repeat it."""
    if not isinstance(standard, Composite):
        return await judge(standard, at)
    parts = enumerate(standard.parts)
    verdicts = [await _added_up(part, judge, (*at, i)) for i, part in parts]
    return _all(standard, verdicts) if standard.needed == "all" else _any(verdicts)


async def _judge(
    standard: Leaf, submission: Submission, resources: Resources, at: PartPath
) -> Verdict:
    match standard:
        case TestCases():
            openings = await _unsealed(standard, resources)
            return await judge_cases(standard, submission, resources.sandbox, openings)
        case JudgePrompt():
            if resources.judge is None:
                raise NotJudged(
                    "no judge is set up: set ARENA_JUDGE_BASE_URL and ARENA_JUDGE_MODELS",
                    retryable=False,
                )
            return await resources.judge(standard, submission)
        case Checklist():
            return judge_checklist(standard, resources.answers[at])
        case _:
            return await validate(standard, submission)


async def _unsealed(standard: TestCases, resources: Resources) -> Sequence[Opening]:
    """The hidden cases; a sealed standard is never judged by its public ones alone."""
    if not standard.sealed:
        return ()
    name = seal_name(standard.sealed)
    found = None
    if resources.unseal is not None:
        found = await asyncio.to_thread(resources.unseal, standard.sealed)
    if found is None:
        told = f"the standard has {len(standard.sealed)} sealed cases and their private part"
        what_to_do = "put it into ARENA_HOME/sealed (for a task of a team with a token: into its"
        what_to_do += " folder team-NAME there), or give it with --sealed"
        raise NotJudged(f"{told} ({name}.json) is not here: {what_to_do}", retryable=False)
    if wrong := unopened(standard.sealed, found):
        raise NotJudged(f"the private part {name} does not open {wrong}", retryable=False)
    return found


async def validate(standard: Simple, submission: Submission) -> Verdict:
    """The verdict of a plain validator: 100 or 0."""
    if isinstance(standard, Pattern | JsonSchema) or len(submission.output) > LONG_CHARACTERS:
        # A pattern may search for seconds; other work must go on meanwhile.
        findings = await asyncio.to_thread(check, standard, submission.output)
    else:
        findings = check(standard, submission.output)
    passed = all(finding.passed for finding in findings)
    reasoning = "; ".join(finding.reason for finding in findings if finding.passed is passed)
    score = 100.0 if passed else 0.0
    return Verdict(score=score, passed=passed, reasoning=reasoning, findings=findings)


def _all(standard: Composite, verdicts: Sequence[Verdict]) -> Verdict:
    """The weighted mean of the parts; what is told is what was missed, or all of it."""
    score = weighted([verdict.score for verdict in verdicts], standard.weights)
    every = all(verdict.passed for verdict in verdicts)
    passed = every if standard.pass_score is None else score >= standard.pass_score
    told = "; ".join(verdict.reasoning for verdict in verdicts if verdict.passed is every)
    return Verdict(
        score=score,
        passed=passed,
        reasoning=told,
        findings=_findings(verdicts),
        parts=tuple(verdicts),
    )


def weighted(scores: Sequence[float], weights: Sequence[float]) -> float:
    """The mean of the scores by their weights, without the dust of binary fractions.

    Three parts of 60 by weights of 0.1 are 60 and not a hair less: the hair would cost the pass.
    """
    total = math.fsum(score * weight for score, weight in zip(scores, weights, strict=True))
    return round(total / math.fsum(weights), 6)


def _any(verdicts: Sequence[Verdict]) -> Verdict:
    """The best of the parts. To list what every one of them misses would help nobody."""
    best = max(verdicts, key=_nearness)
    told = best.reasoning
    if not best.passed and len(verdicts) > 1:
        told = f"none of {len(verdicts)} alternatives fits; the nearest: {told}"
    return Verdict(
        score=best.score,
        passed=best.passed,
        reasoning=told,
        findings=_findings(verdicts),
        parts=tuple(verdicts),
    )


def _nearness(verdict: Verdict) -> tuple[bool, float, float]:
    """How near a verdict is to a pass; of two with the same score, the one that misses less."""
    share = sum(finding.passed for finding in verdict.findings) / max(1, len(verdict.findings))
    return verdict.passed, verdict.score, share


def _findings(verdicts: Sequence[Verdict]) -> tuple[Finding, ...]:
    return tuple(finding for verdict in verdicts for finding in verdict.findings)


def _read(submission: Submission) -> str:
    return f'"{excerpt(submission.output)}"' if submission.output.strip() else "an empty answer"
