"""The order of turns: one of each team in turn; within a team, first come, first served."""

from collections import deque
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Rounds(Generic[T]):
    """Waiting items. Not safe between threads: the owner has a lock, or one event loop."""

    def __init__(self) -> None:
        # In the order of the teams' turns: a team that had its turn moves to the end.
        self._waiting: dict[str, deque[T]] = {}

    def __bool__(self) -> bool:
        """Whether an item waits."""
        return bool(self._waiting)

    def add(self, team: str, item: T) -> None:
        """Let an item wait for a turn of its team."""
        self._waiting.setdefault(team, deque()).append(item)

    def take(self, is_allowed: Callable[[str], bool]) -> tuple[str, T] | None:
        """The item whose turn it is, and its team; None if no allowed team waits."""
        team = next(filter(is_allowed, self._waiting), None)
        if team is None:
            return None
        items = self._waiting.pop(team)
        item = items.popleft()
        if items:
            self._waiting[team] = items
        return team, item

    def remove(self, team: str, item: T) -> None:
        """Remove an item that waits no longer; its team keeps its place."""
        items = self._waiting[team]
        items.remove(item)
        if not items:
            del self._waiting[team]
