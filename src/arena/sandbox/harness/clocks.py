"""The clock of a child or a command: it stands still while there is no core for it."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterable

FOREVER = float("inf")
PATIENCE = 3
"""So many times its wall time somebody may wait for a core without its being counted."""


class Clock:
    """Runs out at `deadline`, which only waiting for a core puts off."""

    __slots__ = ("_began", "_wall", "deadline")

    def __init__(self, wall_ms: int) -> None:
        """0: it does not run at all."""
        self._began = time.monotonic()
        self._wall = wall_ms / 1000 or FOREVER
        self.deadline = self._began + self._wall

    def has_run_out(self, pids: Iterable[int]) -> bool:
        """Whether these have had their time: a crowd pushes nobody over a limit."""
        if time.monotonic() < self.deadline:
            return False
        waited = max(map(_waited_for_a_core, pids), default=0.0)
        self.deadline = self._began + self._wall + min(waited, PATIENCE * self._wall)
        return time.monotonic() >= self.deadline

    def stop(self) -> None:
        """It does not run out any more."""
        self.deadline = FOREVER


def _waited_for_a_core(pid: int) -> float:
    """How long a thread of the process was ready to run while others were running; the longest."""
    seconds = 0.0
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208
            with open(f"/proc/{pid}/task/{thread}/schedstat", "rb") as file:  # noqa: PTH123
                seconds = max(seconds, int(file.read().split()[1]) / 1e9)
    return seconds
