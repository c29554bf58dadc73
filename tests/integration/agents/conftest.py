import asyncio
import contextlib
import json
import textwrap
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from arena.agents import (
    Agent,
    CommandSpec,
    Connector,
    Limiter,
    Limits,
    PythonSpec,
    Question,
    connect,
)
from arena.agents.connector import Answer

Ask = Callable[..., Awaitable[Answer]]


class Bench:
    """Writes small agents into a folder, connects to them and closes them afterwards."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._connectors: list[Connector] = []

    def connect(self, spec: object, **options: object) -> Connector:
        environ = options.pop("environ", None)
        limits = Limits(**options)  # type: ignore[arg-type]
        agent = Agent(
            id="a", name="A", connector=spec, limits=limits, source=self.folder / "a.yaml"
        )
        connector = connect(agent, environ=environ)
        self._connectors.append(connector)
        return connector

    def command(self, source: str, **options: object) -> Connector:
        """A connector to a program in Python, one process per prompt (or `persistent`)."""
        self.write("program.py", source)
        spec = CommandSpec(
            command=str(options.pop("command", "{python} program.py")),
            persistent=bool(options.pop("persistent", False)),
            env=tuple(options.pop("env", ())),  # type: ignore[arg-type]
        )
        return self.connect(spec, **options)

    def function(self, source: str, **options: object) -> Connector:
        """A connector to the function `answer` in a module."""
        self.write("module.py", source)
        spec = PythonSpec(
            callable=str(options.pop("callable", "module:answer")),
            env=tuple(options.pop("env", ())),  # type: ignore[arg-type]
        )
        return self.connect(spec, **options)

    def write(self, name: str, source: str) -> Path:
        path = self.folder / name
        path.write_text(textwrap.dedent(source), encoding="utf-8")
        return path

    async def close(self) -> None:
        for connector in self._connectors:
            await connector.close()


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    bench = Bench(tmp_path)
    yield bench
    await bench.close()


class Request:
    """What a client sent to the server below."""

    def __init__(self, head: bytes, body: bytes) -> None:
        first, *lines = head.decode("latin-1").split("\r\n")
        self.method, self.path, _ = first.split(" ")
        pairs = (line.partition(":") for line in lines if line)
        self.headers = {name.lower(): value.strip() for name, _, value in pairs}
        self.body = body

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Server:
    """A real HTTP server on loopback that says what a test tells it to, byte for byte."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self._tasks: list[asyncio.Task[None]] = []
        self.hang_ups = 0
        """How many clients closed their connection while they were being answered."""
        self._reply: bytes | Callable[[Request, asyncio.StreamWriter], Awaitable[None]] = b""

    def say(self, body: bytes | str | object, *, status: int = 200, **headers: str) -> None:
        """Answer every request with `body` (JSON where it is no text)."""
        if not isinstance(body, bytes | str):
            body = json.dumps(body)
        raw = body.encode() if isinstance(body, str) else body
        lines = [f"HTTP/1.1 {status} Because", f"Content-Length: {len(raw)}"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        self._reply = "\r\n".join(lines).encode() + b"\r\n\r\n" + raw

    def do(self, reply: Callable[[Request, asyncio.StreamWriter], Awaitable[None]]) -> None:
        """Answer every request by calling `reply`, then close the connection."""
        self._reply = reply

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def stop(self) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks)
        await self._server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._tasks.append(asyncio.current_task())
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                request = Request(head[:-4], b"")
                request.body = await reader.readexactly(
                    int(request.headers.get("content-length", 0))
                )
                self.requests.append(request)
                if callable(self._reply):
                    await self._reply(request, writer)
                    return
                writer.write(self._reply)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            self.hang_ups += 1
        except asyncio.CancelledError:
            pass  # the server stops
        finally:
            writer.close()


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    server = Server()
    await server.start()
    yield server
    await server.stop()


@pytest.fixture
def ask() -> Ask:
    async def ask(
        connector: Connector, prompt: str = "Hi", *, timeout: float = 20.0, id: str = "q1"
    ) -> Answer:
        return await connector.answer(Question(id=id, prompt=prompt, timeout_seconds=timeout))

    return ask


@pytest.fixture
def is_gone() -> Callable[[int], Awaitable[bool]]:
    """Whether a process ends within a moment (a reaped or adopted one takes a few steps)."""

    async def is_gone(pid: int) -> bool:
        for _ in range(100):
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                # A zombie that its new parent has not collected yet does no work any more.
                if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z":
                    await asyncio.sleep(0.02)
                    continue
            return True
        return False

    return is_gone


@pytest.fixture
def ask_often(ask: Ask) -> Callable[[Connector, int, int], Awaitable[list[Answer]]]:
    """Asks so many times, so many at once."""

    async def ask_all(connector: Connector, times: int, at_once: int) -> list[Answer]:
        limiter = Limiter(Limits(max_concurrency=at_once))

        async def one() -> Answer:
            async with limiter.turn():
                return await ask(connector)

        return await asyncio.gather(*(one() for _ in range(times)))

    return ask_all
