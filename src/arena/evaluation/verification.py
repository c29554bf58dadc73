"""Judges by the standard `verify`: lays the files out, runs the command, reads what it reports."""

import json
import math
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast
from xml.parsers import expat

from arena.errors import AgentFault, NotFound
from arena.evaluation.file_sandbox import end_of, run_clean, sandbox_with, tail
from arena.evaluation.resources import NotJudged
from arena.evaluation.verdict import Finding, Submission, Verdict
from arena.evaluation.verify_files import VerifyFiles
from arena.text import storable
from arena.workspaces.collected import Collected, File
from arena.workspaces.names import matches_any, parents, same_name, shown

if TYPE_CHECKING:
    from arena.sandbox.ports import ExecResult, Sandbox, SandboxProvider

COMMAND = "the verification"
WORKSPACE = "the workspace"
MAX_FINDINGS = 1000
MAX_DAMAGE = 100
MAX_REASON = 500
MAX_REPORT_CHARACTERS = 8_000_000
DURATION = re.compile(r"\b\d+(\.\d+)? ?(ms|s|sec|seconds?)\b")
"""Differs in every run, and says nothing about the files."""


class BadReport(Exception):
    """The report is not what it must be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Outcome:
    """What the command or its report says."""

    score: float
    reason: str
    findings: tuple[Finding, ...] = ()


async def judge_files(
    standard: VerifyFiles, submission: Submission, sandbox: "SandboxProvider | None"
) -> Verdict:
    """The verdict on the files of a submission."""
    if sandbox is None:
        raise NotJudged("verify needs a sandbox, and none is set up", retryable=False)
    collected = submission.files
    if collected is None:
        return _verdict(standard, _failed("the submission has no files"))
    files, left_out = overlaid(collected.files, standard.hidden, standard.reports)
    try:
        ages = _ages(files, standard.hidden, collected)
        async with sandbox_with(sandbox, files, standard.image, ages) as box:
            ran = await run_clean(box, standard.command, standard.timeout)
            text = None
            if standard.reports and ran.limit is None:
                text = await _report(box, standard.reports)
        outcome = _outcome(standard, ran, text)
    except (AgentFault, NotFound) as error:
        # Also a report that is missing, a link, or too large.
        outcome = _failed(error.message)
    reported = tuple(
        Finding(criterion=WORKSPACE, passed=True, reason=text, mark="not as the agent left it")
        for text in (*left_out, *collected.problems)[:MAX_DAMAGE]
    )
    damage = frame_findings(standard.unchanged, collected)
    return _verdict(standard, outcome, damage=damage, reported=reported)


async def _report(box: "Sandbox", paths: tuple[str, ...]) -> str:
    """The text of the first report that there is."""
    for path in paths[:-1]:
        with suppress(NotFound):
            return await box.read_file(path)
    return await box.read_file(paths[-1])


def overlaid(
    files: Mapping[str, File], hidden: Mapping[str, File], reports: Sequence[str]
) -> tuple[dict[str, File], list[str]]:
    """The collected files with the hidden ones over them, and what was left out for it."""
    names = {same_name(path): path for path in hidden}
    folders = {same_name(folder) for path in hidden for folder in parents(path)}
    written = {same_name(report) for report in reports}
    result: dict[str, File] = {}
    left_out: list[str] = []
    for path, file in files.items():
        key = same_name(path)
        if key in written:
            left_out.append(f"left out: {shown(path)}, where the verification writes its report")
        elif path in hidden:
            continue
        elif key in names:
            left_out.append(f"left out: {shown(path)} is another spelling of a hidden file")
        elif key in folders or any(same_name(one) in names for one in parents(path)):
            left_out.append(f"left out: {shown(path)} is in the way of the hidden files")
        else:
            result[path] = file
    return result | dict(hidden), left_out


def _ages(
    files: Mapping[str, File], hidden: Mapping[str, File], collected: Collected
) -> dict[str, int]:
    """How old files look to tools that build only what is older than its sources, such as make.

    Hidden files are the newest, then what the agent changed, so that both are built again. What
    it added is the oldest: a result that it planted is older than the sources it pretends to be
    built from.
    """
    ages = dict.fromkeys(files, 2)
    ages |= {one.path: 3 if one.kind == "added" else 1 for one in collected.changes}
    return ages | dict.fromkeys(hidden, 0)


def frame_findings(unchanged: Sequence[str], collected: Collected) -> tuple[Finding, ...]:
    """A finding for every file that should have been left as it was."""
    damaged = [one for one in collected.changes if matches_any(one.path, unchanged)]
    findings = [
        Finding(
            criterion=f"unchanged: {shown(change.path)}",
            passed=False,
            reason=f"{shown(change.path)} was {change.kind}",
        )
        for change in damaged[:MAX_DAMAGE]
    ]
    if unchanged and not damaged:
        reason = f"nothing in {', '.join(unchanged)} was changed"
        findings.append(Finding(criterion="unchanged", passed=True, reason=reason))
    return tuple(findings)


def _verdict(
    standard: VerifyFiles,
    outcome: _Outcome,
    *,
    damage: tuple[Finding, ...] = (),
    reported: tuple[Finding, ...] = (),
) -> Verdict:
    is_damaged = any(not finding.passed for finding in damage)
    score = 0.0 if is_damaged else outcome.score
    reason = outcome.reason
    if is_damaged:
        names = "; ".join(finding.reason for finding in damage if not finding.passed)
        reason = f"collateral damage: {names[:MAX_REASON]}; {reason}"
    passed = score >= standard.pass_score
    own = outcome.findings or (
        Finding(criterion=COMMAND, passed=outcome.score >= standard.pass_score, reason=reason),
    )
    return Verdict(
        score=score, passed=passed, reasoning=reason, findings=(*own, *damage, *reported)
    )


def recounted(standard: VerifyFiles, verdict: Verdict) -> Verdict:
    """The verdict from its recorded findings, if the command cannot be run here."""
    is_damaged = any(
        not one.passed and one.criterion.startswith("unchanged: ") for one in verdict.findings
    )
    score = 0.0 if is_damaged else verdict.score
    return replace(verdict, score=score, passed=score >= standard.pass_score)


def _failed(reason: str) -> _Outcome:
    return _Outcome(score=0.0, reason=storable(reason))


def _outcome(standard: VerifyFiles, ran: "ExecResult", report: str | None) -> _Outcome:
    if ran.limit is not None:
        return _failed(f"the command went over the limit {ran.limit.value}")
    shown_end = end_of(DURATION.sub("… s", tail(ran)), MAX_REASON)
    ended = f"the command ended with exit code {ran.exit_code}"
    if standard.score == "exit_code":
        if ran.exit_code == 0:
            return _Outcome(score=100.0, reason=ended)
        return _failed(f"{ended}: {shown_end}" if shown_end else ended)
    try:
        if len(report or "") > MAX_REPORT_CHARACTERS:
            raise BadReport(f"has more than {MAX_REPORT_CHARACTERS:,} characters")
        if standard.score == "reward":
            return _reward_outcome(report or "")
        if standard.score == "junit":
            return _junit_outcome(report or "", ran.exit_code, standard.min_cases)
        if ran.exit_code != 0:
            return _failed(f"{ended}, so its report does not count: {shown_end}")
        return _json_outcome(report or "")
    except BadReport as error:
        return _failed(f"the report {standard.report!r} {error}")


def _reward_outcome(text: str) -> _Outcome:
    """A number from 0 to 1, or `{"reward": 1}`, or several named numbers: then their mean."""
    try:
        value: Any = json.loads(text)
    except (ValueError, RecursionError):
        raise BadReport("is not a number or JSON") from None
    named = cast(dict[str, Any], value) if isinstance(value, dict) else {"reward": value}
    if "reward" in named:
        named = {"reward": named["reward"]}
    for name, one in named.items():
        if isinstance(one, bool) or not isinstance(one, int | float) or not 0 <= one <= 1:
            raise BadReport(f"needs numbers from 0 to 1 ({_short(name)} is not)")
    if not named:
        raise BadReport("has no reward")
    score = round(100 * math.fsum(named.values()) / len(named), 6)
    findings = tuple(
        Finding(criterion=_short(name), passed=one == 1, reason=f"{one:g}", score=100.0 * one)
        for name, one in named.items()
    )
    return _Outcome(score=score, reason=f"the reward is {score / 100:g}", findings=findings)


def _json_outcome(text: str) -> _Outcome:
    """`{"score": 0 to 100, "findings": [{"criterion", "passed", "reason"}]}`."""
    try:
        value: Any = json.loads(text)
    except (ValueError, RecursionError):
        raise BadReport("is not JSON") from None
    report = cast(dict[str, Any], value) if isinstance(value, dict) else {}
    score = report.get("score")
    if isinstance(score, bool) or not isinstance(score, int | float) or not 0 <= score <= 100:
        raise BadReport("needs a score: a number from 0 to 100")
    listed = report.get("findings", [])
    if not isinstance(listed, list):
        raise BadReport("has findings that are not a list")
    found = cast(list[Any], listed)[:MAX_FINDINGS]
    findings = tuple(_finding(place, one) for place, one in enumerate(found))
    reason = report.get("reason")
    failed = [one.reason for one in findings if not one.passed]
    text = reason if isinstance(reason, str) and reason else "; ".join(failed[:3])
    given = float(score) if math.isfinite(score) else 0.0
    return _Outcome(
        score=given, reason=_short(text) or f"the report gives {given:g}", findings=findings
    )


def _finding(place: int, value: Any) -> Finding:
    body = cast(dict[str, Any], value) if isinstance(value, dict) else {}
    passed = body.get("passed")
    if not isinstance(passed, bool):
        raise BadReport(f"has a finding ({place + 1}) without 'passed': true or false")
    criterion = _short(str(body.get("criterion") or f"finding {place + 1}"))
    reason = _short(str(body.get("reason") or ("passed" if passed else "failed")))
    return Finding(criterion=criterion, passed=passed, reason=reason)


def _junit_outcome(text: str, exit_code: int, min_cases: int | None) -> _Outcome:
    """The share of the test cases that passed; a skipped one did not."""
    cases = _JunitReader().read(text)
    if not cases:
        raise BadReport("has no test cases")
    passed = sum(case.passed for case in cases)
    count = max(len(cases), min_cases or 0)
    score = passed * 100 // count
    reason = f"{passed} of {count} test cases passed"
    first = next((case for case in cases if not case.passed), None)
    if first is not None:
        reason += f"; {first.criterion}: {first.reason}"
    elif len(cases) < count:
        reason += f"; the report has only {len(cases)} of them"
    if exit_code != 0 and score == 100:
        # For instance a test run that was interrupted after its first tests.
        return _Outcome(
            score=0.0,
            reason=f"{reason}, but the command ended with exit code {exit_code}",
            findings=(
                Finding(criterion=COMMAND, passed=False, reason=f"exit code {exit_code}"),
                *cases[:MAX_FINDINGS],
            ),
        )
    return _Outcome(score=float(score), reason=reason, findings=tuple(cases[:MAX_FINDINGS]))


class _JunitReader:
    """Reads the test cases of a JUnit report; no entities, no tree in memory."""

    def __init__(self) -> None:
        self._cases: list[Finding] = []
        self._name: str | None = None
        self._problem: str | None = None

    def read(self, text: str) -> list[Finding]:
        """A finding for every test case."""
        parser = expat.ParserCreate()
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.StartDoctypeDeclHandler = self._refuse
        try:
            parser.Parse(text.encode(errors="replace"), True)
        except expat.ExpatError as error:
            raise BadReport(f"is not XML: {error}") from None
        return self._cases

    def _refuse(self, *_: object) -> None:
        # Entities can be nested to grow without end, and no test runner needs them.
        raise BadReport("has a document type, which is not allowed")

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        tag = tag.rpartition(":")[2]
        if tag == "testcase":
            names = (attributes.get("classname", ""), attributes.get("name", ""))
            self._name = _short(".".join(filter(None, names))) or f"case {len(self._cases) + 1}"
            self._problem = None
            if len(self._cases) >= 100 * MAX_FINDINGS:
                raise BadReport(f"has more than {100 * MAX_FINDINGS:,} test cases")
        elif self._name is not None and tag in ("failure", "error", "skipped"):
            message = attributes.get("message", "")
            self._problem = _short(DURATION.sub("… s", f"{tag}: {message}" if message else tag))

    def _end(self, tag: str) -> None:
        if tag.rpartition(":")[2] == "testcase" and self._name is not None:
            passed = self._problem is None
            reason = self._problem or "passed"
            self._cases.append(Finding(criterion=self._name, passed=passed, reason=reason))
            self._name = None


def _short(text: str) -> str:
    return storable(text if len(text) <= MAX_REASON else f"{text[:MAX_REASON]}…")
