"""Heavy pure work in worker processes: off the event loop, and with a limit that really ends it.

A thread would not do: parsing, hashing and comparing hold the GIL, so the event loop would stand
still, and nothing can stop a thread. A worker process is started by the first heavy job, is used
for one job after the other, and exits when it has been idle, and with this process.
"""

import asyncio
import atexit
import pickle
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Callable
from threading import Lock
from typing import Any, ParamSpec, TypeVar

from arena.errors import InfrastructureError
from arena.pools.threads import CORES, FairThreads
from arena.team import current_team

CPU_SECONDS = 10
"""Processor time of one job. Not wall time: on a busy machine the same job must not fail."""
WALL_SECONDS = 300.0
"""After this time the machine has no processor to spare, or the worker is stuck."""
SMALL_EFFORT = 5000
"""Up to this `effort`, work takes a few milliseconds and is done at once."""
SIZE = struct.Struct(">Q")
PROGRAM = "from arena.pools.worker import main; main()"

P = ParamSpec("P")
T = TypeVar("T")

# Waits in a thread for each running worker, so the number of threads bounds the workers.
_THREADS = FairThreads("worker", CORES, spare=1)
_lock = Lock()
_idle: list["_Worker"] = []
_busy: set["_Worker"] = set()
_preparations: list[tuple[Callable[..., object], tuple[object, ...]]] = []


class TooMuchWork(Exception):
    """A job needs more processor time or memory than one job may use."""


async def heavy(function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    """The function's result, from a worker process; raises `TooMuchWork` over its limits.

    The function is defined at the top of a module, and its arguments and result can be pickled.
    """
    return await _THREADS.run(_in_worker, current_team(), function, args, kwargs)


async def by_effort(
    amount: int, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs
) -> T:
    """The function's result: at once if it is little work, else from a worker process."""
    if amount <= SMALL_EFFORT:
        return function(*args, **kwargs)
    return await heavy(function, *args, **kwargs)


async def off_loop(
    amount: int, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs
) -> T:
    """The function's result: from a thread if it is little work, else from a worker process."""
    if amount <= SMALL_EFFORT:
        return await asyncio.to_thread(function, *args, **kwargs)
    return await heavy(function, *args, **kwargs)


def prepare_workers(function: Callable[..., object], *args: object) -> None:
    """Let every worker call the function before its next job, once: state of this process."""
    if (function, args) not in _preparations:
        _preparations.append((function, args))


def close_workers() -> None:
    """End all workers of this process; what they were doing fails."""
    with _lock:
        ended, running = _idle.copy(), list(_busy)
        _idle.clear()
        _preparations.clear()
    for worker in running:
        worker.process.kill()
    for worker in ended:
        worker.end()


atexit.register(close_workers)


def _in_worker(team: str, function: Callable[..., Any], args: object, kwargs: object) -> Any:
    call = (_preparations, team, CPU_SECONDS, function, args, kwargs)
    job = pickle.dumps(call, pickle.HIGHEST_PROTOCOL)
    while True:
        worker = _taken()
        try:
            reply = worker.answer(job)
        except _HasExited:
            continue  # it had been idle for too long, and exited before it read the job
        finally:
            with _lock:
                _busy.discard(worker)
        is_result, is_large, value = pickle.loads(reply)
        if is_large:
            worker.end()  # a process does not give memory back
        else:
            with _lock:
                _idle.append(worker)
        if is_result:
            return value
        raise value


def _taken() -> "_Worker":
    with _lock:
        worker = _idle.pop() if _idle else None
        if worker is not None:
            _busy.add(worker)
            return worker
    worker = _Worker()
    with _lock:
        _busy.add(worker)
    return worker


class _HasExited(Exception):
    """The worker exited by itself, without a job."""


class _Worker:
    """One process, and the socket to it."""

    def __init__(self) -> None:
        self._socket, theirs = socket.socketpair()
        self._socket.settimeout(WALL_SECONDS)
        with theirs:
            self.process = subprocess.Popen(
                # -P: a file in the working folder must not replace a module.
                [sys.executable, "-P", "-c", PROGRAM],
                stdin=theirs.fileno(),
                stdout=theirs.fileno(),
                # So that Ctrl-C reaches only the main process.
                start_new_session=True,
            )

    def answer(self, job: bytes) -> bytes:
        """The reply to a job."""
        try:
            self._socket.sendall(SIZE.pack(len(job)) + job)
            size = SIZE.unpack(self._read(SIZE.size))[0]
            return self._read(size)
        except TimeoutError:
            self.process.kill()
            self.end()
            message = f"a worker process gave no result within {WALL_SECONDS:g} s"
            raise InfrastructureError(message) from None
        except (EOFError, OSError):
            raise self._why_ended() from None

    def end(self) -> None:
        """End the process, which has no job."""
        self._socket.close()
        self.process.kill()
        self.process.wait()

    def _read(self, count: int) -> bytes:
        data = bytearray()
        while len(data) < count:
            part = self._socket.recv(min(count - len(data), 1 << 20))
            if not part:
                raise EOFError
            data += part
        return bytes(data)

    def _why_ended(self) -> Exception:
        self._socket.close()
        code = self.process.wait()
        if code == 0:
            return _HasExited()
        if code == -signal.SIGXCPU:
            return TooMuchWork(f"took longer than {CPU_SECONDS} s of processor time")
        return InfrastructureError(f"a worker process ended with status {code}")
