"""How Arena talks to an agent: one question in, one answer out."""

from dataclasses import dataclass, field
from typing import Protocol

from arena.errors import AgentUnavailable
from arena.models.usage import Usage

__all__ = [
    "MAX_OUTPUT_BYTES",
    "AgentBusy",
    "Answer",
    "Connector",
    "Question",
    "Usage",
]

MAX_OUTPUT_BYTES = 1024 * 1024
"""An answer is cut here, and the answer says so (`truncated`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What an agent is asked."""

    id: str
    """Names the question; the same for every try at it."""
    prompt: str
    timeout_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What an agent said."""

    output: str
    usage: Usage = field(default_factory=Usage)
    truncated: bool = False
    """True where the agent said more than Arena keeps."""


class Connector(Protocol):
    """A way to an agent.

    `answer` raises `AgentFault` where the agent failed and `InfrastructureError` where it could
    not be asked at all. It must not outlive its question: after `timeout_seconds`, or when it is
    cancelled, the work behind it has been ended (processes killed, requests closed).
    """

    async def answer(self, question: Question) -> Answer:
        """Ask, and wait for the answer at most `question.timeout_seconds`."""
        ...

    async def close(self) -> None:
        """Let go of processes and connections; the connector is not used again."""
        ...


class AgentBusy(AgentUnavailable):
    """The agent asks to be left alone for a while."""

    def __init__(self, message: str | None = None, *, retry_after_seconds: float | None) -> None:
        super().__init__(message, retryable=True)
        self.retry_after_seconds = retry_after_seconds
        """How long it asked to wait; None where it did not say."""
