"""HTTP connections to one endpoint, and the rules for reading an untrusted response.

Each connection is a separate client: one client with a pool of a hundred connections scans all of
them for each request, which took half of the CPU time.
"""

from collections.abc import AsyncGenerator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import UTC
from email.utils import parsedate_to_datetime

import httpx2

from arena import clock
from arena.pools.slots import Slots

CONNECT_SECONDS = 10.0
MAX_RETRY_AFTER_SECONDS = 366 * 86_400.0
"""Fits every clock; whoever waits has a limit of its own."""


class TooLong(Exception):
    """The server sent more than the limit, or compressed it so that its size is unknown."""


def refuse_compressed(headers: Mapping[str, str]) -> None:
    """Raise `TooLong` for a compressed body: a few bytes could expand to any size."""
    if headers.get("content-encoding", "identity") != "identity":
        raise TooLong


class ConnectionPool:
    """At most `max_connections` at once. It belongs to one event loop, and its owner closes it."""

    def __init__(self, headers: Mapping[str, str], *, max_connections: int) -> None:
        self._headers = httpx2.Headers({"user-agent": "agent-arena"})
        self._headers.update(headers)
        fixed = {"content-type": "application/json", "accept-encoding": "identity"}
        self._headers.update(fixed)
        self._slots = Slots(max_connections)
        # Shared: reading the certificates takes 20 ms per client.
        self._certificates = httpx2.create_ssl_context()
        self._idle: list[httpx2.AsyncClient] = []
        self._all: list[httpx2.AsyncClient] = []

    def post(self, url: str, content: bytes) -> AbstractAsyncContextManager[httpx2.Response]:
        """Send JSON; yields the response before its body, which the caller reads."""
        return self.request("POST", url, content)

    @asynccontextmanager
    async def request(
        self,
        method: str,
        url: str,
        content: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> AsyncGenerator[httpx2.Response]:
        """Send a request, with more `headers`; yields the response, whose body the caller reads."""
        async with self._slots.slot():
            # Last in, first out: its connection is most likely still open.
            client = self._idle.pop() if self._idle else self._new()
            try:
                async with client.stream(method, url, content=content, headers=headers) as response:
                    yield response
            finally:
                self._idle.append(client)

    async def close(self) -> None:
        """Close all connections."""
        for client in self._all:
            await client.aclose()

    def _new(self) -> httpx2.AsyncClient:
        client = httpx2.AsyncClient(
            headers=self._headers,
            follow_redirects=False,  # the headers may hold a key, which is for this address only
            limits=httpx2.Limits(max_connections=1),
            verify=self._certificates,
            # The caller's own timeout covers the rest.
            timeout=httpx2.Timeout(None, connect=CONNECT_SECONDS),
        )
        self._all.append(client)
        return client


def seconds_to_wait(retry_after: str | None) -> float | None:
    """The header Retry-After (seconds or a date) in seconds; None if it is not usable."""
    if not retry_after:
        return None
    try:
        seconds = float(retry_after)
    except ValueError:
        try:
            date = parsedate_to_datetime(retry_after)
        except (ValueError, OverflowError):  # a year or a zone of many digits
            return None
        date = date if date.tzinfo else date.replace(tzinfo=UTC)
        seconds = (date - clock.now()).total_seconds()
    # The comparison with itself is false for NaN.
    return min(max(seconds, 0.0), MAX_RETRY_AFTER_SECONDS) if seconds == seconds else None
