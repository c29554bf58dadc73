"""Audits tests: one that an agent without understanding passes measures nothing."""

import asyncio
import time
from collections.abc import Iterable, Mapping

from arena.catalog.catalog import Catalog
from arena.catalog.test import AuditFinding, Test, TestAudit
from arena.errors import InfrastructureError
from arena.evaluation.evaluate import evaluate
from arena.evaluation.resources import NO_RESOURCES, NotJudged, Resources, ReviewNeeded
from arena.evaluation.standard import AllOf, AnyOf, Standard
from arena.evaluation.text import find_keyword, fold
from arena.evaluation.validators import Contains, Keywords, NotContains
from arena.evaluation.verdict import Submission
from arena.sandbox.errors import LanguageRefused

NOBODY = "nobody"
MAX_ANSWER = 500
"""How much of a null agent's answer is kept in a finding; an echo is as long as its prompt."""

WORDINGS: Mapping[str, tuple[str, ...]] = {
    "echo": (
        "{prompt}",
        "You asked: {prompt}",
        "Sure! I will do this right away: {prompt} Done.",
        "I have done what you asked. Your request was: {prompt}",
    ),
    "silence": ("",),
    "refusal": (
        "I'm sorry, but I can't help with that.",
        "I cannot assist with this request: {prompt}",
        "As an assistant I am not able to do this. I do not have access to that information.",
        "This is not something I can do. No.",
        "Unfortunately I don't know. Please ask somebody else.",
    ),
    "apology": (
        "Sorry, an error occurred.",
        "I apologise: something went wrong while I was working on your request ({prompt}). "
        "Please try again later.",
        "Error: the request failed because of an internal error. The status is unknown.",
        "The operation timed out or failed with an error; the result was not found, is invalid or "
        "does not exist.",
    ),
}
"""The answers of each null agent; `{prompt}` is replaced by the prompt.

Each is a way of answering without understanding, in several wordings: a test that catches one
apology may let the next one through.
"""


def null_answers(prompt: str) -> list[tuple[str, str]]:
    """Every answer of the null agents, with the agent's name."""
    return [
        (name, wording.replace("{prompt}", prompt))
        for name, wordings in WORDINGS.items()
        for wording in wordings
    ]


async def audit(tests: Iterable[Test], resources: Resources = NO_RESOURCES) -> list[AuditFinding]:
    """A finding for each null agent that passes an active test, and for each impossible test.

    Tests that only a model or a person can judge are left out: that would cost money or time.
    """
    findings: list[AuditFinding] = []
    for test in tests:
        if test.active:
            findings += await audit_test(test, resources) or ()
    return findings


async def audit_test(test: Test, resources: Resources = NO_RESOURCES) -> list[AuditFinding] | None:
    """The findings of one test; None if only a model or a person could judge it."""
    standard = test.standard
    contradiction = _contradiction(standard)
    if contradiction is not None:
        return [AuditFinding(test_id=test.id, agent=NOBODY, answer="", reason=contradiction)]
    findings: dict[str, AuditFinding] = {}
    for agent, answer in null_answers(test.prompt):
        if agent in findings:
            continue  # one wording that passes is enough
        try:
            verdict = await evaluate(standard, Submission(output=answer), resources)
        except (NotJudged, ReviewNeeded):
            return None
        except LanguageRefused:
            continue  # an answer that is no code does not pass
        if verdict.passed:
            findings[agent] = AuditFinding(
                test_id=test.id,
                agent=agent,
                answer=answer[:MAX_ANSWER],
                reason=verdict.reasoning,
            )
    return list(findings.values())


def _contradiction(standard: Standard) -> str | None:
    """Why no answer can pass: required and forbidden words that exclude each other."""
    if not isinstance(standard, AllOf | AnyOf):
        return None
    inner = [_contradiction(part) for part in standard.parts]
    if isinstance(standard, AnyOf):
        return inner[0] if all(inner) else None
    found = next((reason for reason in inner if reason), None)
    return found or _excluded_word(standard)


def _excluded_word(standard: AllOf) -> str | None:
    for requiring in (part for part in standard.parts if isinstance(part, Contains)):
        for forbidding in (part for part in standard.parts if isinstance(part, NotContains)):
            for word in requiring.contains:
                for forbidden in forbidding.contains:
                    if _excludes(forbidding, forbidden, requiring, word):
                        return f'"{word}" must be there, and "{forbidden}" must not'
    return None


def _excludes(forbidding: Keywords, forbidden: str, requiring: Keywords, word: str) -> bool:
    """Whether every text with `word` in it has the forbidden word too."""
    if forbidding.case_sensitive and not requiring.case_sensitive:
        return False  # the word may occur in another case
    if forbidding.whole_word and not requiring.whole_word:
        return False  # "category" contains "cat", but not as a word
    sensitive = forbidding.case_sensitive
    inside = fold(word, case_sensitive=sensitive), fold(forbidden, case_sensitive=sensitive)
    return find_keyword(*inside, whole_word=forbidding.whole_word) is not None


class Audits:
    """Audits a whole catalog step by step. An unchanged test is audited once."""

    def __init__(self, resources: Resources = NO_RESOURCES) -> None:
        # Without the judge, so that no model is ever called.
        self._resources = Resources(sandbox=resources.sandbox, unseal=resources.unseal)
        self._known: dict[str, list[AuditFinding] | None] = {}
        """By the digest of the test; None if it was left out."""
        self._digests: tuple[str, list[tuple[Test, str]]] = ("", [])
        self._working = asyncio.Lock()

    async def report(self, catalog: Catalog, *, within_seconds: float) -> TestAudit:
        """The findings after about `within_seconds` of work; call again for pending tests."""
        async with self._working:
            tests = self._active(catalog)
            unable = await self._audit(tests, time.monotonic() + within_seconds)
        known = [(test, self._known[digest]) for test, digest in tests if digest in self._known]
        left_out = [test.id for test, found in known if found is None]
        return TestAudit(
            digest=catalog.digest,
            findings=[one for _, found in known for one in found or ()],
            audited=len(known) - len(left_out),
            left_out=[*left_out, *unable],
            pending=len(tests) - len(known) - len(unable),
        )

    def _active(self, catalog: Catalog) -> list[tuple[Test, str]]:
        """The active tests with their digests; findings of removed tests are dropped."""
        if self._digests[0] != catalog.digest:
            tests = [(test, test.digest) for test in catalog.tests if test.active]
            self._digests = (catalog.digest, tests)
            present = {digest for _, digest in tests}
            self._known = {key: found for key, found in self._known.items() if key in present}
        return self._digests[1]

    async def _audit(self, tests: list[tuple[Test, str]], until: float) -> list[str]:
        """Audit new tests; returns the ids of those that could not be judged now."""
        unable: list[str] = []
        for test, digest in tests:
            if digest in self._known:
                continue
            if time.monotonic() > until:
                break
            try:
                self._known[digest] = await audit_test(test, self._resources)
            except InfrastructureError:
                # No sandbox here, or a busy one: not stored, the next attempt may succeed.
                unable.append(test.id)
            # Plain validators never await: let other tasks run between two tests.
            await asyncio.sleep(0)
        return unable
