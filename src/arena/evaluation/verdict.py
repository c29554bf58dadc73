"""The values of judging: what was handed in, what was found in it, what models and people said.

These are what the API sends, what the CLI prints and, but for `record_cid`, what a verdict record
holds. Their field names are part of every record's hash: do not rename them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any, Literal, TypeVar, cast

from pydantic import Field

Number = TypeVar("Number", int, float)


MIN_PASS_SCORE = 60
"""The `pass_score` of a graded standard that names none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """An agent's answer, as it is judged."""

    output: str
    language: str | None = None
    """What its code is written in, if the submitter says so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that was looked for, and what was there."""

    criterion: str
    """What was looked for, in words: `contains "userinterface"`."""
    passed: bool
    reason: str
    """Why it passed or failed, readable on its own."""
    evidence: str | None = None
    """The place in the submission that decided it, quoted; null if nothing was there."""
    score: float | None = None
    """0 to 100, if the criterion is graded."""
    weight: float | None = None
    """How much it counts; null if all count the same."""
    mark: str | None = None
    """Why it deserves a second look: a quote that is not in the submission."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemAnswer:
    """What a person said to one item of a checklist."""

    passed: bool
    note: str = ""
    reviewer: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """A hidden case of a sealed standard, and the salt of its commitment."""

    salt: str
    """64 hexadecimal digits."""
    case: Mapping[str, object]
    """As a standard writes cases."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Vote:
    """One complete answer of one model."""

    model: str
    number: int
    """1, 2, 3… among the votes of that model."""
    scores: Mapping[str, int]
    """0 to 100 for each criterion."""
    reasons: Mapping[str, str] = field(default_factory=dict[str, str])
    quotes: Mapping[str, str] = field(default_factory=dict[str, str])
    """What it quoted from the submission; a criterion without a quote is left out."""
    base_url: str = ""
    """The endpoint that was asked."""
    answered_by: str | None = None
    """The model that the endpoint says answered: often a dated version of the one asked for."""
    attempts: int = 1
    """How many answers it took until one was valid."""
    input_tokens: int | None = None
    """Of all attempts together, like the next two."""
    output_tokens: int | None = None
    cost_usd: float | None = None
    """Null if the price is not known; never a guess."""
    cached: bool = False
    """Whether the answer was given earlier, and cost what it cost then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A figure with its 95 % interval; null if the data allow none."""

    value: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeFigures:
    """How well a judge agreed with people and with itself when it was last measured."""

    measured_at: datetime
    items: int
    """Submissions that people had scored."""
    kappa: Estimate
    """Agreement beyond chance, quadratic weights: 1 is perfect, 0 no better than chance."""
    mean_error: Estimate
    """The mean distance from the human score, in points."""
    bias: Estimate
    """The mean of judge minus human: above 0 the judge is generous."""
    spread: Estimate
    """The mean of highest minus lowest score of one item, judged repeatedly."""
    flips: Estimate
    """The share of items that passed in one judgement and failed in another."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """The votes of a panel and the rule that made one score of them."""

    votes: tuple[Vote, ...]
    rule: Annotated[str, Field(examples=["lower median"])]
    """How several scores of a criterion become one."""
    spread: Mapping[str, int]
    """The highest minus the lowest score of each criterion."""
    prompt_digest: str
    """A hash of everything the models were sent, except the delimiter."""
    judge: str = ""
    """The id of the judge."""
    characters: int = 0
    """How long the submission is."""
    shown_characters: int = 0
    """How much of it the models were shown."""
    figures: JudgeFigures | None = None
    """What was known about this judge when it judged; null if it was never measured."""

    @property
    def input_tokens(self) -> int | None:
        """What this judgement took; votes from the cache took nothing."""
        return total([vote.input_tokens for vote in self.votes if not vote.cached])

    @property
    def output_tokens(self) -> int | None:
        """What this judgement took."""
        return total([vote.output_tokens for vote in self.votes if not vote.cached])

    @property
    def cost_usd(self) -> float | None:
        """What this judgement cost; None if the price of a vote is not known."""
        return total([vote.cost_usd for vote in self.votes if not vote.cached])


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Is the submission good enough, and why."""

    score: float
    """0 to 100."""
    passed: bool
    reasoning: str
    findings: tuple[Finding, ...]
    engine: str = ""
    """What ran the submission's code (`python 3.11.2`, `quickjs`); empty if nothing did."""
    judgement: Judgement | None = None
    """The votes, if a model judged."""
    answers: tuple[ItemAnswer, ...] = ()
    """What people said, item by item, if they judged."""
    openings: tuple[Opening, ...] = ()
    """The hidden cases of a sealed standard, now shown, in the order of its commitments."""
    record_cid: str | None = None
    """The verdict record, which `GET /api/verify` checks; null if none was kept."""
    parts: tuple["Verdict", ...] = ()
    """The verdicts of a composite's parts, in order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeWith:
    """The programs that made a verdict; what ran the submission's code is in the verdict itself."""

    arena: str
    python: str
    platform: str
    sandbox: str
    """The sandbox provider that was configured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A place where a record does not say what comes out."""

    path: Annotated[str, Field(examples=["verdict.findings[2].passed"])]
    recorded: Any
    recomputed: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """The outcome of checking a verdict record."""

    cid: str
    outcome: Literal["holds", "differs", "cannot_be_replayed"]
    differences: tuple[Difference, ...]
    """Where it differs; a hundred at most."""
    obstacles: tuple[str, ...]
    """What kept a part from being replayed."""
    taken: tuple[str, ...]
    """What nobody can replay and was taken as recorded: what models and people said."""
    notes: tuple[str, ...]
    """What other versions word differently, which decides nothing."""
    standard_cid: str
    submission_cid: str
    score: float
    """As recorded."""
    passed: bool
    """As recorded."""
    made_at: datetime
    made_with: MadeWith


def total(numbers: Sequence[Number | None]) -> Number | None:
    """The sum; one unknown makes it unknown."""
    known = [number for number in numbers if number is not None]
    return sum(known, start=cast(Number, 0)) if len(known) == len(numbers) else None
