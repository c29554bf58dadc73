"""What the queue delivers."""

import hashlib
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

JUDGE = "judge"
"""The kind of job that judges a paid task."""
URGENT = 10
"""The priority of short work: it goes before shards of runs."""

MAX_QUEUE_LENGTH = 40
"""PostgreSQL's channels have short names, and a queue's name is part of one."""

Handler = Callable[[Mapping[str, Any]], Awaitable[None]]
"""Does the work of a job, given its arguments. It may be called twice for one job.

Raises `Postponed` to get the job again later; any other error is logged, and the job comes again
after a delay that grows.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A piece of work to be delivered to a worker."""

    kind: str
    """Which handler does it."""
    queue: str
    """Workers choose the queues that they take jobs from."""
    key: str
    """Of several waiting jobs with one key, only the first is kept."""
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Ids only: whoever can read the database can read them."""
    priority: int = 0


class Postponed(Exception):
    """The work cannot be done now; the job is delivered again after some seconds."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"again in {seconds:g} s")
        self.seconds = seconds


def judge_queue_name(team_id: str, judge: str) -> str:
    """The queue of the tasks that a team's judge has to judge."""
    return queue_name(JUDGE, team_id, judge)


def queue_name(kind: str, *parts: str) -> str:
    """The queue of a kind of work: `shards`, `shards.gpu`; parts that do not fit are hashed."""
    name = ".".join((kind, *parts))
    if len(name) <= MAX_QUEUE_LENGTH and re.fullmatch(r"[a-z0-9.-]+", name):
        return name
    digest = hashlib.sha256("\0".join(parts).encode()).hexdigest()
    return f"{kind}.{digest[:16]}"
