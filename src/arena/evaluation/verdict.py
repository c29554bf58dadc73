"""What was handed in, what was found in it, and what that comes to."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """An agent's answer, as it is judged."""

    output: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that was looked for, and what was there."""

    criterion: str
    """What was looked for, in words: `contains "userinterface"`."""
    passed: bool
    reason: str
    """Why it passed or failed, readable on its own."""
    evidence: str | None = None
    """The place in the submission that decided it, quoted; None where nothing was there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Is the submission good enough, and why."""

    score: float
    """0 to 100."""
    passed: bool
    reasoning: str
    findings: tuple[Finding, ...]
