"""The connection to the server: lost and restored, and protected by a token."""

import contextlib
import random
import re
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from acceptance.conftest import Shell, end
from acceptance.web.conftest import DESK, Visit
from factories import write_agent

TOKEN = "red-token-0123456789"


@pytest.fixture
def port() -> int:
    """A free port below the ephemeral range, so that no other process gets it meanwhile."""
    first = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    for number in random.sample(range(first - 8000, first), 100):
        with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", number)):
            return number
    raise AssertionError("no port is free")


@pytest.fixture
def start(shell: Shell, port: int) -> Iterator[Callable[[], Callable[[], int]]]:
    """Starts the server on its port; returns a function that stops it."""
    ends: list[Callable[[], int]] = []

    def begin() -> Callable[[], int]:
        server = shell.start("serve", "--port", str(port))
        assert server.stdout is not None
        assert "listens" in server.stdout.readline()
        ends.append(lambda: end(server) if server.poll() is None else 0)
        return ends[-1]

    yield begin
    for stop in ends:
        stop()


def test_a_lost_connection_is_shown_and_recovers(
    visit_as: Callable[..., Visit],
    start: Callable[[], Callable[[], int]],
    shell: Shell,
    port: int,
):
    stop = start()
    page = visit_as(DESK, f"http://127.0.0.1:{port}").go()
    state = page.get_by_role("status").filter(has_text="Live")
    expect(state).to_be_visible()
    stop()
    lost = page.get_by_role("status").filter(has_text="Offline")
    expect(lost).to_be_visible()
    page.get_by_role("button", name="Benchmark AI assistant").click()
    expect(page.get_by_role("alert")).to_contain_text("The Arena server is not responding")
    # Changes made meanwhile appear on reconnect, without a reload.
    write_agent(shell.home / "agents", "newcomer", "return 'hello'", name="Newcomer")
    start()
    expect(state).to_be_visible()
    expect(page.get_by_role("article", name="Newcomer")).to_be_visible()


def test_a_server_with_tokens_asks_for_one(visit_as: Callable[..., Visit], tmp_path: Path):
    shell = Shell(home=tmp_path / "home", variables={"ARENA_TOKENS": f"red:{TOKEN}"})
    with shell.serving() as client:
        visit = visit_as(DESK, str(client.base_url).rstrip("/"))
        page = visit.page
        page.goto(f"{visit.url}/agent-dashboard/leaderboard")
        expect(page.get_by_role("heading", name="This server needs a token")).to_be_visible()
        page.get_by_label("Token").fill("not-the-right-token")
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_text("The server does not accept this token")).to_be_visible()
        page.get_by_label("Token").fill(TOKEN)
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_role("button", name="Team: red")).to_be_visible()
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        expect(page).to_have_url(re.compile("/agent-dashboard/teams/red"))
        expect(page.get_by_role("status").filter(has_text="Live")).to_be_visible()
        assert TOKEN not in page.url
