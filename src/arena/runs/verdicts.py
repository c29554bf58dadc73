"""Applies verdicts to results, and stores verdict records."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from arena.catalog.test import Test
from arena.content.ports import ContentStore
from arena.evaluation.record import store_record
from arena.evaluation.verdict import Finding, Submission, Verdict
from arena.text import storable


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorder:
    """Stores verdict records in a content store."""

    store: ContentStore
    sandbox: str
    """The name of the sandbox provider in use."""

    async def keep(
        self, document: Mapping[str, object], submission: Submission, verdict: Verdict
    ) -> str:
        """Store the record of a verdict by this standard; returns its CID."""
        return await store_record(self.store, document, submission, verdict, sandbox=self.sandbox)


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
    """The finding with text that a database accepts: code may return any character."""
    texts = (finding.criterion, finding.reason, finding.evidence or "")
    # The usual case, without copying: there may be thousands of findings.
    if all(text.isascii() and "\0" not in text for text in texts):
        return finding
    return replace(
        finding,
        criterion=storable(finding.criterion),
        reason=storable(finding.reason),
        evidence=None if finding.evidence is None else storable(finding.evidence),
    )
