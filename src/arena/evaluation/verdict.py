"""The values of judging: submissions, findings, votes, answers and verdicts.

The API sends them, the CLI prints them and, except for `record_cid`, a verdict record holds them.
Their field names are part of every record's hash: do not rename them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any, Literal, TypeVar, cast

from pydantic import Field

from arena.models.message import Message
from arena.models.step import Step
from arena.models.usage import Usage
from arena.workspaces.collected import Collected

Number = TypeVar("Number", int, float)


MIN_PASS_SCORE = 60
"""The `pass_score` of a graded standard that sets none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """Everything that an agent did, to be judged."""

    output: str
    """Its answer; in a conversation, its last reply."""
    language: str | None = None
    """The language of its code, if the submitter declares it."""
    messages: tuple[Message, ...] = ()
    """The whole conversation; empty if the agent was asked once."""
    steps: tuple[Step, ...] = ()
    """The tools that it called, in order."""
    steps_problem: str | None = None
    """Why `steps` may not be all that it did; null: they are all that is claimed or known."""
    files: Collected | None = None
    """What it left in its workspace."""
    usage: Usage = field(default_factory=Usage)
    duration_seconds: float | None = None
    """How long it took; in a conversation, all replies together."""

    @property
    def is_plain(self) -> bool:
        """Whether there is nothing but its text."""
        beyond = self.messages, self.steps, self.steps_problem, self.files, self.duration_seconds
        return not any(beyond) and self.usage == Usage()


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that was checked, and what was found."""

    criterion: str
    """What was checked, in words: `contains "userinterface"`."""
    passed: bool
    reason: str
    """Why it passed or failed, understandable on its own."""
    evidence: str | None = None
    """The part of the submission that decided it, quoted; null if there is none."""
    score: float | None = None
    """0 to 100, if the criterion is graded."""
    weight: float | None = None
    """How much it counts; null if all count equally."""
    mark: str | None = None
    """Why it deserves a second look: a quote that is not in the submission."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemAnswer:
    """A person's answer to one item of a checklist."""

    passed: bool
    note: str = ""
    reviewer: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """A hidden case of a sealed standard, and the salt of its commitment."""

    salt: str
    """64 hexadecimal digits."""
    case: Mapping[str, object]
    """In the form of a case in a standard."""


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
    """Its quotes from the submission; a criterion without a quote is left out."""
    base_url: str = ""
    """The endpoint that was asked."""
    answered_by: str | None = None
    """The model that answered, according to the endpoint: often a dated version."""
    attempts: int = 1
    """How many answers were needed until one was valid."""
    input_tokens: int | None = None
    """Of all attempts together, like the next two."""
    output_tokens: int | None = None
    cost_usd: float | None = None
    """Null if the price is not known; never a guess."""
    cached: bool = False
    """Whether the answer came from the cache; its cost is that of the first time."""


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
    """Submissions scored by people."""
    kappa: Estimate
    """Agreement beyond chance, quadratic weights: 1 is perfect, 0 no better than chance."""
    mean_error: Estimate
    """The mean absolute difference from the human score, in points."""
    bias: Estimate
    """The mean of judge minus human: above 0, the judge is generous."""
    spread: Estimate
    """The mean of highest minus lowest score per item, judged repeatedly."""
    flips: Estimate
    """The share of items that passed in one judgement and failed in another."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """The votes of a panel and the rule that combined them into one score."""

    votes: tuple[Vote, ...]
    rule: Annotated[str, Field(examples=["lower median"])]
    """How several scores of a criterion are combined."""
    spread: Mapping[str, int]
    """The highest minus the lowest score of each criterion."""
    prompt_digest: str
    """A hash of everything the models were sent, except the delimiter."""
    judge: str = ""
    """The id of the judge."""
    characters: int = 0
    """The length of the submission."""
    shown_characters: int = 0
    """How much of it the models saw."""
    figures: JudgeFigures | None = None
    """The judge's figures at that time; null if it was never measured."""

    @property
    def input_tokens(self) -> int | None:
        """What this judgement used; votes from the cache use nothing."""
        return total([vote.input_tokens for vote in self.votes if not vote.cached])

    @property
    def output_tokens(self) -> int | None:
        """What this judgement used."""
        return total([vote.output_tokens for vote in self.votes if not vote.cached])

    @property
    def cost_usd(self) -> float | None:
        """What this judgement cost; None if the price of a vote is not known."""
        return total([vote.cost_usd for vote in self.votes if not vote.cached])


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Whether the submission is good enough, and why."""

    score: float
    """0 to 100."""
    passed: bool
    reasoning: str
    findings: tuple[Finding, ...]
    engine: str = ""
    """What ran the submission's code (`python 3.11.2`, `node v20.20.2`); empty if nothing did."""
    judgement: Judgement | None = None
    """The votes, if models judged."""
    answers: tuple[ItemAnswer, ...] = ()
    """People's answers, item by item, if they judged."""
    openings: tuple[Opening, ...] = ()
    """The revealed hidden cases of a sealed standard, in the order of its commitments."""
    record_cid: str | None = None
    """The verdict record, which `GET /api/verify` checks; null if none was kept."""
    parts: tuple["Verdict", ...] = ()
    """The verdicts of a composite's parts, in order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeWith:
    """The programs that made a verdict; the verdict itself says what ran the submission's code."""

    arena: str
    python: str
    platform: str
    sandbox: str
    """The sandbox provider that was configured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A place where a record and the recomputed verdict differ."""

    path: Annotated[str, Field(examples=["verdict.findings[2].passed"])]
    recorded: Any
    recomputed: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """The outcome of checking a verdict record."""

    cid: str
    outcome: Literal["holds", "texts_differ", "differs", "cannot_be_replayed"]
    """`texts_differ`: the result holds, but texts are not those that this machine produces."""
    differences: tuple[Difference, ...]
    """Where it differs; at most 100."""
    texts: tuple[Difference, ...]
    """Texts that differ, perhaps because another version or engine made them; at most 100."""
    obstacles: tuple[str, ...]
    """Why parts could not be replayed."""
    taken: tuple[str, ...]
    """What cannot be replayed and was taken as recorded: votes and answers."""
    notes: tuple[str, ...]
    """Which versions and engines differ."""
    standard_cid: str
    submission_cid: str
    score: float
    """As recorded."""
    passed: bool
    """As recorded."""
    made_at: datetime
    made_with: MadeWith


def total(numbers: Sequence[Number | None]) -> Number | None:
    """The sum; None if one of them is unknown."""
    # A sum without the unknown ones would look cheaper than it was.
    known = [number for number in numbers if number is not None]
    return sum(known, start=cast(Number, 0)) if len(known) == len(numbers) else None
