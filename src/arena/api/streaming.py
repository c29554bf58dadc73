"""Streams of server-sent events, with a keep-alive comment while nothing happens."""

import asyncio
from collections.abc import AsyncGenerator

from fastapi.responses import StreamingResponse

SILENCE_SECONDS = 15.0
"""A comment is sent after this time without events, so that proxies keep the connection."""


def stream(events: AsyncGenerator[str]) -> StreamingResponse:
    """The response that sends these events."""
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(_alive(events), media_type="text/event-stream", headers=headers)


async def _alive(events: AsyncGenerator[str]) -> AsyncGenerator[str]:
    coming = asyncio.ensure_future(anext(events, None))
    try:
        while True:
            done, _ = await asyncio.wait({coming}, timeout=SILENCE_SECONDS)
            if not done:
                yield ": still here\n\n"
                continue
            text = coming.result()
            if text is None:
                return
            yield text
            coming = asyncio.ensure_future(anext(events, None))
    finally:
        # The watcher has disconnected or the stream has ended: stop the polling behind it.
        coming.cancel()
        await asyncio.gather(coming, return_exceptions=True)
        await events.aclose()
