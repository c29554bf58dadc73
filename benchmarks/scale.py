"""What workers and the queue cost, and what they gain.

    make bench-scale      or: python benchmarks/scale.py [--tests 4000] [--rounds 3] [--only PART]

    fan-out     an agent that takes 100 ms, with 1, 2 and 4 workers
    cpu         an agent that takes no time: CPU per test, queued and embedded on one PostgreSQL
    idle        a worker without work
    takeover    kill -9 of a worker until another one has its shard

Prints each figure beside its goal. Compare figures within one output only: machines are noisy.
"""

import argparse
import random
import statistics
import time

from cluster.cluster import Agent, Cluster
from cluster.postgres import cpu_seconds
from cluster.processes import Command, until

PARTS = ("fan-out", "cpu", "idle", "takeover")
FAN_OUT_GOAL = 3.6
WORKER_GOAL_MS, POSTGRES_GOAL_MS = 0.10, 0.08
IDLE_GOAL_PERCENT = 1.0
TAKEOVER_GOAL_SECONDS = 8.0
QUESTIONS = 20
"""Questions that a worker asks at once."""
IDLE_SECONDS = 20
TAKEOVERS = 5
WARM_UP = 500
"""Tests of a run that is not measured: it makes connections and plans."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tests", type=int, default=4000)
    parser.add_argument("--rounds", type=int, default=3, help="of the CPU figures")
    parser.add_argument("--only", choices=PARTS, action="append")
    options = parser.parse_args()
    chosen = options.only or PARTS
    if "fan-out" in chosen:
        fan_out(options.tests)
    if "cpu" in chosen:
        cpu(options.tests, options.rounds)
    if "idle" in chosen:
        idle()
    if "takeover" in chosen:
        takeover()


def fan_out(tests: int) -> None:
    """Seconds of a run with more and more workers."""
    agents = [
        # A program needs the least CPU: half of what an endpoint on this machine would take.
        Agent(name="slow", seconds=0.1, tests=tests, at_once=4 * QUESTIONS, is_local=True),
        Agent(name="warm", seconds=0, tests=WARM_UP, at_once=4 * QUESTIONS),
    ]
    took: dict[int, float] = {}
    with Cluster(agents) as cluster:
        for count in (1, 2, 4):
            while len(cluster.workers) < count:
                cluster.start_worker(is_awaited=False)
            cluster.wait_ready(*cluster.workers)
            cluster.wait([cluster.submit("warm")])
            run_id = cluster.submit("slow")
            cluster.wait([run_id], seconds=600)
            took[count] = cluster.seconds_of(run_id)
            print(
                f"100 ms agent, {tests} tests, {count} workers: {took[count]:.2f} s"
                f" ({took[1] / took[count]:.2f} x)",
                flush=True,
            )
    floor = tests * 0.1 / QUESTIONS
    print(f"4 workers against 1: {took[1] / took[4]:.2f} x (goal: at least {FAN_OUT_GOAL})")
    print(f"of what is possible: {floor / took[1]:.0%} with 1, {floor / 4 / took[4]:.0%} with 4")


def cpu(tests: int, rounds: int) -> None:
    """CPU per test of workers and of PostgreSQL, queued and embedded."""
    agents = [
        Agent(name="quick", seconds=0, tests=tests, at_once=QUESTIONS, is_local=True),
        Agent(name="warm", seconds=0, tests=WARM_UP, at_once=QUESTIONS, is_local=True),
    ]
    with Cluster(agents) as cluster:
        queued: list[tuple[float, float]] = []
        embedded: list[tuple[float, float]] = []
        for _ in range(rounds):
            # Interleaved, so that a machine that gets busier slows both alike.
            name = cluster.start_worker()
            queued.append(_used(cluster, cluster.workers[name], tests))
            cluster.workers.pop(name).stop()
            cluster.server.stop()
            cluster.start_server(is_embedded=True)
            embedded.append(_used(cluster, cluster.server, tests))
            cluster.server.stop()
            cluster.start_server()
    for place, what in enumerate(("worker", "PostgreSQL")):
        ours = statistics.median(one[place] for one in queued)
        theirs = statistics.median(one[place] for one in embedded)
        goal = (WORKER_GOAL_MS, POSTGRES_GOAL_MS)[place]
        print(
            f"{what} CPU per test: queued {ours:.3f} ms, embedded {theirs:.3f} ms,"
            f" difference {ours - theirs:+.3f} ms (goal: at most {goal:.2f})",
            f"  {[round(one[place], 3) for one in queued]}"
            f" {[round(one[place], 3) for one in embedded]}",
            sep="\n",
        )


def _used(cluster: Cluster, executor: Command, tests: int) -> tuple[float, float]:
    """CPU of the process that executes a run and of PostgreSQL, in ms per test.

    Not of the agent: it has processes of its own. Not of creating the run: a server does that.
    """
    cluster.wait([cluster.submit("warm")])
    run_id = cluster.create("quick")
    before = cpu_seconds(executor.pid), cluster.postgres.cpu_seconds()
    cluster.execute(run_id)
    cluster.wait([run_id], seconds=600)
    after = cpu_seconds(executor.pid), cluster.postgres.cpu_seconds()
    return (after[0] - before[0]) / tests * 1000, (after[1] - before[1]) / tests * 1000


def idle() -> None:
    """CPU and statements of a worker without work."""
    with Cluster([]) as cluster:
        name = cluster.start_worker()
        time.sleep(3)  # what a start leaves to do
        before = _state(cluster, name)
        time.sleep(IDLE_SECONDS)
        after = _state(cluster, name)
    worker, postgres, transactions = (
        (new - old) / IDLE_SECONDS for old, new in zip(before, after, strict=True)
    )
    print(f"idle worker: {worker:.2%} of a core (goal: below {IDLE_GOAL_PERCENT:.0f} %)")
    print(f"its PostgreSQL: {postgres:.2%}, {transactions:.0f} transactions a second")


def _state(cluster: Cluster, name: str) -> tuple[float, float, float]:
    query = "SELECT xact_commit FROM pg_stat_database WHERE datname = 'arena'"
    transactions = cluster.postgres.rows(query)[0][0]
    return cpu_seconds(cluster.workers[name].pid), cluster.postgres.cpu_seconds(), transactions


def takeover() -> None:
    """Seconds from kill -9 of a worker until another one has a shard of it."""
    times: list[float] = []
    with Cluster([Agent(name="steady", seconds=0.3, tests=2000, trials=4, at_once=40)]) as cluster:
        for _ in range(2):
            cluster.start_worker()
        cluster.submit("steady")
        for _ in range(TAKEOVERS):
            cluster.start_worker()
            name = random.choice(until(lambda: cluster.holders(), "a worker has shards"))
            times += cluster.kill_worker(name).takeovers(cluster)
    print(
        f"takeover after kill -9: {min(times):.1f} / {statistics.median(times):.1f} /"
        f" {max(times):.1f} s (goal: at most {TAKEOVER_GOAL_SECONDS:.0f}; {len(times)} shards)"
    )


if __name__ == "__main__":
    main()
