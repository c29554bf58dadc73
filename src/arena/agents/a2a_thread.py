"""Where a conversation with an A2A agent continues."""

import json
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Thread:
    """The ids that the next message of a conversation has."""

    context_id: str = ""
    task_id: str = ""
    """The task that waits for input; a task that has ended takes no more messages."""
    artifacts: tuple[str, ...] = ()
    """The artifacts that this task had already: they are not part of its next reply."""
    calls: tuple[str, ...] = ()
    """The tool calls that this task had already: they are steps of an earlier turn."""

    @classmethod
    def of(cls, context: str | None) -> "Thread":
        """The one that `text` made."""
        if context is None:
            return cls()
        context_id, task_id, artifacts, calls = json.loads(context)
        return cls(
            context_id=context_id, task_id=task_id, artifacts=tuple(artifacts), calls=tuple(calls)
        )

    @property
    def text(self) -> str:
        """For the next question."""
        return json.dumps([self.context_id, self.task_id, self.artifacts, self.calls])
