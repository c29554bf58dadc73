"""The state of the queue: workers, what waits, runs and their throughput, what is stuck.

Values and simple rules; `records/reader.py` reads them from Arena's own tables.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field

SILENT_SECONDS = 5.0
"""A worker without a heartbeat for this time counts as dead."""
WINDOW_SECONDS = 60.0
"""The throughput is that of the last minute."""
NEWEST_RESULTS = 200
"""At most so many results of a run are looked at for its throughput."""
CHORES = "chores"
"""The queue of work on request."""

WorkerState = Literal["working", "idle", "stopping", "silent"]

Why = Literal[
    "no_worker",
    "no_label",
    "no_sandbox",
    "not_served",
    "problem",
    "silent_worker",
    "not_queued",
    "paused",
    "ending",
]
"""Why something waits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerProcess:
    """A process that takes work from the queue, and what it can do."""

    id: UUID
    name: Annotated[str, Field(examples=["w1"])]
    host: str | None
    """Its machine; None for a team's token."""
    pid: int | None
    """The number of its process; None for a team's token."""
    version: Annotated[str, Field(examples=["0.1.0"])]
    """Of Arena."""
    queues: Sequence[str]
    """The queues that it takes jobs from."""
    labels: Sequence[str]
    """What agents can name as their placement."""
    judges: Sequence[str]
    """The judges in whose name it judges paid tasks."""
    shards: int
    """Shards that it executes at once."""
    questions: int
    """Questions that it asks at once."""
    has_sandbox: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Worker(WorkerProcess):
    """A worker as its last heartbeat described it."""

    is_stopping: bool
    """Whether it takes nothing more."""
    busy: int
    """Jobs that it works on."""
    done_shards: int
    done_results: int
    started_at: datetime
    seen_at: datetime
    """Its last heartbeat, by the clock of the database."""
    state: WorkerState
    """`silent`: no heartbeat for 5 seconds."""

    @property
    def takes_work(self) -> bool:
        """Whether it is there to take the next job."""
        return self.state in ("working", "idle")


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueState:
    """The work of one queue: shards of runs, paid tasks to be judged, or chores."""

    queue: Annotated[str, Field(examples=["shards.gpu"])]
    depth: int
    """What no worker has taken yet."""
    in_work: int
    lag_seconds: float
    """How long the first of them has waited; 0 if none waits."""
    workers: Sequence[str]
    """The live workers that take jobs from it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueuedRun:
    """A run whose shards are executed by workers."""

    run_id: UUID
    team_id: str
    agent_id: str
    agent_version: str
    total_tests: int
    completed_tests: int
    total_shards: int
    done_shards: int
    in_work: int
    """Shards that a worker executes."""
    depth: int
    """Shards that are queued, and that no worker has taken yet."""
    waiting: int
    """Shards that are queued when others of the run are done."""
    results_per_second: float
    """In the last minute."""
    is_ending: bool
    """Whether nothing more is asked, although items are left."""
    started_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stuck:
    """Something that waits, and why."""

    why: Why
    reason: Annotated[str, Field(examples=["no live worker has the label gpu"])]
    """The same in words."""
    run_id: UUID
    team_id: str
    agent_id: str
    shards: int = 0
    """How many shards wait for this reason; 0 if it is not about shards."""
    waiting_seconds: float | None = None
    """How long the first of them has waited; None if that is not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoreState:
    """Work of one kind that was requested: verdicts of reviews, recalculation, audits."""

    kind: str
    waiting: int
    in_work: int
    failed: int
    lag_seconds: float
    """How long the first one has waited; 0 if none waits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueTotals:
    """Counters since the queue was made."""

    results: int = 0
    """Results that workers have written, but for the last seconds of those that died."""
    takeovers: int = 0
    """Shards of a dead worker that another one took over."""
    retries: int = 0
    """Shards that came again because a worker could not execute them."""
    hand_backs: int = 0
    """Shards that a worker gave back because it was stopped."""
    reconciled: int = 0
    """Jobs that were lost by the queue and added again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueOverview:
    """Workers, queues, runs, and what is stuck."""

    dispatch: Literal["embedded", "queued"]
    """`embedded`: each run is executed by the process that starts it, and the rest is empty."""
    workers: Sequence[Worker] = ()
    queues: Sequence[QueueState] = ()
    runs: Sequence[QueuedRun] = ()
    """With a token, those of its team."""
    stuck: Sequence[Stuck] = ()
    """What waits although it should not; with a token, of its team."""
    chores: Sequence[ChoreState] = ()
    totals: QueueTotals = field(default_factory=QueueTotals)
    results_per_second: float = 0.0
    """Of the listed runs, in the last minute."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardGroup:
    """Queued shards of a run that are alike."""

    run_id: UUID
    queue: str
    needs_sandbox: bool
    worker: str | None
    """The name of who executes them."""
    problem: str | None
    failures: int
    """The most of one of them."""
    shards: int
    waiting_seconds: float
    """Since the first was queued, or taken."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeQueue:
    """The submitted tasks whose turn it is to be judged by one judge."""

    queue: str
    depth: int
    in_work: int
    lag_seconds: float


def state_of(*, silent_seconds: float, is_stopping: bool, busy: int) -> WorkerState:
    """What a worker does, by its last heartbeat."""
    if silent_seconds >= SILENT_SECONDS:
        return "silent"
    if is_stopping:
        return "stopping"
    return "working" if busy else "idle"


def results_per_second(recent: int, *, oldest_seconds: float, running_seconds: float) -> float:
    """The throughput: `recent` results of the last minute, the first of them so long ago."""
    # A busy run has more in a minute than were looked at: then only their own span counts.
    span = oldest_seconds if recent >= NEWEST_RESULTS else min(WINDOW_SECONDS, running_seconds)
    return round(recent / max(span, 1.0), 2)


def queue_states(
    shards: Sequence[ShardGroup],
    judging: Sequence[JudgeQueue],
    chores: Sequence[ChoreState],
    workers: Sequence[Worker],
) -> list[QueueState]:
    """Every queue with work, and those that all workers may serve, by name."""
    live = [worker for worker in workers if worker.takes_work]
    # Each machine has queues of its own label, so those without work are left out.
    general = {name for one in live for name in one.queues if "." not in name}
    names = {one.queue for one in shards} | general
    found = [_queue_state(name, shards, live) for name in names - {CHORES}]
    found += [QueueState(**asdict(one), workers=_servers(one.queue, live)) for one in judging]
    if chores or CHORES in general:
        found.append(
            QueueState(
                queue=CHORES,
                depth=sum(one.waiting for one in chores),
                in_work=sum(one.in_work for one in chores),
                lag_seconds=max((one.lag_seconds for one in chores), default=0.0),
                workers=_servers(CHORES, live),
            )
        )
    return sorted(found, key=lambda one: one.queue)


def _queue_state(name: str, shards: Sequence[ShardGroup], live: Sequence[Worker]) -> QueueState:
    mine = [one for one in shards if one.queue == name]
    untaken = [one for one in mine if one.worker is None]
    return QueueState(
        queue=name,
        depth=sum(one.shards for one in untaken),
        in_work=sum(one.shards for one in mine if one.worker is not None),
        lag_seconds=max((one.waiting_seconds for one in untaken), default=0.0),
        workers=_servers(name, live),
    )


def _servers(queue: str, live: Sequence[Worker]) -> list[str]:
    return sorted(worker.name for worker in live if queue in worker.queues)
