"""How long to wait after failures: longer after each, and never for ever."""

import time
from dataclasses import dataclass

MAX_DOUBLINGS = 30
"""Of a delay: a server may be away for so long that a larger number were none any more."""
MAX_HOLD_SECONDS = 600.0


def grown(first_seconds: float, number: int, *, most_seconds: float) -> float:
    """The delay after so many failures: it doubles with each after the first."""
    return min(first_seconds * 2 ** min(number - 1, MAX_DOUBLINGS), most_seconds)


@dataclass(slots=True)
class Restraint:
    """Keeps an agent whose tasks fail from taking the next: each is lost to all until its deadline.

    It is not written down: whoever starts the agent again has mended it, or wants to see.
    """

    first_seconds: float
    failures: int = 0
    """In a row."""
    _until: float = 0.0

    @property
    def is_on(self) -> bool:
        """Whether no new task is to be asked for now."""
        return time.monotonic() < self._until

    def failed(self) -> str:
        """A task failed; gives what is done about it, in words."""
        self.failures += 1
        seconds = grown(self.first_seconds, self.failures, most_seconds=MAX_HOLD_SECONDS)
        self._until = time.monotonic() + seconds
        tasks = "a task" if self.failures == 1 else f"{self.failures} tasks in a row"
        return f"{tasks} failed, so no new one is asked for within {seconds:g} s"

    def succeeded(self) -> None:
        """The next task may well succeed too."""
        self.failures, self._until = 0, 0.0
