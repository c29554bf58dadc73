"""Faults of a cluster, injected one by one while it works."""

import os
import random
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from cluster.cluster import Cluster, Kill
from cluster.fleet import Fleet, Machine
from cluster.network import Network
from cluster.releases import next_release

STOPPED_SECONDS = 7.0, 12.0
STALL_TRIES = 400
AWAY_SECONDS = 0.2, 6.0
CUT_SECONDS = 2.0, 12.0
FULL_SECONDS = 2.0, 6.0
CLOCK_SECONDS = (-86_400, -3_600, -60, -5, 5, 60, 3_600, 86_400)

Say = Callable[[str], None]
T = TypeVar("T")


@dataclass(slots=True, kw_only=True)
class Faults:
    """What has been done to a cluster."""

    cluster: Cluster
    fleet: Fleet
    network: Network | None
    chance: random.Random
    say: Say
    running: Callable[[], list[str]]
    """The runs that have not ended."""
    is_patient: bool = False
    """Whether every machine has a worker before the next fault: somebody must take over."""
    kills: list[Kill] = field(default_factory=list[Kill])
    cancelled: dict[str, float] = field(default_factory=dict[str, float])
    """When runs were cancelled, by the clock of the question log."""
    problems: list[str] = field(default_factory=list[str])
    _timers: list[threading.Timer] = field(default_factory=list[threading.Timer])

    @property
    def kinds(self) -> dict[str, Callable[[], None]]:
        """Every kind of fault by its name."""
        return {
            "kill": self.kill,
            "takeover": self.take_over,
            "server": self.kill_server,
            "stop": self.stop,
            "stall": self.stall,
            "hand back": self.hand_back,
            "database": self.restart_database,
            "connections": self.cut_connections,
            "network": self.cut_network,
            "disk": self.fill_disk,
            "clock": self.set_clock,
            "queue": self.empty_queue,
            "cancel": self.cancel,
            "release": self.upgrade,
        }

    def inject(self, kind: str) -> None:
        """One fault of a kind."""
        if self.is_patient:
            self.fleet.wait_ready()
        self.fleet.keep()
        self.kinds[kind]()

    def finish(self) -> None:
        """Wait until every fault has ended."""
        for timer in self._timers:
            timer.join()

    def kill(self) -> None:
        """Kill -9 of a worker; another one is started."""
        machine = self._machine(is_working=True)
        kill = self.cluster.kill_worker(machine.worker)
        self.say(f"kill -9 {machine.worker}, which had {len(kill.held)} shards")
        self.kills.append(kill)
        self.fleet.start(machine)

    def take_over(self) -> None:
        """Kill -9 of a worker; nobody else dies before others have its shards."""
        self.kill()
        self.kills[-1].takeovers(self.cluster)

    def kill_server(self) -> None:
        """Kill -9 of the server; it is started again."""
        self.say("kill -9 of the server")
        self.cluster.server.kill()
        self.cluster.start_server()

    def stop(self) -> None:
        """SIGSTOP of a worker, until it counts as dead; then it is woken."""
        machine = self._machine(is_working=True)
        worker = self.cluster.workers[machine.worker]
        seconds = self.chance.uniform(*STOPPED_SECONDS)
        self.say(f"SIGSTOP {machine.worker} for {seconds:.1f} s")
        worker.signal(signal.SIGSTOP)
        self._later(machine, seconds, lambda: worker.signal(signal.SIGCONT))

    def stall(self) -> None:
        """SIGSTOP of a worker in the middle of a transaction: others wait for its locks."""
        machine = self._machine(is_working=True)
        worker = self.cluster.workers[machine.worker]
        query = (
            "SELECT query FROM pg_stat_activity WHERE application_name = %s "
            "AND state = 'idle in transaction' AND query ILIKE '%%agent_%%'"
        )
        tries = 0
        worker.signal(signal.SIGSTOP)
        while not (found := self.cluster.postgres.rows(query, machine.worker)):
            worker.signal(signal.SIGCONT)
            if (tries := tries + 1) == STALL_TRIES:
                break
            time.sleep(0.005)
            worker.signal(signal.SIGSTOP)
        seconds = self.chance.uniform(*STOPPED_SECONDS)
        worker.signal(signal.SIGSTOP)
        where = "inside a transaction" if found else "outside of transactions"
        self.say(f"SIGSTOP {machine.worker} {where} for {seconds:.1f} s")
        self._later(machine, seconds, lambda: worker.signal(signal.SIGCONT))

    def hand_back(self) -> None:
        """SIGTERM of a worker; another one is started."""
        machine = self._machine(is_working=True)
        worker = self.cluster.workers.pop(machine.worker)
        self.say(f"SIGTERM {machine.worker}")
        began = time.monotonic()
        if code := worker.stop():
            last = worker.output.strip().splitlines()[-3:]
            self.problems.append(f"worker {machine.worker} ended with code {code}: {last}")
        self.say(f"{machine.worker} has ended after {time.monotonic() - began:.1f} s")
        self.fleet.start(machine)

    def restart_database(self) -> None:
        """Stop PostgreSQL at once, and start it after some time."""
        seconds = self.chance.uniform(*AWAY_SECONDS)
        self.say(f"PostgreSQL is stopped for {seconds:.1f} s")
        self.cluster.postgres.restart(seconds)

    def cut_connections(self) -> None:
        """Cut the connections of one worker to the database."""
        machine = self._machine(is_working=True)
        count = self.cluster.postgres.cut(machine.worker)
        self.say(f"{count} connections of {machine.worker} are cut")

    def cut_network(self) -> None:
        """Lose every packet between one worker and the database for some time."""
        assert self.network is not None
        machine = self._machine(kind="network")
        seconds = self.chance.uniform(*CUT_SECONDS)
        self.say(f"the network of {machine.worker} is cut for {seconds:.1f} s")
        self.network.cut()
        self._later(machine, seconds, self.network.heal)

    def fill_disk(self) -> None:
        """Leave no space on the disk of a worker for some time."""
        machine = self._machine(kind="disk")
        seconds = self.chance.uniform(*FULL_SECONDS)
        self.say(f"the disk of {machine.worker} is full for {seconds:.1f} s")
        self.fleet.fill_disk()
        self._later(machine, seconds, self.fleet.free_disk)

    def set_clock(self) -> None:
        """Let the clock of a worker jump."""
        machine = self._machine(kind="clock")
        seconds = self.chance.choice(CLOCK_SECONDS)
        self.say(f"the clock of {machine.worker} is wrong by {seconds:+d} s")
        self.fleet.set_clock(seconds)

    def empty_queue(self) -> None:
        """Delete every job of the queue."""
        self.say("the queue is emptied")
        self.cluster.postgres.rows("TRUNCATE procrastinate_jobs CASCADE")

    def cancel(self) -> None:
        """Cancel one of the runs."""
        runs = self._wait(self.running)
        run_id = self.chance.choice(runs)
        self.say(f"run {run_id[:8]} is cancelled")
        self.cluster.cancel(run_id)
        self.cancelled[run_id] = time.monotonic()

    def upgrade(self) -> None:
        """Let one worker be of the next release, with another migration; the others go on.

        Whatever is started from now on is of that release, and one of the old refuses to start.
        """
        machine = self._machine(kind="plain")
        old = dict(self.cluster.variables)
        newer = str(next_release(self.cluster.folder))
        self.say(f"{machine.worker} is replaced by a worker of {newer.rpartition('/')[2]}")
        self.cluster.workers.pop(machine.worker).stop()
        self.cluster.variables["PYTHONPATH"] = newer
        self.fleet.start(machine)
        self.fleet.wait_ready()
        refused = self.cluster.start_worker(
            is_awaited=False, PYTHONPATH=old.get("PYTHONPATH", os.environ.get("PYTHONPATH", ""))
        )
        worker = self.cluster.workers.pop(refused)
        if not worker.wait() or "was made by a newer Arena" not in worker.output:
            self.problems.append(f"an old worker started: {worker.output[-500:]}")
            worker.kill()

    def _machine(self, *, kind: str | None = None, is_working: bool = False) -> Machine:
        """A machine whose worker can have a fault now; one that executes shards, if possible."""

        def choose() -> list[Machine]:
            self.fleet.keep()
            return [
                machine
                for machine in self.fleet.machines
                if machine.was_ready and not machine.is_busy and kind in (None, machine.kind)
            ]

        machines = self._wait(choose)
        if is_working:
            holders = self.cluster.holders()
            machines = [one for one in machines if one.worker in holders] or machines
        return self.chance.choice(machines)

    def _later(self, machine: Machine, seconds: float, end: Callable[[], None]) -> None:
        """End a fault of a machine after some time."""
        machine.is_busy = True

        def finish() -> None:
            end()
            machine.is_busy = False

        timer = threading.Timer(seconds, finish)
        timer.start()
        self._timers.append(timer)

    def _wait(self, choose: Callable[[], list[T]]) -> list[T]:
        deadline = time.monotonic() + 60
        while not (found := choose()):
            assert time.monotonic() < deadline, "there was nothing to choose from"
            time.sleep(0.05)
        return found
