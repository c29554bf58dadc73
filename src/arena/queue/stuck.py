"""What is stuck in the queue, and why."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from arena.queue.overview import SILENT_SECONDS, QueuedRun, ShardGroup, Stuck, Why, Worker


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFacts:
    """What the rules need to know of a run besides `QueuedRun`."""

    placement: str | None
    """The label of the workers that can execute it; None: any."""
    ending: str | None
    """Why nothing more is asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pause:
    """An endpoint that asked for a pause."""

    place: str
    until: datetime


def stuck(
    runs: Sequence[QueuedRun],
    facts: Mapping[UUID, RunFacts],
    shards: Sequence[ShardGroup],
    workers: Sequence[Worker],
    pauses: Sequence[Pause],
) -> list[Stuck]:
    """What waits although it should not, run by run."""
    found: list[Stuck] = []
    for run in runs:
        if run.is_ending:
            found.append(_ending(run, facts[run.run_id]))
            continue
        mine = [one for one in shards if one.run_id == run.run_id]
        found += _unserved(run, facts[run.run_id].placement, mine, workers)
        found += _problems(run, mine)
        found += _held_by_silent(run, mine, workers)
        found += _paused(run, pauses)
        if run.waiting and not mine:
            reason = "none of its shards is queued; a worker queues them again"
            found.append(_stuck(run, "not_queued", reason, shards=run.waiting))
    return found


def _ending(run: QueuedRun, facts: RunFacts) -> Stuck:
    because = f": {facts.ending}" if facts.ending else ""
    reason = f"the run is ending, and nothing more is asked{because}"
    return _stuck(run, "ending", reason, shards=run.in_work)


def _unserved(
    run: QueuedRun, label: str | None, shards: Sequence[ShardGroup], workers: Sequence[Worker]
) -> list[Stuck]:
    """The shards that no live worker can take."""
    live = [worker for worker in workers if worker.takes_work]
    found: list[Stuck] = []
    for one in shards:
        if one.worker is None and not any(one.queue in worker.queues for worker in live):
            why, reason = _why_unserved(one, label, live, workers)
            wait = one.waiting_seconds
            found.append(_stuck(run, why, reason, shards=one.shards, waiting_seconds=wait))
    return found


def _why_unserved(
    shard: ShardGroup, label: str | None, live: Sequence[Worker], workers: Sequence[Worker]
) -> tuple[Why, str]:
    if not live:
        if any(worker.state == "stopping" for worker in workers):
            return "no_worker", "every worker is stopping"
        return "no_worker", "no worker is running; start one with: arena worker"
    able = live
    if label is not None:
        # Every worker serves the label of its own machine.
        able = [one for one in live if label in (*one.labels, one.host)]
        if not able:
            return "no_label", f"no live worker has the label {label}"
    if shard.needs_sandbox and not any(worker.has_sandbox for worker in able):
        labelled = "" if label is None else f" with the label {label}"
        return "no_sandbox", f"no live worker{labelled} has a sandbox"
    return "not_served", f"no live worker takes jobs from the queue {shard.queue}"


def _problems(run: QueuedRun, shards: Sequence[ShardGroup]) -> list[Stuck]:
    """Why the last workers could not execute shards, each reason once."""
    by_problem: dict[str, list[ShardGroup]] = {}
    for one in shards:
        # Not while a worker has it: that one may well be able to.
        if one.problem is not None and one.failures and one.worker is None:
            by_problem.setdefault(one.problem, []).append(one)
    return [
        _stuck(
            run,
            "problem",
            f"{problem} ({_times(max(one.failures for one in groups))})",
            shards=sum(one.shards for one in groups),
            waiting_seconds=max(one.waiting_seconds for one in groups),
        )
        for problem, groups in by_problem.items()
    ]


def _times(number: int) -> str:
    return "tried once" if number <= 1 else f"tried {number} times"


def _held_by_silent(
    run: QueuedRun, shards: Sequence[ShardGroup], workers: Sequence[Worker]
) -> list[Stuck]:
    """Shards whose worker has died, and that nobody has taken over yet."""
    alive = {worker.name for worker in workers if worker.state != "silent"}
    found: list[Stuck] = []
    for one in shards:
        is_held = one.worker is not None and one.worker not in alive
        # Just after a worker has started, its first heartbeat may not be there yet.
        if is_held and one.waiting_seconds >= SILENT_SECONDS:
            reason = f"its worker {one.worker} is silent; another one takes over"
            found.append(_stuck(run, "silent_worker", reason, shards=one.shards))
    return found


def _paused(run: QueuedRun, pauses: Sequence[Pause]) -> list[Stuck]:
    return [
        _stuck(
            run, "paused", f"the agent asked for a pause until {one.until:%Y-%m-%d %H:%M:%S} UTC"
        )
        for one in pauses
        if one.place == f"agent:{run.agent_id}@{run.agent_version}"
    ]


def _stuck(
    run: QueuedRun,
    why: Why,
    reason: str,
    *,
    shards: int = 0,
    waiting_seconds: float | None = None,
) -> Stuck:
    return Stuck(
        why=why,
        reason=reason,
        run_id=run.run_id,
        team_id=run.team_id,
        agent_id=run.agent_id,
        shards=shards,
        waiting_seconds=waiting_seconds,
    )
