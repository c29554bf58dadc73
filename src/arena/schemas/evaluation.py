"""Shapes of judging: what is judged, and the verdict."""

from typing import Any

from pydantic import Field

from arena.evaluation.verdict import Finding
from arena.schemas.judges import JudgeFigures
from arena.schemas.wire import Asked, Wire


class ChecklistAnswer(Asked):
    """What a person says to one item of a checklist."""

    passed: bool
    note: str = Field(default="", max_length=10_000)
    reviewer: str = Field(default="", max_length=100)


class Evaluate(Asked):
    """A submission to be judged, and the standard to judge it by."""

    standard: dict[str, Any] | str = Field(
        description="The standard itself, or the CID of one that is in the content store."
    )
    submission: str
    language: str | None = Field(
        default=None, max_length=50, description="What its code is written in."
    )
    answers: list[ChecklistAnswer] = Field(
        default=[],
        max_length=10_000,
        description="One for each item of the standard's checklists, in order.",
    )
    fresh: bool = Field(
        default=False, description="Ask a judge anew, even where it has judged this before."
    )
    sealed: dict[str, Any] | None = Field(
        default=None,
        description="The private part of a sealed standard; without tokens: else the one here.",
    )
    record: bool = Field(default=True, description="Whether a verdict record is kept.")


class Vote(Wire):
    """One complete answer of one model."""

    model: str
    number: int = Field(description="1, 2, 3… among the votes of that model.")
    scores: dict[str, int]
    reasons: dict[str, str]
    quotes: dict[str, str] = Field(description="What it quoted from the submission.")
    answered_by: str | None = Field(description="The model that the endpoint says answered.")
    attempts: int = Field(description="How many answers it took until one was valid.")
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: float | None
    cached: bool


class Judgement(Wire):
    """The votes of a panel and the rule that made one score of them."""

    votes: list[Vote]
    rule: str = Field(examples=["lower median"])
    spread: dict[str, int] = Field(description="Highest minus lowest score of each criterion.")
    prompt_digest: str
    judge: str = Field(description="The id of the judge.")
    characters: int = Field(description="How long the submission is.")
    shown_characters: int = Field(description="How much of it the judge was shown.")
    figures: JudgeFigures | None = Field(
        description="What was known about this judge; null where it was never measured."
    )


class Opening(Wire):
    """A hidden case of a sealed standard, and the salt of its commitment."""

    salt: str
    case: dict[str, Any]


class Verdict(Wire):
    """Is the submission good enough, and why."""

    score: float = Field(description="0 to 100.")
    passed: bool
    reasoning: str
    findings: list[Finding]
    engine: str = Field(description="What ran the submission's code; empty where nothing did.")
    judgement: Judgement | None = Field(description="The votes, where a model judged.")
    openings: list[Opening] = Field(default=[], description="The hidden cases, now shown.")
    record_cid: str | None = Field(
        default=None, description="The verdict record, which GET /api/verify checks."
    )
    parts: list["Verdict"] = Field(description="The verdicts of a composite's parts, in order.")
