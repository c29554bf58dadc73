"""Request bodies: read only for callers with access, and bounded in size, time and memory."""

import asyncio
from collections import Counter
from collections.abc import Mapping

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from arena.api.access import Access
from arena.api.connections import BODY_SECONDS
from arena.api.problems import Refused, problem_of, refusal
from arena.errors import ArenaError

MAX_BODY_BYTES = 8 * 1024 * 1024
SMALL_BYTES = 64 * 1024
"""A body up to this size needs no reservation: a connection takes as much memory in any case."""
TEAM_BYTES = 64 * 1024 * 1024
"""All larger bodies of a team that are read or worked on at the same time."""
TOTAL_BYTES = 4 * TEAM_BYTES
"""The same for all teams together."""

CLOSE = {"Connection": "close"}


class Bodies:
    """Refuses a request by its headers, and gives the app its body within the limits."""

    def __init__(
        self, app: ASGIApp, access: Access, larger: Mapping[str, int] | None = None
    ) -> None:
        """`larger` are the limits, in bytes, of the paths that take larger bodies than others."""
        self._app = app
        self._access = access
        self._larger = dict(larger or {})
        self._room = _Room(team_bytes=TOTAL_BYTES if access.is_local else TEAM_BYTES)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, with a body that is read when the app asks for it."""
        headers = Headers(scope=scope) if scope["type"] == "http" else Headers()
        length, coding = headers.get("content-length", "0"), headers.get("transfer-encoding")
        if length == "0" and coding is None:
            await self._app(scope, receive, send)
            return
        limit = self._larger.get(scope["path"], MAX_BODY_BYTES)
        try:
            team, declared = self._admit(headers, length, coding, limit)
        except (ArenaError, Refused) as error:
            # A client that waits for our consent before it sends the body will not send it now, so
            # the next bytes would be taken for the body. Other clients may be sending it: closing
            # at once would lose them the response.
            answer = refusal(error) if isinstance(error, Refused) else problem_of(error)
            if "expect" in headers:
                answer.headers.update(CLOSE)
            await answer(scope, receive, send)
            return
        body = _Body(receive, self._room, team, declared, limit)
        try:
            await self._app(scope, body.receive, send)
        finally:
            body.release()

    def _admit(
        self, headers: Headers, length: str, coding: str | None, limit: int
    ) -> tuple[str | None, int]:
        """The team of a request that may send its body, and the body's size if it is whole."""
        if coding is not None and "content-length" in headers:
            # Two programs that choose differently would see different requests (smuggling).
            message = "a request must not have both Content-Length and Transfer-Encoding"
            raise Refused(400, "bad_request", message, CLOSE)
        team = self._access.check(headers)
        declared = limit if coding is not None else int(length)
        if declared > limit:
            raise _too_large(limit)
        return team, declared


class _Body:
    """The body of one request, while it is read."""

    def __init__(
        self, receive: Receive, room: "_Room", team: str | None, declared: int, limit: int
    ) -> None:
        self._receive = receive
        self._limit = limit
        self._room = room
        self._team = team
        self._reserved = declared if declared > SMALL_BYTES else 0
        self._size = 0
        self._deadline = asyncio.get_running_loop().time() + BODY_SECONDS
        self._is_waiting = self._reserved > 0
        self._is_whole = False

    async def receive(self) -> Message:
        """The next message; an error when a limit is reached."""
        if self._is_whole:
            return await self._receive()  # a disconnect
        await self._reserve()
        try:
            async with asyncio.timeout_at(self._deadline):
                message = await self._receive()
        except TimeoutError:
            detail = f"the body did not arrive within {BODY_SECONDS:g} s"
            raise Refused(408, "body_late", detail, CLOSE) from None
        self._size += len(message.get("body", b""))
        if self._size > self._limit:
            raise _too_large(self._limit)
        self._is_whole = message["type"] != "http.request" or not message.get("more_body")
        return message

    async def _reserve(self) -> None:
        """Wait for room in memory; until then the body stays with the client."""
        if not self._is_waiting:
            return
        try:
            async with asyncio.timeout_at(self._deadline):
                await self._room.take(self._team, self._reserved)
        except TimeoutError:
            detail = "too many large requests at once; try again later"
            headers = {**CLOSE, "Retry-After": "5"}
            raise Refused(503, "too_many_bodies", detail, headers) from None
        self._is_waiting = False

    def release(self) -> None:
        """Give the memory back: the request has been answered."""
        if self._reserved and not self._is_waiting:
            self._room.give_back(self._team, self._reserved)


class _Room:
    """The memory for large bodies, shared by the teams."""

    def __init__(self, *, team_bytes: int) -> None:
        self._team_bytes = team_bytes
        self._held: Counter[str | None] = Counter()
        self._freed = asyncio.Event()

    async def take(self, team: str | None, size: int) -> None:
        """Reserve memory, as soon as the team and the server have enough."""
        # A body larger than the share of a team has it for itself.
        most = max(self._team_bytes, size)
        while self._held[team] + size > most or self._held.total() + size > TOTAL_BYTES:
            await self._freed.wait()
        self._held[team] += size

    def give_back(self, team: str | None, size: int) -> None:
        """Free memory, and wake all that wait for some."""
        self._held[team] -= size
        self._freed.set()
        self._freed = asyncio.Event()


def _too_large(limit: int) -> Refused:
    detail = f"the body is larger than {limit // 1024**2} MiB"
    return Refused(413, "body_too_large", detail)
