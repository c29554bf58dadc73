"""Applies verdicts to results, and stores verdict records."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from arena.catalog.test import Test
from arena.content.ports import ContentStore
from arena.evaluation.record import store_record
from arena.evaluation.verdict import Finding, Submission, Verdict
from arena.models.usage import Usage
from arena.runs.run import Result
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


def answered_in(result: Result) -> bool:
    """Whether a result has an answer; of a conversation that failed, only its user is kept."""
    return "output" in (result.actual_output or {})


def submission_of(result: Result) -> Submission:
    """What a recorded answer was judged by, except the files, which only a record has."""
    output = result.actual_output or {}
    return Submission(
        output=str(output.get("output", "")),
        language=output.get("language"),
        messages=tuple(result.messages or ()),
        steps=tuple(result.steps or ()),
        steps_problem=output.get("steps_problem"),
        usage=Usage(
            input_tokens=result.input_tokens,
            output_tokens=result.output_tokens,
            model=result.model,
            cost_usd=result.cost_usd,
        ),
        duration_seconds=result.duration_seconds,
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
