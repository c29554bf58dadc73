"""Event streams: how many, and what they share."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, aclosing

import pytest

from arena.api.problems import Refused
from arena.api.streams import Streams
from arena.assembly import Arena
from arena.operations.operation import Event, InProcess
from arena.operations.operations import Operations
from arena.runs.records.reader import RunReader
from arena.runs.run import RunRequest

WATCHERS = 20


async def endless() -> AsyncGenerator[Event]:
    yield Event(name="first", data=1)
    await asyncio.Event().wait()


async def test_streams_are_limited_per_team_and_in_total():
    streams = Streams(4)
    async with AsyncExitStack() as closing:

        async def open_for(team: str) -> None:
            texts = streams.open(team, endless()).body_iterator
            await closing.enter_async_context(aclosing(texts))
            assert await anext(texts) == "event: first\ndata: 1\n\n"

        await open_for("red")
        await open_for("red")
        with pytest.raises(Refused, match="429"):
            streams.open("red", endless())
        await open_for("blue")
        await open_for("green")
        with pytest.raises(Refused, match="503"):
            streams.open("yellow", endless())
    await open_again(streams)


async def open_again(streams: Streams) -> None:
    """The room of closed streams can be used again; stopping ends every stream."""
    texts = streams.open("red", endless()).body_iterator
    assert await anext(texts) == "event: first\ndata: 1\n\n"
    ended = asyncio.create_task(anext(texts, "the end"))
    await asyncio.sleep(0)
    streams.close()
    assert await asyncio.wait_for(ended, 30) == "the end"


async def test_watchers_of_a_run_share_every_read(house: Arena, monkeypatch: pytest.MonkeyPatch):
    run = await house.executor.create(RunRequest(team_id="default", agent_id="parrot"))
    await house.executor.start(run.id, "default")
    done = await house.executor.wait(run.id)
    reads: list[str] = []
    get, events = RunReader.get, RunReader.events

    async def counted_get(self, *args):
        reads.append("run")
        return await get(self, *args)

    async def counted_events(self, *args, **named):
        reads.append("results")
        return await events(self, *args, **named)

    operations = Operations(InProcess(arena=house))
    watched = [await operations.watch_run(run.id) for _ in range(WATCHERS)]
    monkeypatch.setattr(RunReader, "get", counted_get)
    monkeypatch.setattr(RunReader, "events", counted_events)

    async def collected(one) -> list[Event]:
        return [event async for event in one]

    seen = await asyncio.gather(*map(collected, watched))
    assert reads == ["run", "results"]
    assert [event.name for event in seen[0]] == ["result"] * done.total_tests + ["progress", "end"]
    # The same objects, which are serialised once.
    for one in seen[1:]:
        assert all(a.data is b.data for a, b in zip(one, seen[0], strict=True))


async def test_a_run_that_only_grows_older_has_not_changed(house: Arena):
    run = await house.executor.create(RunRequest(team_id="default", agent_id="parrot"))
    await house.executor.start(run.id, "default")
    await house.executor.close()  # interrupted: nobody writes to it any more
    first = later = await house.runs.get(run.id, "default")
    assert first.is_interrupted
    while later.duration_seconds == first.duration_seconds:
        later = await house.runs.get(run.id, "default")
    assert later == first  # or every poll would wake its watchers
