"""The core: a standard and a submission in, a verdict out."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from arena.evaluation.standard import Composite, JsonSchema, Pattern, Standard
from arena.evaluation.text import excerpt
from arena.evaluation.validators import check
from arena.evaluation.verdict import Finding, Submission, Verdict

LONG_CHARACTERS = 100_000
"""An answer longer than this is looked through in a thread, whatever is looked for."""


async def evaluate(standard: Standard, submission: Submission) -> Verdict:
    """Is the submission good, by this standard? The same two always give the same verdict."""
    verdict = await _judge(standard, submission)
    if verdict.passed:
        return verdict
    return replace(verdict, reasoning=f"{verdict.reasoning} (read: {_read(submission)})")


async def _judge(standard: Standard, submission: Submission) -> Verdict:
    """The verdict; what was read is not told yet, so that parts do not repeat it."""
    if isinstance(standard, Composite):
        verdicts = [await _judge(part, submission) for part in standard.parts]
        return _all(verdicts, standard.weights) if standard.needed == "all" else _any(verdicts)
    if isinstance(standard, Pattern | JsonSchema) or len(submission.output) > LONG_CHARACTERS:
        # A pattern may search for seconds; other work must go on meanwhile.
        findings = await asyncio.to_thread(check, standard, submission.output)
    else:
        findings = check(standard, submission.output)
    passed = all(finding.passed for finding in findings)
    reasoning = "; ".join(finding.reason for finding in findings if finding.passed is passed)
    score = 100.0 if passed else 0.0
    return Verdict(score=score, passed=passed, reasoning=reasoning, findings=findings)


def _all(verdicts: Sequence[Verdict], weights: Sequence[float]) -> Verdict:
    """The weighted mean of the parts; what is told is what was missed, or all of it."""
    weighed = zip(verdicts, weights, strict=True)
    score = sum(verdict.score * weight for verdict, weight in weighed) / sum(weights)
    passed = all(verdict.passed for verdict in verdicts)
    told = "; ".join(verdict.reasoning for verdict in verdicts if verdict.passed is passed)
    return Verdict(score=score, passed=passed, reasoning=told, findings=_findings(verdicts))


def _any(verdicts: Sequence[Verdict]) -> Verdict:
    """The best of the parts. To list what every one of them misses would help nobody."""
    best = max(verdicts, key=_nearness)
    told = best.reasoning
    if not best.passed and len(verdicts) > 1:
        told = f"none of {len(verdicts)} alternatives fits; the nearest: {told}"
    return replace(best, reasoning=told, findings=_findings(verdicts))


def _nearness(verdict: Verdict) -> tuple[bool, float, float]:
    """How near a verdict is to a pass; of two with the same score, the one that misses less."""
    share = sum(finding.passed for finding in verdict.findings) / max(1, len(verdict.findings))
    return verdict.passed, verdict.score, share


def _findings(verdicts: Sequence[Verdict]) -> tuple[Finding, ...]:
    return tuple(finding for verdict in verdicts for finding in verdict.findings)


def _read(submission: Submission) -> str:
    return f'"{excerpt(submission.output)}"' if submission.output.strip() else "an empty answer"
