"""Limits on all processes of one sandbox together, if the machine lets us set them.

Supports both versions of the kernel interface. Only root, or the owner of a delegated subtree, can
write there; otherwise each process has its own limits and the sum is bounded by their number.
"""

import contextlib
import os
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

CONTROLLERS = ("memory", "pids")
PREFIX = "arena-"
FILES = {
    1: {"memory": "memory.limit_in_bytes", "pids": "pids.max"},
    2: {"memory": "memory.max", "pids": "pids.max"},
}
REMOVAL_SECONDS = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Cgroups:
    """The folders in which groups can be created, by controller."""

    version: int
    controllers: Mapping[str, Path]

    def make(self, memory_bytes: int, processes: int) -> "Group":
        """A new group with these limits on all its processes together."""
        name = f"{PREFIX}{os.getpid()}-{uuid.uuid4().hex[:12]}"
        folders = sorted({place / name for place in self.controllers.values()})
        group = Group(folders=tuple(folders))
        values = {"memory": memory_bytes, "pids": processes}
        try:
            for folder in folders:
                folder.mkdir()
            for controller, place in self.controllers.items():
                file = place / name / FILES[self.version][controller]
                file.write_text(str(values[controller]))
            if self.version == 2 and "memory" in self.controllers:
                with contextlib.suppress(OSError):
                    # Without this, v2 would let the group swap instead of hitting its limit.
                    (self.controllers["memory"] / name / "memory.swap.max").write_text("0")
        except OSError:
            group.remove()
            raise
        return group


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """One group: a folder per controller."""

    folders: Sequence[Path]

    def add(self, pid: int) -> None:
        """Move a process, and all it will start, into the group."""
        for folder in self.folders:
            with contextlib.suppress(ProcessLookupError):
                (folder / "cgroup.procs").write_text(str(pid))

    def memory_kills(self) -> int:
        """How many processes of the group the kernel has killed for lack of memory so far."""
        for folder in self.folders:
            for name in ("memory.events", "memory.oom_control"):
                with contextlib.suppress(OSError):
                    for line in (folder / name).read_text().splitlines():
                        key, _, value = line.partition(" ")
                        if key == "oom_kill":
                            return int(value)
        return 0

    def remove(self) -> None:
        """Remove the group, once its last process has exited."""
        for folder in self.folders:
            deadline = time.monotonic() + REMOVAL_SECONDS
            while folder.exists():
                try:
                    folder.rmdir()
                except OSError:
                    if time.monotonic() > deadline:
                        break
                    time.sleep(0.002)


def make_group(memory_bytes: int, processes: int) -> Group | None:
    """A new group, if the machine allows one."""
    found = find_cgroups()
    with contextlib.suppress(OSError):
        return found.make(memory_bytes, processes) if found else None
    return None


@cache
def find_cgroups() -> Cgroups | None:
    """Where groups can be created, found by trying; None if nowhere."""
    for version, places in ((2, _places_v2()), (1, _places_v1())):
        usable = {name: place for name, place in places.items() if _can_make(place)}
        if "memory" in usable:
            _sweep(set(usable.values()))
            return Cgroups(version=version, controllers=usable)
    return None


def _sweep(places: set[Path]) -> None:
    """Remove the empty groups of supervisors that were killed before they could do it."""
    for place in places:
        for folder in place.glob(f"{PREFIX}*-*"):
            owner = folder.name.removeprefix(PREFIX).split("-")[0]
            if owner.isdigit() and not Path("/proc", owner).exists():
                with contextlib.suppress(OSError):
                    folder.rmdir()


def _can_make(place: Path) -> bool:
    trial = place / f"{PREFIX}{os.getpid()}-trial"
    try:
        trial.mkdir()
        trial.rmdir()
    except OSError:
        return False
    return True


def _mounts() -> list[tuple[str, str, str]]:
    """Kind, folder and options of every mounted cgroup hierarchy."""
    found: list[tuple[str, str, str]] = []
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/mounts").read_text().splitlines():
            _, place, kind, options, *_ = line.split()
            if kind.startswith("cgroup"):
                found.append((kind, place, options))
    return found


def _places_v2() -> dict[str, Path]:
    for kind, place, _ in _mounts():
        if kind == "cgroup2":
            with contextlib.suppress(OSError):
                enabled = Path(place, "cgroup.subtree_control").read_text().split()
                return {name: Path(place) for name in CONTROLLERS if name in enabled}
    return {}


def _places_v1() -> dict[str, Path]:
    own = _own_v1()
    places: dict[str, Path] = {}
    for kind, place, options in _mounts():
        for name in CONTROLLERS:
            if kind == "cgroup" and name in options.split(","):
                # Below our own group, so that our own limits apply as well.
                below = Path(place, own.get(name, "").lstrip("/"))
                places[name] = below if below.exists() else Path(place)
    return places


def _own_v1() -> dict[str, str]:
    """The group this process is in, by controller."""
    own: dict[str, str] = {}
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/cgroup").read_text().splitlines():
            _, names, path = line.split(":", 2)
            own |= dict.fromkeys(names.split(","), path)
    return own
