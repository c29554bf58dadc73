"""Watching a run: a real server, a real connection, every event."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import httpx2
import pytest
import uvicorn

from arena.api import create_app, streams
from arena.client import Client
from arena.operations.server import Change
from arena.runs.run import Progress
from arena.settings import Settings
from factories import write_agent, write_tests

COUNT = 12


@dataclass(kw_only=True)
class Event:
    name: str = ""
    ident: int | None = None
    data: dict[str, Any] = field(default_factory=dict)


async def events_of(response: httpx2.Response) -> AsyncIterator[Event]:
    """The events of a stream; a comment is an event without a name."""
    event = Event()
    async for line in response.aiter_lines():
        key, _, value = line.partition(": ")
        if key == "event":
            event.name = value
        elif key == "id":
            event.ident = int(value)
        elif key == "data":
            event.data = json.loads(value)
        elif not line:
            yield event
            event = Event()


@dataclass(frozen=True, kw_only=True)
class Served:
    url: str
    app: Any
    http: httpx2.AsyncClient

    async def start_run(self) -> str:
        """Start a run of the slow agent in the background; return its id."""
        answer = await self.http.post("/api/benchmarks/run", json={"agent_id": "slow"})
        run_id = answer.json()["run_id"]
        await self.http.post(f"/api/benchmarks/run/{run_id}/execute", params={"wait": "false"})
        return run_id


@asynccontextmanager
async def served(settings: Settings) -> AsyncIterator[Served]:
    """A real server on a free port."""
    app = create_app(settings)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        server = uvicorn.Server(uvicorn.Config(app, log_level="error"))
        server.capture_signals = nullcontext  # the test's own process keeps its signals
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        async with httpx2.AsyncClient(base_url=url, timeout=30, trust_env=False) as http:
            while not server.started:
                await asyncio.sleep(0.01)
            yield Served(url=url, app=app, http=http)
        server.should_exit = True
        await serving


@pytest.fixture
async def server(settings: Settings) -> AsyncIterator[Served]:
    body = "time.sleep(0.05)\nreturn prompt.upper()"
    write_agent(settings.home / "agents", "slow", body, limits={"max_concurrency": 2})
    write_tests(settings.home / "benchmarks" / "slow.yaml", count=COUNT, agents=["slow"])
    async with served(settings) as up:
        yield up


async def test_a_watcher_sees_every_result_once_then_the_end(server: Served):
    run_id = await server.start_run()
    path = f"/api/benchmarks/runs/{run_id}/events"
    async with server.http.stream("GET", path) as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        assert response.headers["cache-control"] == "no-store"
        events = [event async for event in events_of(response)]
    assert events[-1].name == "end"
    assert [event.name for event in events].count("end") == 1
    end = events[-1].data
    assert (end["run_id"], end["status"]) == (run_id, "completed")
    assert (end["total"], end["completed"], end["passed"]) == (COUNT, COUNT, COUNT)
    results = [event for event in events if event.name == "result"]
    assert [event.ident for event in results] == list(range(1, COUNT + 1))
    assert len({event.data["test_id"] for event in results}) == COUNT
    progress = [event.data["completed"] for event in events if event.name == "progress"]
    assert progress == sorted(progress)
    assert len(progress) > 2


async def test_a_watcher_resumes_where_it_was(server: Served):
    run_id = await server.start_run()
    path = f"/api/benchmarks/runs/{run_id}/events"
    last = 0
    async with server.http.stream("GET", path) as response:
        async for event in events_of(response):
            last = event.ident or last
            if last >= 3:
                break
    headers = {"Last-Event-ID": str(last)}
    async with server.http.stream("GET", path, headers=headers) as response:
        rest = [event.ident async for event in events_of(response) if event.name == "result"]
    assert rest == list(range(last + 1, COUNT + 1))


async def test_results_can_be_left_out(server: Served):
    run_id = await server.start_run()
    path = f"/api/benchmarks/runs/{run_id}/events?results=false"
    async with server.http.stream("GET", path) as response:
        names = {event.name async for event in events_of(response)}
    assert names == {"progress", "end"}


async def test_a_watcher_that_disconnects_leaves_nothing_behind(server: Served):
    answer = await server.http.post("/api/benchmarks/run", json={"agent_id": "slow"})
    run_id = answer.json()["run_id"]
    before = asyncio.all_tasks()
    topics = server.app.state.arena.feed._topics
    for _ in range(5):
        async with (
            httpx2.AsyncClient(base_url=server.url, trust_env=False) as http,
            http.stream("GET", f"/api/benchmarks/runs/{run_id}/events") as response,
            aclosing(events_of(response)) as events,
        ):
            assert (await anext(events)).data["status"] == "pending"
    async with asyncio.timeout(5):
        while asyncio.all_tasks() - before or list(topics):
            await asyncio.sleep(0.02)
    # The run itself is not affected.
    executed = await server.http.post(f"/api/benchmarks/run/{run_id}/execute")
    assert executed.json()["passed"] == COUNT


async def test_keepalive_comments_are_sent_while_nothing_happens(
    server: Served, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(streams, "SILENCE_SECONDS", 0.1)
    answer = await server.http.post("/api/benchmarks/run", json={"agent_id": "slow"})
    path = f"/api/benchmarks/runs/{answer.json()['run_id']}/events?results=false"
    async with server.http.stream("GET", path) as response:
        async for line in response.aiter_lines():
            if line == ": still here":
                break


async def test_the_client_watches_until_the_end(server: Served):
    async with Client(server.url) as client:
        run = await client.create_run("slow")
        await client.execute_run(run.run_id, wait=False)
        seen = [progress async for progress in client.watch(run.run_id)]
        assert (seen[-1].status, seen[-1].completed) == ("completed", COUNT)
        results = [result.sequence async for result in client.results(run.run_id)]
    assert results == list(range(1, COUNT + 1))


async def test_the_client_watches_a_team(server: Served):
    async with Client(server.url) as client, aclosing(client.watch_team()) as news:
        first = [await anext(news) for _ in range(4)]
        assert [one.what for one in first if isinstance(one, Change)] == [
            "scores",
            "reviews",
            "market",
            "catalog",
        ]
        run = await client.create_run("slow")
        progress = await anext(news)
        assert isinstance(progress, Progress)
        assert (progress.run_id, progress.status) == (run.run_id, "pending")
        assert (await client.health()).status == "ok"
        assert "default" in (await client.teams()).teams
        assert (await client.result_rows(run.run_id, outcome="passed")).total == 0


@pytest.mark.parametrize("last", ["x", "-1", "99999999999999999999", "٣"])
async def test_an_invalid_last_event_id_is_no_server_error(server: Served, last: str):
    run_id = await server.start_run()
    path = f"/api/benchmarks/runs/{run_id}/events?results=false"
    headers = {"Last-Event-ID": last.encode()}
    async with server.http.stream("GET", path, headers=headers) as response:
        assert response.status_code in (200, 422)
    await server.http.post(f"/api/benchmarks/runs/{run_id}/cancel")


async def test_a_team_watcher_gets_the_runs_and_scores_of_that_team_only(server: Served):
    received: list[Event] = []
    async with server.http.stream("GET", "/api/events") as response:
        events = events_of(response)
        # The current state comes first; there is no run yet.
        first = [await anext(events) for _ in range(4)]
        changed = [event.data["what"] for event in first]
        assert changed == ["scores", "reviews", "market", "catalog"]
        other = {"json": {"agent_id": "slow"}, "params": {"team_id": "red"}}
        assert (await server.http.post("/api/benchmarks/run", **other)).status_code == 200
        run_id = await server.start_run()
        async for event in events:
            received.append(event)
            # In either order: runs and scores are polled one after the other.
            payloads = [one.data for one in received]
            is_done = any(one.get("status") == "completed" for one in payloads)
            if is_done and {"what": "scores"} in payloads:
                break
    progress = [event.data for event in received if event.name == "progress"]
    assert {data["run_id"] for data in progress} == {run_id}
    completed = [data["completed"] for data in progress]
    assert (completed, completed[-1]) == (sorted(completed), COUNT)
    assert {"what": "scores"} in [event.data for event in received]
