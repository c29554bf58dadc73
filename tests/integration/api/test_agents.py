"""Agents over HTTP."""

import httpx2
import pytest

from factories import write_agent


async def test_agents_are_listed_with_what_applies_to_them(local: httpx2.AsyncClient):
    answer = (await local.get("/api/agents")).json()
    assert answer["count"] == len(answer["agents"]) == 6
    assert answer["problems"] == []
    tests = {agent["id"]: agent["applicable_tests"] for agent in answer["agents"]}
    assert (tests["qa-web-manager"], tests["ai-assistant"]) == (12, 11)
    assert (tests["monitoring-manager"], tests["parrot"]) == (3, 5)


async def test_an_agent_is_shown_without_its_start_command(local: httpx2.AsyncClient):
    agent = (await local.get("/api/agents/parrot")).json()
    assert (agent["version"], agent["versions"], agent["connector"]) == (
        "1.0.0",
        ["1.0.0"],
        "python",
    )
    assert "callable" not in str(agent)


async def test_a_new_agent_is_listed_at_once_and_a_bad_one_is_reported(opened, tmp_path):
    folder = tmp_path / "home" / "agents"
    async with opened() as client:
        write_agent(folder, "late", "return 'late'", version="2.0.0")
        write_agent(folder, "odd", "return ''", nmae="x")
        answer = (await client.get("/api/agents")).json()
        assert "late" in {agent["id"] for agent in answer["agents"]}
        assert "odd" not in {agent["id"] for agent in answer["agents"]}
        (problem,) = answer["problems"]
        assert "odd.yaml" in problem and "nmae" in problem
        assert (await client.get("/api/agents/late?version=2.0.0")).status_code == 200
        for unknown in ("9.9.9", "9" * 200):
            gone = await client.get(f"/api/agents/late?version={unknown}")
            assert (gone.status_code, gone.json()["code"]) == (404, "not_found")


async def test_an_unknown_agent_is_reported_with_the_nearest(local: httpx2.AsyncClient):
    answer = await local.get("/api/agents/parot")
    assert answer.status_code == 404
    assert answer.json()["detail"] == "no agent is called 'parot'; did you mean 'parrot'?"


async def test_a_check_asks_the_agent_once(local: httpx2.AsyncClient):
    answer = (await local.post("/api/agents/parrot/check", json={"prompt": "hi"})).json()
    assert (answer["answered"], answer["output"], answer["reason"]) == (True, "HI", None)
    assert answer["duration_seconds"] > 0


@pytest.mark.parametrize(
    ("body", "timeout", "reason"),
    [
        ("raise ValueError('broken inside')", 30, "broken inside"),
        ("return '  '", 30, "nothing"),
        ("time.sleep(60)", 1, "1 s"),
        ("os._exit(3)", 30, "exit code 3"),
    ],
)
async def test_a_check_says_why_there_is_no_answer(
    opened, tmp_path, body: str, timeout: int, reason: str
):
    write_agent(tmp_path / "home" / "agents", "bad", body)
    async with opened() as client:
        answer = await client.post("/api/agents/bad/check", json={"timeout_seconds": timeout})
    assert answer.status_code == 200
    assert (answer.json()["answered"], answer.json()["output"]) == (False, None)
    assert reason in answer.json()["reason"]


async def test_a_check_can_carry_any_text(opened, tmp_path):
    write_agent(tmp_path / "home" / "agents", "odd", r"return 'a\0b\ud800c'")
    async with opened() as client:
        answer = await client.post("/api/agents/odd/check", json={})
    assert answer.status_code == 200
    assert answer.json()["output"].startswith("a")


async def test_no_agent_can_be_registered_over_the_network(local: httpx2.AsyncClient):
    body = {"id": "evil", "connector": {"type": "command", "command": "touch /tmp/x"}}
    for method in ("POST", "PUT", "PATCH"):
        for path in ("/api/agents", "/api/agents/evil"):
            assert (await local.request(method, path, json=body)).status_code == 405
