"""A round of a drill: runs that follow each other, faults at random moments, then the checks."""

import contextlib
import random
import statistics
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from cluster.checks import check_limits, check_run
from cluster.cluster import Agent, Cluster
from cluster.faults import Faults
from cluster.fleet import Fleet
from cluster.network import Network
from cluster.questions import asked_again

PAUSE_SECONDS = 0.2, 1.5
"""Between two faults."""
CANCEL_SECONDS = 2.0
"""A worker may begin questions of a cancelled run for so long."""
END_SECONDS = 180
"""How long the runs may take to end after the last fault."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What happens in a round."""

    name: str
    kinds: Sequence[str]
    """The faults in their order."""
    machines: Sequence[str]
    agents: Sequence[Agent]
    runs_at_once: int = 3
    pause_seconds: tuple[float, float] = PAUSE_SECONDS
    is_patient: bool = False
    """Whether every machine has a worker before the next fault."""


@dataclass(slots=True, kw_only=True)
class Outcome:
    """What came of a round."""

    name: str
    faults: Counter[str] = field(default_factory=Counter[str])
    runs: int = 0
    questions: int = 0
    lost: int = 0
    doubled: int = 0
    asked_twice: int = 0
    takeovers: list[float] = field(default_factory=list[float])
    problems: list[str] = field(default_factory=list[str])
    seconds: float = 0.0

    @property
    def row(self) -> str:
        """Its line of the table."""
        times = "-"
        if self.takeovers:
            middle = statistics.median(self.takeovers)
            times = f"{min(self.takeovers):.1f} / {middle:.1f} / {max(self.takeovers):.1f}"
        return (
            f"{self.name:14}{self.faults.total():7}{self.runs:6}{self.questions:11}{self.lost:6}"
            f"{self.doubled:9}{self.asked_twice:13}{times:>20}{len(self.problems):10}"
            f"{self.seconds:8.0f}"
        )


HEAD = (
    f"{'round':14}{'faults':>7}{'runs':>6}{'questions':>11}{'lost':>6}{'doubled':>9}"
    f"{'asked twice':>13}{'takeover, s':>20}{'problems':>10}{'seconds':>8}"
)


class Load:
    """Keeps several runs going until it is stopped."""

    def __init__(self, cluster: Cluster, plan: Plan, chance: random.Random) -> None:
        self._cluster = cluster
        self._plan = plan
        self._chance = chance
        self.runs: list[str] = []
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._keep, daemon=True)
        self.error: BaseException | None = None
        self._thread.start()

    def stop(self) -> None:
        """Start no more runs."""
        self._stop.set()
        self._thread.join()

    def running(self) -> list[str]:
        """The runs that have not ended."""
        query = "SELECT id::text FROM agent_benchmark_runs WHERE status = 'running'"
        return [run_id for (run_id,) in self._cluster.postgres.rows(query) if run_id in self.runs]

    def _keep(self) -> None:
        try:
            # Every agent once, then whatever comes.
            first = list(self._plan.agents)
            while not self._stop.is_set():
                if len(self.running()) < self._plan.runs_at_once:
                    agent = first.pop(0) if first else self._chance.choice(self._plan.agents)
                    self.runs.append(self._cluster.submit(agent.name))
                self._stop.wait(0.2)
        except BaseException as error:
            # The edge of a thread: whoever waits for the round reports it.
            self.error = error


class Takers:
    """Who took which shard when, noted while it happens: the tables know only the last one."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._seen: set[tuple[object, int, datetime]] = set()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._keep, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Note nothing more."""
        self._stop.set()
        self._thread.join()

    def _keep(self) -> None:
        query = "SELECT run_id, number, taken_at FROM agent_run_shards WHERE taken_at IS NOT NULL"
        while not self._stop.is_set():
            # While the database is away or empty there is nothing to see.
            with contextlib.suppress(Exception):
                self._seen.update(self._cluster.postgres.rows(query))
            self._stop.wait(0.1)

    def takeovers(self, faults: Faults) -> Iterator[float]:
        """The seconds from each kill until another worker had a shard of the dead one."""
        for kill in faults.kills:
            for run, number in kill.held:
                taken = [at for (of, shard, at) in self._seen if (of, shard) == (run, number)]
                if later := [at for at in taken if at > kill.at]:
                    yield (min(later) - kill.at).total_seconds()


def play(plan: Plan, seed: int, say: Callable[[str], None]) -> Outcome:
    """Play a round; nothing is left of it."""
    began = time.monotonic()
    outcome = Outcome(name=plan.name)
    with contextlib.ExitStack() as stack:
        network = stack.enter_context(Network()) if "network" in plan.machines else None
        cluster = stack.enter_context(
            Cluster(
                plan.agents,
                address=network.address if network else None,
                network=network.name if network else None,
            )
        )
        fleet = Fleet(cluster, list(plan.machines), network)
        stack.callback(fleet.close)
        load = Load(cluster, plan, random.Random(seed + 1))
        takers = Takers(cluster)
        faults = Faults(
            cluster=cluster,
            fleet=fleet,
            network=network,
            chance=random.Random(seed),
            say=lambda text: say(f"{time.monotonic() - began:7.1f} s  {text}"),
            running=load.running,
            is_patient=plan.is_patient,
        )
        try:
            _inject(plan, faults, outcome, random.Random(seed + 2))
        finally:
            faults.finish()
            load.stop()
        if load.error is not None:
            raise load.error
        fleet.wait_ready()
        try:
            cluster.wait(load.runs, END_SECONDS)
        except AssertionError:
            outcome.problems.append(f"these runs did not end: {load.running()}")
        takers.stop()
        outcome.takeovers = list(takers.takeovers(faults))
        _check(cluster, load, faults, outcome)
        outcome.problems += [*fleet.problems, *faults.problems]
        outcome.seconds = time.monotonic() - began
        if outcome.problems or outcome.lost or outcome.doubled:
            cluster.keeps_logs = True
    return outcome


def _inject(plan: Plan, faults: Faults, outcome: Outcome, chance: random.Random) -> None:
    for kind in plan.kinds:
        time.sleep(chance.uniform(*plan.pause_seconds))
        faults.inject(kind)
        outcome.faults[kind] += 1


def _check(cluster: Cluster, load: Load, faults: Faults, outcome: Outcome) -> None:
    asked = cluster.questions.log()
    outcome.runs, outcome.questions = len(load.runs), len(asked)
    outcome.asked_twice = asked_again(asked)
    for run_id in load.runs:
        checked = check_run(cluster.postgres, run_id, is_cancelled=run_id in faults.cancelled)
        outcome.lost += checked.lost
        outcome.doubled += checked.doubled
        outcome.problems += checked.problems
    for agent in cluster.agents.values():
        outcome.problems += check_limits(agent, asked, faults.cancelled)
    for run_id, at in faults.cancelled.items():
        late = [one for one in asked if one.run == run_id and one.begin > at + CANCEL_SECONDS]
        if late:
            after = max(one.begin for one in late) - at
            outcome.problems.append(
                f"run {run_id}: {len(late)} questions after it was cancelled, up to {after:.1f} s"
            )
