"""What a verdict makes of a result: passed or not, points, what it adds to cost efficiency."""

from dataclasses import dataclass

from arena.agents import Usage
from arena.catalog import Test
from arena.evaluation import Verdict
from arena.scoring import CostContribution, cost_contribution
from arena.text import storable


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """The part of a result that its verdict decides."""

    passed: bool
    score: float
    points_earned: float
    failure_reason: str | None
    findings: list[dict[str, object]]
    cost: CostContribution | None


def judged(test: Test, usage: Usage, verdict: Verdict) -> Judged:
    """A verdict on an answer to this test, as a result keeps it."""
    return Judged(
        passed=verdict.passed,
        score=verdict.score,
        points_earned=test.points if verdict.passed else 0.0,
        failure_reason=None if verdict.passed else storable(verdict.reasoning),
        findings=_findings(verdict),
        cost=_cost(test, usage) if verdict.passed else None,
    )


def _cost(test: Test, usage: Usage) -> CostContribution | None:
    tokens = None
    if usage.input_tokens is not None and usage.output_tokens is not None:
        tokens = usage.input_tokens + usage.output_tokens
    return cost_contribution(test.points, test.token_budget, tokens)


def _findings(verdict: Verdict) -> list[dict[str, object]]:
    return [
        {
            "criterion": storable(finding.criterion),
            "passed": finding.passed,
            # What submitted code returned or raised may hold any character.
            "reason": storable(finding.reason),
            "evidence": None if finding.evidence is None else storable(finding.evidence),
            "score": finding.score,
            "weight": finding.weight,
            "mark": finding.mark,
        }
        for finding in verdict.findings
    ]
