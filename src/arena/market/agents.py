"""Agents in the market: who they are, what their judged work says of them, how they rank."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime

from pydantic import computed_field

from arena.scoring.intervals import wilson_interval


@dataclass(frozen=True, slots=True, kw_only=True)
class Reputation:
    """What judged work says of an agent, in counts. Self-judged tasks are left out."""

    attempts: int = 0
    """Tasks that were assigned to it."""
    judged: int = 0
    score_sum: int = 0
    """The scores of its judged tasks, added up."""
    wins: int = 0
    """Tasks it was paid for by a verdict."""
    no_shows: int = 0
    """Tasks it was assigned and submitted nothing for."""

    @computed_field
    @property
    def average_score(self) -> float | None:
        """Over all judged tasks, paid or not; null if there is none."""
        return self.score_sum / self.judged if self.judged else None

    @property
    def decided(self) -> int:
        """Assigned tasks that say something of the agent: judged, or never submitted.

        A task that is under way, or that nobody judged, is not held against it.
        """
        return self.judged + self.no_shows

    @computed_field
    @property
    def win_rate(self) -> float | None:
        """The share of judged and never submitted tasks that were paid, 0 to 1."""
        return self.wins / self.decided if self.decided else None


@dataclass(frozen=True, slots=True, kw_only=True)
class MarketAgent:
    """An agent that may apply for tasks."""

    id: str
    version: str
    public_key: str
    """Ed25519, 32 bytes in base64."""
    registered_at: datetime
    reputation: Reputation = field(default_factory=Reputation)


@dataclass(frozen=True, slots=True, kw_only=True)
class Applicant:
    """An agent that applied for a task."""

    rank: int = 0
    """1 is the best; no two share a rank, so that a choice by rank is always one agent."""
    agent: str
    version: str
    applied_at: datetime
    reputation: Reputation


def ranked(applicants: Iterable[Applicant]) -> list[Applicant]:
    """The best first.

    What counts is the low end of the win rate's interval, so that one lucky task does not beat
    fifty good ones; then the average score, then who applied first.
    """

    def merit(applicant: Applicant) -> tuple[float, float, datetime, str]:
        known = applicant.reputation
        interval = wilson_interval(known.wins, known.decided)
        low = interval.low if interval else 0.0
        return -low, -(known.average_score or 0.0), applicant.applied_at, applicant.agent

    ordered = sorted(applicants, key=merit)
    return [replace(one, rank=rank) for rank, one in enumerate(ordered, start=1)]
