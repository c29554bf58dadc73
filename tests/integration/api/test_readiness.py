"""Readiness: the state of what the server needs, as it is now."""

import asyncio
from pathlib import Path

import httpx2
import pytest

from arena.client import Client
from arena.operations import readiness


@pytest.fixture(autouse=True)
def every_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Check again for every request."""
    monkeypatch.setattr(readiness, "KEPT_SECONDS", 0)


async def state_of(api: httpx2.AsyncClient) -> tuple[int, dict[str, tuple[bool, str]]]:
    answer = await api.get("/api/ready")
    body = answer.json()
    assert body["ready"] == (answer.status_code == 200)
    return answer.status_code, {one["name"]: (one["ok"], one["detail"]) for one in body["checks"]}


async def test_a_working_server_is_ready(api: httpx2.AsyncClient):
    status, checks = await state_of(api)
    assert (status, list(checks)) == (200, ["database", "disk", "catalog"])
    assert all(ok for ok, _ in checks.values())
    assert checks["catalog"][1] == "22 tests"


async def test_a_database_that_is_away_is_reported(opened, tmp_path: Path):
    async with opened() as client:
        (tmp_path / "home" / "arena.db").write_bytes(b"this is no database at all" * 500)
        for stale in ("arena.db-wal", "arena.db-shm"):
            (tmp_path / "home" / stale).unlink(missing_ok=True)
        status, checks = await state_of(client)
        assert (status, checks["database"][0]) == (503, False)
        assert str(tmp_path) not in checks["database"][1]
        # The server itself still responds.
        health = (await client.get("/api/health")).json()
        assert health == {"status": "ok", "version": "0.1.0"}


async def test_a_database_that_does_not_respond_is_reported(
    opened, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(readiness, "PATIENCE_SECONDS", 0.05)
    async with opened() as client:
        database = client._transport._app.state.arena.database
        async with database.writing():
            status, checks = await state_of(client)
            assert (status, checks["database"]) == (503, (False, "no response within 0.05 s"))
        async with asyncio.timeout(30):
            while (await state_of(client))[0] != 200:
                await asyncio.sleep(0.05)


async def test_a_full_disk_is_reported(local: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(readiness, "FREE_BYTES", 2**60)
    status, checks = await state_of(local)
    assert (status, checks["disk"][0]) == (503, False)
    assert "MiB are needed" in checks["disk"][1]


async def test_a_folder_of_tests_that_is_missing_is_reported(opened, tmp_path: Path):
    (tmp_path / "more").mkdir()
    async with opened(tests=(tmp_path / "more",)) as client:
        assert (await state_of(client))[0] == 200
        (tmp_path / "more").rmdir()
        client._transport._app.state.arena.catalog.refresh()
        status, checks = await state_of(client)
        assert (status, checks["catalog"]) == (503, (False, "more:1:1: no such folder"))


async def test_the_client_returns_the_report_also_if_it_is_not_ready(
    opened, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(readiness, "FREE_BYTES", 2**60)
    async with (
        opened() as http,
        Client("http://localhost", transport=http._transport) as client,
    ):
        report = await client.readiness()
    assert (report.ready, [one.name for one in report.checks if not one.ok]) == (False, ["disk"])
