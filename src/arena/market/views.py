"""What is asked for and what is shown: filters, stories and the report of an audit."""

from collections.abc import Sequence
from dataclasses import dataclass

from arena.market.agents import Applicant
from arena.market.events import Event
from arena.market.money import Entry
from arena.market.task import Task, TaskState


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskFilter:
    """Which tasks are wanted; what is None lets everything through."""

    states: frozenset[TaskState] | None = None
    poster: str | None = None
    agent: str | None = None
    """Assigned to it."""
    applicant: str | None = None
    """It has applied."""
    judge: str | None = None
    """It is the judge, the fallback judge or the arbiter."""
    min_reward: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskStory:
    """A task with all that happened to it."""

    task: Task
    applicants: Sequence[Applicant]
    """The best first."""
    events: Sequence[Event]
    entries: Sequence[Entry]


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """An invariant that does not hold."""

    invariant: str
    """I1 to I9, as docs/market.md numbers them."""
    what: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditReport:
    """What a look at every raw row found."""

    tasks: int
    entries: int
    postings: int
    accounts: int
    violations: tuple[Violation, ...]

    @property
    def is_clean(self) -> bool:
        """Whether every invariant holds."""
        return not self.violations
