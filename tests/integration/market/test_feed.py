"""Watching the market: every event once, and a hundred watchers cost as many queries as one."""

import asyncio
import gc
from contextlib import aclosing

import pytest
from sqlalchemy import event as database_event

from arena.market.records import reading
from market_desk import TEAM, Desk


async def queries_of(desk: Desk, watchers: int) -> int:
    """How many queries the watchers cause until all of them have seen one event."""
    since = await desk.market.last_event(TEAM)
    queries: list[str] = []

    def count(_c: object, _k: object, statement: str, *_: object) -> None:
        if "market_events" in statement and statement.startswith("SELECT"):
            queries.append(statement)

    async def first() -> int:
        async with aclosing(desk.market.watch(TEAM, since=since)) as events:
            return (await anext(events)).id

    watching = [asyncio.create_task(first()) for _ in range(watchers)]
    topics = desk.market._feed._topics
    while ("market", TEAM) not in topics or not topics["market", TEAM].version:
        await asyncio.sleep(0.01)
    engine = desk.database._engines.base.sync_engine
    database_event.listen(engine, "before_cursor_execute", count)
    try:
        await desk.market.deposit_test_money(TEAM, "ann", 1)
        queries.clear()
        seen = await asyncio.gather(*watching)
    finally:
        database_event.remove(engine, "before_cursor_execute", count)
    assert set(seen) == {await desk.market.last_event(TEAM)}
    return len(queries)


async def test_a_hundred_watchers_query_as_often_as_one(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(reading, "POLL_SECONDS", 3600.0)  # only a change in this process wakes them
    async with asyncio.timeout(60):
        assert await queries_of(desk, 1) == 1
        assert await queries_of(desk, 100) == 1
    gc.collect()
    assert list(desk.market._feed._topics) == []  # watchers that left leave nothing behind


@pytest.mark.parametrize("behind", [0, 1, 5, 30])
async def test_late_and_slow_watchers_see_every_event_once(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, behind: int
):
    monkeypatch.setattr(reading, "RECENT", 3)
    monkeypatch.setattr(reading, "POLL_SECONDS", 0.01)
    start = await desk.market.last_event(TEAM)
    for _ in range(behind):
        await desk.market.deposit_test_money(TEAM, "ann", 1)
    async with (
        asyncio.timeout(60),
        aclosing(desk.market.watch(TEAM, since=await desk.market.last_event(TEAM))) as ahead,
        aclosing(desk.market.watch(TEAM, since=start)) as late,
        aclosing(desk.market.watch(TEAM, since=2**62)) as never,
        aclosing(desk.market.watch("blue", since=0)) as other,
    ):
        unseen = [asyncio.create_task(anext(never)), asyncio.create_task(anext(other))]
        for round_number in range(3):
            for _ in range(2 + 4 * round_number):
                await desk.market.deposit_test_money(TEAM, "ann", 1)
            for _ in range(2 + 4 * round_number):
                last = await anext(ahead)
        seen = [(await anext(late)).id]
        while seen[-1] != last.id:
            seen.append((await anext(late)).id)
        for waiting in unseen:
            assert not waiting.done()
            waiting.cancel()
        await asyncio.gather(*unseen, return_exceptions=True)
    every = await desk.market.events(TEAM, since=start, limit=1000)
    assert seen == [event.id for event in every]
