"""Every error is problem+json, and no request causes a server error."""

from collections.abc import AsyncIterator
from uuid import UUID

import httpx2
import pytest

from arena.api.body import MAX_BODY_BYTES

RUN = "/api/benchmarks/run"
JSON = {"Content-Type": "application/json"}
KEYS = {"type", "title", "status", "code", "detail", "errors"}


def is_problem(answer: httpx2.Response, status: int, code: str) -> None:
    assert answer.headers["content-type"] == "application/problem+json"
    problem = answer.json()
    assert problem.keys() == KEYS
    assert (answer.status_code, problem["status"], problem["code"]) == (status, status, code)
    assert problem["detail"]


@pytest.mark.parametrize(
    "path", ["/nope", "/api", "/api/nope", "/api/agents/a/b", "/redoc", "/api/"]
)
async def test_an_unknown_path_is_not_found(local: httpx2.AsyncClient, path: str):
    answer = await local.get(path)
    is_problem(answer, 404, "not_found")
    assert answer.json()["detail"] == (f"there is nothing at {path}; see /api/openapi.json")


@pytest.mark.parametrize(
    ("method", "path"),
    [("DELETE", RUN), ("GET", RUN), ("POST", "/api/agents"), ("PUT", "/api/benchmarks/runs")],
)
async def test_a_wrong_method_is_reported(local: httpx2.AsyncClient, method: str, path: str):
    answer = await local.request(method, path)
    is_problem(answer, 405, "method_not_allowed")
    assert answer.json()["detail"] == f"{path} does not support {method}"
    assert answer.headers["allow"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "body: is missing"),
        (b"{", "not JSON"),
        (b"[]", "must be a JSON object"),
        (b"null", "body"),
        (b'"text"', "must be a JSON object"),
        (b"\xff\xfe{}", "not JSON"),
        (b'{"agent_id": "\xff"}', ""),
        (b'{"agent_id": "a\\u0000b"}', "must not contain NUL"),
        (b'{"agent_id": "\\ud800"}', "body.agent_id"),
        (b'{"agent_id": "a", "\\ud800": 1}', ""),
        (b'{"agent_id": "a", "test_ids": ["\\u0000"]}', "must not contain NUL"),
        (b'{"agent_id": 1}', "body.agent_id"),
        (b'{"agent_id": ["a"]}', "body.agent_id"),
        (b'{"agent_id": "a", "trials": 1e999}', "body.trials"),
        (b'{"agent_id": "a", "trials": NaN}', "body.trials"),
        (b"[" * 100_000, ""),
        (b'{"agent_id": "a", "trials": ' + b"9" * 5000 + b"}", ""),
        (b'{"agent_id": "a", "' + b"k" * 10_000 + b'": 1}', "unknown field"),
    ],
)
async def test_an_invalid_body_is_the_callers_mistake(
    local: httpx2.AsyncClient, content: bytes, message: str
):
    answer = await local.post(RUN, content=content, headers=JSON)
    assert answer.status_code in (400, 422)
    code = {400: "bad_request", 422: "invalid_input"}[answer.status_code]
    is_problem(answer, answer.status_code, code)
    assert message in answer.json()["detail"]
    assert len(answer.content) < 2000


async def test_a_body_must_be_sent_as_json(local: httpx2.AsyncClient):
    answer = await local.post(
        RUN, content=b"agent_id=parrot", headers={"Content-Type": "text/plain"}
    )
    is_problem(answer, 422, "invalid_input")
    assert "application/json" in answer.json()["detail"]


async def test_all_errors_are_reported_at_once_without_their_values(
    local: httpx2.AsyncClient,
):
    body = {"agent_id": 7, "trials": "secret-value", "concurrency": 0, "x": 1}
    answer = await local.post(RUN, json=body)
    is_problem(answer, 422, "invalid_input")
    places = [fault["at"] for fault in answer.json()["errors"]]
    assert places == ["body.agent_id", "body.trials", "body.concurrency", "body.x"]
    assert "secret-value" not in answer.text


