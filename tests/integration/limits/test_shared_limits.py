"""Shared limits, step by step: each `SharedLimits` stands for a process."""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from itertools import groupby
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from arena.agents.agent import AgentDefinition
from arena.agents.spec import CommandSpec
from arena.assembly import open_arena
from arena.evaluation.judge.budget import CallBudget, JudgeBudgetSpent
from arena.limits.records.places import add_places, locked
from arena.limits.shared_limits import SharedLimits
from arena.limits.shared_turns import SharedTurns
from arena.models.turns import Turns, turns_at
from arena.settings import Settings
from arena.store.database import Database
from arena.team import working_for
from databases import settings_on

MANY_SECONDS = 60.0
"""Longer than anything here takes."""


class CountingDatabase(Database):
    """Counts its transactions."""

    count = 0

    @asynccontextmanager
    async def writing(self) -> AsyncGenerator[AsyncConnection]:
        self.count += 1
        async with super().writing() as connection:
            yield connection


@pytest.fixture
def settings(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Settings]:
    with settings_on("postgresql", tmp_path / "home", request.getfixturevalue) as made:
        yield made


class Processes:
    """Opens shared limits on one database."""

    def __init__(self, url: str, closing: AsyncExitStack) -> None:
        self._url = url
        self._closing = closing

    def start(self, **options: Any) -> tuple[SharedLimits, CountingDatabase]:
        database = CountingDatabase(self._url)
        limits = SharedLimits(database, self._url, **options)
        self._closing.push_async_callback(database.close)
        self._closing.push_async_callback(limits.close)
        return limits, database

    def turns(self, at_once: int, **limits: Any) -> SharedTurns:
        return self.start()[0].turns("agent:parrot", max_concurrency=at_once, **limits)


@pytest.fixture
async def processes(settings: Settings) -> AsyncIterator[Processes]:
    async with AsyncExitStack() as closing:
        yield Processes(settings.database, closing)


async def until(is_true: Callable[[], bool]) -> None:
    async with asyncio.timeout(MANY_SECONDS):
        while not is_true():
            await asyncio.sleep(0.005)


