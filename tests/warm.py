"""The command `arena` without its start-up: a fork server that has imported it forks per command.

Importing takes a second of CPU time, and the acceptance tests run hundreds of commands. The forked
process has the arguments, variables, working folder and streams of `python -m arena`, and exits the
same way; only the imports are done already. Cold starts are covered by the test of every command's
help, and by each test that uses `Shell.start`.
"""

import atexit
import contextlib
import functools
import gc
import importlib
import json
import os
import pkgutil
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

import arena

LIBRARIES = (
    "aiosqlite",
    "alembic.command",
    "cryptography.hazmat.primitives.asymmetric.ed25519",
    "eth_abi.abi",
    "eth_account.messages",
    "httpx2",
    "rich.progress",
    "rich.table",
    "sqlalchemy.dialects.postgresql.asyncpg",
    "sqlalchemy.dialects.sqlite.aiosqlite",
    "uvicorn",
)
"""What commands import lazily, apart from Arena itself."""
NOTHING = Path(os.devnull)


def run(
    words: Sequence[str],
    environment: Mapping[str, str],
    *,
    cwd: Path | None = None,
    input: str = "",  # the name that subprocess.run has for it
    timeout: float = 120,
) -> subprocess.CompletedProcess[str]:
    """Run a command and wait for it to exit."""
    with contextlib.ExitStack() as closing:
        streams = [closing.enter_context(tempfile.TemporaryFile("w+")) for _ in range(3)]
        streams[0].write(input)
        streams[0].seek(0)
        with _fork(words, environment, cwd, [stream.fileno() for stream in streams]) as process:
            code = process.wait(timeout)
        return subprocess.CompletedProcess(list(words), code, *map(_text, streams[1:]))


def start(
    words: Sequence[str],
    environment: Mapping[str, str],
    *,
    cwd: Path | None = None,
    log: Path | None = None,
) -> "Process":
    """Start a command without waiting; its output goes to `log`, or is discarded."""
    with NOTHING.open("rb") as nothing, (log or NOTHING).open("ab") as output:
        streams = [nothing.fileno(), output.fileno(), output.fileno()]
        return _fork(words, environment, cwd, streams)


def serve(environment: Mapping[str, str], *words: str, log: Path | None = None) -> "Process":
    """`arena serve` on a free port; returns once it listens, with `url` set."""
    ours, theirs = os.pipe()
    with NOTHING.open("rb") as nothing, (log or NOTHING).open("ab") as errors:
        streams = [nothing.fileno(), theirs, errors.fileno()]
        process = _fork(("serve", "--port", "0", *words), environment, None, streams)
    os.close(theirs)
    process.stdout = os.fdopen(ours)
    line = process.stdout.readline()
    assert line.startswith("Arena listens on http://"), line
    process.url = line.split()[3]
    return process


def write_command(path: Path) -> None:
    """Write a program that can be called as `arena`, for scripts."""
    places = [str(Path(__file__).parent), *sys.path]
    lines = (
        f"#!{sys.executable}",
        "import sys",
        f"sys.path[:0] = {places!r}",
        "import warm",
        f"sys.exit(warm.forward({_server()!r}, sys.argv[1:]))",
    )
    path.write_text("\n".join(lines))
    path.chmod(0o755)


def forward(server: str, words: Sequence[str]) -> int:
    """Run a command with the streams of this process, and pass signals on to it."""
    process = _fork(words, os.environ, None, [0, 1, 2], server)

    def send(number: int, _: object) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process.pid, number)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, send)
    code = process.wait()
    return code if code >= 0 else 128 - code


class Process:
    """A started command with the needed part of `subprocess.Popen`; not a child of this process."""

    def __init__(self, words: Sequence[str], line: socket.socket) -> None:
        self._words = list(words)
        self._line = line
        self.pid = int(_read_line(line))
        self.returncode: int | None = None
        self.stdout: IO[str] | None = None
        self.url = ""

    def poll(self) -> int | None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.wait(timeout=0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None:
            if not select.select([self._line], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired(self._words, timeout or 0)
            self.returncode = int(_read_line(self._line))
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is not None:
            self.send_signal(signal.SIGKILL)  # a failed test must not also wait for the command
        self.wait()
        self._line.close()
        if self.stdout is not None:
            self.stdout.close()


def _fork(
    words: Sequence[str],
    environment: Mapping[str, str],
    cwd: Path | None,
    streams: list[int],
    server: str | None = None,
) -> Process:
    request = {
        "words": list(words),
        "environment": dict(environment),
        "cwd": str(cwd or Path.cwd()),
    }
    line = socket.socket(socket.AF_UNIX)
    line.connect(server or _server())
    socket.send_fds(line, [b"."], streams)
    line.sendall(json.dumps(request).encode() + b"\n")
    return Process(words, line)


def _read_line(line: socket.socket) -> str:
    """Read byte by byte: the rest must stay in the socket, where `select` sees it."""
    read = b""
    while not read.endswith(b"\n"):
        byte = line.recv(1)
        assert byte, "the fork server exited"
        read += byte
    return read.decode()


def _text(stream: IO[str]) -> str:
    stream.seek(0)
    return stream.read()


@functools.cache
def _server() -> str:
    """The socket of the fork server; it is started once, and exits with this process."""
    folder = tempfile.TemporaryDirectory(prefix="arena-warm-")
    path = f"{folder.name}/socket"
    server = subprocess.Popen(
        [sys.executable, __file__, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )

    def end() -> None:
        with server:  # closes its stdin, which makes it exit
            pass
        folder.cleanup()

    atexit.register(end)
    assert server.stdout is not None
    assert server.stdout.readline() == "warm\n"
    return path


def next_command(path: str) -> tuple[dict[str, Any], list[int]]:
    """Return in a new process for each command; never return in the fork server."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen()
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        print("warm", flush=True)
        while True:
            ready, _, _ = select.select([listener, sys.stdin], [], [])
            if sys.stdin in ready:
                sys.exit()
            line, _ = listener.accept()
            if os.fork() == 0:
                break
            line.close()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    with line:
        _, streams, _, _ = socket.recv_fds(line, 1, 3)
        with line.makefile() as reader:
            request = json.loads(reader.readline())
        if pid := os.fork():
            for stream in streams:
                os.close(stream)
            line.sendall(f"{pid}\n".encode())
            code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
            with contextlib.suppress(BrokenPipeError):  # the caller has disconnected
                line.sendall(f"{code}\n".encode())
            os._exit(0)
    return request, streams


def import_all() -> None:
    """Import everything a command may need, including its lazy imports."""
    for module in pkgutil.walk_packages(arena.__path__, "arena."):
        # Migrations and their environment are run by Alembic, not imported.
        if not module.name.startswith("arena.store.migrations."):
            importlib.import_module(module.name)
    limit = sys.getrecursionlimit()
    for library in LIBRARIES:
        importlib.import_module(library)
    sys.setrecursionlimit(limit)  # one of them raises it; see arena/market/wallets.py


def become(request: dict[str, Any], streams: Sequence[int]) -> None:
    """Set up streams, session, environment, folder and arguments as a shell would."""
    for place, stream in enumerate(streams):
        os.dup2(stream, place)
        os.close(stream)
    os.setsid()
    os.environ.clear()
    os.environ.update(request["environment"])
    os.chdir(request["cwd"])
    sys.argv = ["arena", *request["words"]]
    sys.path[0] = request["cwd"]


if __name__ == "__main__":
    from arena.__main__ import main

    import_all()
    assert threading.active_count() == 1, "a fork would lose the other threads"
    gc.freeze()
    become(*next_command(sys.argv[1]))
    main()
