"""What was handed in, what was found in it, and what that comes to."""

from dataclasses import dataclass

from arena.evaluation.judgement import Judgement
from arena.evaluation.sealed import Opening


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """An agent's answer, as it is judged."""

    output: str
    language: str | None = None
    """What its code is written in, where the one who hands it in says so."""


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
    score: float | None = None
    """0 to 100, where the criterion is graded."""
    weight: float | None = None
    """How much it counts among its neighbours, where they do not count the same."""
    mark: str | None = None
    """Why it deserves a second look: a quote that is not in the submission."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemAnswer:
    """What a person said to one item of a checklist."""

    passed: bool
    note: str = ""
    reviewer: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Is the submission good enough, and why."""

    score: float
    """0 to 100."""
    passed: bool
    reasoning: str
    findings: tuple[Finding, ...]
    engine: str = ""
    """What ran the submission's code: `python 3.11.2`, `quickjs`."""
    judgement: Judgement | None = None
    """The votes, where a model judged."""
    answers: tuple[ItemAnswer, ...] = ()
    """What people said, item by item, where they judged."""
    openings: tuple[Opening, ...] = ()
    """The hidden cases of a sealed standard, in the order of its commitments."""
    parts: tuple["Verdict", ...] = ()
    """The verdicts of a composite's parts, in order."""
