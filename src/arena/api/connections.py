"""Connections of the server: how many, for how long, and which is closed when there are too many.

A connection is *incomplete* while the server waits for its client: for a whole request, or for the
response to be read. One that waits for our answer, such as an event stream, is complete. Every
incomplete connection has a deadline. At the cap the one that has been incomplete longest is closed,
so that a new client gets in however many connections another one holds.
"""

import asyncio
import errno
import logging
import resource
import socket
from collections import Counter
from collections.abc import Callable
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

log = logging.getLogger(__name__)

HEAD_SECONDS = 15.0
"""For the URL and headers of a request, from the first moment the server waits for them."""
BODY_SECONDS = 60.0
"""For a request's body, from the end of its headers."""
LINGER_SECONDS = 5.0
"""Added to the deadline of a body, so that its own error (408) can be sent first."""
STALL_SECONDS = 30.0
"""How long a client may read nothing of a response."""
SWEEP_SECONDS = 1.0
SUMMARY_SECONDS = 60.0
"""Closed connections are counted, and logged in one line after this time."""

MAX_DESCRIPTORS = 8192
"""The soft limit of open files is raised to this, if the system allows it."""
MAX_CONNECTIONS = 4096
READ_BYTES = 32 * 1024
"""Taken from one connection before others have their turn: as chunks of one byte it takes 0.1 s."""
ACCEPTED_AT_ONCE = 8
"""Between two turns of the event loop, so that closed connections give their descriptors back."""
RETRY_SECONDS = 0.5
"""The pause after the system had no descriptor or no memory for a connection."""
SHORTAGES = {errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM}

LATE = b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"


