"""What a verdict decides of a result, and which verdicts become records of their own."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace

from arena.catalog.test import Test
from arena.content.store import LocalStore
from arena.evaluation.record import keep_record
from arena.evaluation.verdict import Finding, Submission, Verdict
from arena.text import storable


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorder:
    """Keeps verdict records in a content store."""

    store: LocalStore
    sandbox: str
    """The name of the sandbox provider in use."""

    async def keep(
        self, document: Mapping[str, object], submission: Submission, verdict: Verdict
    ) -> str:
        """The CID of the record of a verdict by the standard in this document."""
        return await asyncio.to_thread(
            keep_record, self.store, document, submission, verdict, sandbox=self.sandbox
        )


def judged_fields(test: Test, verdict: Verdict) -> dict[str, object]:
    """The fields of a result that its verdict decides, by name."""
    return {
        "passed": verdict.passed,
        "score": verdict.score,
        "points_earned": test.points if verdict.passed else 0.0,
        "failure_reason": None if verdict.passed else storable(verdict.reasoning),
        "findings": [_storable_finding(finding) for finding in verdict.findings],
    }


def _storable_finding(finding: Finding) -> Finding:
    """The finding without what a database refuses: submitted code may return any character."""
    texts = (finding.criterion, finding.reason, finding.evidence or "")
    if all(text.isascii() and "\0" not in text for text in texts):
        return finding
    return replace(
        finding,
        criterion=storable(finding.criterion),
        reason=storable(finding.reason),
        evidence=None if finding.evidence is None else storable(finding.evidence),
    )
