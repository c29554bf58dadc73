"""Server-sent events: their form, and a keep-alive comment while nothing happens."""

import asyncio
from collections.abc import AsyncGenerator

from fastapi.responses import StreamingResponse

SILENCE_SECONDS = 15.0
"""After so long without an event a comment is sent, so that proxies keep the line open."""


def stream(events: AsyncGenerator[str]) -> StreamingResponse:
    """The answer that sends these events."""
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
        # Whoever watched has gone or has seen all: nothing may go on looking for them.
        coming.cancel()
        await asyncio.gather(coming, return_exceptions=True)
        await events.aclose()
