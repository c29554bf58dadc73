"""The checks of what an agent did on its way to the answer: steps, time, cost, tokens.

Like a plain validator, a check gives 100 or 0. To add one, write its class and add it to `CHECKS`.
Its fields are the keys of its body in a YAML or JSON file. Those of tools are in `tool_checks.py`.
"""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field, StrictInt

from arena.evaluation.fields import Body, Number
from arena.evaluation.verdict import Finding, Submission

Findings = tuple[Finding, ...]
Most = Annotated[Number, Field(gt=0)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Check(Body):
    """Looks at the whole submission, not only at its text."""

    @property
    def is_slow(self) -> bool:
        """Whether a check of little may take seconds, so that the event loop must not do it."""
        return False

    def effort(self, submission: Submission, *, limit: int) -> int:
        """About how many values a check looks at; counting may stop beyond `limit`."""
        return 0

    @abstractmethod
    def check(self, submission: Submission) -> Findings:
        """The findings; the submission passes if all of them do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MostSteps(Check):
    """The agent called at most so many tools."""

    at_most: Annotated[StrictInt, Field(ge=0)]

    def check(self, submission: Submission) -> Findings:
        """One finding: how many steps there were; if some are missing, too many or not known."""
        count, problem = len(submission.steps), submission.steps_problem
        if problem is not None and count <= self.at_most:
            return (_at_most("steps", None, self.at_most, "steps", problem),)
        return (_at_most("steps", count, self.at_most, "steps"),)


@dataclass(frozen=True, slots=True, kw_only=True)
class Latency(Check):
    """The agent answered within so many seconds, over the whole conversation."""

    at_most_seconds: Most

    def check(self, submission: Submission) -> Findings:
        """One finding: how long it took."""
        return (_at_most("latency", submission.duration_seconds, self.at_most_seconds, "s"),)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost(Check):
    """The answer cost at most so many dollars."""

    at_most_usd: Most

    def check(self, submission: Submission) -> Findings:
        """One finding: what it cost; an unknown cost fails."""
        return (_at_most("cost", submission.usage.cost_usd, self.at_most_usd, "USD"),)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokens(Check):
    """The answer used at most so many tokens, input and output together."""

    at_most: Annotated[StrictInt, Field(ge=1)]

    def check(self, submission: Submission) -> Findings:
        """One finding: how many were used; an unknown number fails."""
        return (_at_most("tokens", submission.usage.tokens, self.at_most, "tokens"),)


def _at_most(
    name: str, used: float | None, most: float, unit: str, problem: str | None = None
) -> Finding:
    criterion = f"{name}: at most {most:g} {unit}"
    if used is None:
        why = f": {problem}" if problem else ""
        return Finding(criterion=criterion, passed=False, reason=f"{name}: not known{why}")
    passed = used <= most
    more = "" if passed else f", more than {most:g}"
    return Finding(criterion=criterion, passed=passed, reason=f"{name}: {used:g} {unit}{more}")


CHECKS: dict[str, type[Check]] = {
    "steps": MostSteps,
    "latency": Latency,
    "cost": Cost,
    "tokens": Tokens,
}
"""By the `validation` of a test."""
