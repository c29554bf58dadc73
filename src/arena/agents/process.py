"""A program in a process group of its own: started, fed, read and ended without blocking.

asyncio's own subprocesses cost several tasks and a thread each; this needs a file descriptor for
the process (`pidfd`, Linux 5.3) and plain callbacks, and it always ends the whole group.
"""

import asyncio
import contextlib
import errno
import os
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from arena.errors import AgentUnavailable

_CHUNK = 256 * 1024
_MAX_LAST_READS = 64
"""A child that left the group and keeps writing must not make us read for ever."""
_STDERR_TAIL_BYTES = 2000
_TRANSIENT = {errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE}
_END_SECONDS = 5.0
"""SIGKILL works at once, unless the process is stuck in the kernel (a device, a network drive)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A command line, its working directory and environment."""

    words: Sequence[str]
    directory: Path
    environment: Mapping[str, str]


class Process:
    """A running program; `on_output` gets its stdout, `ended` its exit code."""

    def __init__(self, program: Program, on_output: Callable[[bytes], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self.ended: asyncio.Future[int] = self._loop.create_future()
        self._on_output = on_output
        self._unsent = b""
        self._input_finished = False
        self._stderr = bytearray()
        self._stderr_was_cut = False
        self._process = _start(program)
        assert self._process.stdin and self._process.stdout and self._process.stderr
        self._stdin = self._process.stdin.fileno()
        self._stdout = self._process.stdout.fileno()
        self._stderr_fd = self._process.stderr.fileno()
        for descriptor in (self._stdin, self._stdout, self._stderr_fd):
            os.set_blocking(descriptor, False)
        self._pidfd = self._open_pidfd()
        self._loop.add_reader(self._stdout, self._read_stdout)
        self._loop.add_reader(self._stderr_fd, self._read_stderr)
        self._loop.add_reader(self._pidfd, self._reap)

    @property
    def has_ended(self) -> bool:
        """Whether the program has exited and its group was killed."""
        return self.ended.done()

    @property
    def stderr(self) -> str:
        """The last whole lines of the program's stderr.

        Never a partial line: half a secret would not be recognised and redacted.
        """
        text = self._stderr.decode("utf-8", errors="replace")
        return (text.partition("\n")[2] if self._stderr_was_cut else text).strip()

    def write(self, data: bytes) -> None:
        """Send `data` to stdin; what the pipe cannot accept now is sent later."""
        if self._input_finished:
            return
        if self._unsent:
            self._unsent += data
            return
        self._unsent = data
        self._send()
        if self._unsent:
            self._loop.add_writer(self._stdin, self._send_rest)

    def read_now(self) -> None:
        """Read what the program has written already, without waiting for the event loop."""
        if not self.has_ended:
            self._read_stdout()

    def finish_input(self) -> None:
        """Close stdin when everything is sent."""
        self._input_finished = True
        if not self._unsent:
            self._close_stdin()

    def kill(self) -> None:
        """Send SIGKILL to the whole group; `ended` follows."""
        # Until the program is reaped, its group id cannot be reused.
        if not self.has_ended:
            _kill_group(self._process.pid)

    async def end(self) -> None:
        """Kill the group and wait for the exit."""
        self.kill()
        await asyncio.wait([self.ended], timeout=_END_SECONDS)

    def _open_pidfd(self) -> int:
        try:
            return os.pidfd_open(self._process.pid)
        except OSError as error:
            with self._process:  # closes its pipes and reaps it
                _kill_group(self._process.pid)
            raise AgentUnavailable(
                f"the agent's process cannot be watched (needs Linux 5.3): {error.strerror}",
                retryable=error.errno in _TRANSIENT,
            ) from None

    def _send(self) -> None:
        try:
            self._unsent = self._unsent[os.write(self._stdin, self._unsent) :]
        except BlockingIOError:
            pass
        except BrokenPipeError:
            self._unsent = b""  # it closed its stdin; it may still answer

    def _send_rest(self) -> None:
        self._send()
        if not self._unsent:
            self._loop.remove_writer(self._stdin)
            if self._input_finished:
                self._close_stdin()

    def _close_stdin(self) -> None:
        if self._process.stdin and not self._process.stdin.closed:
            self._loop.remove_writer(self._stdin)
            self._process.stdin.close()

    def _read_stdout(self) -> bool:
        data = _read(self._stdout)
        if data:
            self._on_output(data)
        elif data == b"":
            self._loop.remove_reader(self._stdout)
        return bool(data)

    def _read_stderr(self) -> bool:
        data = _read(self._stderr_fd)
        if data:
            self._stderr += data
            if len(self._stderr) > _STDERR_TAIL_BYTES:
                del self._stderr[:-_STDERR_TAIL_BYTES]
                self._stderr_was_cut = True
        elif data == b"":
            self._loop.remove_reader(self._stderr_fd)
        return bool(data)

    def _reap(self) -> None:
        """The program has exited: kill the rest of its group, read the rest, close everything."""
        _kill_group(self._process.pid)
        code = self._process.wait()
        for descriptor in (self._pidfd, self._stdout, self._stderr_fd):
            self._loop.remove_reader(descriptor)
        for read in (self._read_stderr, self._read_stdout):
            for _ in range(_MAX_LAST_READS):
                if not read():
                    break
        self._close_stdin()
        os.close(self._pidfd)
        for pipe in (self._process.stdout, self._process.stderr):
            if pipe:
                pipe.close()
        self._input_finished = True
        self.ended.set_result(code)


def describe_end(code: int, stderr: str) -> str:
    """How a program ended: its exit code or signal, and the end of its stderr."""
    if code < 0:
        try:
            how = f"the agent was killed by {signal.Signals(-code).name}"
        except ValueError:
            how = f"the agent was killed by signal {-code}"
    else:
        how = f"the agent ended with exit code {code}"
    return f"{how}: {stderr}" if stderr else how


def _start(program: Program) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            program.words,
            cwd=program.directory,
            env=program.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
        )
    except OSError as error:
        raise _unstartable(program, error) from None


def _unstartable(program: Program, error: OSError) -> AgentUnavailable:
    name, directory = program.words[0], program.directory
    retryable = False
    match error:
        case FileNotFoundError() if not directory.is_dir():
            message = f"the folder {directory.name!r} of the agent does not exist"
        case FileNotFoundError():
            message = f"{name!r} was not found; install it, or give its full path"
        case PermissionError():
            message = f"{name!r} may not be executed; try: chmod +x {name}"
        case OSError(errno=errno.E2BIG):
            message = f"the arguments of {name!r} are too long; pass the prompt on stdin"
        case _:
            message = f"{name!r} cannot be started: {(error.strerror or str(error)).lower()}"
            # A shortage of memory, processes or descriptors may pass; a broken program does not.
            retryable = error.errno in _TRANSIENT
    return AgentUnavailable(message, retryable=retryable)


def _kill_group(group: int) -> None:
    # Already gone, or running as another user, which we may not kill.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


def _read(descriptor: int) -> bytes | None:
    """What can be read now: empty at the end of the file, None if there is nothing yet."""
    try:
        return os.read(descriptor, _CHUNK)
    except BlockingIOError:
        return None