def raise_descriptor_limit() -> None:
    """Allow this process as many open files as it needs, if the system does."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MAX_DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, MAX_DESCRIPTORS)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def allowed_connections() -> int:
    """How many connections the server may hold: the rest of its descriptors is for its work."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    descriptors = MAX_DESCRIPTORS if soft == resource.RLIM_INFINITY else soft
    return max(1, min(MAX_CONNECTIONS, descriptors - max(64, descriptors // 4)))


class BoundedConnection(H11Protocol):
    """One connection, which reports whether it is incomplete."""

    def __init__(self, connections: "Connections", **options: Any) -> None:
        super().__init__(**options)
        self._connections = connections
        self._unread: tuple[int, float] = (0, 0.0)
        """How much of the response the client has not read, and since when."""

    @property
    def waits_for(self) -> str | None:
        """What the server waits for; None while the client waits for the server."""
        if self.transport.is_closing():
            return "close"
        if self.conn.their_state is h11.IDLE:
            return "head"
        return "body" if self.conn.their_state is h11.SEND_BODY else None

    def connection_made(self, transport: asyncio.Transport) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        """The connection is open."""
        super().connection_made(transport)
        transport.max_size = READ_BYTES  # pyright: ignore[reportAttributeAccessIssue]
        self._connections.update(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection is closed."""
        super().connection_lost(exc)
        self._connections.remove(self)

    def data_received(self, data: bytes) -> None:
        """The client has sent something."""
        super().data_received(data)
        self._connections.update(self)

    def on_response_complete(self) -> None:
        """The response is written, though perhaps not read."""
        super().on_response_complete()
        self._connections.update(self)

    def shutdown(self) -> None:
        """The server stops: only a response that is under way is finished."""
        cycle: Any = self.cycle  # None before the first request
        if cycle is None or cycle.response_complete:
            self.transport.close()
        else:
            cycle.keep_alive = False

    def time_out(self) -> None:
        """Close after a deadline, with 408 to a client that has sent a part of a request."""
        if self.waits_for == "head" and self.conn.trailing_data[0]:
            self.transport.write(LATE)
            self.transport.close()
        else:
            self.transport.abort()

    def is_stalled(self, now: float) -> bool:
        """Whether the client has read nothing of a response for too long."""
        unread = self.transport.get_write_buffer_size()
        if not unread or unread != self._unread[0]:
            self._unread = unread, now
        return now - self._unread[1] > STALL_SECONDS


class Connections:
    """All connections of a server; at most `most` of them."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._open: set[BoundedConnection] = set()
        self._incomplete: dict[BoundedConnection, tuple[str, float]] = {}
        """What the server waits for and since when; the longest is first."""
        self._closed: Counter[str] = Counter()
        self._timers: dict[Callable[[], None], asyncio.TimerHandle] = {}
        self.on_room: Callable[[], None] = lambda: None
        """Called when a connection was closed, or can be."""

    def __len__(self) -> int:
        return len(self._open)

    def update(self, connection: BoundedConnection) -> None:
        """Note what a connection waits for now."""
        self._open.add(connection)
        self._in(SWEEP_SECONDS, self._sweep)
        waits_for = connection.waits_for
        known = self._incomplete.get(connection)
        if known is not None and known[0] == waits_for:
            return  # another byte does not extend a deadline
        self._incomplete.pop(connection, None)
        if waits_for is not None:
            self._incomplete[connection] = waits_for, asyncio.get_running_loop().time()
            self.on_room()

    def remove(self, connection: BoundedConnection) -> None:
        """Forget a closed connection."""
        self._open.discard(connection)
        self._incomplete.pop(connection, None)
        self.on_room()

    @property
    def can_make_room(self) -> bool:
        """Whether there is an incomplete connection."""
        return bool(self._incomplete)

    def make_room(self) -> None:
        """Close the connection that has been incomplete longest."""
        connection = next(iter(self._incomplete), None)
        if connection is not None:
            del self._incomplete[connection]
            connection.transport.abort()
            self.count("closed to make room")

    def count(self, what: str) -> None:
        """Count something for the next line of the log."""
        self._closed[what] += 1
        self._in(SUMMARY_SECONDS, self._log)

    def close(self) -> None:
        """Log the rest, and stop watching."""
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()
        if self._closed:
            self._log()

    def _in(self, seconds: float, call: Callable[[], None]) -> None:
        """Call once after this time, however often this is requested meanwhile."""

        def due() -> None:
            del self._timers[call]
            call()

        if call not in self._timers:
            self._timers[call] = asyncio.get_running_loop().call_later(seconds, due)

    def _sweep(self) -> None:
        """Close what has passed its deadline."""
        now = asyncio.get_running_loop().time()
        for connection, (waits_for, since) in list(self._incomplete.items()):
            allowed = BODY_SECONDS + LINGER_SECONDS if waits_for == "body" else HEAD_SECONDS
            if now - since > allowed:
                connection.time_out()
                self.update(connection)
                self.count("closed after their deadline")
        for connection in list(self._open):
            if connection.is_stalled(now):
                connection.transport.abort()
                self.count("closed because the client read nothing")
        if self._open:
            self._in(SWEEP_SECONDS, self._sweep)

    def _log(self) -> None:
        parts = ", ".join(f"{count} {what}" for what, count in self._closed.items())
        log.warning("connections: %s; %d open, at most %d", parts, len(self._open), self.most)
        self._closed.clear()


class Listener:
    """Accepts the connections of a socket.

    Not asyncio's own server: it accepts the whole backlog before it lets any connection close, and
    without a free descriptor it logs an error for each connection in the backlog, without end.
    """

    def __init__(
        self, listening: socket.socket, connections: Connections, protocol: Callable[[], Any]
    ) -> None:
        self._socket = listening
        self._connections = connections
        self._protocol = protocol
        self._loop = asyncio.get_running_loop()
        self._opening: set[asyncio.Task[Any]] = set()
        self._is_paused = True
        self._is_closed = False
        listening.setblocking(False)
        connections.on_room = self._resume
        self._resume()

    def close(self) -> None:
        """Accept no more connections."""
        self._is_closed = True
        self._loop.remove_reader(self._socket)
        self._connections.close()

    async def wait_closed(self) -> None:
        """Wait until no connection is being opened."""
        await asyncio.gather(*self._opening, return_exceptions=True)

    def _resume(self) -> None:
        if self._is_paused and not self._is_closed:
            self._is_paused = False
            self._loop.add_reader(self._socket, self._accept)

    def _pause(self) -> None:
        """Leave new connections to the system's queue."""
        self._is_paused = True
        self._loop.remove_reader(self._socket)

    def _accept(self) -> None:
        for _ in range(ACCEPTED_AT_ONCE):
            is_full = len(self._connections) + len(self._opening) >= self._connections.most
            if is_full and not self._connections.can_make_room:
                self._connections.count("times full")
                self._pause()  # until a connection is closed, or can be
                return
            try:
                accepted, _ = self._socket.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as error:
                if error.errno not in SHORTAGES:
                    raise
                self._connections.count(f"times {error.strerror}")
                self._connections.make_room()
                self._pause()
                self._loop.call_later(RETRY_SECONDS, self._resume)
                return
            if is_full:
                self._connections.make_room()
            accepted.setblocking(False)
            # Or a response waits 40 ms: its head is sent alone, and its body only after the client
            # has acknowledged the head. asyncio does this only for sockets that name TCP.
            accepted.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            opening = self._loop.create_task(self._open(accepted))
            self._opening.add(opening)
            opening.add_done_callback(self._opening.discard)

    async def _open(self, accepted: socket.socket) -> None:
        try:
            await self._loop.connect_accepted_socket(self._protocol, accepted)
        except OSError:  # the client is gone already
            accepted.close()
