"""Who talks to an agent: the turns of a test, or a model that plays a user."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from arena.errors import InfrastructureError
from arena.models.message import Message

Ended = Literal["finished", "max_turns", "agent_failed"]
"""Why a simulated user said no more."""
ENDS: Mapping[str, str] = {
    "finished": "said that it was finished",
    "max_turns": "used all of its turns",
    "agent_failed": "stopped because the agent failed",
}

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


def user_text(report: Mapping[str, Any]) -> str:
    """How a simulated user played its part, from what is kept about it; empty without one."""
    if not report:
        return ""
    ended = str(report.get("ended", ""))
    text = f"simulated user {report.get('model')}: {ENDS.get(ended, ended)}"
    text += f"; kept to its script: {report.get('score', 0):g} of 100"
    if report.get("judge_score") is not None:
        text += f" (the judge: {report['judge_score']:g})"
    for one in report.get("findings", ()):
        if not one.get("passed"):
            text += f"\nnot kept: {one.get('criterion')}: {one.get('reason')}"
    return text


def nobody(script: Mapping[str, Any]) -> User:
    """The default: no simulated user can be played."""
    raise InfrastructureError("no simulated user can be played here", retryable=False)
