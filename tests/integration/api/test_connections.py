"""Connections are bounded in number and in time, whatever their clients send or do not read."""

import asyncio
import errno
import logging
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial

import pytest
import uvicorn
from uvicorn.server import ServerState

from arena.api import connections as bounds
from arena.api.connections import BoundedConnection, Connections, Listener

HEAD = b"GET / HTTP/1.1\r\nHost: localhost\r\n"
Pair = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@dataclass(kw_only=True)
class Site:
    """A small app on a real socket with bounded connections."""

    connections: Connections
    address: tuple[str, int] = ("", 0)
    clients: list[asyncio.StreamWriter] = field(default_factory=list)
    release: asyncio.Event = field(default_factory=asyncio.Event)
    held: int = 0

    async def app(self, scope, receive, send) -> None:
        if scope["path"] == "/hold":
            self.held += 1
            await self.release.wait()
        if scope["path"] == "/early":
            await receive()  # a part of the body is enough
        body = b"x" * 20_000_000 if scope["path"] == "/large" else b"ok"
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": body})

    async def connect(self, sent: bytes = b"") -> Pair:
        reader, writer = await asyncio.open_connection(*self.address)
        self.clients.append(writer)
        writer.write(sent)
        await writer.drain()
        return reader, writer

    async def hold(self) -> Pair:
        """A client that waits for an answer."""
        before = self.held
        pair = await self.connect(b"GET /hold HTTP/1.1\r\nHost: localhost\r\n\r\n")
        await until(lambda: self.held > before)
        return pair


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not holds():
            await asyncio.sleep(0.01)


async def first_line(reader: asyncio.StreamReader) -> bytes:
    async with asyncio.timeout(30):
        return await reader.readline()


async def is_closed(reader: asyncio.StreamReader) -> bool:
    """Wait for the end of a connection; also true if it is reset."""
    async with asyncio.timeout(30):
        try:
            while await reader.read(1 << 20):
                pass
        except ConnectionError:
            pass
    return True


@asynccontextmanager
async def opened(most: int, kind: type[socket.socket] = socket.socket) -> AsyncIterator[Site]:
    site = Site(connections=Connections(most))
    config = uvicorn.Config(site.app, interface="asgi3", lifespan="off", log_config=None)
    config.load()
    protocol = partial(
        BoundedConnection,
        site.connections,
        config=config,
        server_state=ServerState(),
        app_state={},
    )
    with kind(socket.AF_INET, socket.SOCK_STREAM) as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(100)
        site.address = listening.getsockname()
        listener = Listener(listening, site.connections, protocol)
        try:
            yield site
        finally:
            site.release.set()
            for client in site.clients:
                client.close()
            await asyncio.gather(
                *(client.wait_closed() for client in site.clients), return_exceptions=True
            )
            await until(lambda: len(site.connections) == 0)
            listener.close()
            await listener.wait_closed()


async def test_at_the_cap_the_longest_incomplete_connection_makes_room():
    async with opened(3) as site:
        held, _ = await site.hold()
        first, _ = await site.connect(HEAD)
        await until(lambda: len(site.connections) == 2)
        second, _ = await site.connect(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nx")
        await until(lambda: len(site.connections) == 3)
        reader, _ = await site.connect(HEAD + b"\r\n")
        assert await first_line(reader) == b"HTTP/1.1 200 OK\r\n"
        assert await is_closed(first)
        # The body arrived later than the head of the first: it may stay.
        assert await first_line(second) == b"HTTP/1.1 200 OK\r\n"
        site.release.set()
        assert await first_line(held) == b"HTTP/1.1 200 OK\r\n"


async def test_a_flood_of_tiny_chunks_is_read_in_small_parts(monkeypatch: pytest.MonkeyPatch):
    """Between two parts other connections have their turn."""
    sizes: list[int] = []
    receive = BoundedConnection.data_received

    def noted(connection: BoundedConnection, data: bytes) -> None:
        sizes.append(len(data))
        receive(connection, data)

    monkeypatch.setattr(BoundedConnection, "data_received", noted)
    head = b"POST /early HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
    async with opened(3) as site:
        reader, _ = await site.connect(head + b"1\r\nx\r\n" * 100_000 + b"0\r\n\r\n")
        assert await first_line(reader) == b"HTTP/1.1 200 OK\r\n"
    assert max(sizes) <= bounds.READ_BYTES


async def test_a_hundred_half_sent_requests_leave_room_for_a_client():
    async with opened(10) as site:
        for _ in range(100):
            await site.connect(HEAD)
        reader, _ = await site.connect(HEAD + b"\r\n")
        assert await first_line(reader) == b"HTTP/1.1 200 OK\r\n"
        assert len(site.connections) <= 10 + bounds.ACCEPTED_AT_ONCE


async def test_if_all_clients_wait_for_answers_a_new_one_waits_too():
    async with opened(2) as site:
        await site.hold()
        await site.hold()
        reader, _ = await site.connect(HEAD + b"\r\n")
        site.release.set()
        # Their connections are idle now, so one of them makes room.
        assert await first_line(reader) == b"HTTP/1.1 200 OK\r\n"


async def test_a_request_that_arrives_byte_by_byte_has_one_deadline(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(bounds, "HEAD_SECONDS", 0.3)
    monkeypatch.setattr(bounds, "SWEEP_SECONDS", 0.02)
    async with opened(10) as site:
        silent, _ = await site.connect()
        reader, writer = await site.connect(HEAD)

        async def drip() -> None:
            while True:
                writer.write(b"X")
                await asyncio.sleep(0.02)

        dripping = asyncio.create_task(drip())
        assert await first_line(reader) == b"HTTP/1.1 408 Request Timeout\r\n"
        assert await is_closed(reader)
        assert await is_closed(silent)
        dripping.cancel()
        await asyncio.gather(dripping, return_exceptions=True)


async def test_a_body_that_is_never_read_has_a_deadline(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(bounds, "BODY_SECONDS", 0.1)
    monkeypatch.setattr(bounds, "LINGER_SECONDS", 0.1)
    monkeypatch.setattr(bounds, "SWEEP_SECONDS", 0.02)
    async with opened(10) as site:
        head = b"POST /early HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\nx"
        reader, _ = await site.connect(head)
        assert await first_line(reader) == b"HTTP/1.1 200 OK\r\n"
        assert await is_closed(reader)


async def test_a_client_that_does_not_read_is_disconnected(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(bounds, "STALL_SECONDS", 0.1)
    monkeypatch.setattr(bounds, "SWEEP_SECONDS", 0.02)
    async with opened(10) as site:
        with socket.create_connection(site.address) as client:
            client.sendall(b"GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n")
            await until(lambda: len(site.connections) == 1)
            await until(lambda: len(site.connections) == 0)


class Scarce(socket.socket):
    """A listening socket in a process that has no descriptor left, for a while."""

    refused = 0

    def accept(self) -> tuple[socket.socket, object]:
        if type(self).refused < 3:
            type(self).refused += 1
            raise OSError(errno.EMFILE, "Too many open files")
        return super().accept()


async def test_without_descriptors_it_waits_and_logs_one_line(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    monkeypatch.setattr(bounds, "RETRY_SECONDS", 0.05)
    with caplog.at_level(logging.WARNING):
        async with opened(10, Scarce) as site:
            reader, _ = await site.connect(HEAD + b"\r\n")
            assert await first_line(reader) == b"HTTP/1.1 200 OK\r\n"
            assert caplog.messages == []  # the summary comes after a minute, or at the end
    (line,) = caplog.messages
    assert line.startswith("connections: 3 times Too many open files; ")
