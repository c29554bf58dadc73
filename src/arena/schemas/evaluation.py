"""Shapes of judging: what is judged, and the verdict."""

from datetime import datetime
from typing import Any

from pydantic import Field

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
    record: bool = Field(
        default=False, description="Keep a record of the verdict that anybody can verify."
    )


class Finding(Wire):
    """One thing that was looked for, and what was there."""

    criterion: str
    passed: bool
    reason: str
    evidence: str | None
    score: float | None = Field(default=None, description="0 to 100, where it is graded.")
    weight: float | None = Field(default=None, description="How much it counts; null: as all.")
    mark: str | None = Field(default=None, description="Why it deserves a second look.")


class Vote(Wire):
    """One complete answer of one model."""

    model: str
    number: int = Field(description="1, 2, 3… among the votes of that model.")
    scores: dict[str, int]
    reasons: dict[str, str]
    quotes: dict[str, str]
    answered_by: str | None = Field(description="The model the endpoint names in its answer.")
    attempts: int = Field(description="How many answers it gave until one was valid.")
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: float | None
    cached: bool


class Estimate(Wire):
    """A figure and the interval the data allow (95 %)."""

    value: float | None
    low: float | None
    high: float | None


class JudgeFigures(Wire):
    """How well a judge agreed with people and with itself when it was last measured."""

    measured_at: datetime
    items: int
    kappa: Estimate = Field(description="Agreement beyond chance; 1 is perfect.")
    mean_error: Estimate = Field(description="The mean distance from the human score.")
    bias: Estimate = Field(description="Above 0 the judge is generous.")
    spread: Estimate = Field(description="How far its own votes on one item are apart.")
    flips: Estimate = Field(description="The share of items that pass once and fail another time.")


class Judgement(Wire):
    """The votes of a panel and the rule that made one score of them."""

    votes: list[Vote]
    rule: str = Field(examples=["lower median"])
    spread: dict[str, int] = Field(description="Highest minus lowest score of each criterion.")
    prompt_digest: str
    judge: str = Field(description="Names the panel: its models, votes, prompt and endpoint.")
    characters: int = Field(description="The length of the submission.")
    shown_characters: int = Field(description="How much of it the models were shown.")
    figures: JudgeFigures | None = Field(description="Null: this judge was never measured.")


class Verdict(Wire):
    """Is the submission good enough, and why."""

    score: float = Field(description="0 to 100.")
    passed: bool
    reasoning: str
    findings: list[Finding]
    engine: str = Field(description="What ran the submission's code; empty where nothing did.")
    judgement: Judgement | None = Field(description="The votes, where a model judged.")
    parts: list["Verdict"] = Field(description="The verdicts of a composite's parts, in order.")


class Evaluated(Verdict):
    """A verdict, and its record where one was asked for."""

    record: str | None = Field(description="The CID of the record: `arena verify` checks it.")
