"""Pushing a run over HTTP: whose it is, how large it may be, and running it again."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import httpx2
import pytest

Opened = AbstractAsyncContextManager[httpx2.AsyncClient]
TOKENS = ("a:aaaaaaaaaaaaaaaaaaaa", "b:bbbbbbbbbbbbbbbbbbbb")
PUSH = "/api/benchmarks/runs/push"


def as_team(team: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {team * 20}"}


async def executed(client: httpx2.AsyncClient) -> str:
    created = (await client.post("/api/benchmarks/run", json={"agent_id": "parrot"})).json()
    answer = await client.post(f"/api/benchmarks/run/{created['run_id']}/execute")
    assert answer.json()["status"] == "completed"
    return created["run_id"]


@pytest.fixture
async def bundle(opened: Callable[..., Opened]) -> bytes:
    """A run of another home, as its API gives it."""
    async with opened(home="sender") as client:
        answer = await client.get(f"/api/benchmarks/runs/{await executed(client)}/bundle")
    assert answer.headers["content-type"].startswith("application/jsonl")
    return answer.content


async def test_a_pushed_run_is_the_token_team_s_and_has_a_page(
    opened: Callable[..., Opened], bundle: bytes
):
    async with opened(tokens=TOKENS) as client:
        first = await client.post(PUSH, content=bundle, headers=as_team("a"))
        assert first.status_code == 200, first.text
        pushed = first.json()
        assert pushed["path"] == f"/agent-dashboard/runs/{pushed['run']['id']}"
        assert (pushed["run"]["team_id"], pushed["run"]["provenance"]) == ("a", "reported")
        again = await client.post(PUSH, content=bundle, headers=as_team("a"))
        assert again.json()["run"]["id"] == pushed["run"]["id"]
        theirs = await client.post(PUSH, content=bundle, headers=as_team("b"))
        assert theirs.json()["run"]["id"] != pushed["run"]["id"]
        listed = await client.get("/api/benchmarks/runs", headers=as_team("a"))
        assert [run["id"] for run in listed.json()["runs"]] == [pushed["run"]["id"]]


async def test_nobody_pushes_for_another_team_or_without_a_token(
    opened: Callable[..., Opened], bundle: bytes
):
    async with opened(tokens=TOKENS) as client:
        for_other = await client.post(
            PUSH, content=bundle, params={"team_id": "b"}, headers=as_team("a")
        )
        assert for_other.status_code == 403
        assert (await client.post(PUSH, content=bundle)).status_code == 401
        for team in "ab":
            listed = await client.get("/api/benchmarks/runs", headers=as_team(team))
            assert listed.json()["runs"] == []


async def test_a_refusal_says_which_line_is_wrong(opened: Callable[..., Opened], bundle: bytes):
    async with opened() as client:
        changed = bundle.replace(b"WORD2", b"WORD9", 1)
        answer = await client.post(PUSH, content=changed)
        assert (answer.status_code, answer.json()["code"]) == (422, "invalid_bundle")
        assert "line 3: changed" in answer.json()["detail"]


async def test_a_push_may_be_larger_than_other_bodies_up_to_its_own_limit(
    opened: Callable[..., Opened],
):
    async with opened(push_max_mib=9) as client:
        large = b" " * (9 * 1024**2)
        assert (await client.post(PUSH, content=large)).status_code == 422
        assert (await client.post("/api/content", content=large)).status_code == 413
        answer = await client.post(PUSH, content=large + b" ")
        assert answer.status_code == 413
        assert "larger than 9 MiB" in answer.json()["detail"]


async def test_a_body_larger_than_the_share_of_a_team_is_read_alone(
    opened: Callable[..., Opened], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("arena.api.body.TEAM_BYTES", 1024**2)
    async with opened(tokens=TOKENS) as client:
        answer = await client.post(PUSH, content=b" " * (2 * 1024**2), headers=as_team("a"))
        assert answer.status_code == 422


async def test_the_quota_of_a_team_is_a_refusal_with_its_setting(
    opened: Callable[..., Opened], bundle: bytes
):
    async with opened(push_quota_results=4) as client:
        answer = await client.post(PUSH, content=bundle)
        assert (answer.status_code, answer.json()["code"]) == (429, "limit_reached")
        assert "ARENA_PUSH_QUOTA_RESULTS" in answer.json()["detail"]


async def test_a_pushed_run_is_executed_again_and_compared(
    opened: Callable[..., Opened], bundle: bytes
):
    async with opened() as client:
        run_id = (await client.post(PUSH, content=bundle)).json()["run"]["id"]
        answer = await client.post(f"/api/benchmarks/runs/{run_id}/reexecute")
        assert answer.status_code == 200, answer.text
        repeated: dict[str, Any] = answer.json()
        assert (repeated["status"], repeated["source_run_id"]) == ("completed", run_id)
        assert (repeated["agreement"]["agreed"], repeated["agreement"]["results"]) == (5, 5)
        path = f"/api/benchmarks/runs/{repeated['run_id']}"
        assert (await client.get(path)).json()["run"]["provenance"] == "re_executed"
        assert (await client.get(f"{path}/agreement")).json() == repeated["agreement"]
