"""Exponential back-off: the wait doubles after each failure, up to a limit."""

import random
import time
from dataclasses import dataclass

MAX_DOUBLINGS = 30
"""Limits the exponent: a server may be down for days, and a float overflows at 2**1024."""
MAX_COOLDOWN_SECONDS = 600.0


def backoff_seconds(
    first_seconds: float, failures: int, *, most_seconds: float, jitter: bool = False
) -> float:
    """The wait after `failures` in a row (at least 1), doubling with each.

    With `jitter` it is a random part of that, from half to all of it, so that callers that failed
    together do not retry together.
    """
    seconds = min(first_seconds * 2 ** min(failures - 1, MAX_DOUBLINGS), most_seconds)
    return seconds * random.uniform(0.5, 1.0) if jitter else seconds


@dataclass(slots=True)
class Cooldown:
    """A pause that grows with consecutive failures; kept in memory only."""

    first_seconds: float
    failures: int = 0
    """Consecutive failures."""
    _until: float = 0.0

    @property
    def is_active(self) -> bool:
        """Whether the pause is still running."""
        return time.monotonic() < self._until

    def failed(self) -> float:
        """Count a failure; returns the seconds to pause from now."""
        self.failures += 1
        seconds = backoff_seconds(
            self.first_seconds, self.failures, most_seconds=MAX_COOLDOWN_SECONDS
        )
        self._until = time.monotonic() + seconds
        return seconds

    def succeeded(self) -> None:
        """End the pause."""
        self.failures, self._until = 0, 0.0
