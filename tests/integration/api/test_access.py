"""Who may call the API, and for which team."""

import httpx2
import pytest

RED, BLUE = "red-token-0123456789", "blue-token-0123456789"
PATHS = ("/api/benchmarks/tests", "/api/benchmarks/runs", "/api/agents", "/api/benchmarks/catalog")


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


@pytest.fixture
async def guarded(opened):
    async with opened(tokens=(f"red:{RED}", f"blue:{BLUE}")) as client:
        yield client


@pytest.mark.parametrize("path", PATHS)
async def test_if_tokens_are_configured_one_is_required(guarded: httpx2.AsyncClient, path: str):
    for headers in ({}, bearer("wrong"), {"Authorization": RED}, {"Authorization": f"Basic {RED}"}):
        answer = await guarded.get(path, headers=headers)
        assert (answer.status_code, answer.json()["code"]) == (401, "unauthorized")
        assert answer.headers["WWW-Authenticate"] == "Bearer"
        assert RED not in answer.text
    assert (await guarded.get(path, headers=bearer(RED))).status_code == 200


async def test_without_a_token_only_health_and_readiness_answer(guarded: httpx2.AsyncClient):
    """Each router checks tokens itself; a new one must not forget to."""
    paths = (await guarded.get("/api/openapi.json")).json()["paths"]
    operations = [(path, method) for path, methods in paths.items() for method in methods]
    unguarded = [
        (path, method)
        for path, method in operations
        if (await guarded.request(method.upper(), path)).status_code != 401
    ]
    assert unguarded == [("/api/health", "get"), ("/api/ready", "get")]
    assert len(operations) > 60


async def test_a_token_gives_access_to_its_own_team_only(guarded: httpx2.AsyncClient):
    create = {"url": "/api/benchmarks/run", "json": {"agent_id": "parrot"}}
    mine = (await guarded.post(**create, headers=bearer(RED))).json()["run_id"]
    runs = (await guarded.get("/api/benchmarks/runs", headers=bearer(RED))).json()["runs"]
    assert [(run["id"], run["team_id"]) for run in runs] == [(mine, "red")]

    named = await guarded.post(**create, params={"team_id": "red"}, headers=bearer(RED))
    assert named.status_code == 200
    for other in (
        {"params": {"team_id": "blue"}, "headers": bearer(RED)},
        {"headers": {**bearer(RED), "X-Team-ID": "blue"}},
        # The query takes precedence, so the right header does not help.
        {"params": {"team_id": "blue"}, "headers": {**bearer(RED), "X-Team-ID": "red"}},
    ):
        answer = await guarded.post(**create, **other)
        assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")

    # Reading by id alone is for local mode: another team's token sees nothing.
    for path in (f"/api/benchmarks/runs/{mine}", f"/api/benchmarks/runs/{mine}/events"):
        assert (await guarded.get(path, headers=bearer(BLUE))).status_code == 404
    execute = f"/api/benchmarks/run/{mine}/execute"
    assert (await guarded.post(execute, headers=bearer(BLUE))).status_code == 404
    assert (await guarded.post(execute, headers=bearer(RED))).status_code == 200


async def test_health_and_the_description_need_no_token(guarded: httpx2.AsyncClient):
    for path in ("/api/health", "/api/openapi.json", "/"):
        assert (await guarded.get(path)).status_code in (200, 307)


async def test_with_tokens_any_host_header_is_accepted(guarded: httpx2.AsyncClient):
    headers = {**bearer(RED), "Host": "arena.example.com", "Origin": "https://arena.example.com"}
    assert (await guarded.get("/api/agents", headers=headers)).status_code == 200


@pytest.mark.parametrize("host", ["localhost", "localhost:5109", "127.0.0.1:5109", "[::1]:5109"])
async def test_without_tokens_localhost_is_accepted(local: httpx2.AsyncClient, host: str):
    headers = {"Host": host, "Origin": f"http://{host}"}
    assert (await local.get("/api/agents", headers=headers)).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example.com"},  # DNS rebinding
        {"Host": "localhost.evil.example.com"},
        {"Host": "localhost@evil.example.com"},
        {"Host": "arena.internal"},
        {"Host": "10.0.0.1"},
        {"Host": "[::1"},  # not an address
        {"Host": ""},
        {"Origin": "https://evil.example.com"},  # a page in the user's browser
        {"Origin": "null"},  # a page with an opaque origin
        {"Origin": "http://[::1"},
    ],
)
async def test_without_tokens_every_other_host_and_origin_is_refused(
    local: httpx2.AsyncClient, headers: dict[str, str]
):
    for method, path in (("GET", "/api/agents"), ("POST", "/api/benchmarks/run")):
        answer = await local.request(method, path, headers=headers, json={"agent_id": "parrot"})
        assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")
