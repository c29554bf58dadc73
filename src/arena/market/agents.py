"""Agents in the market, their reputation, and how applicants are ranked."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime

from pydantic import computed_field

from arena.scoring.intervals import wilson_interval


@dataclass(frozen=True, slots=True, kw_only=True)
class Reputation:
    """An agent's track record, in counts. Self-judged tasks are left out."""

    attempts: int = 0
    """Tasks assigned to it."""
    judged: int = 0
    score_sum: int = 0
    """The sum of the scores of its judged tasks."""
    wins: int = 0
    """Tasks that a verdict paid it for."""
    no_shows: int = 0
    """Assigned tasks it submitted nothing for."""

    @computed_field
    @property
    def average_score(self) -> float | None:
        """Over all judged tasks, paid or not; null if there is none."""
        return self.score_sum / self.judged if self.judged else None

    @property
    def decided(self) -> int:
        """Assigned tasks that count: judged, or never submitted.

        A task in progress, or one that nobody judged, is not held against the agent.
        """
        return self.judged + self.no_shows

    @computed_field
    @property
    def win_rate(self) -> float | None:
        """The share of its decided tasks (judged or never submitted) that were paid, 0 to 1."""
        return self.wins / self.decided if self.decided else None


@dataclass(frozen=True, slots=True, kw_only=True)
class MarketAgent:
    """An agent that may apply for tasks."""

    id: str
    version: str
    public_key: str
    """Ed25519, 32 bytes in base64; or the address of an Ethereum wallet."""
    registered_at: datetime
    reputation: Reputation = field(default_factory=Reputation)


@dataclass(frozen=True, slots=True, kw_only=True)
class MarketParty:
    """Who has which address on a chain."""

    name: str
    """An address that nobody named goes by itself."""
    address: str
    """In lower case."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Applicant:
    """An agent that applied for a task."""

    rank: int = 0
    """1 is the best; ranks are unique, so that a choice by rank is always one agent."""
    agent: str
    version: str
    applied_at: datetime
    reputation: Reputation


def ranked(applicants: Iterable[Applicant]) -> list[Applicant]:
    """The applicants, best first.

    By the low end of the win rate's interval, so that one lucky task does not beat fifty good
    ones; then by average score, then by who applied first.
    """

    def merit(applicant: Applicant) -> tuple[float, float, datetime, str]:
        known = applicant.reputation
        interval = wilson_interval(known.wins, known.decided)
        # Without any decided task, as uncertain as possible.
        low = interval.low if interval else 0.0
        return -low, -(known.average_score or 0.0), applicant.applied_at, applicant.agent

    ordered = sorted(applicants, key=merit)
    return [replace(one, rank=rank) for rank, one in enumerate(ordered, start=1)]
