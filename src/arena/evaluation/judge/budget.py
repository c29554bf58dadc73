"""How many model calls a team may make in an hour: each costs the operator money."""

import time
from collections import deque
from collections.abc import Awaitable, Callable

from arena.errors import LimitReached
from arena.evaluation.resources import JudgeError
from arena.team import current_team

HOUR_SECONDS = 3600.0


class JudgeBudgetSpent(JudgeError, LimitReached):
    """The team has used its judge calls of this hour."""

    code = "judge_budget_spent"


Count = Callable[[str, int], Awaitable[float | None]]
"""Counts a call of a team that has so many in an hour; if it is one too many, the wait for it."""


class LocalCount:
    """The calls of the last hour, by team. It forgets them when the process ends."""

    def __init__(self) -> None:
        self._calls: dict[str, deque[float]] = {}

    async def __call__(self, team: str, per_hour: int) -> float | None:
        """Count a call; if it is one too many, returns the seconds until the next is free."""
        now = time.monotonic()
        calls = self._calls.setdefault(team, deque())
        while calls and calls[0] <= now - HOUR_SECONDS:
            calls.popleft()
        if len(calls) >= per_hour:
            return calls[0] + HOUR_SECONDS - now
        calls.append(now)
        return None


class CallBudget:
    """The calls that each team may make in an hour; counted here, or for all machines."""

    def __init__(self, per_hour: int | None, count: Count | None = None) -> None:
        self._per_hour = per_hour
        self._count = count or LocalCount()

    async def spend(self) -> None:
        """Count a call of the current team; raises `JudgeBudgetSpent` if it has none left."""
        if self._per_hour is None:
            return
        team = current_team()
        seconds = await self._count(team, self._per_hour)
        if seconds is not None:
            raise JudgeBudgetSpent(
                f"team {team!r} has used its {self._per_hour:,} judge calls of an hour; "
                f"the next is free in {seconds / 60:.0f} min"
            )
