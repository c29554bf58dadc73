import asyncio
import contextlib
import textwrap
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from arena.agents.agent import AgentDefinition, AgentLimits
from arena.agents.connector import Answer, Connector, Question
from arena.agents.connectors import connect
from arena.agents.spec import CommandSpec, PythonSpec
from arena.models.turns import Turns
from http_server import Server

Ask = Callable[..., Awaitable[Answer]]


class Bench:
    """Writes small agents into a folder, connects to them and closes them afterwards."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._connectors: list[Connector] = []

    def connect(self, spec: object, **options: object) -> Connector:
        environ = options.pop("environ", None)
        traces = options.pop("traces", None)
        limits = AgentLimits(**options)  # type: ignore[arg-type]
        agent = AgentDefinition(
            id="a",
            name="A",
            connector=spec,
            limits=limits,
            traces=traces,
            source=self.folder / "a.yaml",
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
            input=options.pop("input", None),  # type: ignore[arg-type]
            env=tuple(options.pop("env", ())),  # type: ignore[arg-type]
        )
        return self.connect(spec, **options)

    def function(self, source: str, **options: object) -> Connector:
        """A connector to the function `answer` in a module."""
        self.write("module.py", source)
        spec = PythonSpec(
            callable=str(options.pop("callable", "module:answer")),
            python=options.pop("python", None),  # type: ignore[arg-type]
            path=tuple(options.pop("path", ())),  # type: ignore[arg-type]
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
    """Whether a process ends shortly; reaping it may take a few steps."""

    async def is_gone(pid: int) -> bool:
        for _ in range(100):
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                # A zombie that its new parent has not reaped yet is no longer running.
                if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z":
                    await asyncio.sleep(0.02)
                    continue
            return True
        return False

    return is_gone


@pytest.fixture
def ask_often(ask: Ask) -> Callable[[Connector, int, int], Awaitable[list[Answer]]]:
    """Asks `times` questions, `at_once` of them in parallel."""

    async def ask_all(connector: Connector, times: int, at_once: int) -> list[Answer]:
        limiter = Turns(max_concurrency=at_once)

        async def one() -> Answer:
            async with limiter.turn():
                return await ask(connector)

        return await asyncio.gather(*(one() for _ in range(times)))

    return ask_all
