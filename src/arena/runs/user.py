"""Who talks to an agent: the turns of a test, or a model that plays a user."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from arena.errors import InfrastructureError
from arena.models.message import Message

Ended = Literal["finished", "max_turns", "agent_failed"]
"""Why a simulated user said no more."""


NO_USER = "none is set up: set ARENA_USER_BASE_URL and ARENA_USER_MODEL"


class User(Protocol):
    """One side of one conversation."""

    async def says(self, messages: Sequence[Message]) -> str | None:
        """What it says next; None if it is finished. `InfrastructureError` if it cannot."""
        ...

    async def report(self, messages: Sequence[Message], ended: Ended) -> dict[str, Any] | None:
        """What is kept about a simulated user; it has no influence on the verdict."""
        ...


Play = Callable[[Mapping[str, Any]], User]
"""Plays the user of a script, for one conversation."""


@dataclass(slots=True)
class Scripted:
    """Says the turns of a test, whatever the agent replies."""

    turns: Iterator[str]

    async def says(self, messages: Sequence[Message]) -> str | None:
        """The next turn."""
        return next(self.turns, None)

    async def report(self, messages: Sequence[Message], ended: Ended) -> None:
        """Nothing: it cannot have left its script."""


def nobody(script: Mapping[str, Any]) -> User:
    """The default: no simulated user can be played."""
    raise InfrastructureError("no simulated user can be played here", retryable=False)
