"""The program of a worker process: reads jobs from its standard input, and answers each."""

import gc
import math
import os
import pickle
import resource
import select
import signal
import time
from contextlib import suppress
from fcntl import F_SETFL, F_SETOWN, fcntl
from pathlib import Path
from typing import Any

from arena.pools.workers import SIZE, TooMuchWork
from arena.team import working_for

IDLE_SECONDS = 30.0
"""An idle worker exits: its memory is worth more than the second that a new one takes to start."""
MEMORY_BYTES = 2 * 1024**3
"""Address space. A job that needs more fails, instead of the whole machine."""
LARGE_KIB = 256 * 1024
"""A worker that has grown beyond this is replaced."""


_prepared: list[Any] = []
"""What was called so far; the list in a job only grows."""


def main() -> None:
    """Answer jobs until there are none, or the process that sends them is gone."""
    jobs, replies = os.dup(0), os.dup(1)
    # What a library prints must not be taken for a reply.
    os.dup2(2, 1)
    os.nice(5)  # the event loop, which answers everyone, goes first
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    # Its cycles are few, and going through a million values again and again takes most of the time.
    gc.disable()
    fcntl(jobs, F_SETOWN, os.getpid())
    while True:
        if not select.select([jobs], [], [], IDLE_SECONDS)[0]:
            return
        size = _read(jobs, SIZE.size)
        if not size:
            return
        job = _read(jobs, SIZE.unpack(size)[0])
        _exit_with_parent(jobs, True)
        reply = _answer(job)
        _exit_with_parent(jobs, False)
        del job
        _write(replies, SIZE.pack(len(reply)) + reply)
        del reply


def _exit_with_parent(jobs: int, is_working: bool) -> None:
    """While working, let the kernel end this process once nobody is left to read the reply.

    The signal also comes with the next job, hence not while idle: then the end is read as such.
    """
    signal.signal(signal.SIGIO, signal.SIG_DFL if is_working else signal.SIG_IGN)
    fcntl(jobs, F_SETFL, os.O_RDWR | (os.O_ASYNC if is_working else 0))


def _answer(job: bytes) -> bytes:
    """The reply: whether it is a result, whether this worker has grown large, and the value."""
    is_result = True
    try:
        preparations, team, seconds, function, args, kwargs = pickle.loads(job)
        _limit_time(seconds)
        for prepare, given in preparations[len(_prepared) :]:
            prepare(*given)
            _prepared.append(prepare)
        with working_for(team):
            value: Any = function(*args, **kwargs)
    except MemoryError:
        is_result, value = False, TooMuchWork("needs more memory than one job may use")
    except Exception as error:
        # The edge of a job: the caller raises it.
        is_result, value = False, error
    is_large = _peak_kib() > LARGE_KIB
    try:
        return pickle.dumps((is_result, is_large, value), pickle.HIGHEST_PROTOCOL)
    except Exception as error:
        return pickle.dumps((False, is_large, RuntimeError(f"no reply: {error}")))


def _peak_kib() -> int:
    """The most memory that this process has had.

    Not `ru_maxrss`: that begins with the memory of the process that started this one.
    """
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1])
    return 0


def _limit_time(seconds: int) -> None:
    """End this process (SIGXCPU) once it has used so much processor time from now on."""
    until = math.ceil(time.process_time()) + seconds
    resource.setrlimit(resource.RLIMIT_CPU, (until, resource.RLIM_INFINITY))


def _read(file: int, count: int) -> bytes:
    data = bytearray()
    while len(data) < count:
        part = os.read(file, min(count - len(data), 1 << 20))
        if not part:
            return b""
        data += part
    return bytes(data)


def _write(file: int, data: bytes) -> None:
    view = memoryview(data)
    with suppress(BrokenPipeError):  # nobody is left to read it, nor to send another job
        while view:
            view = view[os.write(file, view) :]
