"""What must be true of a queued run after it has ended, whatever has happened meanwhile."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from cluster.cluster import Agent
from cluster.postgres import Postgres
from cluster.questions import Asked, most_at_once, most_within

RATE_SECONDS = 60.0
RECOUNT = """
    SELECT run.status, run.total_tests, run.error_message,
      count(result.id),
      count(DISTINCT (result.test_id, result.trial)) FILTER (WHERE result.id IS NOT NULL),
      (SELECT count(*) FROM agent_run_shards shard
        WHERE shard.run_id = run.id AND shard.state <> 'done'),
      ARRAY[run.completed_tests, run.passed_tests, run.failed_tests, run.awaiting_tests,
        run.counted_results],
      ARRAY[count(result.id), count(*) FILTER (WHERE result.passed),
        count(*) FILTER (WHERE NOT result.passed),
        count(result.id) FILTER (WHERE result.passed IS NULL),
        count(result.id)],
      run.points_earned, coalesce(sum(result.points_earned), 0),
      coalesce(min(result.sequence), 1), coalesce(max(result.sequence), 0)
    FROM agent_benchmark_runs run LEFT JOIN agent_benchmark_results result ON result.run_id = run.id
    WHERE run.id = %s GROUP BY run.id
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """What was found out about a run."""

    lost: int
    doubled: int
    problems: Sequence[str]


def check_run(postgres: Postgres, run_id: str, *, is_cancelled: bool = False) -> Checked:
    """Compare a run with its results."""
    ((status, total, error, count, distinct, open_shards, counters, recounted, *rest),) = (
        postgres.rows(RECOUNT, run_id)
    )
    points, recounted_points, first, last = rest
    problems: list[str] = []
    # It may have been completed before it could be cancelled.
    if status != "completed" and not (is_cancelled and status == "cancelled"):
        problems.append(f"it is {status}: {error}")
    if status == "completed" and open_shards:
        problems.append(f"{open_shards} shards are not done")
    if counters != recounted:
        problems.append(f"its counters are {counters}, its results say {recounted}")
    if abs(float(points) - float(recounted_points)) > 1e-6:
        problems.append(f"it has {points} points, its results {recounted_points}")
    if (first, last) != (1, count):
        problems.append(f"the sequence of {count} results goes from {first} to {last}")
    lost = 0 if status == "cancelled" else total - distinct
    return Checked(
        lost=lost,
        doubled=count - distinct,
        problems=[f"run {run_id}: {problem}" for problem in problems],
    )


def check_limits(agent: Agent, asked: Sequence[Asked], cancelled: Collection[str]) -> list[str]:
    """Compare what an agent was asked with what it allows.

    The questions of runs that were cancelled count until they are hung up: a person wanted that.
    """
    own = [
        replace(one, end=one.gone) if one.run in cancelled and one.gone else one
        for one in asked
        if one.agent == agent.name
    ]
    problems: list[str] = []
    if (most := most_at_once(own)) > agent.at_once:
        problems.append(f"agent {agent.name} allows {agent.at_once} at once, had {most}")
    if agent.per_minute and (most := most_within(own, RATE_SECONDS)) > agent.per_minute:
        problems.append(f"agent {agent.name} allows {agent.per_minute} a minute, got {most}")
    return problems
