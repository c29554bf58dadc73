"""Agents in the market: who they are, what is known of their work, and how they are ranked."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime

from arena.scoring.intervals import wilson_interval


@dataclass(frozen=True, slots=True, kw_only=True)
class Reputation:
    """What judged work says of an agent, in counts. Self-judged tasks never enter."""

    attempts: int = 0
    """Tasks that were assigned to it."""
    judged: int = 0
    score_sum: int = 0
    wins: int = 0
    """Tasks it was paid for by a verdict."""
    no_shows: int = 0
    """Tasks it was assigned and handed nothing in for."""

    @property
    def average_score(self) -> float | None:
        """Over all judged tasks, paid or not; None where there is none."""
        return self.score_sum / self.judged if self.judged else None

    @property
    def decided(self) -> int:
        """Assigned tasks that tell something of the agent: judged, or never handed in.

        A task that is under way, or that nobody judged, is not held against it.
        """
        return self.judged + self.no_shows

    @property
    def win_rate(self) -> float | None:
        """Paid of decided; None where nothing is decided."""
        return self.wins / self.decided if self.decided else None


@dataclass(frozen=True, slots=True, kw_only=True)
class MarketAgent:
    """An agent that may apply for tasks."""

    team_id: str
    id: str
    version: str
    public_key: str
    """Ed25519, 32 bytes in base64."""
    registered_at: datetime
    reputation: Reputation = field(default_factory=Reputation)


@dataclass(frozen=True, slots=True, kw_only=True)
class Applicant:
    """An agent that applied for a task, and its place among those that did."""

    agent: str
    version: str
    applied_at: datetime
    reputation: Reputation
    rank: int = 0
    """1 is the best; no two share a place, so that a choice by rank is always one agent."""


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
    return [replace(one, rank=place) for place, one in enumerate(ordered, start=1)]
