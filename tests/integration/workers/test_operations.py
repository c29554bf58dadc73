"""Workers and metrics over HTTP: with tokens, without, and where there is no queue."""

from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager

import httpx2
import pytest

from app_transport import AppTransport
from arena.api import create_app
from arena.assembly import open_arena
from arena.client import Client
from arena.operations import team_watch
from arena.operations.team_watch import watch_team
from arena.settings import Settings
from queue_rows import QueueRows

RED, BLUE = "red-token-of-16-characters", "blue-token-of-16-characters"


@asynccontextmanager
async def client_of(settings: Settings, **headers: str) -> AsyncIterator[httpx2.AsyncClient]:
    app = create_app(settings)
    async with (
        app.router.lifespan_context(app),
        httpx2.AsyncClient(
            base_url="http://localhost", transport=AppTransport(app), headers=headers
        ) as client,
    ):
        yield client


def with_tokens(settings: Settings) -> Settings:
    tokens = (f"red:{RED}", f"blue:{BLUE}")
    return Settings.model_validate({**settings.model_dump(), "tokens": tokens})


async def test_without_a_queue_the_answer_says_so(tmp_path):
    async with client_of(Settings(home=tmp_path / "home")) as client:
        found = (await client.get("/api/workers")).json()
        assert found["dispatch"] == "embedded"
        assert (found["workers"], found["queues"], found["runs"]) == ([], [], [])
        metrics = await client.get("/api/metrics")
        assert 'dispatch="embedded"} 1' in metrics.text
        assert "arena_takeovers_total 0" in metrics.text


async def test_without_tokens_everything_is_shown(queued: Settings, rows: QueueRows):
    rows.worker("w1", busy=1)
    for team in ("red", "blue"):
        rows.shards(rows.run(team_id=team), "w1")
    async with client_of(queued) as client:
        found = (await client.get("/api/workers", params={"team_id": "red"})).json()
    assert found["dispatch"] == "queued"
    assert [one["team_id"] for one in found["runs"]] == ["red", "blue"]
    (worker,) = found["workers"]
    assert (worker["host"], worker["pid"], worker["state"]) == ("w1.example", 4711, "working")


async def test_a_token_shows_the_runs_of_its_team_and_no_machines(
    queued: Settings, rows: QueueRows
):
    rows.worker("w1", busy=2)
    for team in ("red", "blue"):
        rows.shards(
            rows.run(team_id=team), "w1", "queued", problem=f"broken for {team}", failures=1
        )
    async with client_of(with_tokens(queued), authorization=f"Bearer {RED}") as client:
        answer = await client.get("/api/workers")
        metrics = await client.get("/api/metrics")
    found = answer.json()
    assert [one["team_id"] for one in found["runs"]] == ["red"]
    assert {one["team_id"] for one in found["stuck"]} == {"red"}
    (worker,) = found["workers"]
    assert (worker["name"], worker["host"], worker["pid"]) == ("w1", None, None)
    assert (found["queues"][0]["depth"], found["queues"][0]["in_work"]) == (2, 2)
    for text in (answer.text, metrics.text):
        assert "blue" not in text
        assert "w1.example" not in text


@pytest.mark.parametrize("path", ["/api/workers", "/api/metrics"])
async def test_with_tokens_one_is_needed(queued: Settings, path: str):
    async with client_of(with_tokens(queued)) as client:
        assert (await client.get(path)).status_code == 401


async def test_metrics_are_text_for_prometheus(queued: Settings, rows: QueueRows):
    rows.worker("w1", busy=1, done_results=5)
    rows.worker("w2", silent=60)
    rows.shards(rows.run(), "w1", "queued", "waiting")
    rows.total("takeovers", 3)
    rows.total("results", 100)
    rows.chore("audit", "waiting")
    async with client_of(queued) as client:
        answer = await client.get("/api/metrics")
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    for line in (
        'arena_queue_depth{queue="shards"} 1',
        'arena_queue_in_work{queue="shards"} 1',
        'arena_workers{state="working"} 1',
        'arena_workers{state="silent"} 1',
        "arena_takeovers_total 3",
        "arena_results_total 105",
        'arena_chores{kind="audit",state="waiting"} 1',
    ):
        assert line in answer.text.splitlines()


async def test_the_client_returns_the_same_values(queued: Settings, rows: QueueRows):
    rows.worker("w1", labels=["gpu"])
    rows.shards(rows.run(), "queued", queue="shards.other")
    async with (
        client_of(queued) as http,
        Client("http://localhost", transport=http._transport) as client,
    ):
        found = await client.workers()
        assert b"arena_workers" in await client.metrics()
    assert [(one.name, one.labels) for one in found.workers] == [("w1", ["gpu"])]
    assert [one.why for one in found.stuck] == ["not_served"]


async def test_watchers_of_a_team_are_notified(
    queued: Settings, rows: QueueRows, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(team_watch, "POLL_SECONDS", 0.01)
    async with open_arena(queued) as arena, aclosing(watch_team(arena, "default")) as watched:
        assert "workers" in (await anext(watched)).changed
        rows.worker("w1")
        assert (await anext(watched)).changed == ["workers"]
