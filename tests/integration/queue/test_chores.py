"""Chores: a worker does them once, and whoever asked gets the outcome."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

import pytest
from sqlalchemy import text

from arena.assembly import Arena
from arena.errors import ArenaError, Conflict, InfrastructureError, NotFound
from arena.operations.operation import InProcess
from arena.operations.operations import Operations
from arena.queue.chores import CHORE, CHORES_QUEUE, Chores
from arena.queue.job import Postponed
from arena.queue.queue import JobQueue
from arena.settings import Settings
from factories import write_agent
from market_desk import Desk
from queue_worker import TEAM, empty_queue, jobs_left, registered, until, working


class Bench:
    """Work that counts how often it was done."""

    def __init__(self) -> None:
        self.done: list[Mapping[str, Any]] = []
        self.is_open = asyncio.Event()
        self.is_open.set()
        self.works = {"double": self.double, "refuse": self.refuse, "crash": self.crash}

    async def double(self, team_id: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        self.done.append(arguments)
        await self.is_open.wait()
        return {"team": team_id, "number": 2 * arguments["number"]}

    async def refuse(self, _team_id: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        kinds = {one.code: one for one in (Conflict, NotFound, InfrastructureError)}
        raise kinds[arguments["code"]]("no")

    async def crash(self, _team_id: str, _arguments: Mapping[str, Any]) -> dict[str, Any]:
        raise ZeroDivisionError


@pytest.fixture
def bench() -> Bench:
    return Bench()


@pytest.fixture
def chores(house: Arena, bench: Bench) -> Chores:
    """The chores of a server."""
    return Chores(house.database, house.jobs.queue, bench.works)


class Serving:
    """A worker in this process that does the work of the bench."""

    def __init__(self, house: Arena, bench: Bench) -> None:
        self._queue = JobQueue(house.settings.database)
        self._house, self._bench = house, bench
        self._chores = Chores(house.database, house.jobs.queue, bench.works)
        self._stop = asyncio.Event()

    async def __aenter__(self) -> None:
        self._registered = registered(self._house.database, "w", [CHORES_QUEUE])
        await self._registered.__aenter__()
        handlers = {CHORE: self._chores.handle}
        self._delivering = asyncio.create_task(
            self._queue.deliver(handlers, [CHORES_QUEUE], name="w", at_once=4, stop=self._stop)
        )

    async def __aexit__(self, *error: object) -> None:
        self._bench.is_open.set()
        self._stop.set()
        await self._delivering
        await self._registered.__aexit__(None, None, None)


async def test_a_worker_does_it_and_the_caller_gets_the_result(
    house: Arena, chores: Chores, bench: Bench
):
    here = Chores(house.database, house.jobs.queue, {})
    async with Serving(house, bench):
        assert await here.ask("double", TEAM, {"number": 4}) == {"team": TEAM, "number": 8}
        assert await here.ask("double", TEAM, {"number": 4}) == {"team": TEAM, "number": 8}
    assert len(bench.done) == 2  # one after the other: both are done


async def test_without_a_worker_it_is_done_here(house: Arena, chores: Chores, bench: Bench):
    assert (await chores.ask("double", TEAM, {"number": 1}))["number"] == 2
    assert (len(bench.done), await jobs_left(house)) == (1, 0)


@pytest.mark.parametrize("error", [Conflict, NotFound, InfrastructureError])
async def test_an_error_comes_back_as_what_it_is(
    house: Arena, chores: Chores, bench: Bench, error: type[ArenaError]
):
    async with Serving(house, bench):
        with pytest.raises(error, match="no"):
            await chores.ask("refuse", TEAM, {"code": error.code})


async def test_an_internal_error_is_not_the_callers(house: Arena, chores: Chores, bench: Bench):
    async with Serving(house, bench):
        with pytest.raises(ArenaError, match="internal error") as caught:
            await chores.ask("crash", TEAM, {})
    assert type(caught.value) is ArenaError


async def test_two_callers_of_the_same_get_the_result_of_one_piece_of_work(
    house: Arena, chores: Chores, bench: Bench
):
    bench.is_open.clear()
    async with Serving(house, bench):
        same = [asyncio.create_task(chores.ask("double", TEAM, {"number": 3})) for _ in range(3)]
        other = asyncio.create_task(chores.ask("double", "blue", {"number": 3}))
        await until(lambda: _rows(house, "taken", 2))
        late = asyncio.create_task(chores.ask("double", TEAM, {"number": 3}))
        bench.is_open.set()
        results = await asyncio.gather(*same, late)
        assert (await other)["team"] == "blue"
    assert [result["number"] for result in results] == [6] * 4
    assert len(bench.done) in (2, 3)  # the late one may have come after the end


async def test_two_workers_with_one_job_do_it_once(house: Arena, chores: Chores, bench: Bench):
    bench.is_open.clear()
    other = Chores(house.database, house.jobs.queue, bench.works)
    async with registered(house.database, "w", [CHORES_QUEUE]):
        asking = asyncio.create_task(chores.ask("double", TEAM, {"number": 3}))
        await until(lambda: _rows(house, "waiting", 1))
        job = {"chore": str(await _only_id(house))}
        first = asyncio.create_task(chores.handle(job))
        await until(lambda: _rows(house, "taken", 1))
        with pytest.raises(Postponed):
            await other.handle(job)
        bench.is_open.set()
        await first
        await other.handle(job)
        assert (await asking)["number"] == 6
    assert len(bench.done) == 1


async def test_a_caller_that_goes_away_does_not_stop_the_work(
    house: Arena, chores: Chores, bench: Bench
):
    bench.is_open.clear()
    async with Serving(house, bench):
        asking = asyncio.create_task(chores.ask("double", TEAM, {"number": 3}))
        await until(lambda: _rows(house, "taken", 1))
        asking.cancel()
        bench.is_open.set()
        await until(lambda: _rows(house, "done", 1))


async def test_a_lost_queue_loses_no_chore(house: Arena, chores: Chores, bench: Bench):
    async with registered(house.database, "w", [CHORES_QUEUE]):
        asking = asyncio.create_task(chores.ask("double", TEAM, {"number": 3}))
        await until(lambda: _rows(house, "waiting", 1))
        await empty_queue(house)
        await chores.reconcile()
        await chores.reconcile()
        assert await jobs_left(house) == 1
        async with Serving(house, bench):
            assert (await asking)["number"] == 6
    assert len(bench.done) == 1


HANGING = """
import asyncio, sys
from arena.queue.chores import Chores
from arena.queue.queue import JobQueue
from arena.store.database import Database

