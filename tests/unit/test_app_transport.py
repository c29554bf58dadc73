"""Requests that go straight into the app."""

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

import httpx2
import pytest

from app_transport import AppTransport

Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]


async def test_a_cancelled_request_leaves_no_task_behind():
    started, ended = asyncio.Event(), asyncio.Event()

    async def app(scope: object, receive: object, send: Send) -> None:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)  # the cleanup is awaited
            ended.set()

    before = asyncio.all_tasks()
    async with httpx2.AsyncClient(transport=AppTransport(app), base_url="http://app") as client:
        request = asyncio.create_task(client.post("/"))
        await started.wait()
        request.cancel()
        with pytest.raises(asyncio.CancelledError):
            await request
        assert ended.is_set()
    assert asyncio.all_tasks() == before


async def test_an_app_without_a_response_is_a_protocol_error():
    async def silent(scope: object, receive: object, send: Send) -> None:
        return

    async with httpx2.AsyncClient(transport=AppTransport(silent), base_url="http://app") as client:
        with pytest.raises(httpx2.RemoteProtocolError, match="without an answer"):
            await client.get("/")
