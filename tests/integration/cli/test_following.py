"""Watching a run that workers execute, while its server is away."""

import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

import warm
from acceptance.conftest import Shell, end
from databases import new_postgres
from factories import write_agent, write_tests


@pytest.fixture
def shell(postgres_server: str, postgres_tables: str, tmp_path: Path) -> Iterator[Shell]:
    with new_postgres(postgres_server, postgres_tables) as url:
        variables = {"ARENA_DATABASE_URL": url, "ARENA_DISPATCH": "queued"}
        yield Shell(home=tmp_path / "home", variables=variables)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def test_a_watcher_learns_why_a_run_waits_and_waits_for_a_server_that_died(shell: Shell):
    write_agent(shell.home / "agents", "shouter", "return prompt.upper()")
    write_tests(shell.home / "benchmarks" / "loud.yaml", count=3, agents=["shouter"])
    port = str(free_port())
    with warm.serve(shell.environment, "--port", port, "--workers", "0") as first:
        watching = shell.start("--server", first.url, "run", "shouter")
        try:
            assert watching.stderr is not None
            assert "waits: no worker is running" in watching.stderr.readline()
            first.send_signal(signal.SIGKILL)
            first.wait(timeout=60)
            assert "workers go on, waiting to see the run" in watching.stderr.readline()
            with warm.serve(shell.environment, "--port", port) as second:
                try:
                    out, err = watching.communicate(timeout=120)
                finally:
                    second.send_signal(signal.SIGKILL)
                    second.wait(timeout=60)
        finally:
            end(watching)
    assert watching.returncode == 0, err
    assert "3 of 3 passed" in out
