"""The connection to the server: lost and restored, and protected by a token."""

import contextlib
import random
import re
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, Response, expect

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
    # Of the card: the page may have noticed by itself, with an alert of its own.
    card = page.get_by_role("article", name="AI assistant")
    expect(card.get_by_role("alert")).to_contain_text("The Arena server is not responding")
    # Changes made meanwhile appear on reconnect, without a reload.
    write_agent(shell.home / "agents", "newcomer", "return 'hello'", name="Newcomer")
    start()
    expect(state).to_be_visible()
    expect(page.get_by_role("article", name="Newcomer")).to_be_visible()


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a server that needs a token."""
    home = tmp_path_factory.mktemp("guarded")
    with Shell(home=home, variables={"ARENA_TOKENS": f"red:{TOKEN}"}).serving() as client:
        yield str(client.base_url).rstrip("/")


@pytest.fixture
def gate(visit_as: Callable[..., Visit], guarded: str) -> Visit:
    """The form that asks for a token."""
    return visit_as(DESK, guarded)


def requested(page: Page) -> list[tuple[str, int]]:
    """Records the path and the status of every answer of the API."""
    answers: list[tuple[str, int]] = []

    def note(response: Response) -> None:
        path = urlsplit(response.url).path
        if path.startswith("/api/"):
            answers.append((path, response.status))

    page.on("response", note)
    return answers


def test_nothing_is_requested_before_there_is_a_token(gate: Visit):
    page, errors = gate.page, list[str]()
    answers = requested(page)
    page.on("console", lambda said: errors.append(said.text) if said.type == "error" else None)
    for path in ("/leaderboard", "", "/market/tasks/1"):
        page.goto(f"{gate.url}/agent-dashboard{path}")
        expect(page.get_by_role("heading", name="This server needs a token")).to_be_visible()
        expect(page.get_by_label("Token")).to_be_focused()
    expect(page.get_by_text("Offline")).to_have_count(0)
    gate.check_every_look()
    assert (answers, errors) == ([], [])


def test_a_wrong_token_is_refused_with_one_request(gate: Visit):
    page = gate.page
    answers = requested(page)
    page.goto(f"{gate.url}/agent-dashboard/leaderboard")
    for wrong in ("not-the-right-token", "müll", "two words"):
        answers.clear()
        page.get_by_label("Token").fill(wrong)
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_role("alert")).to_contain_text("does not accept this token")
        expect(page.get_by_role("button", name="Sign in")).to_be_enabled()
        expect(page.get_by_text("Offline")).to_have_count(0)
        assert len(answers) <= 1, answers
    # A reload asks again and sends no token that is known to be wrong.
    answers.clear()
    page.reload()
    expect(page.get_by_role("heading", name="This server needs a token")).to_be_visible()
    expect(page.get_by_role("alert")).to_have_count(0)
    assert answers == []


def test_a_token_that_is_withdrawn_leads_back_to_the_form(gate: Visit):
    page = gate.page
    page.add_init_script("sessionStorage.setItem('arena.token', 'an-old-token-0123456789')")
    answers = requested(page)
    page.goto(f"{gate.url}/agent-dashboard/leaderboard")
    expect(page.get_by_role("alert")).to_contain_text("does not accept this token")
    expect(page.get_by_text("Offline")).to_have_count(0)
    assert answers == [("/api/teams", 401)]


def test_a_server_with_tokens_asks_for_one(gate: Visit):
    visit, page = gate, gate.page
    page.goto(f"{visit.url}/agent-dashboard/leaderboard")
    page.get_by_label("Token").fill(TOKEN)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("button", name="Team: red")).to_be_visible()
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    expect(page).to_have_url(re.compile("/agent-dashboard/teams/red"))
    expect(page.get_by_role("status").filter(has_text="Live")).to_be_visible()
    assert TOKEN not in page.url
