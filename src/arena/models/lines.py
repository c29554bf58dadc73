"""Connections to one endpoint, each a client of its own.

One client with many connections looks at every one of them for each request, which at a hundred
takes half of the processor time; and httpx2, the older library, takes 20 ms for each call.
"""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager

import httpx2

CONNECT_SECONDS = 10.0


class Lines:
    """At most so many at once. They belong to one event loop, and to whoever closes them."""

    def __init__(self, headers: Mapping[str, str], *, max_connections: int) -> None:
        self._headers = httpx2.Headers({"user-agent": "agent-arena"})
        self._headers.update(headers)
        # Not compressed: a few bytes could unfold to more than the memory holds.
        fixed = {"content-type": "application/json", "accept-encoding": "identity"}
        self._headers.update(fixed)
        self._slots = asyncio.Semaphore(max_connections)
        self._certificates = httpx2.create_ssl_context()
        self._idle: list[httpx2.AsyncClient] = []
        self._made: list[httpx2.AsyncClient] = []

    @asynccontextmanager
    async def post(self, url: str, content: bytes) -> AsyncGenerator[httpx2.Response]:
        """Send JSON and get the beginning of the answer; the body is the caller's to read."""
        async with self._slots:
            # The one used last before others: its connection is warm.
            line = self._idle.pop() if self._idle else self._new()
            try:
                async with line.stream("POST", url, content=content) as response:
                    yield response
            finally:
                self._idle.append(line)

    async def close(self) -> None:
        """Close all connections."""
        for line in self._made:
            await line.aclose()

    def _new(self) -> httpx2.AsyncClient:
        line = httpx2.AsyncClient(
            headers=self._headers,
            follow_redirects=False,  # what the headers tell is for this address only
            limits=httpx2.Limits(max_connections=1),
            verify=self._certificates,
            # The caller's own time-out covers the rest.
            timeout=httpx2.Timeout(None, connect=CONNECT_SECONDS),
        )
        self._made.append(line)
        return line