async def hang(team, arguments):
    print("began", flush=True)
    await asyncio.Event().wait()

async def main(url):
    queue = JobQueue(url)
    chores = Chores(Database(url), queue, {"double": hang})
    handlers = {"chore": chores.handle}
    stop = asyncio.Event()
    await queue.deliver(handlers, ["chores"], name="hanging", at_once=1, stop=stop)

asyncio.run(main(sys.argv[1]))
"""


async def test_the_chore_of_a_killed_worker_is_done_by_another(
    house: Arena, chores: Chores, bench: Bench
):
    command = [sys.executable, "-c", HANGING, house.settings.database]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env) as process:
        async with registered(house.database, "hanging", [CHORES_QUEUE]) as beat:
            asking = asyncio.create_task(chores.ask("double", TEAM, {"number": 3}))
            assert process.stdout is not None
            assert await asyncio.to_thread(process.stdout.readline) == "began\n"
            process.kill()
            async with Serving(house, bench):

                async def has_taken_over() -> bool:
                    await beat()
                    await house.jobs.queue.retry_dead(house.database)
                    await chores.reconcile()
                    return await _rows(house, "done", 1)

                await until(has_taken_over)
                assert (await asking)["number"] == 6
    assert len(bench.done) == 1


async def test_a_caller_does_it_when_the_last_worker_has_gone(
    house: Arena, chores: Chores, bench: Bench, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("arena.queue.chores.SERVED_SECONDS", 0.1)
    async with registered(house.database, "gone", [CHORES_QUEUE]):
        asking = asyncio.create_task(chores.ask("double", TEAM, {"number": 3}))
        await until(lambda: _rows(house, "waiting", 1))
    assert (await asking)["number"] == 6


async def test_outcomes_are_removed_after_a_day(house: Arena, chores: Chores, bench: Bench):
    async with Serving(house, bench):
        await chores.ask("double", TEAM, {"number": 3})
    await chores.reconcile()
    assert await _rows(house, "done", 1)
    async with house.database.writing() as connection:
        aged = "UPDATE arena_chores SET ended_at = ended_at - interval '25 h'"
        await connection.execute(text(aged))
    await chores.reconcile()
    assert await _rows(house, "done", 0)


async def test_operations_use_the_worker(settings: Settings, house: Arena, desk: Desk):
    write_agent(settings.home / "agents", "parrot", "return prompt")
    operations = Operations(InProcess(arena=house, team_id=TEAM))
    await operations.submit_feedback("parrot", 5)
    async with working(settings):
        one = await operations.recalculate("parrot")
        every = await operations.recalculate()
        audit = await operations.audit()
        rebuilt = await operations.rebuild_projections()
        with pytest.raises(NotFound):
            await operations.recalculate("nobody")
    assert one.recalculated == every.recalculated == ["parrot:1.0.0"]
    assert (audit.is_clean, audit.entries > 0, rebuilt.tasks) == (True, True, 0)
    assert await _rows(house, "done", 4)


async def _rows(house: Arena, state: str, count: int) -> bool:
    query = text("SELECT count(*) FROM arena_chores WHERE state = :state")
    async with house.database.reading() as connection:
        return (await connection.execute(query, {"state": state})).scalar_one() == count


async def _only_id(house: Arena) -> object:
    async with house.database.reading() as connection:
        return (await connection.execute(text("SELECT id FROM arena_chores"))).scalar_one()
