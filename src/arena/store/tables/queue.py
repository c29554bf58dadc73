"""Work on many machines: shards of runs, workers, chores, shared limits and shared content."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import BigInteger, ForeignKey, Index, LargeBinary, String
from sqlalchemy.orm import Mapped

from arena.store.tables.table import AnyJson, Table, column


class RunShards(Table):
    """A part of a queued run that one worker executes at a time."""

    __tablename__ = "agent_run_shards"
    __table_args__ = (Index("ix_agent_run_shards_state", "state", "queued_at"),)

    run_id: Mapped[UUID] = column(
        ForeignKey("agent_benchmark_runs.id", ondelete="CASCADE"), primary_key=True
    )
    number: Mapped[int] = column(primary_key=True, autoincrement=False)
    first_position: Mapped[int]
    last_position: Mapped[int]
    first_trial: Mapped[int] = column(default=1)
    last_trial: Mapped[int | None]
    """None: every trial of its tests."""
    needs_sandbox: Mapped[bool]
    """It has the tests between its positions that need a sandbox, or those that need none."""
    queue: Mapped[str] = column(String(200))
    """The queue of its jobs: workers that can execute it take jobs from there."""
    state: Mapped[str] = column(String(10))
    """`waiting`, `queued` (has a job, taken or not) or `done`."""
    turn: Mapped[int] = column(BigInteger, default=0)
    """When it is its team's turn: of several that wait, the one with the lowest is taken first."""
    questions: Mapped[int] = column(default=1)
    """How many of its questions may be asked at once."""
    token: Mapped[str | None] = column(String(64))
    """The fencing token of the worker that took it last; a writer without it is refused."""
    worker: Mapped[str | None] = column(String(100))
    """Who executes it now; None while it waits."""
    attempts: Mapped[int] = column(default=0)
    """How often it was taken."""
    failures: Mapped[int] = column(default=0)
    """How often a worker could not begin it, in a row."""
    problem: Mapped[str | None]
    """Why the last worker could not execute it."""
    has_errors: Mapped[bool] = column(default=False)
    """Whether some of its items could not be executed."""
    queued_at: Mapped[datetime | None]
    taken_at: Mapped[datetime | None]


class FrozenAgents(Table):
    """An agent as its file was when a run was started; stored once for all runs that use it."""

    __tablename__ = "agent_frozen_agents"

    digest: Mapped[str] = column(String(64), primary_key=True)
    body: Mapped[dict[str, Any]]


class Workers(Table):
    """A process that takes work from the queue."""

    __tablename__ = "arena_workers"

    id: Mapped[UUID] = column(primary_key=True)
    name: Mapped[str] = column(String(100))
    host: Mapped[str] = column(String(255))
    pid: Mapped[int]
    version: Mapped[str] = column(String(30))
    queues: Mapped[list[Any]]
    """The queues that it takes jobs from."""
    labels: Mapped[list[Any]]
    judges: Mapped[list[Any]]
    shards: Mapped[int]
    """Shards that it executes at once."""
    questions: Mapped[int]
    """Questions that it asks at once."""
    has_sandbox: Mapped[bool]
    is_stopping: Mapped[bool] = column(default=False)
    busy: Mapped[int] = column(default=0)
    """Jobs that it works on."""
    done_shards: Mapped[int] = column(default=0)
    done_results: Mapped[int] = column(BigInteger, default=0)
    started_at: Mapped[datetime]
    seen_at: Mapped[datetime]
    """Its last heartbeat, by the clock of the database."""


class QueueTotals(Table):
    """Counters of the queue since it was made: takeovers, retries, results."""

    __tablename__ = "arena_queue_totals"

    name: Mapped[str] = column(String(50), primary_key=True)
    count: Mapped[int] = column(BigInteger, default=0)


class Chores(Table):
    """Work on request that a worker does and whose outcome a caller waits for."""

    __tablename__ = "arena_chores"
    __table_args__ = (Index("ix_arena_chores_state", "state", "created_at"),)

    id: Mapped[UUID] = column(primary_key=True)
    kind: Mapped[str] = column(String(50))
    team_id: Mapped[str] = column(String(100))
    arguments: Mapped[dict[str, Any]]
    state: Mapped[str] = column(String(10))
    """`waiting`, `taken`, `done` or `failed`."""
    claim_token: Mapped[str | None] = column(String(64))
    """Of the worker that does it; the outcome of one that lost its claim is refused."""
    claimed_until: Mapped[datetime | None]
    worker: Mapped[str | None] = column(String(100))
    result: Mapped[dict[str, Any] | None] = column(AnyJson)
    error: Mapped[str | None]
    error_code: Mapped[str | None] = column(String(50))
    """Whose fault the error is: the code of one of the classes in `errors.py`."""
    created_at: Mapped[datetime]
    ended_at: Mapped[datetime | None]


class LimitPlaces(Table):
    """An endpoint whose limits all machines share: an agent, a model."""

    __tablename__ = "arena_limit_places"

    place: Mapped[str] = column(String(300), primary_key=True)
    paused_until: Mapped[datetime | None]
    """No call may start before: the endpoint asked for a pause."""


class LimitShares(Table):
    """How many calls at once a worker may make to a place, for a team; a lease of these slots."""

    __tablename__ = "arena_limit_shares"

    place: Mapped[str] = column(
        ForeignKey("arena_limit_places.place", ondelete="CASCADE"), primary_key=True
    )
    holder: Mapped[str] = column(String(64), primary_key=True)
    team_id: Mapped[str] = column(String(100), primary_key=True)
    slots: Mapped[int]
    """Held now."""
    wanted: Mapped[int]
    """What it could use, with those held."""
    waiting: Mapped[int]
    """Calls that have not begun."""
    since: Mapped[datetime]
    """When it last got its first slot, or began to wait for one."""
    seen_at: Mapped[datetime]
    """When the worker last renewed it."""
    expires_at: Mapped[datetime]
    """Until then its slots are taken, even if the worker died."""


class LimitPermits(Table):
    """Calls to a place that were started, or may be started now; they count until they expire."""

    __tablename__ = "arena_limit_permits"
    __table_args__ = (Index("ix_arena_limit_permits_place", "place", "expires_at"),)

    id: Mapped[UUID] = column(primary_key=True)
    place: Mapped[str] = column(ForeignKey("arena_limit_places.place", ondelete="CASCADE"))
    team_id: Mapped[str] = column(String(100))
    holder: Mapped[str] = column(String(64))
    count: Mapped[int]
    expires_at: Mapped[datetime]


class ContentBlocks(Table):
    """A block of content by its CID, for machines that share no disk."""

    __tablename__ = "arena_content_blocks"

    cid: Mapped[str] = column(String(100), primary_key=True)
    block: Mapped[bytes] = column(LargeBinary)


class SealedParts(Table):
    """The private part of a sealed standard, for machines that share no disk."""

    __tablename__ = "arena_sealed_parts"

    team_id: Mapped[str] = column(String(100), primary_key=True)
    """Empty for those of the server itself."""
    name: Mapped[str] = column(String(64), primary_key=True)
    body: Mapped[bytes] = column(LargeBinary)
