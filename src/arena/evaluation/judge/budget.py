"""How many model calls a team may make in an hour: each costs the operator money."""

import time
from collections import deque

from arena.errors import LimitReached
from arena.evaluation.resources import JudgeError
from arena.team import current_team

HOUR_SECONDS = 3600.0


class JudgeBudgetSpent(JudgeError, LimitReached):
    """The team has used its judge calls of this hour."""

    code = "judge_budget_spent"


class CallBudget:
    """The calls of the last hour, by team. It forgets them when the process ends."""

    def __init__(self, per_hour: int | None) -> None:
        self._per_hour = per_hour
        self._calls: dict[str, deque[float]] = {}

    def spend(self) -> None:
        """Count a call of the current team; raises `JudgeBudgetSpent` if it has none left."""
        if self._per_hour is None:
            return
        team, now = current_team(), time.monotonic()
        calls = self._calls.setdefault(team, deque())
        while calls and calls[0] <= now - HOUR_SECONDS:
            calls.popleft()
        if len(calls) >= self._per_hour:
            minutes = (calls[0] + HOUR_SECONDS - now) / 60
            raise JudgeBudgetSpent(
                f"team {team!r} has used its {self._per_hour:,} judge calls of an hour; "
                f"the next is free in {minutes:.0f} min"
            )
        calls.append(now)
