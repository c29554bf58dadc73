"""A detached job: a program that runs to its end once, even if its caller is killed meanwhile.

    input, job.json        its stdin, and what to run
    lock                   held while it runs
    started                the process id of its supervisor
    output                 its stdout, once it has ended
    outcome.json           how it ended; written last, so the output is complete when it exists

A caller that is killed and restarted finds the job still running, or done, and does not run it a
second time. A small supervisor process enforces the program's time and output limits, and kills
everything it started. That is `python -m arena.agents.detached_job FOLDER`.
"""

import asyncio
import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from arena.agents.process import Process, Program, describe_end
from arena.agents.secrets import Secrets
from arena.errors import AgentCrashed, AgentFault, AgentTimedOut, ArenaError, InfrastructureError
from arena.files import write_atomically

MAX_OUTPUT_BYTES = 4 * 1024**2
POLL_SECONDS = 0.05
MAX_END_POLLS = 200
"""How often to check whether a stopped job has ended: its supervisor needs at most 5 s."""

How = Literal["answered", "crashed", "timed_out", "too_long", "not_started"]
FAULTS: Mapping[str, type[ArenaError]] = {
    "crashed": AgentCrashed,
    "timed_out": AgentTimedOut,
    "too_long": AgentFault,
    "not_started": InfrastructureError,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What to run and within which limits."""

    words: Sequence[str]
    directory: str
    timeout_seconds: float
    max_output_bytes: int = MAX_OUTPUT_BYTES


class DetachedJob:
    """One job, in its own folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._supervisor: subprocess.Popen[bytes] | None = None

    async def output(self, order: Order, stdin: bytes) -> bytes:
        """The program's output; it is started now, still running, or was run by an earlier caller.

        A failure is raised and its files removed: the next call runs the program again.
        """
        try:
            outcome = await self._outcome(order, stdin)
        except OSError as error:
            raise InfrastructureError(
                f"cannot run the job in {self.folder}: {error.strerror}"
            ) from error
        if outcome["how"] == "answered":
            return (self.folder / "output").read_bytes()
        self.forget()
        raise FAULTS[outcome["how"]](outcome.get("message"))

    def end(self) -> None:
        """Stop the program, wait until it has exited, and remove its files.

        A job that has already ended keeps its outcome.
        """
        is_signalled = False
        for _ in range(MAX_END_POLLS):
            if not self._is_running():
                break
            with suppress(OSError, ValueError):
                if not is_signalled:
                    # The holder of the lock is alive, so the process id is still valid.
                    os.kill(int((self.folder / "started").read_text()), signal.SIGTERM)
                    is_signalled = True
            time.sleep(POLL_SECONDS)
        else:
            return  # stuck in the kernel; the caller must not hang too
        if self._supervisor is not None:
            self._supervisor.wait()
        if not (self.folder / "outcome.json").exists():
            self.forget()

    def forget(self) -> None:
        """Remove its files."""
        shutil.rmtree(self.folder, ignore_errors=True)

    async def _outcome(self, order: Order, stdin: bytes) -> dict[str, str]:
        """How it ended; starts it first if necessary."""
        path = self.folder / "outcome.json"
        # The lock first: a job that ends in between leaves one of these files.
        if not self._is_running() and not path.exists() and not (self.folder / "started").exists():
            self._start(order, stdin)
        # In this order: if it is not running and then has no outcome, it will never have one.
        while (is_running := self._is_running()) and not path.exists():
            await asyncio.sleep(POLL_SECONDS)
        if self._supervisor is not None:
            await asyncio.to_thread(self._supervisor.wait)
        if not is_running and not path.exists():
            return {"how": "crashed", "message": "interrupted: the job's supervisor was killed"}
        return json.loads(path.read_bytes())

    def _is_running(self) -> bool:
        """Whether a supervisor holds the lock."""
        try:
            with (self.folder / "lock").open("r+") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except FileNotFoundError:
            return False
        except BlockingIOError:
            return True
        return False

    def _start(self, order: Order, stdin: bytes) -> None:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        (self.folder / "input").write_bytes(stdin)
        (self.folder / "job.json").write_text(json.dumps(asdict(order)))
        with (self.folder / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            # The supervisor inherits the lock, so it is held without a gap.
            self._supervisor = subprocess.Popen(
                [sys.executable, "-m", "arena.agents.detached_job", str(self.folder)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=[lock.fileno()],
                start_new_session=True,
            )
        # The supervisor writes it too, but later, and `end` must know whom to signal.
        (self.folder / "started").write_text(str(self._supervisor.pid))


class Supervisor:
    """Runs the program of a job and records how it ended."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._order = Order(**json.loads((folder / "job.json").read_bytes()))
        self._output = bytearray()
        self._process: Process | None = None

    async def run(self) -> None:
        """Run the program to its end. On SIGTERM it kills the program and removes the folder."""
        running = asyncio.current_task()
        assert running is not None
        # Before the process id is published: an earlier signal ends the supervisor before the
        # program has started, and the job is started again.
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, running.cancel)
        (self._folder / "started").write_text(str(os.getpid()))
        try:
            how, message = await self._run()
        except asyncio.CancelledError:
            shutil.rmtree(self._folder, ignore_errors=True)
            return
        write_atomically(self._folder / "output", bytes(self._output))
        outcome = json.dumps({"how": how, "message": message})
        write_atomically(self._folder / "outcome.json", outcome.encode())

    async def _run(self) -> tuple[How, str]:
        order = self._order
        program = Program(
            words=order.words, directory=Path(order.directory), environment=Secrets().environ
        )
        try:
            process = self._process = Process(program, self._add)
        except InfrastructureError as error:
            return "not_started", error.message
        try:
            async with asyncio.timeout(order.timeout_seconds):
                process.write((self._folder / "input").read_bytes())
                process.finish_input()
                code = await asyncio.shield(process.ended)
        except TimeoutError:
            return "timed_out", f"no result within {order.timeout_seconds:g} s"
        finally:
            await process.end()
        if len(self._output) > order.max_output_bytes:
            return "too_long", f"it wrote more than {order.max_output_bytes} bytes"
        if code != 0:
            return "crashed", describe_end(code, process.stderr)
        return "answered", ""

    def _add(self, data: bytes) -> None:
        limit = self._order.max_output_bytes
        self._output += data[: limit + 1 - len(self._output)]
        if len(self._output) > limit and self._process is not None:
            self._process.kill()


if __name__ == "__main__":
    asyncio.run(Supervisor(Path(sys.argv[1])).run())
