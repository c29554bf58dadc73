"""Work ends with its result or on a stop request, and never continues in the background."""

import asyncio

import pytest

from arena.client.executing import unless_stopped


async def test_work_that_hangs_is_cancelled_on_a_stop_request():
    stop, ended = asyncio.Event(), asyncio.Event()

    async def hang() -> None:
        stop.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    async with asyncio.timeout(10):
        await unless_stopped(stop, hang())
    assert ended.is_set()


async def test_an_error_is_raised():
    async def fail() -> None:
        raise ValueError("oops")

    with pytest.raises(ValueError, match="oops"):
        await unless_stopped(asyncio.Event(), fail())


async def test_cancelling_leaves_nothing_running():
    ended = asyncio.Event()

    async def hang() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    waiting = asyncio.create_task(unless_stopped(asyncio.Event(), hang()))
    await asyncio.sleep(0.01)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert ended.is_set()
