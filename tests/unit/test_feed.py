"""One read serves all watchers of a topic; changes in this process trigger a read at once."""

import asyncio
import gc
from contextlib import AsyncExitStack, aclosing

import pytest

from arena.feed import KEPT, Feed, OncePerState

NEVER = 3600.0


class Counter:
    """A state that counts how often it was read."""

    def __init__(self) -> None:
        self.value = 0
        self.reads: list[int | None] = []

    async def read(self, last: int | None) -> int:
        self.reads.append(last)
        await asyncio.sleep(0)
        return self.value


async def test_the_first_read_is_immediate_and_later_ones_wait_for_the_poll():
    feed, counter = Feed(), Counter()
    async with asyncio.timeout(10), aclosing(feed.watch("t", counter.read, poll_seconds=0)) as seen:
        assert await anext(seen) == 0
        counter.value = 1
        assert await anext(seen) == 1
    assert counter.reads == [None, 0]


async def test_a_hundred_watchers_read_as_often_as_one():
    feed, counter = Feed(), Counter()
    async with asyncio.timeout(10), AsyncExitStack() as closing:
        watchers = [
            await closing.enter_async_context(
                aclosing(feed.watch("t", counter.read, poll_seconds=NEVER))
            )
            for _ in range(100)
        ]
        assert await asyncio.gather(*map(anext, watchers)) == [0] * 100
        counter.value = 7
        waiting = [asyncio.create_task(anext(watcher)) for watcher in watchers]
        await asyncio.sleep(0.01)
        assert len(counter.reads) == 1
        feed.notify("t")
        assert await asyncio.gather(*waiting) == [7] * 100
    assert len(counter.reads) == 2


async def test_watchers_continue_only_after_a_change():
    feed, counter = Feed(), Counter()
    async with asyncio.timeout(30), AsyncExitStack() as closing:
        watchers = [
            await closing.enter_async_context(
                aclosing(feed.watch("t", counter.read, poll_seconds=0))
            )
            for _ in range(10)
        ]
        assert await asyncio.gather(*map(anext, watchers)) == [0] * 10
        waiting = [asyncio.create_task(anext(watcher)) for watcher in watchers]
        while len(counter.reads) < 5:
            await asyncio.sleep(0.01)
        assert not any(task.done() for task in waiting)
        counter.value = 1
        assert await asyncio.gather(*waiting) == [1] * 10


def test_a_value_is_made_once_per_object():
    made: list[list[int]] = []
    once = OncePerState(lambda state: made.append(state) or len(made))
    one, equal = [1], [1]
    assert [once(one), once(one), once(equal), once(one)] == [1, 1, 2, 1]
    for number in range(KEPT):
        once([number])
    assert once(one) == KEPT + 3  # the oldest are dropped


async def test_a_change_during_a_read_is_read_again():
    feed, counter = Feed(), Counter()

    async def changed_meanwhile(_: int | None) -> int:
        seen = counter.value
        counter.value += 1
        feed.notify("t")
        return seen

    async with (
        asyncio.timeout(10),
        aclosing(feed.watch("t", changed_meanwhile, poll_seconds=NEVER)) as seen,
    ):
        assert [await anext(seen) for _ in range(3)] == [0, 1, 2]


async def test_topics_do_not_wake_each_other():
    feed, counter = Feed(), Counter()
    async with aclosing(feed.watch("t", counter.read, poll_seconds=NEVER)) as seen:
        await anext(seen)
        waiting = asyncio.create_task(anext(seen))
        feed.notify("other")
        await asyncio.sleep(0.01)
        assert not waiting.done()
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)


async def test_a_failed_read_reaches_one_watcher_and_the_others_continue():
    feed, counter = Feed(), Counter()

    async def broken(_: int | None) -> int:
        raise RuntimeError("away")

    async with asyncio.timeout(10), aclosing(feed.watch("t", counter.read, poll_seconds=0)) as good:
        await anext(good)
        async with aclosing(feed.watch("t", broken, poll_seconds=0)) as bad:
            assert await anext(bad) == 0  # what the other one saw
            with pytest.raises(RuntimeError, match="away"):
                await anext(bad)
        counter.value = 1
        assert await anext(good) == 1


async def test_nothing_is_left_of_a_topic_that_nobody_watches():
    feed, counter = Feed(), Counter()
    async with aclosing(feed.watch("t", counter.read, poll_seconds=NEVER)) as seen:
        await anext(seen)
        assert list(feed._topics) == ["t"]
    del seen
    gc.collect()
    assert list(feed._topics) == []


async def test_a_watcher_that_comes_later_sees_the_state_at_once():
    feed, counter = Feed(), Counter()
    async with asyncio.timeout(10), AsyncExitStack() as closing:
        first = feed.watch("t", counter.read, poll_seconds=NEVER)
        await closing.enter_async_context(aclosing(first))
        await anext(first)
        waiting = asyncio.create_task(anext(first))
        await asyncio.sleep(0.01)
        second = feed.watch("t", counter.read, poll_seconds=NEVER)
        await closing.enter_async_context(aclosing(second))
        assert await anext(second) == 0
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
