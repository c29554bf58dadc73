"""The command `arena` without its start: a process that has imported it forks for each command.

Importing takes a second of processor time, and the acceptance tests type hundreds of commands.
What is forked is a process of its own, with the arguments, variables, folder and streams of
`python -m arena`, and it ends as that does; only the imports are there already. That a cold start
works is proved by every server, and by every command that a test starts and does not wait for.
"""

import atexit
import contextlib
import functools
import gc
import importlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

IMPORTED = ("arena.api", "arena.store.migrations", "sqlalchemy.dialects.sqlite.aiosqlite")
"""Beside the commands themselves."""


def run(
    words: Sequence[str],
    environment: Mapping[str, str],
    *,
    cwd: Path | None = None,
    input: str = "",  # the name that subprocess.run has for it
    timeout: float = 120,
) -> subprocess.CompletedProcess[str]:
    """Type a command and wait for its end."""
    asked = {"words": list(words), "environment": dict(environment), "cwd": str(cwd or Path.cwd())}
    with contextlib.ExitStack() as closing:
        streams = [closing.enter_context(tempfile.TemporaryFile("w+")) for _ in range(3)]
        streams[0].write(input)
        streams[0].seek(0)
        line = closing.enter_context(socket.socket(socket.AF_UNIX))
        line.connect(_server())
        socket.send_fds(line, [b"."], [stream.fileno() for stream in streams])
        line.sendall(json.dumps(asked).encode() + b"\n")
        answer = closing.enter_context(line.makefile())
        pid = int(answer.readline())
        line.settimeout(timeout)
        try:
            code = int(answer.readline())
        except TimeoutError:
            os.kill(pid, signal.SIGKILL)
            raise subprocess.TimeoutExpired(list(words), timeout) from None
        return subprocess.CompletedProcess(list(words), code, *map(_text, streams[1:]))


def _text(stream: IO[str]) -> str:
    stream.seek(0)
    return stream.read()


@functools.cache
def _server() -> str:
    """The socket of the process that forks; it is started once, and ends with this one."""
    folder = tempfile.TemporaryDirectory(prefix="arena-warm-")
    path = f"{folder.name}/socket"
    server = subprocess.Popen(
        [sys.executable, __file__, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )

    def end() -> None:
        with server:  # closes its input: that is how it knows
            pass
        folder.cleanup()

    atexit.register(end)
    assert server.stdout is not None
    assert server.stdout.readline() == "warm\n"
    return path


def next_command(path: str) -> tuple[dict[str, Any], list[int]]:
    """Comes back in a process of its own for each command, and in the server never."""
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
        with line.makefile() as told:
            asked = json.loads(told.readline())
        if pid := os.fork():
            line.sendall(f"{pid}\n".encode())
            code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
            with contextlib.suppress(BrokenPipeError):  # whoever asked did not wait so long
                line.sendall(f"{code}\n".encode())
            os._exit(0)
    return asked, streams


def become(asked: dict[str, Any], streams: Sequence[int]) -> None:
    """All that a shell would have given to the command."""
    for place, stream in enumerate(streams):
        os.dup2(stream, place)
        os.close(stream)
    os.setsid()
    os.environ.clear()
    os.environ.update(asked["environment"])
    os.chdir(asked["cwd"])
    sys.argv = ["arena", *asked["words"]]
    sys.path[0] = asked["cwd"]


if __name__ == "__main__":
    from arena.__main__ import main
    from arena.cli.main import COMMANDS

    for module in (*IMPORTED, *(module for module, _ in COMMANDS.values())):
        importlib.import_module(module)
    assert threading.active_count() == 1, "a fork would lose the other threads"
    gc.freeze()
    become(*next_command(sys.argv[1]))
    main()
