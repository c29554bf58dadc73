"""Are the tests any good? A test that an agent without understanding passes measures nothing."""

from collections.abc import Iterable
from dataclasses import dataclass

from arena.catalog.null_agents import null_answers
from arena.catalog.test import Test
from arena.evaluation.evaluate import evaluate
from arena.evaluation.resources import NO_RESOURCES, NotJudged, Resources, ReviewNeeded
from arena.evaluation.standard import AllOf, AnyOf, Standard
from arena.evaluation.text import find_keyword, fold
from arena.evaluation.validators import Contains, Keywords, NotContains
from arena.evaluation.verdict import Submission

NOBODY = "nobody"


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditFinding:
    """One thing that makes a test worthless."""

    test_id: str
    agent: str
    """The null agent that passes the test; `nobody` where no answer at all can."""
    answer: str
    """What the null agent said."""
    reason: str
    """Why that is enough, in the words of the verdict; or why nothing is."""

    def __str__(self) -> str:
        return f"{self.test_id}: {self.agent} can pass it: {self.reason}"


async def audit(tests: Iterable[Test], resources: Resources = NO_RESOURCES) -> list[AuditFinding]:
    """A finding for each null agent that passes an active test, and for each impossible test.

    What only a model or a person can judge is left out: that would cost, and decide nothing.
    """
    findings: list[AuditFinding] = []
    for test in tests:
        if test.active:
            findings += await audit_test(test, resources) or ()
    return findings


async def audit_test(test: Test, resources: Resources = NO_RESOURCES) -> list[AuditFinding] | None:
    """The findings of one test; None where only a model or a person could judge it."""
    standard = test.standard
    contradiction = _contradiction(standard)
    if contradiction is not None:
        return [AuditFinding(test_id=test.id, agent=NOBODY, answer="", reason=contradiction)]
    findings: dict[str, AuditFinding] = {}
    for agent, answer in null_answers(test.prompt):
        if agent in findings:
            continue  # one wording that passes is enough to know
        try:
            verdict = await evaluate(standard, Submission(output=answer), resources)
        except (NotJudged, ReviewNeeded):
            return None
        if verdict.passed:
            findings[agent] = AuditFinding(
                test_id=test.id, agent=agent, answer=answer, reason=verdict.reasoning
            )
    return list(findings.values())


def _contradiction(standard: Standard) -> str | None:
    """Why no answer can meet the standard, as far as words that exclude each other tell."""
    if not isinstance(standard, AllOf | AnyOf):
        return None
    inner = [_contradiction(part) for part in standard.parts]
    if isinstance(standard, AnyOf):
        return inner[0] if all(inner) else None
    found = next((reason for reason in inner if reason), None)
    return found or _excluded_word(standard)


def _excluded_word(standard: AllOf) -> str | None:
    for wanting in (part for part in standard.parts if isinstance(part, Contains)):
        for banning in (part for part in standard.parts if isinstance(part, NotContains)):
            for word in wanting.contains:
                for banned in banning.contains:
                    if _excludes(banning, banned, wanting, word):
                        return f'"{word}" must be there, and "{banned}" must not'
    return None


def _excludes(banning: Keywords, banned: str, wanting: Keywords, word: str) -> bool:
    """Whether every text with `word` in it has the banned word too."""
    if banning.case_sensitive and not wanting.case_sensitive:
        return False  # the word may stand there in another case
    if banning.whole_word and not wanting.whole_word:
        return False  # "category" has "cat", and not as a word
    sensitive = banning.case_sensitive
    inside = fold(word, case_sensitive=sensitive), fold(banned, case_sensitive=sensitive)
    return find_keyword(*inside, whole_word=banning.whole_word) is not None
