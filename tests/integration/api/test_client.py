"""The Python client against a server: its results and its errors."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from uuid import uuid4

import pytest

from arena.client import Client
from arena.errors import InfrastructureError, InvalidInput, NotFound


@asynccontextmanager
async def answering(answer: bytes) -> AsyncIterator[str]:
    """A server that sends every client the same bytes and then closes."""

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(talk, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


PAGE = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 5\r\n\r\nhello"
MOVED = b"HTTP/1.1 301 Moved\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n"
BROKEN = b"HTTP/1.1 500 Oops\r\nContent-Length: 4\r\n\r\noops"
HALF = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n: hm\r\n\r\n"


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (PAGE, "did not respond like an Arena"),
        (MOVED, "did not respond like an Arena"),
        (BROKEN, "oops"),
        (b"nonsense\r\n\r\n", "no response from"),
        (b"", "no response from"),
    ],
)
async def test_a_server_that_is_not_an_arena_is_recognised(answer: bytes, message: str):
    async with answering(answer) as url, Client(url) as client:
        with pytest.raises(InfrastructureError, match=message):
            await client.agents()


@pytest.mark.parametrize("variable", ["HTTP_PROXY", "ALL_PROXY"])
async def test_a_proxy_from_the_environment_is_used(monkeypatch: pytest.MonkeyPatch, variable: str):
    async with answering(BROKEN) as proxy:
        monkeypatch.setenv(variable, proxy)
        async with Client("http://arena.invalid") as client:
            with pytest.raises(InfrastructureError, match="oops"):
                await client.agents()


async def test_a_server_that_disconnects_is_not_the_end_of_a_run():
    async with answering(HALF) as url, Client(url) as client:
        with pytest.raises(InfrastructureError, match="closed the stream before its end"):
            async for _ in client.watch(uuid4()):
                pass


async def test_an_unreachable_server_is_an_infrastructure_error():
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    async with Client(f"http://127.0.0.1:{port}") as client:
        with pytest.raises(InfrastructureError, match=f"no response from http://127.0.0.1:{port}"):
            await client.agents()


async def test_tcp_keepalive_is_on_in_case_the_server_machine_vanishes():
    """The kernel probes now and then whether the other end still exists."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        async with Client(f"http://127.0.0.1:{port}") as client:
            request = asyncio.create_task(client.agents())
            async with asyncio.timeout(30):
                while timers_of(port) != {KEEPALIVE}:
                    await asyncio.sleep(0.01)
            request.cancel()


KEEPALIVE = "02"


def timers_of(port: int) -> set[str]:
    """Which timers the kernel runs for connections to this port; see proc_net_tcp in its docs."""
    rows = [row.split() for row in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return {row[5].partition(":")[0] for row in rows if row[2].endswith(f":{port:04X}")}


@pytest.mark.parametrize(
    "url", ["localhost:5109", "ftp://localhost", "http://", "http://a b:x", ""]
)
def test_an_invalid_address_is_the_callers_mistake(url: str):
    with pytest.raises(InvalidInput, match="address"):
        Client(url)


def test_a_token_that_no_header_can_carry_is_the_callers_mistake():
    with pytest.raises(InvalidInput, match="token"):
        Client("http://localhost", token="tökén")


async def test_errors_arrive_as_the_same_exceptions(local):
    transport = local._transport
    async with Client("http://localhost", transport=transport, team_id="Käse & Co") as client:
        with pytest.raises(NotFound, match="did you mean 'parrot'"):
            await client.agent("parot")
        with pytest.raises(NotFound, match="a/b"):
            await client.test("a/b")
        run = await client.create_run("parrot")
        assert (await client.run(run.run_id)).run.team_id == "Käse & Co"
        assert [listed.id for listed in (await client.runs()).runs] == [run.run_id]