class Held:
    """Calls that go on until they are told to end."""

    def __init__(self, turns: SharedTurns, team: str = "default") -> None:
        self._turns = turns
        self._team = team
        self._ends: list[asyncio.Event] = []
        self._tasks: list[asyncio.Task[None]] = []

    @property
    def running(self) -> int:
        return sum(not end.is_set() for end in self._ends)

    def begin(self, count: int) -> None:
        self._tasks += [asyncio.create_task(self._call()) for _ in range(count)]

    def end_one(self) -> None:
        next(end for end in self._ends if not end.is_set()).set()

    async def end_all(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _call(self) -> None:
        with working_for(self._team):
            async with self._turns.turn(5.0):
                end = asyncio.Event()
                self._ends.append(end)
                await end.wait()


async def test_a_thousand_calls_cost_a_few_transactions(processes: Processes):
    limits, database = processes.start()
    turns = limits.turns("agent:parrot", max_concurrency=4)

    async def calls() -> None:
        for _ in range(250):
            async with turns.turn(1.0):
                await asyncio.sleep(0)

    await asyncio.gather(*(calls() for _ in range(4)))
    assert database.count < 20


async def test_an_idle_process_sends_nothing(processes: Processes):
    idle, database = processes.start()
    async with idle.turns("agent:parrot", max_concurrency=4).turn(1.0):
        pass
    busy, other = processes.start()
    held = Held(busy.turns("agent:parrot", max_concurrency=4))
    held.begin(4)
    await until(lambda: held.running == 4)  # the slot of the idle one was given back
    before, renewed = database.count, other.count
    await until(lambda: other.count > renewed + 1)
    assert database.count == before
    await held.end_all()


async def test_teams_get_equal_parts_as_calls_end(processes: Processes):
    first = Held(processes.turns(4), "a")
    second = [Held(processes.turns(4), "b"), Held(processes.turns(4), "b")]

    async def end_one_of_the_first() -> None:
        first.end_one()
        await until(lambda: first.running + sum(one.running for one in second) == 4)

    first.begin(200)
    await until(lambda: first.running == 4)
    for one in second:
        one.begin(4)
    while first.running > 2:
        await end_one_of_the_first()
    assert [one.running for one in second] == [1, 1]
    for _ in range(3):  # each is followed by another one of its team
        await end_one_of_the_first()
        assert first.running == 2
    for one in (first, *second):
        await one.end_all()


async def test_a_place_that_appears_after_the_lock_is_not_taken_for_locked(
    processes: Processes, monkeypatch: pytest.MonkeyPatch
):
    _, database = processes.start()
    await add_places(database, ["agent:parrot"])
    # The statement that locks began before another process added the place, and finds no row.
    missed = "SELECT place, :ms FROM arena_limit_places WHERE place = ANY(:places) AND false"
    monkeypatch.setattr("arena.limits.records.places._LOCK", text(missed))
    async with database.writing() as connection:
        assert await locked(connection, ["agent:parrot"]) == {}


@pytest.mark.parametrize("listens", [True, False])
async def test_processes_take_turns_with_a_single_slot(processes: Processes, listens: bool):
    order: list[int] = []
    running: Counter[int] = Counter()

    async def call(number: int, turns: SharedTurns) -> None:
        while True:
            async with turns.turn(1.0):
                order.append(number)
                running[number] += 1
                assert running.total() == 1
                await asyncio.sleep(0.01)
                running[number] -= 1

    def one_slot() -> SharedTurns:
        limits, _ = processes.start(listens=listens)
        return limits.turns("agent:parrot", max_concurrency=1)

    tasks = [asyncio.create_task(call(number, one_slot())) for number in range(2)]
    await until(lambda: len(list(groupby(order))) > 3 or any(task.done() for task in tasks))
    assert not any(task.done() for task in tasks)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


@pytest.mark.parametrize("listens", [True, False])
async def test_a_pause_is_respected_by_all(processes: Processes, listens: bool):
    limits, _ = processes.start(listens=listens)
    there = limits.turns("agent:parrot", max_concurrency=4)
    here = processes.turns(4)
    async with there.turn(1.0), here.turn(1.0):
        pass
    here.pause(1000.0)

    async def call() -> None:
        async with there.turn(1.0):
            pass

    async with asyncio.timeout(MANY_SECONDS):
        while True:  # it hears of the pause soon
            called = asyncio.create_task(call())
            done, _ = await asyncio.wait({called}, timeout=1.0)
            if not done:
                break
    # A process that knew nothing of it waits too; a place that is not paused does not.
    new, _ = processes.start()
    late = asyncio.create_task(Held(new.turns("agent:parrot", max_concurrency=4))._call())
    async with new.turns("agent:other", max_concurrency=4).turn(1.0):
        assert not late.done()
    for task in (called, late):
        task.cancel()
    await asyncio.gather(called, late, return_exceptions=True)


async def test_a_process_that_is_stopped_in_a_transaction_holds_up_others_only_briefly(
    processes: Processes,
):
    _, stopped = processes.start()
    turns = processes.turns(1)
    async with turns.turn(1.0):
        pass

    async def stop_in_a_transaction() -> None:
        async with stopped.writing() as connection:
            await locked(connection, ["agent:parrot"])
            is_locked.set()
            await asyncio.Event().wait()

    is_locked = asyncio.Event()
    task = asyncio.create_task(stop_in_a_transaction())
    await is_locked.wait()
    async with asyncio.timeout(MANY_SECONDS), processes.turns(1).turn(1.0):
        pass
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def test_calls_begin_as_long_as_the_lease_covers_them_while_the_database_is_away(
    processes: Processes, settings: Settings, postgres_server: str
):
    turns = processes.turns(2)
    name = urlsplit(settings.database).path.removeprefix("/")

    async def call(seconds: float) -> None:
        async with turns.turn(seconds):
            pass

    # Both slots are held for calls of ten seconds.
    await asyncio.gather(call(10.0), call(10.0))
    async with turns.turn(10.0):
        with psycopg.connect(postgres_server, autocommit=True) as server:
            server.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false")
            server.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [name]
            )
            await call(1.0)
            long = asyncio.create_task(call(100.0))
            done, _ = await asyncio.wait({long}, timeout=1.0)
            assert not done
            server.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS true")
        async with asyncio.timeout(MANY_SECONDS):
            await long


async def test_closing_gives_everything_back(processes: Processes, settings: Settings):
    limits, database = processes.start()
    turns = limits.turns("agent:parrot", max_concurrency=4, per_minute=4)
    async with turns.turn(600.0):
        pass
    await limits.close()
    async with database.reading() as connection:
        shares = (await connection.execute(text("SELECT * FROM arena_limit_shares"))).all()
        used = await connection.execute(text("SELECT sum(count) FROM arena_limit_permits"))
        assert (shares, used.scalar()) == ([], 1)


async def test_the_calls_of_a_judge_are_counted_for_all_machines(processes: Processes):
    budgets = [CallBudget(3, processes.start()[0].count_judged) for _ in range(2)]
    for number in range(3):
        await budgets[number % 2].spend()
    for budget in budgets:
        with pytest.raises(JudgeBudgetSpent, match=r"its 3 judge calls of an hour; .* in 60 min"):
            await budget.spend()
    with working_for("another"):
        await budgets[0].spend()


async def test_agents_and_models_have_shared_turns_only_in_queued_mode(settings: Settings):
    agent = AgentDefinition(id="parrot", name="Parrot", connector=CommandSpec(command="cat"))
    for dispatch, kind in (("queued", SharedTurns), ("embedded", Turns)):
        chosen = settings.model_copy(update={"dispatch": dispatch})
        async with open_arena(chosen) as arena:
            assert isinstance(arena.sessions.open(agent).limiter, kind)
            model = turns_at("http://a/v1", max_concurrency=1, per_minute=None)
            assert isinstance(model, kind)
            assert ("limits" in vars(arena)) == (dispatch == "queued")
