"""The core: a standard and a submission in, a verdict out."""

import asyncio

from arena.evaluation.standard import Composite, JsonSchema, Pattern, Standard
from arena.evaluation.text import excerpt
from arena.evaluation.validators import check
from arena.evaluation.verdict import Finding, Submission, Verdict

LONG_CHARACTERS = 100_000
"""An answer longer than this is looked through in a thread, whatever is looked for."""


async def evaluate(standard: Standard, submission: Submission) -> Verdict:
    """Is the submission good, by this standard? The same two always give the same verdict."""
    if isinstance(standard, Composite):
        return await _evaluate_composite(standard, submission)
    if isinstance(standard, Pattern | JsonSchema) or len(submission.output) > LONG_CHARACTERS:
        # A pattern may search for seconds; other work must go on meanwhile.
        findings = await asyncio.to_thread(check, standard, submission.output)
    else:
        findings = check(standard, submission.output)
    passed = all(finding.passed for finding in findings)
    return _verdict(100.0 if passed else 0.0, passed, findings, submission)


async def _evaluate_composite(standard: Composite, submission: Submission) -> Verdict:
    """All parts and their weighted mean, or the best of them."""
    verdicts = [await evaluate(part, submission) for part in standard.parts]
    if standard.needed == "all":
        weighed = zip(verdicts, standard.weights, strict=True)
        score = sum(v.score * weight for v, weight in weighed) / sum(standard.weights)
        passed = all(verdict.passed for verdict in verdicts)
    else:
        score = max(verdict.score for verdict in verdicts)
        passed = any(verdict.passed for verdict in verdicts)
    findings = tuple(finding for verdict in verdicts for finding in verdict.findings)
    return _verdict(score, passed, findings, submission)


def _verdict(
    score: float, passed: bool, findings: tuple[Finding, ...], submission: Submission
) -> Verdict:
    told = [finding.reason for finding in findings if finding.passed is passed]
    reasoning = "; ".join(told or [finding.reason for finding in findings])
    if not passed:
        reasoning += f" (read: {_read(submission)})"
    return Verdict(score=score, passed=passed, reasoning=reasoning, findings=findings)


def _read(submission: Submission) -> str:
    return f'"{excerpt(submission.output)}"' if submission.output.strip() else "an empty answer"
