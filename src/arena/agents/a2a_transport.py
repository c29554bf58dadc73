"""What the A2A connector allows on the wire: headers for one address, bodies up to a limit."""

from collections.abc import AsyncIterator, Generator, Mapping
from typing import cast

import httpx

from arena.agents.connector import MAX_OUTPUT_BYTES
from arena.models.connections import TooLong, refuse_compressed

# A stream wraps every few characters in an event of some hundred bytes.
MAX_STREAM_BYTES = 32 * MAX_OUTPUT_BYTES


class OwnHeaders(httpx.Auth):
    """Sends the agent's headers only to its own address.

    A card may point anywhere, and a key must not be sent there.
    """

    def __init__(self, url: str, headers: Mapping[str, str]) -> None:
        self._origin = _origin(httpx.URL(url))
        self._headers = headers

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        """Add the headers to a request to the agent's own address."""
        if _origin(request.url) == self._origin:
            request.headers.update(self._headers)
        yield request


class _CappedBody(httpx.AsyncByteStream):
    """A body that raises `TooLong` at the limit: the SDK would read all of it into memory."""

    def __init__(self, stream: httpx.AsyncByteStream) -> None:
        self._stream = stream
        self._left = MAX_STREAM_BYTES

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._stream:
            self._left -= len(chunk)
            if self._left < 0:
                raise TooLong
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()


async def cap(response: httpx.Response) -> None:
    """Limit the body of a response."""
    refuse_compressed(response.headers)
    response.stream = _CappedBody(cast(httpx.AsyncByteStream, response.stream))


def _origin(url: httpx.URL) -> tuple[str, str, int | None]:
    default = {"http": 80, "https": 443}.get(url.scheme)
    return url.scheme, url.host, url.port or default
