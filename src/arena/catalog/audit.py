"""Audits tests: one that an agent without understanding passes measures nothing."""

import asyncio
import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from arena.catalog.catalog import Catalog
from arena.catalog.cheats import Cheat, cheats, pleas
from arena.catalog.contradictions import contradiction
from arena.catalog.fix_hints import hint_for
from arena.catalog.null_agents import idle_submission, null_submissions
from arena.catalog.solution import solution_of
from arena.catalog.test import AuditFinding, FindingKind, Test, TestAudit
from arena.errors import InfrastructureError
from arena.evaluation.evaluate import evaluate
from arena.evaluation.resources import NO_RESOURCES, NotJudged, Resources, ReviewNeeded
from arena.evaluation.standard import JudgePrompt, Standard, VerifyFiles, leaves
from arena.evaluation.verdict import Submission, Verdict
from arena.sandbox.errors import LanguageRefused
from arena.text import storable
from arena.workspaces.collected import Collected

if TYPE_CHECKING:
    from arena.catalog.audited_workspace import AuditedWorkspace

NOBODY = "nobody"
SOLUTION = "solution"
TESTS_AT_ONCE = 100
"""Tests that are read before other tasks may run."""
MAX_ANSWER = 500
"""How much of an answer is kept in a finding; an echo is as long as its prompt."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditedTest:
    """What the audit found out about one test."""

    findings: tuple[AuditFinding, ...] = ()
    weaknesses: tuple[AuditFinding, ...] = ()
    is_solved: bool = False
    """Whether it has a solution, and that passes."""


async def audit(tests: Iterable[Test], resources: Resources = NO_RESOURCES) -> list[AuditFinding]:
    """The findings of all active tests.

    Tests that only a model or a person can judge are left out: that would cost money or time.
    """
    findings: list[AuditFinding] = []
    for test in tests:
        if test.active and (audited := await audit_test(test, resources)):
            findings += audited.findings
    return findings


async def audit_test(test: Test, resources: Resources = NO_RESOURCES) -> AuditedTest | None:
    """The findings of one test; None if only a model or a person could judge it."""
    standard = test.standard
    reason = contradiction(standard)
    if reason is not None:
        return AuditedTest(findings=(_finding(test, standard, "impossible", NOBODY, "", reason),))
    try:
        return await _Auditing(test, standard, resources).audited()
    except (NotJudged, ReviewNeeded):
        return None


class _Auditing:
    """The audit of one test."""

    def __init__(self, test: Test, standard: Standard, resources: Resources) -> None:
        self._test = test
        self._standard = standard
        self._resources = resources
        self._workspace: AuditedWorkspace | None = None
        self._files: Collected | None = None
        """The workspace as it was given."""

    async def audited(self) -> AuditedTest:
        """The solution first: a test that nothing passes needs no further look."""
        if self._test.workspace is not None:
            # Imported here: few tests have files.
            from arena.catalog.audited_workspace import audited_workspace

            self._workspace = await audited_workspace(self._test, self._standard, self._resources)
            self._files = self._workspace.left({}) if self._workspace else None
        broken = await self._broken_solution() if self._test.solution else ()
        passing = await self._null_findings()
        weaknesses: list[AuditFinding] = []
        if not passing:
            # A test that is passed by doing nothing is passed by every cheat, too.
            passing, weaknesses = await self._cheat_findings()
        return AuditedTest(
            findings=(*broken, *passing),
            weaknesses=tuple(weaknesses),
            is_solved=self._test.solution is not None and not broken,
        )

    async def _verdict(self, submission: Submission) -> Verdict | None:
        """The verdict; None if the submission is not even code."""
        try:
            return await evaluate(self._standard, submission, self._resources)
        except LanguageRefused:
            return None

    async def _broken_solution(self) -> tuple[AuditFinding, ...]:
        submission = solution_of(self._test)
        if self._workspace is not None:
            files = await self._workspace.solved()
            submission = replace(submission, files=files)
        try:
            verdict = await evaluate(self._standard, submission, self._resources)
        except LanguageRefused as error:
            passed, reason = False, error.message
        else:
            passed, reason = verdict.passed, verdict.reasoning
        shown = submission.output or ", ".join((self._test.solution or {}).get("files") or ())
        return () if passed else (self._found("solution", SOLUTION, shown, reason),)

    async def _null_findings(self) -> list[AuditFinding]:
        findings: dict[str, AuditFinding] = {}
        is_of_files = all(isinstance(leaf, VerifyFiles) for leaf in leaves(self._standard))
        for agent, submission in null_submissions(self._test, self._files):
            if agent in findings or (is_of_files and agent != "silence"):
                continue  # one wording that passes is enough, and files are not changed by words
            verdict = await self._verdict(submission)
            if verdict is not None and verdict.passed:
                findings[agent] = self._found("null", agent, submission.output, verdict.reasoning)
        if "silence" in findings:
            # Whatever the others say is not why they pass.
            hint = findings["silence"].hint
            return [replace(finding, hint=hint) for finding in findings.values()]
        return list(findings.values())

    async def _cheat_findings(self) -> tuple[list[AuditFinding], list[AuditFinding]]:
        holes: dict[str, AuditFinding] = {}
        weaknesses: dict[str, AuditFinding] = {}
        for cheat in self._cheats():
            found = holes if cheat.kind == "guess" else weaknesses
            if cheat.name in found or cheat.name in holes:
                continue
            verdict = await self._verdict(cheat.submission)
            if verdict is not None and verdict.passed:
                found[cheat.name] = self._found("cheat", cheat.name, cheat.shown, verdict.reasoning)
        return list(holes.values()), list(weaknesses.values())

    def _cheats(self) -> Iterable[Cheat]:
        yield from cheats(self._test, self._standard, self._files)
        for name, shown, files in self._workspace.planted() if self._workspace else ():
            replies = [""] * len(self._test.turns or (1,))
            submission = idle_submission(self._test, replies, files)
            yield Cheat(name=name, kind="guess", submission=submission, shown=shown)
        if any(isinstance(leaf, JudgePrompt) for leaf in leaves(self._standard)):
            yield from pleas(self._test, self._files)

    def _found(self, kind: FindingKind, agent: str, answer: str, reason: str) -> AuditFinding:
        return _finding(self._test, self._standard, kind, agent, answer, reason)


def _finding(
    test: Test, standard: Standard, kind: FindingKind, agent: str, answer: str, reason: str
) -> AuditFinding:
    return AuditFinding(
        test_id=test.id,
        agent=agent,
        answer=answer[:MAX_ANSWER],
        reason=storable(reason),
        kind=kind,
        hint=hint_for(agent, standard),
    )


class Audits:
    """Audits a whole catalog step by step. An unchanged test is audited once."""

    def __init__(self, resources: Resources = NO_RESOURCES) -> None:
        # Without the judge, so that no model is called unless somebody asks for it.
        self._resources = Resources(sandbox=resources.sandbox, unseal=resources.unseal)
        self._judging = replace(self._resources, judge=resources.judge)
        self._known: dict[tuple[str, bool], AuditedTest | None] = {}
        """By the digest of the test, and whether a model judged; None if it was left out."""
        self._digests: tuple[str, list[tuple[str, str | None]]] = ("", [])
        """The digest of the catalog; of each test its id and digest, None if it is not active."""
        self._working = asyncio.Lock()

    async def report(
        self, catalog: Catalog, *, within_seconds: float, with_judge: bool = False
    ) -> TestAudit:
        """The findings after about `within_seconds` of work; call again for pending tests."""
        async with self._working:
            tests = await self._listed(catalog)
            until = time.monotonic() + within_seconds
            unable = await self._audit(catalog, tests, until, with_judge)
        active = [(test_id, digest) for test_id, digest in tests if digest is not None]
        known = [
            (test_id, self._known[digest, with_judge])
            for test_id, digest in active
            if (digest, with_judge) in self._known
        ]
        left_out = [test_id for test_id, found in known if found is None]
        audited = [found for _, found in known if found is not None]
        return TestAudit(
            digest=catalog.digest,
            findings=[one for found in audited for one in found.findings],
            weaknesses=[one for found in audited for one in found.weaknesses],
            audited=len(audited),
            solved=sum(found.is_solved for found in audited),
            left_out=[*left_out, *unable],
            pending=len(active) - len(known) - len(unable),
        )

    async def _listed(self, catalog: Catalog) -> list[tuple[str, str | None]]:
        """The id and digest of each test; findings of removed tests are dropped."""
        if self._digests[0] != catalog.digest:
            tests: list[tuple[str, str | None]] = []
            for test in catalog.tests:
                tests.append((test.id, test.digest if test.active else None))
                if len(tests) % TESTS_AT_ONCE == 0:
                    await asyncio.sleep(0)  # a data set takes seconds to read
            self._digests = (catalog.digest, tests)
            present = {digest for _, digest in tests}
            self._known = {key: found for key, found in self._known.items() if key[0] in present}
        return self._digests[1]

    async def _audit(
        self,
        catalog: Catalog,
        listed: list[tuple[str, str | None]],
        until: float,
        with_judge: bool,
    ) -> list[str]:
        """Audit new tests; returns the ids of those that could not be judged now."""
        unable: list[str] = []
        resources = self._judging if with_judge else self._resources
        places = (
            place
            for place, (_, digest) in enumerate(listed)
            if digest is not None and (digest, with_judge) not in self._known
        )
        first = next(places, None)
        if first is None:
            return unable
        # The tests themselves are read again, and not kept: there may be very many.
        for (_, digest), test in zip(listed[first:], catalog.tests[first:], strict=True):
            if digest is None or (digest, with_judge) in self._known:
                continue
            if time.monotonic() > until:
                break
            try:
                self._known[digest, with_judge] = await audit_test(test, resources)
            except InfrastructureError:
                # No sandbox here, or a busy one: not stored, the next attempt may succeed.
                unable.append(test.id)
            # Plain validators never await: let other tasks run between two tests.
            await asyncio.sleep(0)
        return unable
