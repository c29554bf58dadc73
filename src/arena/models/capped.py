"""A cap on what a server may send, for clients that would read all of it into memory."""

from collections.abc import AsyncIterable, AsyncIterator, Mapping
from typing import Protocol


class TooLong(Exception):
    """The server sent more than the cap, or sent it compressed so that nobody can tell."""


class Stream(AsyncIterable[bytes], Protocol):
    """The body of a response while it arrives."""

    async def aclose(self) -> None:
        """Hang up."""
        ...


class CappedBytes:
    """A body that ends with `TooLong` at the cap.

    httpx2 and its successor httpx2 each insist on their own class of body, so each connector makes
    one by inheriting from both.
    """

    def __init__(self, stream: Stream, max_bytes: int) -> None:
        self._stream = stream
        self._left = max_bytes

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """The chunks of the body."""
        async for chunk in self._stream:
            self._left -= len(chunk)
            if self._left < 0:
                raise TooLong
            yield chunk

    async def aclose(self) -> None:
        """Hang up."""
        await self._stream.aclose()


def refuse_compressed(headers: Mapping[str, str]) -> None:
    """Raises `TooLong` for a compressed body: a few bytes could unfold to any size."""
    if headers.get("content-encoding", "identity") != "identity":
        raise TooLong
