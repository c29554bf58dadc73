"""HTTP with a source of content that is not trusted: limits hold at every byte.

    Session          requests to one source, all of them within a total time
    NetworkStore     reads content block by block, each hashed here: `kubo.py`, `gateway.py`

A source may lie, send without end, or send one byte a minute. So answers have a size limit, and at
the end of its time a session closes its connections: a limit for each read would not end an answer
that never stops.
"""

import functools
import socket
import ssl
from abc import ABC, abstractmethod
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from threading import Lock, Timer
from time import monotonic
from typing import Any
from urllib.parse import urlsplit

import httpx2

from arena.content.cid import Cid, parse_cid
from arena.content.errors import (
    AnswerCutOff,
    AnswerTooLarge,
    InvalidAnswer,
    SourceFault,
    SourceTooSlow,
    SourceUnreachable,
    WrongBlock,
)
from arena.content.store import MAX_BYTES
from arena.content.tree import Block, ReadBlock, distinct, join

HEADERS = {"user-agent": "agent-arena", "accept-encoding": "identity"}
CONNECTED = ("connect_tcp.complete", "start_tls.complete")
"""How the events of httpx2 end that tell of a new socket, with or without a proxy."""


@functools.cache
def _certificates() -> ssl.SSLContext:
    # Shared: reading the certificates takes 20 ms.
    return httpx2.create_ssl_context()


class Session:
    """Requests to one source, which all together may take `seconds`."""

    def __init__(self, name: str, seconds: float) -> None:
        self._name = name
        self._seconds = max(seconds, 0.0)
        self._ends_at = monotonic() + self._seconds
        self._http = httpx2.Client(
            headers=HEADERS,
            # Whoever sends a request decides where it may go.
            follow_redirects=False,
            verify=_certificates(),
        )
        self._lock = Lock()
        self._sockets: list[socket.socket] = []
        self._is_cut = False
        self._timer = Timer(self._seconds, self.cut)
        self._timer.daemon = True
        self._timer.start()

    @property
    def seconds_left(self) -> float:
        """How long the rest may take."""
        return max(self._ends_at - monotonic(), 0.0)

    def close(self) -> None:
        """End the session."""
        self._timer.cancel()
        self._http.close()

    def cut(self) -> None:
        """Close all connections at once, also while another thread reads from them."""
        with self._lock:
            self._is_cut = True
            for one in self._sockets:
                with suppress(OSError):  # closed already
                    one.shutdown(socket.SHUT_RDWR)

    @contextmanager
    def request(self, method: str, url: str, **options: Any) -> Generator[httpx2.Response]:
        """Send a request; yields the response before its body, for `read`."""
        left = self.seconds_left
        if self._is_cut or not left:
            raise self._too_slow()
        watched = {"trace": self._watch}
        try:
            with self._http.stream(
                method, url, timeout=left, extensions=watched, **options
            ) as response:
                yield response
        except (httpx2.TransportError, httpx2.InvalidURL) as error:
            raise self._fault(error) from None

    def read(self, response: httpx2.Response, max_bytes: int) -> bytes:
        """The body, which must not have more than `max_bytes`."""
        if response.headers.get("content-encoding", "identity") != "identity":
            # A few bytes could expand to any size.
            raise InvalidAnswer(f"{self._name} sent a compressed answer although asked not to")
        body = bytearray()
        for chunk in response.iter_raw():
            body += chunk
            if len(body) > max_bytes:
                raise AnswerTooLarge(
                    f"{self._name} sent more than {max_bytes} bytes where no more are possible"
                )
        return bytes(body)

    def _watch(self, event: str, info: dict[str, Any]) -> None:
        """Remember each new connection, so that it can be cut."""
        if not event.endswith(CONNECTED):
            return
        with self._lock:
            self._sockets.append(info["return_value"].get_extra_info("socket"))
            is_late = self._is_cut
        if is_late:
            self.cut()

    def _fault(self, error: Exception) -> SourceFault:
        is_late = self._is_cut or not self.seconds_left
        if is_late or isinstance(error, httpx2.TimeoutException):
            return self._too_slow()
        if isinstance(error, httpx2.RemoteProtocolError | httpx2.ReadError):
            return AnswerCutOff(f"{self._name} closed the connection in the middle of an answer")
        reason = str(error) or type(error).__name__
        return SourceUnreachable(f"{self._name} cannot be reached: {reason}")

    def _too_slow(self) -> SourceTooSlow:
        return SourceTooSlow(
            f"{self._name} did not send everything within {self._seconds:.3g} s; the time limit is "
            "ARENA_IPFS_TIMEOUT_SECONDS"
        )


class NetworkStore(ABC):
    """Content of one source in the network; subclasses say how a block is requested."""

    def __init__(self, name: str, *, timeout_seconds: float, max_bytes: int = MAX_BYTES) -> None:
        self.name = name
        """For messages: without secrets."""
        self.timeout_seconds = timeout_seconds
        """How long one call may take."""
        self.max_bytes = max_bytes
        """The largest content that is returned."""
        self._lock = Lock()
        self._sessions: set[Session] = set()
        self._is_closed = False

    def get(self, cid: str, *, max_bytes: int | None = None) -> bytes:
        """The content with this CID, every block verified."""
        limit = self.max_bytes if max_bytes is None else min(max_bytes, self.max_bytes)
        with self.reading(self.timeout_seconds) as read:
            return join(parse_cid(cid), read, max_bytes=limit)

    def blocks(self, cid: str) -> Iterator[Block]:
        """Every block of the content once, verified, its root first."""
        with self.reading(self.timeout_seconds) as read:
            yield from distinct(parse_cid(cid), read, max_bytes=self.max_bytes)

    @contextmanager
    def reading(self, seconds: float) -> Generator[ReadBlock]:
        """Reads verified blocks, all of them together within this time."""
        with self.session(seconds) as session:

            def read(cid: Cid) -> bytes:
                block = self.request_block(session, cid)
                if not cid.names(block):
                    raise WrongBlock(f"{self.name} sent bytes that do not match {cid}")
                return block

            yield read

    @contextmanager
    def session(self, seconds: float) -> Generator[Session]:
        """A session, closed when the block ends."""
        session = Session(self.name, seconds)
        with self._lock:
            self._sessions.add(session)
            is_closed = self._is_closed
        if is_closed:
            session.cut()
        try:
            yield session
        finally:
            with self._lock:
                self._sessions.discard(session)
            session.close()

    @abstractmethod
    def request_block(self, session: Session, cid: Cid) -> bytes:
        """The bytes that the source sends for a block, not verified yet."""

    def close(self) -> None:
        """End what other threads are waiting for, so that the process can exit."""
        with self._lock:
            self._is_closed = True
            sessions = list(self._sessions)
        for session in sessions:
            session.cut()


def shown_address(url: str) -> str:
    """An address for messages: a path, a query or a user may hold a key."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
