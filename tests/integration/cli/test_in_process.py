"""The app in this very process: a request that nobody waits for ends."""

import asyncio
from typing import Any

import httpx
import pytest

from arena.cli.in_process import AppTransport


async def test_a_cancelled_request_does_not_go_on():
    begun, ended = asyncio.Event(), asyncio.Event()

    async def hang(_scope: Any, _receive: Any, _send: Any) -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    before = asyncio.all_tasks()
    async with httpx.AsyncClient(transport=AppTransport(hang)) as client:
        asking = asyncio.create_task(client.get("http://localhost/"))
        await begun.wait()
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
        assert ended.is_set()
    assert asyncio.all_tasks() == before


async def test_an_app_that_says_nothing_is_an_error_of_the_wire():
    async def silent(_scope: Any, _receive: Any, _send: Any) -> None:
        return

    async with httpx.AsyncClient(transport=AppTransport(silent)) as client:
        with pytest.raises(httpx.RemoteProtocolError, match="without an answer"):
            await client.get("http://localhost/")
