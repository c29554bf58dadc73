"""The commands of Arena as separate processes, as an operator starts them."""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

PATIENCE_SECONDS = 120
ARENA = (sys.executable, "-m", "arena")


def environment(home: Path, database_url: str, **more: str) -> dict[str, str]:
    """The variables of a command on one home and one database."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("ARENA_")}
    own = {
        "ARENA_HOME": str(home),
        "ARENA_DATABASE_URL": database_url,
        "ARENA_DISPATCH": "queued",
        "ARENA_LOG_LEVEL": "warning",
    }
    return {**kept, **own, **more}


class Command:
    """A started command; its output goes to a file."""

    def __init__(
        self,
        words: Sequence[str],
        variables: Mapping[str, str],
        log: Path,
        prefix: Sequence[str] = (),
    ) -> None:
        self.log = log
        self.words = words
        with log.open("ab") as output:
            self._seen = log.stat().st_size
            self._process = subprocess.Popen(
                [*prefix, *ARENA, *words],
                env=dict(variables),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        self.pid = self._process.pid

    def wait_for_line(self, pattern: str) -> re.Match[str]:
        """Wait until its output has a line that matches."""

        def found() -> re.Match[str] | None:
            line = re.search(pattern, self.output)
            assert line or self.is_running, f"{self.words} ended: {self.output[-2000:]}"
            return line

        return until(found, f"{self.words} prints {pattern!r}")

    @property
    def output(self) -> str:
        """What it has printed."""
        return self.log.read_bytes()[self._seen :].decode(errors="replace")

    @property
    def is_running(self) -> bool:
        """Whether it has not ended."""
        return self._process.poll() is None

    def signal(self, number: int) -> None:
        """Send it a signal."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, number)

    def kill(self) -> None:
        """Kill -9 of the process alone, as the OOM killer does it."""
        self.signal(signal.SIGKILL)
        self._process.wait(PATIENCE_SECONDS)

    def stop(self) -> int:
        """SIGTERM; returns its exit code."""
        self.signal(signal.SIGTERM)
        return self.wait()

    def wait(self) -> int:
        """Wait for its end; returns its exit code."""
        return self._process.wait(PATIENCE_SECONDS)


class Server(Command):
    """`arena serve --workers 0`, or one that executes runs itself."""

    def __init__(
        self,
        home: Path,
        database_url: str,
        log: Path,
        variables: Mapping[str, str],
        *,
        is_embedded: bool = False,
    ) -> None:
        words = ["serve", "--port", "0"] + ([] if is_embedded else ["--workers", "0"])
        dispatch = "embedded" if is_embedded else "queued"
        own = environment(home, database_url, ARENA_DISPATCH=dispatch)
        super().__init__(words, {**own, **variables}, log)
        self.url = self.wait_for_line(r"Arena listens on (http://\S+)")[1]

    def get(self, path: str) -> Any:
        """The JSON at a path."""
        return self._send(urllib.request.Request(self.url + path))

    def post(self, path: str, body: object = None) -> Any:
        """The JSON answer to a POST."""
        data = json.dumps(body).encode() if body is not None else b""
        headers = {"Content-Type": "application/json"}
        return self._send(urllib.request.Request(self.url + path, data, headers, method="POST"))

    def _send(self, request: urllib.request.Request) -> Any:
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            error.add_note(error.read().decode(errors="replace"))
            raise


def until(
    is_so: Callable[[], Any],
    what: str,
    seconds: float = PATIENCE_SECONDS,
    *,
    pause_seconds: float = 0.02,
) -> Any:
    """Wait for a condition, with a time-out; returns what it returned."""
    deadline = time.monotonic() + seconds
    while not (found := is_so()):
        assert time.monotonic() < deadline, f"never happened: {what}"
        time.sleep(pause_seconds)
    return found
