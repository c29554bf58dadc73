"""Only what a user has: the command `arena`, a home folder, and HTTP."""

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
import pytest

import warm

ARENA = (sys.executable, "-m", "arena")


@dataclass(frozen=True, kw_only=True)
class Shell:
    """A user's shell: a home and environment variables."""

    home: Path
    variables: Mapping[str, str] = field(default_factory=dict)

    @property
    def environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("ARENA_")}
        return {**kept, "ARENA_HOME": str(self.home), **self.variables}

    def arena(self, *words: str, **options: Any) -> subprocess.CompletedProcess[str]:
        """Run a command and wait for it to exit."""
        return warm.run(words, self.environment, **options)

    def json(self, *words: str) -> Any:
        """What a command prints with --json."""
        done = self.arena(*words, "--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def start(self, *words: str, **options: Any) -> subprocess.Popen[str]:
        """Start a command without waiting; it leads its own process group."""
        options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, **options}
        return subprocess.Popen(
            [*ARENA, *words], env=self.environment, start_new_session=True, **options
        )

    @contextmanager
    def serving(self, *words: str, log: Path | None = None) -> Iterator[httpx2.Client]:
        """`arena serve` on a free port until the block ends; yields a client."""
        with warm.serve(self.environment, *words, log=log) as server:
            try:
                with httpx2.Client(base_url=server.url, timeout=60, trust_env=False) as client:
                    yield client
            finally:
                server.send_signal(signal.SIGINT)
                try:
                    server.wait(timeout=60)
                finally:
                    server.send_signal(signal.SIGKILL)


def end(process: subprocess.Popen[str]) -> int:
    """Stop a process as Ctrl-C does; returns its exit code."""
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
    try:
        return process.wait(timeout=20)
    finally:
        if process.poll() is None:
            kill(process)
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                stream.close()


def kill(process: subprocess.Popen[str]) -> None:
    """kill -9 of the process alone, as the OOM killer does it."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(process.pid, signal.SIGKILL)
    process.wait(timeout=20)


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """A user with an empty home."""
    return Shell(home=tmp_path / "home")


@pytest.fixture(scope="session")
def used_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home whose database already has its tables, for tests that only read."""
    home = tmp_path_factory.mktemp("used")
    assert Shell(home=home).arena("runs", "list").returncode == 0
    return home
