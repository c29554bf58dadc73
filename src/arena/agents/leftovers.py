"""Ends the processes that an agent left running: daemons that outlived its process group.

A process belongs to the agent if the folder of the workspace is in its environment, or if it uses
the folder: as its working folder, through an open file, or in its memory.
"""

import contextlib
import os
import select
import signal
from pathlib import Path

from arena.agents.workspace_folder import VARIABLE
from arena.text import printable

MAX_ROUNDS = 50
"""A process can start another one before it is killed; each round kills all that are there."""
END_MILLISECONDS = 5000
MAX_SHOWN = 100
PROC = Path("/proc")


def end_leftovers(marker: Path, folder: Path) -> list[str]:
    """Kill every process that has `marker` in its environment or uses `folder`; what they were.

    `marker` is the folder as the agent knew it, `folder` where it is now.
    """
    ended: list[str] = []
    for _ in range(MAX_ROUNDS):
        found = [pid for pid in _processes() if _belongs(pid, marker, folder)]
        if not found:
            return ended
        for pid in found:
            name = _command(pid)
            if _kill(pid, marker, folder):
                ended.append(f"ended: a process that was left running: {name}")
    return [*ended, "a process that was left running could not be ended"]


def _processes() -> list[int]:
    own = os.getpid()
    pids = [int(entry.name) for entry in PROC.iterdir() if entry.name.isdigit()]
    return [pid for pid in pids if pid != own]


def _belongs(pid: int, marker: Path, folder: Path) -> bool:
    # Gone meanwhile, or a process of somebody else, which may not be read (or killed).
    with contextlib.suppress(OSError):
        environment = (PROC / str(pid) / "environ").read_bytes().split(b"\0")
        if f"{VARIABLE}={marker}".encode() in environment:
            return _is_alive(pid)
        return _uses(pid, (str(marker), str(folder))) and _is_alive(pid)
    return False


def _is_alive(pid: int) -> bool:
    """Whether it runs: a zombie only waits for its parent."""
    stat = (PROC / str(pid) / "stat").read_text(errors="replace")
    return stat.rpartition(")")[2].split()[:1] not in (["Z"], ["X"])


def _uses(pid: int, folders: tuple[str, ...]) -> bool:
    place = PROC / str(pid)
    links = [place / "cwd", place / "root", place / "exe"]
    with contextlib.suppress(OSError):
        links += list((place / "fd").iterdir())
    for link in links:
        with contextlib.suppress(OSError):
            target = os.readlink(link)  # noqa: PTH115 - its text, which may not be a path
            if target.startswith(folders):
                return True
    with contextlib.suppress(OSError):
        memory = (place / "maps").read_text(errors="replace")
        return any(folder in memory for folder in folders)
    return False


def _command(pid: int) -> str:
    with contextlib.suppress(OSError):
        raw = (PROC / str(pid) / "cmdline").read_bytes().replace(b"\0", b" ")
        text = " ".join(printable(raw.decode(errors="replace")).split())
        return text[:MAX_SHOWN] or "without a name"
    return "without a name"


def _kill(pid: int, marker: Path, folder: Path) -> bool:
    """Kill a process and wait for its end; False if it was gone or is another one by now."""
    try:
        handle = os.pidfd_open(pid)
    except OSError:
        return False
    try:
        # Checked again through the handle's pid: the number may have been given to another one.
        if not _belongs(pid, marker, folder):
            return False
        signal.pidfd_send_signal(handle, signal.SIGKILL)
        watch = select.poll()
        watch.register(handle, select.POLLIN)
        watch.poll(END_MILLISECONDS)
        return True
    except OSError:
        return False
    finally:
        os.close(handle)
