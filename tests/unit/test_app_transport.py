"""Requests that go straight into the app."""

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

import httpx2
import pytest

from app_transport import AppTransport

Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]


async def test_who_stops_waiting_for_an_answer_leaves_no_request_behind():
    begun, ended = asyncio.Event(), asyncio.Event()

    async def app(scope: object, receive: object, send: Send) -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)  # what is under way is brought to its end
            ended.set()

    before = asyncio.all_tasks()
    async with httpx2.AsyncClient(transport=AppTransport(app), base_url="http://app") as client:
        asking = asyncio.create_task(client.post("/"))
        await begun.wait()
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        assert ended.is_set()
    assert asyncio.all_tasks() == before


async def test_an_app_that_says_nothing_is_an_error_of_the_wire():
    async def silent(scope: object, receive: object, send: Send) -> None:
        return

    async with httpx2.AsyncClient(transport=AppTransport(silent), base_url="http://app") as client:
        with pytest.raises(httpx2.RemoteProtocolError, match="without an answer"):
            await client.get("/")
