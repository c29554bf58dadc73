"""Permits that this process has taken and not used yet."""

from collections import deque
from dataclasses import dataclass
from uuid import UUID

from arena.limits.request import Outcome, Rate, Request

MIN_HOLD_SECONDS, MAX_HOLD_SECONDS = 0.25, 8.0


@dataclass(slots=True, eq=False)
class Batch:
    """Permits of one transaction."""

    id: UUID
    team: str
    count: int
    until: float
    """A call must begin before."""
    used: int = 0


class PermitPool:
    """Permits at one place. What is not used in time is given back and taken again."""

    def __init__(self, calls: int, window_seconds: float) -> None:
        self._calls = calls
        self._window_seconds = window_seconds
        self._first_hold = min(max(window_seconds / 40, MIN_HOLD_SECONDS), 1.0)
        self._hold_seconds = self._first_hold
        self._batches: deque[Batch] = deque()
        self._over: dict[UUID, int] = {}
        """How many were used of the batches that were not used up in time."""
        self._free_at = 0.0
        """When the tables may have a free one."""

    def __bool__(self) -> bool:
        """Whether something has to be given back."""
        return bool(self._batches or self._over)

    @property
    def ask_at(self) -> float:
        """When to ask for more, if a call waits: not before those at hand are used or over."""
        return max(self._free_at, self.over_at)

    @property
    def over_at(self) -> float:
        """When the oldest of those at hand cannot be used any more."""
        return self._batches[0].until if self._batches else 0.0

    def take(self, team: str, now: float) -> Batch | None:
        """Use a permit of the team; None if there is none."""
        for batch in self._batches:
            if batch.team == team and now <= batch.until:
                batch.used += 1
                if batch.used == batch.count:
                    self._batches.remove(batch)
                    self._hold_seconds = self._first_hold
                return batch
        return None

    def give_back(self, batch: Batch) -> None:
        """A permit was taken, and its call did not begin in time."""
        batch.used -= 1
        if batch not in self._batches:
            self._over[batch.id] = batch.used
        # The machine is slow: the next permits get more time.
        self._hold_seconds = min(self._hold_seconds * 2, MAX_HOLD_SECONDS)

    def usable_seconds(self) -> float:
        """How long permits can be used; the rest of `hold_seconds` is for the way to the place."""
        return self._hold_seconds / 2

    def request(self, now: float, *, closes: bool = False) -> tuple[Rate, dict[UUID, int]]:
        """What to ask for, and how many permits were used of those that are over."""
        while self._batches and (closes or now > self._batches[0].until):
            over = self._batches.popleft()
            self._over[over.id] = over.used
        rate = Rate(
            calls=self._calls,
            window_seconds=self._window_seconds,
            hold_seconds=self._hold_seconds,
        )
        return rate, dict(self._over)

    def take_over(self, request: Request, outcome: Outcome, *, asked_at: float, now: float) -> None:
        """Add what was granted; `asked_at` was read before the first statement."""
        for key, used in request.used.items():
            if self._over.get(key) == used:
                del self._over[key]
        hold_seconds = request.rate.hold_seconds if request.rate else 0.0
        for one in outcome.permits:
            self._batches.append(Batch(one.id, one.team, one.count, asked_at + hold_seconds / 2))
        self._free_at = 0.0
        if outcome.next_permit_seconds is not None:
            # Not for every single one: they are taken together.
            pace = min(max(self._window_seconds / 100, 0.02), 0.25)
            self._free_at = now + max(outcome.next_permit_seconds, pace)
