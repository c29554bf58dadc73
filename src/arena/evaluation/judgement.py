"""What a model judge said: every vote, how they became one, and how far that judge is known."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime


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
    """The model the endpoint names in its answer: often a dated version of the one asked for."""
    attempts: int = 1
    """How many answers it gave until one was valid."""
    input_tokens: int | None = None
    """Of all attempts together, like the next two."""
    output_tokens: int | None = None
    cost_usd: float | None = None
    """None where the price is not known; never a guess."""
    cached: bool = False
    """Whether the answer was given earlier, and cost what it cost then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A figure and the interval the data allow (95 %); None where they allow none."""

    value: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """How well a judge agreed with people and with itself when it was last measured."""

    measured_at: datetime
    items: int
    kappa: Estimate
    """Agreement beyond chance, quadratic weights: 1 is perfect, 0 no better than chance."""
    mean_error: Estimate
    """The mean distance from the human score, in points."""
    bias: Estimate
    """The mean of judge minus human: above 0 the judge is generous."""
    spread: Estimate
    """The mean distance between the highest and the lowest score of one item, asked anew."""
    flips: Estimate
    """The share of items that passed in one judgement and failed in another."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """The votes of a panel and the rule that made one score of them."""

    votes: tuple[Vote, ...]
    rule: str
    """How several scores of a criterion become one: `lower median`."""
    spread: Mapping[str, int]
    """The highest minus the lowest score of each criterion."""
    prompt_digest: str
    """A hash of everything the models were told but for the delimiter."""
    judge: str = ""
    """Who judged: a hash of the models, their endpoint and how they are asked."""
    characters: int = 0
    """How long the submission is."""
    shown_characters: int = 0
    """How much of it the models were shown."""
    figures: Figures | None = None
    """What was known about this judge when it judged; None where it was never measured."""

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
        """What this judgement cost; None where the price of a vote is not known."""
        costs = [vote.cost_usd for vote in self.votes if not vote.cached]
        return None if None in costs else sum(cost or 0.0 for cost in costs)


def total(counts: Sequence[int | None]) -> int | None:
    """The sum; one unknown makes it unknown."""
    return None if None in counts else sum(count or 0 for count in counts)
