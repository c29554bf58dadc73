"""Judges by own graders: runs a script in the sandbox, or calls a function of a package.

An error of the grader itself is never a score: `GraderError` says whose fault it is.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, cast

from arena.errors import AgentFault, InvalidInput
from arena.evaluation.grader import Grader, Packaged
from arena.evaluation.language import check_code_language
from arena.evaluation.packaged import validator_named
from arena.evaluation.resources import GraderError, NotJudged
from arena.evaluation.submission import submission_document
from arena.evaluation.verdict import Finding, Submission, Verdict
from arena.pools.threads import CHECKS
from arena.pools.workers import TooMuchWork, by_effort
from arena.sandbox.cases import SHORT_LINE
from arena.sandbox.errors import GraderFailed
from arena.sandbox.grading import Grade, GraderCall, findings_of, run_grader
from arena.sandbox.ports import SandboxProvider
from arena.sandbox.submission import Code, read_entry_points
from arena.text import storable

CRITERION = "the grader's checks"
"""The criterion of a grader that names none."""


async def judge_by_grader(
    standard: Grader | Packaged, submission: Submission, sandbox: SandboxProvider | None
) -> Verdict:
    """The verdict of an own grader; `GraderError` if the grader itself fails."""
    if isinstance(standard, Packaged):
        return await _judge_by_package(standard, submission)
    return await _judge_by_script(standard, submission, sandbox)


async def _judge_by_script(
    standard: Grader, submission: Submission, sandbox: SandboxProvider | None
) -> Verdict:
    if sandbox is None:
        raise NotJudged("own graders need a sandbox, and none is set up", retryable=False)
    await check_code_language(standard, submission)
    try:
        code = await _code(standard, submission)
        call = GraderCall(
            language=standard.script_language,
            script=standard.script,
            submission=_as_seen(submission),
            code=code,
            entry_points=standard.entry_points,
            classes=standard.classes,
        )
        grade = await run_grader(sandbox, call)
    except (AgentFault, InvalidInput) as error:
        # The standard was checked before, so the fault is the submission's.
        grade = Grade(score=0, reason=error.message)
    except GraderFailed as error:
        raise GraderError(error.message, retryable=False) from None
    return verdict_of(grade, standard.pass_score)


async def _judge_by_package(standard: Packaged, submission: Submission) -> Verdict:
    function = validator_named(standard.name)
    try:
        returned = await CHECKS.run(function, dict(standard.expected), submission)
    except (Exception, SystemExit) as error:
        # Code of another package: whatever it raises, there is no score.
        text = f"{type(error).__name__}: {error}"
        raise GraderError(f"the validator {standard.name!r} failed: {text}", retryable=False) from (
            error
        )
    return verdict_of(_grade_of(standard.name, returned), standard.pass_score)


def verdict_of(grade: Grade, pass_score: float) -> Verdict:
    """The verdict that a grade stands for."""
    score = float(grade.score)
    passed = score >= pass_score
    reason = storable(grade.reason)
    findings = tuple(_finding(one, passed) for one in grade.findings)
    if not findings:
        shown = reason or f"score {score:g}"
        findings = (Finding(criterion=CRITERION, passed=passed, reason=shown),)
    failed = [one for one in findings if not one.passed]
    first = f"{failed[0].criterion}: {failed[0].reason}" if failed and grade.findings else ""
    said = "; ".join(filter(None, (reason, first))) or f"score {score:g}"
    return Verdict(
        score=score, passed=passed, reasoning=said, findings=findings, engine=grade.engine
    )


def agrees_with_itself(standard: Grader | Packaged, recorded: Verdict) -> bool:
    """Whether a recorded verdict at least agrees with itself, if the grader cannot run here."""
    is_score = math.isfinite(recorded.score) and 0 <= recorded.score <= 100
    return is_score and recorded.passed is (recorded.score >= standard.pass_score)


def _finding(given: Mapping[str, Any], passed: bool) -> Finding:
    reason = storable(str(given.get("reason") or ""))
    return Finding(
        criterion=storable(str(given.get("criterion") or CRITERION)),
        passed=bool(given.get("passed", passed)),
        reason=reason or ("passes" if given.get("passed", passed) else "fails"),
    )


async def _code(standard: Grader, submission: Submission) -> Code | None:
    """The code that the script calls, as it stands in the answer."""
    if standard.code_language is None:
        return None
    output = submission.output
    try:
        return await by_effort(
            len(output) // SHORT_LINE,
            read_entry_points,
            output,
            standard.code_language,
            standard.names,
        )
    except TooMuchWork as error:
        raise InvalidInput(f"finding the code in the answer {error}") from None


def _as_seen(submission: Submission) -> dict[str, Any]:
    """The submission as a script sees it: what its record holds, so that a replay sees the same."""
    document = submission_document(submission)
    del document["kind"]
    collected: dict[str, Any] = document.pop("files") or {}
    return {
        **document,
        "files": collected.get("files") or {},
        "changes": collected.get("changes") or [],
        "problems": collected.get("problems") or [],
        "usage": asdict(submission.usage),
    }


def _grade_of(name: str, returned: object) -> Grade:
    """What a function of a package returned: a bool, a score, or both with findings."""
    verdict: Mapping[str, object] = {"score": returned}
    if isinstance(returned, Mapping):
        verdict = cast(Mapping[str, object], returned)
    score, findings = verdict.get("score"), verdict.get("findings")
    if isinstance(score, bool):
        score = 100 if score else 0
    is_number = isinstance(score, int | float) and 0 <= score <= 100
    if not is_number or not verdict.keys() <= {"score", "findings", "reason"}:
        raise GraderError(
            f"the validator {name!r} returned {str(cast(object, returned))[:200]}: it must be a "
            "bool, a score of 0 to 100, or an object with score, findings and reason",
            retryable=False,
        )
    try:
        listed = list(cast(Sequence[object], findings)) if isinstance(findings, tuple) else findings
        found = findings_of(listed)
    except GraderFailed as error:
        raise GraderError(f"the validator {name!r}: {error.message}", retryable=False) from None
    return Grade(score=cast(float, score), reason=str(verdict.get("reason") or ""), findings=found)
