"""Event streams: server-sent events, how many at once, and their end when the server stops."""

import asyncio
import logging
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import aclosing
from functools import cache
from typing import Any

from fastapi.responses import StreamingResponse
from pydantic import TypeAdapter

from arena.api.problems import Refused
from arena.errors import InfrastructureError
from arena.feed import OncePerState
from arena.operations.operation import Events

log = logging.getLogger(__name__)

EVENT_STREAM = "text/event-stream"
HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
SILENCE_SECONDS = 15.0
"""A comment is sent after this time without events, so that proxies keep the connection."""
SILENCE = ": still here\n\n"


class Streams:
    """The open event streams; at most `most`, half of them of one team."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._most_of_team = max(1, most // 2)
        self._by_team: Counter[str] = Counter()
        self._waiting: set[asyncio.Future[str | None]] = set()
        """The next event of each stream."""
        self._is_closed = False
        self._data = OncePerState(_data)
        """Watchers of the same thing get the same values: each is serialised once for all."""

    def open(self, team: str, events: Events) -> StreamingResponse:
        """The response that sends these events; an error if there are too many streams."""
        if self._by_team[team] >= self._most_of_team:
            message = f"team {team!r} has {self._most_of_team} open event streams"
            raise Refused(429, "too_many_streams", f"{message}; close some, or read without one")
        if self._by_team.total() >= self._most or self._is_closed:
            message = "the server has no room for another event stream; try again later"
            headers = {"Retry-After": "30"}
            raise Refused(503, "too_many_streams", message, headers)
        return StreamingResponse(
            self._counted(team, self._texts(events)), media_type=EVENT_STREAM, headers=HEADERS
        )

    def close(self) -> None:
        """End every stream, so that the server can stop."""
        self._is_closed = True
        for coming in self._waiting:
            coming.cancel()

    async def _counted(self, team: str, texts: AsyncGenerator[str]) -> AsyncGenerator[str]:
        self._by_team[team] += 1
        try:
            async with aclosing(self._with_comments(texts)) as sent:
                async for text in sent:
                    yield text
        finally:
            self._by_team[team] -= 1

    async def _texts(self, events: Events) -> AsyncGenerator[str]:
        try:
            async with aclosing(events):
                async for event in events:
                    head = "" if event.id is None else f"id: {event.id}\n"
                    yield f"{head}event: {event.name}\ndata: {self._data(event.data)}\n\n"
        except InfrastructureError as error:
            # The status is sent already: a stream without its last event tells the watcher.
            log.warning("an event stream has ended: %s", error.message)

    async def _with_comments(self, texts: AsyncGenerator[str]) -> AsyncGenerator[str]:
        coming = self._next(texts)
        try:
            while not self._is_closed:
                done, _ = await asyncio.wait({coming}, timeout=SILENCE_SECONDS)
                if not done:
                    yield SILENCE
                    continue
                self._waiting.discard(coming)
                text = None if coming.cancelled() else coming.result()
                if text is None:
                    return
                yield text
                coming = self._next(texts)
        finally:
            # The watcher has disconnected or the stream has ended: stop the polling behind it.
            self._waiting.discard(coming)
            coming.cancel()
            await asyncio.gather(coming, return_exceptions=True)
            await texts.aclose()

    def _next(self, texts: AsyncGenerator[str]) -> "asyncio.Future[str | None]":
        coming = asyncio.ensure_future(anext(texts, None))
        self._waiting.add(coming)
        return coming


def _data(value: object) -> str:
    return _adapter(type(value)).dump_json(value, by_alias=True).decode()


@cache
def _adapter(kind: type[object]) -> TypeAdapter[Any]:
    return TypeAdapter(kind)