IMPOSSIBLE = [
    "/api/benchmarks/runs/x",
    "/api/benchmarks/runs/%00",
    "/api/benchmarks/runs/%ff",
    "/api/benchmarks/runs/" + "9" * 5000,
    "/api/benchmarks/runs/5e06f7d4",
    "/api/agents/%00",
    "/api/benchmarks/tests/%00",
    "/api/benchmarks/runs?agent_id=%00",
    "/api/benchmarks/runs?team_id=%00",
    "/api/benchmarks/runs?team_id=",
    "/api/benchmarks/runs?team_id=" + "x" * 101,
    "/api/benchmarks/runs?agent_id=" + "x" * 101,
    "/api/benchmarks/runs?status=done",
    "/api/benchmarks/runs/5e06f7d4-f474-4fa8-a834-b447442a7da2?outcome=maybe",
]

UNKNOWN = [
    "/api/agents/%ff",
    "/api/agents/..",
    "/api/agents/" + "x" * 5000,
    "/api/benchmarks/tests/" + "ü" * 500,
    "/api/benchmarks/runs/00000000-0000-0000-0000-000000000000",
    "/api/benchmarks/runs/00000000-0000-0000-0000-000000000000/events",
]


@pytest.mark.parametrize(
    ("path", "field"),
    [
        ("/api/tasks", "description"),
        ("/api/tasks/1/judge", "reasonURI"),
        ("/api/tasks/1/dispute", "reasonURI"),
        ("/api/tasks/1/resolve", "reasonURI"),
        (f"/api/reviews/{UUID(int=0)}", "reviewer"),
        ("/api/benchmarks/feedback", "user_id"),
    ],
)
async def test_blank_text_is_refused(local: httpx2.AsyncClient, path: str, field: str):
    answer = await local.post(path, json={field: " \n "})
    is_problem(answer, 422, "invalid_input")
    messages = {one["at"]: one["message"] for one in answer.json()["errors"]}
    assert "must not be blank" in messages[f"body.{field}"]


async def test_an_invalid_name_is_refused(api: httpx2.AsyncClient):
    for path in IMPOSSIBLE:
        is_problem(await api.get(path), 422, "invalid_input")


async def test_an_unknown_name_is_not_found(api: httpx2.AsyncClient):
    for path in UNKNOWN:
        is_problem(await api.get(path), 404, "not_found")


async def test_a_team_may_be_named_everywhere(local: httpx2.AsyncClient):
    # The document's front end adds team_id to every address.
    for path in ("/api/health", "/api/benchmarks/tests", "/api/agents", "/api/benchmarks/catalog"):
        assert (await local.get(path, params={"team_id": "any"})).status_code == 200


@pytest.mark.parametrize(
    ("method", "path", "known"),
    [
        ("GET", "/api/health", "team_id"),
        (
            "GET",
            "/api/benchmarks/runs",
            "agent_id, archived, cursor, id_prefix, limit, status, suite, team_id",
        ),
        ("POST", RUN, "team_id"),
        ("POST", "/api/benchmarks/scores/recalculate", "agent_id, team_id, version"),
    ],
)
async def test_an_unknown_parameter_is_refused_with_the_known_ones(
    local: httpx2.AsyncClient, method: str, path: str, known: str
):
    answer = await local.request(method, path, params={"lmit": "1"}, json={"agent_id": "parrot"})
    is_problem(answer, 422, "invalid_input")
    assert answer.json()["detail"] == f"query.lmit: unknown parameter; known: {known}"


async def test_a_database_that_is_unavailable_is_reported_as_503(opened, tmp_path):
    async with opened() as client:
        (tmp_path / "home" / "arena.db").write_bytes(b"this is no database at all" * 500)
        for stale in ("arena.db-wal", "arena.db-shm"):
            (tmp_path / "home" / stale).unlink(missing_ok=True)
        answer = await client.get("/api/benchmarks/runs")
    is_problem(answer, 503, "store_unavailable")


async def test_a_body_that_is_too_large_is_refused(local: httpx2.AsyncClient):
    body = b'{"agent_id": "' + b"x" * MAX_BODY_BYTES + b'"}'
    is_problem(await local.post(RUN, content=body, headers=JSON), 413, "body_too_large")


async def test_a_body_of_unknown_length_that_is_too_large_is_refused(local: httpx2.AsyncClient):
    async def pieces() -> AsyncIterator[bytes]:
        for _ in range(9):
            yield b"x" * (1024 * 1024)

    is_problem(await local.post(RUN, content=pieces(), headers=JSON), 413, "body_too_large")
