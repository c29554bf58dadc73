"""Where an agent sits: what it may see, and what it did since it was started."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from arena.lab.lab import Lab
from arena.lab.names import Names
from arena.lab.records import Execution
from arena.lab.roles import Role


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What the agent says, and what it had to read to say it."""

    text: str
    read: tuple[object, ...] = ()
    """The records that were looked up, for the honest count of words read."""


class CannotAnswer(Exception):
    """The request is clear but cannot be met: the message is the answer."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


@dataclass(slots=True, kw_only=True)
class Desk:
    """The agent's view of the lab and its own doings; it lives as long as the process."""

    role: Role
    lab: Lab
    """The part of the lab that the role may see."""
    everything: Lab
    names: Names
    """All names of the whole lab, so that a name of another platform is known as such."""
    executions: list[Execution] = field(default_factory=list[Execution])
    """The executions made at this desk."""
    positions: dict[str, tuple[str, str]] = field(default_factory=dict[str, tuple[str, str]])
    """The interface and node that each device was left at."""

    def next_execution(self) -> tuple[str, datetime]:
        """The name and the start of the execution that comes next, in the lab's own time."""
        number = max(int(run.id.removeprefix("EX-")) for run in self.everything.executions)
        spent = sum(run.duration_ms for run in self.executions)
        start = self.everything.machines.as_of + timedelta(milliseconds=spent)
        return f"EX-{number + 1 + len(self.executions)}", start
