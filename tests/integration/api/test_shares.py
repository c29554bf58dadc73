"""Work off the event loop, limits on counts, and shares of a team, over HTTP."""

import asyncio
import hashlib
from pathlib import Path
from random import Random
from typing import Any

import httpx2
import pytest

from factories import write_agent
from http_server import Server

CONTAINS = {"type": "contains", "contains": ["yes"]}
TOKENS = ("a:aaaaaaaaaaaaaaaaaaaa", "b:bbbbbbbbbbbbbbbbbbbb")
# Random, because equal blocks are stored once.
X, Y = (Random(seed).randbytes(700_000) for seed in (1, 2))
Z = Random(3).randbytes(300_000).hex()
CASES = {"type": "test_cases", "functionName": "f", "language": "python"}


def as_team(team: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {team * 20}"}


async def evaluated(client: httpx2.AsyncClient, **body: Any) -> httpx2.Response:
    return await client.post("/api/evaluate", json={"record": False, **body})


async def test_a_private_part_of_many_values_is_refused_by_their_count(local: httpx2.AsyncClient):
    sealed = {"type": "sealed_cases", "cases": [1] * 320_000}
    answer = await evaluated(local, standard=CONTAINS, submission="yes", sealed=sealed)
    assert answer.status_code == 422
    assert "more than 300,000 values" in answer.json()["detail"]


@pytest.mark.parametrize(
    ("standard", "what"),
    [
        (
            {**CASES, "cases": [{"input": [1], "expected": 1}] * 20_000},
            "20,000 cases, at most 10,000",
        ),
        ({"type": "all_of", "all_of": [CONTAINS] * 501}, "501 parts, at most 500"),
        (
            {"type": "any_of", "any_of": [{"type": "regex", "pattern": "a"}] * 51},
            "51 patterns and JSON Schemas, at most 50",
        ),
    ],
    ids=["cases", "parts", "patterns"],
)
async def test_counts_of_a_standard_are_limited(
    local: httpx2.AsyncClient, standard: dict[str, Any], what: str
):
    answer = await evaluated(local, standard=standard, submission="yes")
    assert answer.status_code == 422
    assert what in answer.json()["detail"]


@pytest.mark.parametrize("is_part", [False, True])
@pytest.mark.parametrize("language", [{}, {"language": "python"}])
async def test_an_answer_of_half_a_million_fences_is_the_agents_fault(
    local: httpx2.AsyncClient, language: dict[str, str], is_part: bool
):
    standard: dict[str, Any] = {"type": "test_cases", "functionName": "f", **language}
    standard["cases"] = [{"input": [1], "expected": 1}]
    if is_part:
        standard = {"type": "all_of", "all_of": [standard]}
    answer = await evaluated(local, standard=standard, submission="```\na\n```\n" * 500_000)
    verdict = answer.json()
    assert (answer.status_code, verdict.get("score")) == (200, 0), verdict
    assert "more than 10,000 fenced blocks" in verdict["reasoning"]


async def test_a_large_standard_is_judged_while_the_event_loop_runs_on(local: httpx2.AsyncClient):
    words = [f"word {number}" for number in range(40_000)]
    standard = {"type": "contains_any", "contains": words}
    judging = asyncio.create_task(
        local.post("/api/evaluate", json={"standard": standard, "submission": "yes " * 40_000})
    )
    turns = 0
    while not judging.done():
        await asyncio.sleep(0.001)
        turns += 1
    answer = judging.result()
    assert (answer.status_code, answer.json()["passed"]) == (200, False)
    # On the loop it would have been one turn for each step of the request.
    assert turns > 50


async def test_many_parts_are_judged_while_the_event_loop_runs_on(local: httpx2.AsyncClient):
    """Each part alone is little work, all of them together are not."""
    part = {"type": "number", "value": 5, "tolerance": 0.1}
    standard = {"type": "any_of", "any_of": [part] * 100}
    judging = asyncio.create_task(evaluated(local, standard=standard, submission="1 " * 15_000))
    turns = 0
    while not judging.done():
        await asyncio.sleep(0.001)
        turns += 1
    assert judging.result().json()["passed"] is False
    assert turns > 50


async def test_checks_of_an_agent_obey_its_limits(opened, tmp_path: Path):
    log = tmp_path / "log"
    body = f"""
        with open({str(log)!r}, "a") as file:
            file.write("start ")
        time.sleep(0.05)
        with open({str(log)!r}, "a") as file:
            file.write("end ")
        return "done"
    """
    async with opened() as client:
        limits = {"max_concurrency": 1}
        write_agent(tmp_path / "home" / "agents", "alone", body, limits=limits)
        checks = [client.post("/api/agents/alone/check", json={}) for _ in range(5)]
        answers = await asyncio.gather(*checks)
    assert [answer.json()["output"] for answer in answers] == ["done"] * 5
    assert log.read_text() == "start end " * 5


async def test_checks_of_an_agent_that_throttles_share_one_pause(opened, tmp_path: Path):
    server = Server()
    await server.start()
    server.say("later", status=429, Retry_After="300")
    async with opened() as client:
        connector = {"type": "http", "url": server.url}
        write_agent(tmp_path / "home" / "agents", "busy", "", connector=connector)
        checks = [await client.post("/api/agents/busy/check", json={}) for _ in range(5)]
    reasons = [check.json()["reason"] for check in checks]
    assert len(server.requests) == 1
    assert "429" in reasons[0]
    assert all("throttles: it can be asked again in" in reason for reason in reasons[1:])
    await server.stop()


async def test_content_is_charged_to_the_team_of_the_request(opened, tmp_path: Path):
    async with opened(tokens=TOKENS, content_quota_mib=1) as client:
        first = await client.post("/api/content", content=X, headers=as_team("a"))
        assert first.status_code == 200
        # The same bytes again, by anyone, cost nothing.
        for team in ("a", "b"):
            again = await client.post("/api/content", content=X, headers=as_team(team))
            assert again.json() == first.json()
        more = await client.post("/api/content", content=Y, headers=as_team("a"))
        assert (more.status_code, more.json()["code"]) == (507, "quota_reached")
        assert "team 'a' may store 1 MiB" in more.json()["detail"]
        other = await client.post("/api/content", content=Y, headers=as_team("b"))
        assert other.status_code == 200
        # A verdict record is content too.
        record = {"standard": CONTAINS, "submission": Z}
        refused = await client.post("/api/evaluate", json=record, headers=as_team("a"))
        assert refused.json()["code"] == "quota_reached"
    folder = tmp_path / "home" / "content" / "quota"
    used = {
        team: int((folder / hashlib.sha256(team.encode()).hexdigest()).read_text())
        for team in ("a", "b")
    }
    # The blocks that `a` could still store before it was refused are not charged to `b`.
    assert 700_000 < used["a"] <= 2**20
    assert 400_000 < used["b"] < 700_000


async def test_without_tokens_nobody_has_a_quota(local: httpx2.AsyncClient, tmp_path: Path):
    assert (await local.post("/api/content", content=b"x")).status_code == 200
    assert not (tmp_path / "home" / "content" / "quota").exists()


async def test_no_content_is_stored_on_a_disk_that_is_nearly_full(opened, tmp_path: Path):
    async with opened(content_min_free_mib=10**9) as client:
        answer = await client.post("/api/content", content=b"x")
        assert (answer.status_code, answer.json()["code"]) == (507, "storage_full")
        assert "MiB left" in answer.json()["detail"]
        assert (await client.get("/api/benchmarks/runs")).status_code == 200


async def test_a_stored_standard_of_many_values_is_refused_by_their_count(
    local: httpx2.AsyncClient,
):
    data = b'{"type":"contains","contains":[' + b",".join([b"[]"] * 400_000) + b"]}"
    kept = await local.post("/api/content", content=data)
    answer = await evaluated(local, standard=kept.json()["cid"], submission="yes")
    assert answer.status_code == 422
    assert "more than 300,000 values" in answer.json()["detail"]


async def test_of_many_faults_the_first_are_shown(local: httpx2.AsyncClient):
    standard = {"type": "contains", "contains": [1] * 1000}
    answer = await evaluated(local, standard=standard, submission="yes")
    assert answer.status_code == 422
    assert answer.json()["detail"].endswith("and 950 more")


async def test_a_run_works_for_its_team(opened, tmp_path: Path):
    api = opened(content_quota_mib=1)
    write_agent(tmp_path / "home" / "agents", "loud", "return prompt.upper()")
    (tmp_path / "home" / "benchmarks" / "graded.yaml").write_text(
        "tests: [{id: graded, name: Graded, prompt: hello, agents: [loud], validation: all_of, "
        "expected: {all_of: [{expected: {contains: [HELLO]}}], pass_score: 50}}]"
    )
    crew = {"X-Team-ID": "crew"}
    body = {"agent_id": "loud", "test_ids": ["graded"]}
    async with api as client:
        created = await client.post("/api/benchmarks/run", json=body, headers=crew)
        address = f"/api/benchmarks/run/{created.json()['run_id']}/execute"
        ended = await client.post(address, headers=crew)
        assert ended.json()["passed"] == 1
    # A graded verdict has a record, which is charged to the team of the run.
    (file,) = (tmp_path / "home" / "content" / "quota").iterdir()
    assert file.name == hashlib.sha256(b"crew").hexdigest()
