"""Two jobs with one key."""

import asyncio
from collections.abc import Mapping
from typing import Any

from procrastinate import App, PsycopgConnector
from sqlalchemy import text

from arena.assembly import Arena
from arena.queue.job import Job, Postponed
from arena.queue.queue import JobQueue, PatientJobs
from queue_worker import jobs_left, until

SAME = Job(kind="work", queue="chores", key="same")


async def test_a_postponed_job_gives_way_to_a_waiting_one_with_its_key(house: Arena):
    queue, stop = JobQueue(house.settings.database), asyncio.Event()
    calls = 0

    async def add() -> None:
        async with house.database.writing() as connection:
            await house.jobs.queue.add(connection, [SAME])

    async def handle(_arguments: Mapping[str, Any]) -> None:
        nonlocal calls
        calls += 1
        if calls == 1:
            await add()
            raise Postponed(600)

    await add()
    delivering = asyncio.create_task(
        queue.deliver({"work": handle}, ["chores"], name="w", at_once=1, stop=stop)
    )
    await until(lambda: _is_empty(house))
    stop.set()
    await delivering
    assert calls == 2


async def _is_empty(house: Arena) -> bool:
    return await jobs_left(house) == 0


async def _dead_job(house: Arena) -> None:
    """A job that a worker had when it died, in a transaction of its own."""
    async with house.database.writing() as connection:
        await house.jobs.queue.add(connection, [SAME])
        await connection.execute(text("UPDATE procrastinate_jobs SET status = 'doing'"))


async def test_of_two_jobs_with_one_key_that_died_one_is_delivered_again(house: Arena):
    """A worker died between handing its work back and ending its job; the next one died, too."""
    await _dead_job(house)
    await _dead_job(house)
    assert await house.jobs.queue.retry_dead(house.database) == 1
    assert await jobs_left(house) == 1


async def test_a_dead_job_is_not_delivered_while_another_worker_has_its_key(house: Arena):
    await _dead_job(house)
    async with house.database.writing() as connection:
        await house.jobs.queue.add(connection, [SAME])
        await connection.execute(
            text(
                "WITH live AS (INSERT INTO procrastinate_workers DEFAULT VALUES RETURNING id) "
                "UPDATE procrastinate_jobs SET status = 'doing', worker_id = live.id FROM live "
                "WHERE status = 'todo'"
            )
        )
    assert await house.jobs.queue.retry_dead(house.database) == 0
    assert await jobs_left(house) == 1


async def test_a_job_that_never_arrived_gives_way_to_a_waiting_one_with_its_key(house: Arena):
    jobs = PatientJobs(PsycopgConnector(conninfo=_address(house)))
    async with App(connector=jobs.connector).open_async():
        worker_id = await jobs.register_worker()
        await _dead_job(house)
        async with house.database.writing() as connection:
            mine = text("UPDATE procrastinate_jobs SET worker_id = :id")
            await connection.execute(mine, {"id": worker_id})
            await house.jobs.queue.add(connection, [SAME])
        jobs._has_lost = True  # as after an answer that was cut
        job = await jobs.fetch_job([SAME.queue], worker_id)
    assert job is not None and job.queueing_lock == SAME.key
    assert await jobs_left(house) == 1


def _address(house: Arena) -> str:
    return house.settings.database.replace("postgresql+psycopg://", "postgresql://", 1)
