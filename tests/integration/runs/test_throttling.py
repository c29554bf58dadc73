"""Agents whose provider throttles: real runs against real servers on loopback."""

import asyncio
import json
from collections import deque
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from arena.assembly import Arena
from arena.runs.run import Run, RunRequest
from arena.settings import Settings
from factories import write_tests
from http_server import Request, Server

TEAM = "team"
ALLOWED, WINDOW_SECONDS = 10, 1.0


@pytest.fixture
def dialect() -> str:
    """The database does not matter here."""
    return "sqlite"


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    server = Server()
    await server.start()
    yield server
    await server.stop()


class FixedWindow:
    """Allows some requests in each window; the windows follow each other."""

    def __init__(self) -> None:
        self.end, self.used = 0.0, 0

    def wait(self, now: float) -> float:
        """0 if the request is allowed, else the seconds after which it would be."""
        if now >= self.end:
            self.end, self.used = now + WINDOW_SECONDS, 0
        self.used += 1
        return 0.0 if self.used <= ALLOWED else self.end - now


class SlidingWindow:
    """Allows some requests in any window."""

    def __init__(self) -> None:
        self.started: deque[float] = deque()

    def wait(self, now: float) -> float:
        while self.started and self.started[0] <= now - WINDOW_SECONDS:
            self.started.popleft()
        if len(self.started) < ALLOWED:
            self.started.append(now)
            return 0.0
        return self.started[0] + WINDOW_SECONDS - now


class Bucket:
    """Some tokens at first; then one is added at a time."""

    def __init__(self) -> None:
        self.tokens, self.filled = float(ALLOWED), 0.0

    def wait(self, now: float) -> float:
        rate = ALLOWED / WINDOW_SECONDS
        self.tokens = min(ALLOWED, self.tokens + (now - self.filled) * rate)
        self.filled = now
        if self.tokens >= 1:
            self.tokens -= 1
            return 0.0
        return (1 - self.tokens) / rate


class Provider:
    """Answers the prompt in capitals, and refuses what `limit` does not allow."""

    def __init__(self, server: Server, limit: FixedWindow | SlidingWindow | Bucket) -> None:
        self.refused = 0
        self._limit = limit
        server.do(self._reply)

    async def _reply(self, request: Request, writer: asyncio.StreamWriter) -> None:
        wait = self._limit.wait(asyncio.get_running_loop().time())
        self.refused += wait > 0
        head = f"429 Slow Down\r\nRetry-After: {wait:.4f}" if wait else "200 OK"
        body = b"slow down" if wait else json.dumps(answer_to(request)).encode()
        lines = f"HTTP/1.1 {head}\r\nConnection: close\r\nContent-Length: {len(body)}\r\n\r\n"
        writer.write(lines.encode() + body)
        await writer.drain()


def answer_to(request: Request) -> object:
    if "messages" in request.json:
        text = request.json["messages"][-1]["content"].upper()
        return {"choices": [{"message": {"content": text}, "finish_reason": "stop"}]}
    return {"output": request.json["prompt"].upper()}


def add_agent(house: Arena, settings: Settings, connector: str, *, tests: int) -> None:
    """The agent `busy`, with the default limits, and its tests."""
    (settings.home / "agents" / "busy.yaml").write_text(f"id: busy\nconnector: {connector}\n")
    write_tests(settings.home / "benchmarks" / "busy.yaml", count=tests, agents=["busy"])
    house.catalog.refresh()
    house.registry.refresh()


async def execute(house: Arena) -> Run:
    run = await house.executor.create(RunRequest(team_id=TEAM, agent_id="busy"))
    await house.executor.start(run.id, TEAM)
    return await house.executor.wait(run.id)


CONNECTORS: dict[str, Callable[[str], str]] = {
    "http": lambda url: f"{{type: http, url: {url}/ask}}",
    "openai": lambda url: f"{{type: openai, base_url: {url}/v1, model: m}}",
}


@pytest.mark.parametrize(
    ("kind", "limit"),
    [
        ("http", FixedWindow),
        ("http", SlidingWindow),
        ("http", Bucket),
        ("openai", FixedWindow),
    ],
)
async def test_60_tests_at_10_per_window_complete_with_at_most_10_refusals(
    house: Arena, settings: Settings, server: Server, kind: str, limit: Callable[[], FixedWindow]
):
    provider = Provider(server, limit())
    add_agent(house, settings, CONNECTORS[kind](server.url), tests=60)
    run = await execute(house)
    assert (run.status, run.passed_tests) == ("completed", 60)
    assert provider.refused <= 10


async def test_two_runs_of_an_agent_share_its_back_off(
    house: Arena, settings: Settings, server: Server
):
    provider = Provider(server, FixedWindow())
    add_agent(house, settings, CONNECTORS["http"](server.url), tests=20)
    runs = await asyncio.gather(execute(house), execute(house))
    assert [run.passed_tests for run in runs] == [20, 20]
    assert provider.refused <= 10


@pytest.mark.parametrize("is_date", [False, True])
async def test_a_longer_pause_than_allowed_fails_the_run_and_names_it(
    house: Arena, settings: Settings, server: Server, is_date: bool
):
    tomorrow = datetime.now(UTC) + timedelta(days=1, minutes=5)
    retry_after = format_datetime(tomorrow, usegmt=True) if is_date else "86400"
    server.say("come back tomorrow", status=503, Retry_After=retry_after)
    add_agent(house, settings, CONNECTORS["http"](server.url), tests=3)
    run = await execute(house)
    assert (run.status, run.completed_tests) == ("failed", 0)
    assert "asks for a pause of 86," in str(run.error_message)
    assert "ARENA_MAX_WAIT_SECONDS" in str(run.error_message)
    assert "come back tomorrow" in str(run.error_message)


async def test_a_provider_that_says_no_time_is_waited_for_without_using_up_retries(
    house: Arena, settings: Settings, server: Server
):
    refusals = 8  # more than the retries of all questions

    async def reply(request: Request, writer: asyncio.StreamWriter) -> None:
        refuse = len(server.requests) <= refusals
        body = b"" if refuse else json.dumps(answer_to(request)).encode()
        head = "429 Slow Down" if refuse else "200 OK"
        lines = f"HTTP/1.1 {head}\r\nConnection: close\r\nContent-Length: {len(body)}\r\n\r\n"
        writer.write(lines.encode() + body)
        await writer.drain()

    server.do(reply)
    add_agent(house, settings, CONNECTORS["http"](server.url), tests=2)
    run = await execute(house)
    assert (run.status, run.passed_tests) == ("completed", 2)
    assert len(server.requests) == refusals + 2
