"""An agent that is started before its server, and one that can never reach it."""

import dataclasses
import signal
import socket
import subprocess
from typing import Any

import pytest

import warm


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def test_an_agent_waits_for_its_server_and_then_works(shell: Any):
    port = free_port()
    agent = shell.start(
        *("--server", f"http://127.0.0.1:{port}", "join", "--agent-id", "early", "--exec", "cat"),
        stdout=subprocess.DEVNULL,
    )
    try:
        assert "waiting until the server responds" in agent.stderr.readline()
        with warm.serve(shell.environment, "--port", str(port)) as server:
            try:
                assert "the server responds again" in agent.stderr.readline()
                assert "early 1.0.0 is registered" in agent.stderr.readline()
                assert "early is looking for tasks" in agent.stderr.readline()
            finally:
                server.send_signal(signal.SIGKILL)
                server.wait(timeout=60)
    finally:
        agent.send_signal(signal.SIGTERM)
        agent.communicate()


@pytest.mark.parametrize(
    ("server", "message"),
    [("http//wrong", "must be like http"), ("ftp://127.0.0.1", "must be like http")],
)
def test_a_malformed_address_is_an_error_at_once(shell: Any, server: str, message: str):
    done = shell.arena("--server", server, "join", "--agent-id", "lost", "--exec", "cat")
    assert done.returncode == 2
    assert message in done.stderr
    assert "waiting" not in done.stderr


def test_a_refused_token_is_an_error_at_once(shell: Any):
    guarded = dataclasses.replace(shell, variables={"ARENA_TOKENS": f"red:{'t' * 20}"})
    with guarded.serving() as client:
        words = ("join", "--agent-id", "stranger", "--exec", "cat")
        done = shell.arena("--server", str(client.base_url), *words)
    assert done.returncode == 2
    assert "token" in done.stderr
    assert "waiting" not in done.stderr
