"""What a model judge said: every vote, and how they became one."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Vote:
    """One complete answer of one model."""

    model: str
    number: int
    """1, 2, 3… among the votes of that model."""
    scores: Mapping[str, int]
    """0 to 100 for each criterion."""
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None
    """None where the price is not known; never a guess."""
    cached: bool = False


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
