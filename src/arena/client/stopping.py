"""Work that is left where it is when somebody wants to stop."""

import asyncio
from collections.abc import Coroutine
from typing import Any


async def unless_stopped(stop: asyncio.Event, work: Coroutine[Any, Any, object]) -> None:
    """Do the work, or cancel it once `stop` is set: a server may not answer for hours."""
    doing, stopped = asyncio.create_task(work), asyncio.create_task(stop.wait())
    try:
        await asyncio.wait({doing, stopped}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in (doing, stopped):
            task.cancel()
        await asyncio.gather(doing, stopped, return_exceptions=True)
    if not doing.cancelled():
        doing.result()
