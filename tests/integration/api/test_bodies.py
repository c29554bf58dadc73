"""Bodies: only of callers with access, in time, and within the server's memory."""

import asyncio
import json
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI

from arena.api import body, create_app, json_body
from arena.settings import Settings

RED, BLUE = "red-token-0123456789", "blue-token-0123456789"
EVALUATE = "/api/evaluate"


@pytest.fixture
async def app(tmp_path: Path, sqlite_tables: Path) -> AsyncIterator[FastAPI]:
    home = tmp_path / "home"
    home.mkdir()
    shutil.copy(sqlite_tables, home)
    app = create_app(Settings(home=home, tokens=(f"red:{RED}", f"blue:{BLUE}")))
    async with app.router.lifespan_context(app):
        yield app


class Sender:
    """A request whose body is sent piece by piece; None waits for ever."""

    def __init__(self, *pieces: bytes | None, path: str = EVALUATE, token: str = "", **headers):
        self.pieces = list(pieces)
        self.path = path
        self.reads = 0
        self.reading = asyncio.Event()
        self.headers = {"host": "localhost", "content-type": "application/json", **headers}
        if token:
            self.headers["authorization"] = f"Bearer {token}"
        self.status = 0
        self.answered: dict[str, str] = {}
        self.content = b""

    async def receive(self) -> dict[str, Any]:
        self.reads += 1
        self.reading.set()
        piece = self.pieces.pop(0) if self.pieces else None
        if piece is None:
            await asyncio.Event().wait()
        return {"type": "http.request", "body": piece, "more_body": bool(self.pieces)}

    async def send(self, message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.answered = {key.decode(): value.decode() for key, value in message["headers"]}
        self.content += message.get("body", b"")

    async def ask(self, app: FastAPI) -> tuple[int, Any]:
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": "POST",
            "scheme": "http",
            "path": self.path,
            "raw_path": self.path.encode(),
            "query_string": b"",
            "root_path": "",
            "headers": [(key.encode(), value.encode()) for key, value in self.headers.items()],
            "server": ("localhost", 80),
            "client": ("127.0.0.1", 1),
        }
        async with asyncio.timeout(60):
            await app(scope, self.receive, self.send)
        return self.status, json.loads(self.content)


def sized(data: bytes) -> dict[str, str]:
    return {"content-length": str(len(data))}


@pytest.mark.parametrize("path", [EVALUATE, "/api/content", "/api/archive", "/api/nothing"])
@pytest.mark.parametrize("token", ["", "unknown-token-0123456789"])
async def test_without_a_token_no_byte_of_a_body_is_read(app: FastAPI, path: str, token: str):
    for framing in ({"content-length": "8000000"}, {"transfer-encoding": "chunked"}):
        sender = Sender(None, path=path, token=token, **framing)
        status, problem = await sender.ask(app)
        assert (status, problem["code"], sender.reads) == (401, "unauthorized", 0)
        assert "connection" not in sender.answered
    # The client has not sent the body: what it sends next must not be taken for it.
    sender = Sender(None, path=path, **{"content-length": "9", "expect": "100-continue"})
    await sender.ask(app)
    assert sender.answered["connection"] == "close"


async def test_two_lengths_are_refused(app: FastAPI):
    framing = {"content-length": "2", "transfer-encoding": "chunked"}
    sender = Sender(b"{}", token=RED, **framing)
    status, problem = await sender.ask(app)
    assert (status, problem["code"], sender.reads) == (400, "bad_request", 0)
    assert "both Content-Length and Transfer-Encoding" in problem["detail"]
    assert sender.answered["connection"] == "close"


async def test_a_body_that_does_not_arrive_is_refused(
    app: FastAPI, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(body, "BODY_SECONDS", 0.05)
    for path in (EVALUATE, "/api/content"):
        sender = Sender(b"{", None, path=path, token=RED, **{"content-length": "8000000"})
        status, problem = await sender.ask(app)
        assert (status, problem["code"]) == (408, "body_late")


async def test_the_bodies_of_a_team_share_a_limited_memory(app: FastAPI):
    size = body.MAX_BODY_BYTES
    held = [Sender(b"x", None, token=RED, **{"content-length": str(size)}) for _ in range(8)]
    tasks = [asyncio.create_task(sender.ask(app)) for sender in held]
    for sender in held:
        await asyncio.wait_for(sender.reading.wait(), 30)
    small = json.dumps({"standard": {"validation": "exact", "expected": {}}, "submission": "x"})
    large = small.encode() + b" " * 100_000
    late = Sender(large, token=RED, **sized(large))
    waiting = asyncio.create_task(late.ask(app))
    # Neither a small body nor another team waits.
    first = Sender(small.encode(), token=RED, **sized(small.encode()))
    other = Sender(large, token=BLUE, **sized(large))
    assert (await first.ask(app))[0] == (await other.ask(app))[0] == 422
    assert late.reads == 0
    tasks[0].cancel()
    assert (await waiting)[0] == 422
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


@pytest.mark.parametrize(
    "value",
    [
        "[" + ",".join(["[]"] * 260_000) + "]",
        "[" + ",".join(["0"] * 500_000) + "]",
        "{" + ",".join(f'"{i}":0' for i in range(260_000)) + "}",
        "[" + '"\\\\",' * 500_000 + "0]",
        ("[" + ",".join(["{}"] * 260_000) + "]").encode("utf-16").decode("utf-16"),
    ],
    ids=["empty lists", "numbers", "keys", "backslashes", "objects"],
)
async def test_a_body_with_too_many_values_is_refused_unparsed(app: FastAPI, value: str):
    data = f'{{"standard": {{}}, "submission": "", "sealed": {{"a": {value}}}}}'
    for encoding in ("utf-8", "utf-16"):
        sent = data.encode(encoding)
        status, problem = await Sender(sent, token=RED, **sized(sent)).ask(app)
        assert (status, problem["code"]) == (413, "body_too_large")
        assert "more than 500,000 values" in problem["detail"]


async def test_a_text_may_have_any_characters(app: FastAPI):
    for text in ("," * 4_000_000, '\\",[' * 1_000_000, "\\\\" * 1_500_000 + ","):
        data = f'{{"standard": {{"validation": "exact"}}, "submission": "{text}"}}'.encode()
        status, problem = await Sender(data, token=RED, **sized(data)).ask(app)
        assert (status, problem["code"]) == (422, "invalid_standard")
        assert "expected" in problem["detail"]


async def test_a_body_with_very_many_invalid_parts_gets_one_message(app: FastAPI):
    data = ("{" + ",".join(f'"{i}":0' for i in range(json_body.MAX_VALUES // 4)) + "}").encode()
    status, problem = await Sender(data, token=RED, **sized(data)).ask(app)
    assert (status, problem["code"]) == (422, "invalid_input")
    assert problem["detail"] == "body: 125,002 parts are not valid or not known"
