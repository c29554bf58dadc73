"""Who may come in, and for which team."""

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
async def test_where_there_are_tokens_one_is_needed(guarded: httpx2.AsyncClient, path: str):
    for headers in ({}, bearer("wrong"), {"Authorization": RED}, {"Authorization": f"Basic {RED}"}):
        answer = await guarded.get(path, headers=headers)
        assert (answer.status_code, answer.json()["code"]) == (401, "unauthorized")
        assert answer.headers["WWW-Authenticate"] == "Bearer"
        assert RED not in answer.text
    assert (await guarded.get(path, headers=bearer(RED))).status_code == 200


async def test_without_a_token_nothing_answers_but_health(guarded: httpx2.AsyncClient):
    """Each room guards its own door: a new one must not forget it."""
    paths = (await guarded.get("/api/openapi.json")).json()["paths"]
    operations = [(path, method) for path, methods in paths.items() for method in methods]
    open_doors = [
        (path, method)
        for path, method in operations
        if (await guarded.request(method.upper(), path)).status_code != 401
    ]
    assert open_doors == [("/api/health", "get")]
    assert len(operations) > 60


async def test_a_token_opens_its_own_team_only(guarded: httpx2.AsyncClient):
    create = {"url": "/api/benchmarks/run", "json": {"agent_id": "parrot"}}
    mine = (await guarded.post(**create, headers=bearer(RED))).json()["run_id"]
    runs = (await guarded.get("/api/benchmarks/runs", headers=bearer(RED))).json()["runs"]
    assert [(run["id"], run["team_id"]) for run in runs] == [(mine, "red")]

    named = await guarded.post(**create, params={"team_id": "red"}, headers=bearer(RED))
    assert named.status_code == 200
    for other in (
        {"params": {"team_id": "blue"}, "headers": bearer(RED)},
        {"headers": {**bearer(RED), "X-Team-ID": "blue"}},
        # The query goes before the header, so the right header does not help.
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


async def test_with_tokens_any_host_may_be_named(guarded: httpx2.AsyncClient):
    headers = {**bearer(RED), "Host": "arena.example.com", "Origin": "https://arena.example.com"}
    assert (await guarded.get("/api/agents", headers=headers)).status_code == 200


@pytest.mark.parametrize("host", ["localhost", "localhost:5109", "127.0.0.1:5109", "[::1]:5109"])
async def test_without_tokens_this_machine_may_come_in(local: httpx2.AsyncClient, host: str):
    headers = {"Host": host, "Origin": f"http://{host}"}
    assert (await local.get("/api/agents", headers=headers)).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example.com"},  # a name that was made to point here
        {"Host": "localhost.evil.example.com"},
        {"Host": "localhost@evil.example.com"},
        {"Host": "arena.internal"},
        {"Host": "10.0.0.1"},
        {"Host": "[::1"},  # no address at all
        {"Host": ""},
        {"Origin": "https://evil.example.com"},  # a page in the user's browser
        {"Origin": "null"},  # a page that hides where it comes from
        {"Origin": "http://[::1"},
    ],
)
async def test_without_tokens_every_other_place_is_refused(
    local: httpx2.AsyncClient, headers: dict[str, str]
):
    for method, path in (("GET", "/api/agents"), ("POST", "/api/benchmarks/run")):
        answer = await local.request(method, path, headers=headers, json={"agent_id": "parrot"})
        assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")
