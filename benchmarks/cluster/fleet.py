"""The workers of a drill: several machines, some of them with something that can go wrong."""

import contextlib
import os
import shutil
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from cluster.cluster import Cluster
from cluster.network import Network

CLOCK = Path(__file__).with_name("clock.c")
DISK_BYTES = 4 * 1024**2


@dataclass(slots=True, kw_only=True)
class Machine:
    """A place for one worker at a time; who dies is replaced by another one."""

    kind: str
    """`plain`; `network`: in its own namespace; `disk`: a small one; `clock`: its own one."""
    worker: str = ""
    is_busy: bool = False
    """Whether a fault on it has not ended yet."""
    was_ready: bool = False


class Fleet:
    """The workers of a cluster, by the machine that they are on."""

    def __init__(self, cluster: Cluster, kinds: list[str], network: Network | None) -> None:
        self._cluster = cluster
        self._network = network
        self.machines = [Machine(kind=kind) for kind in kinds]
        self.problems: list[str] = []
        self._mounts = contextlib.ExitStack()
        self._disk = cluster.folder / "disk"
        self._clock = cluster.folder / "clock"
        if "disk" in kinds:
            self._mount()
        if "clock" in kinds:
            self.set_clock(0)
            library = str(self._clock.with_suffix(".so"))
            subprocess.run(["gcc", "-shared", "-fPIC", "-o", library, str(CLOCK)], check=True)
        for machine in self.machines:
            self.start(machine)
        self.wait_ready()

    def _mount(self) -> None:
        self._disk.mkdir()
        size = f"size={DISK_BYTES}"
        subprocess.run(["mount", "-t", "tmpfs", "-o", size, "tmpfs", str(self._disk)], check=True)
        self._mounts.callback(subprocess.run, ["umount", "-l", str(self._disk)], check=False)

    def close(self) -> None:
        """Remove what is not a process."""
        self._mounts.close()

    def start(self, machine: Machine) -> None:
        """Start a worker there; it need not be ready."""
        start = self._cluster.start_worker
        if machine.kind == "network":
            assert self._network is not None
            name = start(
                prefix=self._network.prefix, address=self._network.address, is_awaited=False
            )
        elif machine.kind == "disk":
            home = str(self._disk)
            name = start(is_awaited=False, ARENA_HOME=home, ARENA_CONTENT_MIN_FREE_MIB="0")
        elif machine.kind == "clock":
            name = start(
                is_awaited=False,
                LD_PRELOAD=str(self._clock.with_suffix(".so")),
                CLOCK_FILE=str(self._clock),
            )
        else:
            name = start(is_awaited=False)
        machine.worker, machine.was_ready = name, False

    def keep(self) -> None:
        """Replace workers that have ended: while the database is away, none can start."""
        for machine in self.machines:
            worker = self._cluster.workers.get(machine.worker)
            if worker is None:
                continue
            machine.was_ready = machine.was_ready or "is ready" in worker.output
            if not worker.is_running and not machine.is_busy:
                if machine.was_ready:
                    last = worker.output.strip().splitlines()[-1:]
                    self.problems.append(f"worker {machine.worker} ended by itself: {last}")
                self.start(machine)

    def wait_ready(self) -> None:
        """Wait until every machine has a worker that takes jobs."""
        deadline = time.monotonic() + 120
        while True:
            self.keep()
            if all(machine.was_ready for machine in self.machines):
                return
            assert time.monotonic() < deadline, "the workers never became ready"
            time.sleep(0.05)

    def set_clock(self, seconds: int) -> None:
        """Let the clock of the machine with its own one be wrong by so much."""
        # In one write of one length: the workers read it at any moment.
        self._clock.touch()
        with self._clock.open("r+") as file:
            file.write(f"{seconds:+20d}")

    def fill_disk(self) -> None:
        """Leave no space on the small disk."""
        with contextlib.suppress(OSError), (self._disk / "full").open("wb", buffering=0) as file:
            while True:
                file.write(bytes(4096))

    def free_disk(self) -> None:
        """Free the space again."""
        (self._disk / "full").unlink(missing_ok=True)


def possible_kinds() -> list[str]:
    """The kinds of machines that this one can play."""
    kinds = ["plain"]
    if Network.is_possible():
        kinds.append("network")
    if os.geteuid() == 0 and shutil.which("mount"):
        kinds.append("disk")
    if shutil.which("gcc"):
        kinds.append("clock")
    return kinds
