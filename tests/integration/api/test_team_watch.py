"""Watching a team: every watcher gets the news, and a hundred cost no more than one."""

import asyncio
from collections.abc import Iterator
from contextlib import AsyncExitStack, aclosing, contextmanager

import pytest
from sqlalchemy import event

from arena.assembly import Arena
from arena.operations import team_watch
from arena.operations.team_watch import watch_team
from arena.runs import watcher
from arena.runs.run import RunRequest
from arena.settings import Settings
from factories import write_agent

TEAM = "default"
CREATION = RunRequest(team_id=TEAM, agent_id="parrot")


@contextmanager
def recorded_queries(house: Arena) -> Iterator[list[str]]:
    """The queries that the database gets meanwhile."""
    queries: list[str] = []
    engine = house.database._engines.base.sync_engine

    def note(
        _c: object, _cursor: object, statement: str, parameters: object, *_rest: object
    ) -> None:
        if statement.startswith(("SELECT", "WITH")):
            queries.append(f"{statement} {parameters}")

    event.listen(engine, "before_cursor_execute", note)
    yield queries
    event.remove(engine, "before_cursor_execute", note)


async def test_runs_that_nobody_executes_are_not_polled_for_ever(
    house: Arena, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(watcher, "RUNS_WATCHED", 1)
    monkeypatch.setattr(team_watch, "POLL_SECONDS", 0.01)
    old = await house.executor.create(CREATION)
    async with aclosing(watch_team(house, TEAM)) as watched:
        assert [run.id for run in (await anext(watched)).runs] == [old.id]
        new = await house.executor.create(CREATION)
        with recorded_queries(house) as queries:
            assert [run.id for run in (await anext(watched)).runs] == [new.id]
            before = len(queries)
            coming = asyncio.ensure_future(anext(watched))
            while len(queries) < before + 10:  # it is polled, and nothing changes
                await asyncio.sleep(0.01)
            assert not coming.done()
            coming.cancel()
            await asyncio.gather(coming, return_exceptions=True)
    assert old.id.hex not in str(queries).replace("-", "")


async def test_a_run_that_ended_behind_newer_ones_is_reported(
    house: Arena, settings: Settings, monkeypatch: pytest.MonkeyPatch
):
    wait = "while not os.path.exists('go'): time.sleep(0.02)"
    write_agent(settings.home / "agents", "parrot", f"{wait}\nreturn prompt.upper()")
    house.registry.refresh()
    monkeypatch.setattr(watcher, "RUNS_WATCHED", 1)
    monkeypatch.setattr(team_watch, "POLL_SECONDS", 0.01)
    run = await house.executor.create(CREATION)
    async with aclosing(watch_team(house, TEAM)) as watched:
        await house.executor.start(run.id, TEAM)
        statuses = [one.status for one in (await anext(watched)).runs]
        assert statuses == ["running"]
        await house.executor.create(CREATION)
        (settings.home / "agents" / "go").touch()
        async with asyncio.timeout(30):
            async for news in watched:
                statuses += [one.status for one in news.runs if one.id == run.id]
                if statuses[-1] == "completed":
                    break


async def test_a_hundred_watchers_query_as_often_as_one(house: Arena):
    await house.database.open()
    async with AsyncExitStack() as closing:
        watchers = [
            await closing.enter_async_context(aclosing(watch_team(house, TEAM))) for _ in range(100)
        ]
        with recorded_queries(house) as by_one:
            await anext(watchers[0])
        with recorded_queries(house) as by_the_others:
            seen = await asyncio.gather(*map(anext, watchers[1:]))
        run = await house.executor.create(CREATION)
        with recorded_queries(house) as of_the_news:
            updates = await asyncio.gather(*map(anext, watchers))
    everything = ["scores", "reviews", "market", "catalog"]
    assert all(news.changed == everything for news in seen)
    assert all([one.id for one in news.runs] == [run.id] for news in updates)
    # On a busy machine a poll interval may pass meanwhile, which adds queries.
    assert len(by_the_others) + len(of_the_news) <= 10 * len(by_one)
