"""What an agent did for a test, before it is judged."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from arena.errors import AgentFault
from arena.evaluation.verdict import Submission
from arena.models.message import Message
from arena.models.step import Step
from arena.runs.session import Reply
from arena.text import storable
from arena.workspaces.collected import Collected


@dataclass(frozen=True, slots=True, kw_only=True)
class Performed:
    """What the agent did for an item."""

    reply: Reply
    """Its last answer, with the steps, the usage and the time of all of them; or its failure."""
    messages: Sequence[Message] = ()
    """The whole conversation; empty if the agent was asked once."""
    steps: tuple[Step, ...] = ()
    """The steps before its failure."""
    user: dict[str, Any] | None = None
    """What is kept about a simulated user."""
    files: Collected | None = None
    workspace: dict[str, Any] | None = None
    """What the result shows of the files."""

    @property
    def submission(self) -> Submission | None:
        """All of it, to be judged; None if the agent failed."""
        answer = self.reply.outcome
        if isinstance(answer, AgentFault):
            return None
        return Submission(
            output=answer.output,
            language=answer.language,
            messages=tuple(self.messages),
            steps=answer.steps,
            steps_problem=storable(answer.steps_problem) if answer.steps_problem else None,
            files=self.files,
            usage=answer.usage,
            duration_seconds=round(self.reply.duration_seconds, 6),
        )
