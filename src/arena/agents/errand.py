"""An errand: a program that is run to its end once, whatever happens to the one who sent it.

    input, errand.json     what to run, and what it gets on stdin
    lock                   held for as long as it runs
    started                the number of the process that minds it
    output                 what it wrote, once it has ended
    outcome.json           how it ended; whoever finds this finds the output whole

Whoever sends an errand may be killed and started again: it finds the errand still running, or done,
and does not run it a second time. A small process of Arena's own minds the program: its time, its
output, and that everything it started ends with it. `python -m arena.agents.errand FOLDER` is it.
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
LOOK_SECONDS = 0.05
END_LOOKS = 200
"""How often to look whether one that is to end has: its minder takes 5 seconds at most."""

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


class Errand:
    """One errand, in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._minder: subprocess.Popen[bytes] | None = None

    async def output(self, order: Order, stdin: bytes) -> bytes:
        """What the program wrote: run now, still running, or run before by somebody else.

        How it failed is raised, and then forgotten: the next call runs it anew.
        """
        try:
            outcome = await self._outcome(order, stdin)
        except OSError as wrong:
            raise InfrastructureError(f"the errand in {self.folder}: {wrong.strerror}") from wrong
        if outcome["how"] == "answered":
            return (self.folder / "output").read_bytes()
        self.forget()
        raise FAULTS[outcome["how"]](outcome["told"])

    def end(self) -> None:
        """End the program and wait until it is gone; it is as if it had never been sent.

        One that has ended by itself keeps its outcome.
        """
        is_told = False
        for _ in range(END_LOOKS):
            if self._is_free():
                break
            with suppress(OSError, ValueError):
                if not is_told:
                    # Whoever holds the lock is alive, so the number is still its own.
                    os.kill(int((self.folder / "started").read_text()), signal.SIGTERM)
                    is_told = True
            time.sleep(LOOK_SECONDS)
        else:
            return  # it hangs in the kernel, and whoever wants to stop must not hang with it
        if self._minder is not None:
            self._minder.wait()
        if not (self.folder / "outcome.json").exists():
            self.forget()

    def forget(self) -> None:
        """Remove what is left of it."""
        shutil.rmtree(self.folder, ignore_errors=True)

    async def _outcome(self, order: Order, stdin: bytes) -> dict[str, str]:
        """How it ended; sent first where it was not."""
        path = self.folder / "outcome.json"
        if self._is_free() and not path.exists() and not (self.folder / "started").exists():
            self._send(order, stdin)
        # In this order: who finds nobody minding it and then no outcome knows there will be none.
        while not (is_free := self._is_free()) and not path.exists():
            await asyncio.sleep(LOOK_SECONDS)
        if self._minder is not None:
            await asyncio.to_thread(self._minder.wait)
        if is_free and not path.exists():
            return {"how": "crashed", "told": "the execution was cut off: its minder was ended"}
        return json.loads(path.read_bytes())

    def _is_free(self) -> bool:
        """Whether nobody minds it."""
        try:
            with (self.folder / "lock").open("r+") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except FileNotFoundError:
            return True
        except BlockingIOError:
            return False
        return True

    def _send(self, order: Order, stdin: bytes) -> None:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        (self.folder / "input").write_bytes(stdin)
        (self.folder / "errand.json").write_text(json.dumps(asdict(order)))
        with (self.folder / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            # The lock goes over to the minder: there is no moment at which nobody holds it.
            self._minder = subprocess.Popen(
                [sys.executable, "-m", "arena.agents.errand", str(self.folder)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=[lock.fileno()],
                start_new_session=True,
            )
        # The minder writes it too, but later, and whoever ends the errand must know whom to tell.
        (self.folder / "started").write_text(str(self._minder.pid))


class Minder:
    """Runs the program of an errand and writes down how it ended."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._order = Order(**json.loads((folder / "errand.json").read_bytes()))
        self._output = bytearray()
        self._process: Process | None = None

    async def mind(self) -> None:
        """Run it to its end. Told to stop, it ends the program and leaves no trace."""
        running = asyncio.current_task()
        assert running is not None
        # Before the number is there to be sent a signal: one that comes earlier ends the minder
        # with nothing begun, and the errand is sent anew.
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, running.cancel)
        (self._folder / "started").write_text(str(os.getpid()))
        try:
            how, told = await self._run()
        except asyncio.CancelledError:
            shutil.rmtree(self._folder, ignore_errors=True)
            return
        write_atomically(self._folder / "output", bytes(self._output))
        write_atomically(
            self._folder / "outcome.json", json.dumps({"how": how, "told": told}).encode()
        )

    async def _run(self) -> tuple[How, str]:
        order = self._order
        program = Program(
            words=order.words, directory=Path(order.directory), environment=Secrets().environ
        )
        try:
            process = self._process = Process(program, self._add)
        except InfrastructureError as wrong:
            return "not_started", wrong.message
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
    asyncio.run(Minder(Path(sys.argv[1])).mind())
