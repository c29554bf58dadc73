"""Workers come, beat and leave; what they have written stays counted."""

from uuid import uuid4

from arena.queue.overview import Worker, WorkerProcess
from arena.queue.records import workers
from arena.queue.records.reader import QueueReader
from arena.queue.records.totals import count
from arena.store.database import Database
from queue_rows import QueueRows


def process(name: str = "w1") -> WorkerProcess:
    return WorkerProcess(
        id=uuid4(),
        name=name,
        host="here.example",
        pid=1,
        version="0.1.0",
        queues=("shards", "shards.gpu"),
        labels=("gpu",),
        judges=(),
        shards=4,
        questions=20,
        has_sandbox=False,
    )


async def only(reader: QueueReader) -> Worker:
    (found,) = (await reader.overview()).workers
    return found


async def test_a_worker_is_listed_as_it_registered(database: Database, reader: QueueReader):
    one = process()
    await workers.register(database, one)
    found = await only(reader)
    assert (found.id, found.name, found.labels) == (one.id, "w1", ["gpu"])
    assert (found.busy, found.done_results, found.is_stopping) == (0, 0, False)


async def test_a_heartbeat_says_what_a_worker_does(database: Database, reader: QueueReader):
    one = process()
    await workers.register(database, one)
    before = await only(reader)
    done = {"busy": 2, "done_shards": 3, "done_results": 150}
    assert await workers.beat(database, one.id, **done, is_stopping=True)
    found = await only(reader)
    assert (found.busy, found.done_shards, found.done_results) == (2, 3, 150)
    assert found.is_stopping
    assert found.seen_at > before.seen_at
    assert found.started_at == before.started_at


async def test_a_worker_that_was_forgotten_registers_again(
    database: Database, reader: QueueReader, rows: QueueRows
):
    one = process()
    await workers.register(database, one)
    await workers.register(database, one)  # its answer was lost
    rows.execute("UPDATE arena_workers SET seen_at = now() - interval '25 hours'")
    assert await workers.remove_silent(database) == 1
    assert not await workers.beat(database, one.id, busy=0, done_shards=0, done_results=0)
    await workers.register(database, one)
    assert (await only(reader)).id == one.id


async def test_a_silent_worker_is_listed_for_a_day(
    database: Database, reader: QueueReader, rows: QueueRows
):
    rows.worker("yesterday", silent=23 * 3600)
    rows.worker("long-ago", silent=25 * 3600)
    assert await workers.remove_silent(database) == 1
    assert (await only(reader)).name == "yesterday"


async def test_the_results_of_workers_that_left_stay_counted(
    database: Database, reader: QueueReader, rows: QueueRows
):
    stays, leaves = process("stays"), process("leaves")
    for one, results in ((stays, 10), (leaves, 200)):
        await workers.register(database, one)
        await workers.beat(database, one.id, busy=0, done_shards=1, done_results=results)
    rows.worker("dies", silent=25 * 3600, done_results=3000)
    assert (await reader.overview()).totals.results == 3210
    for _ in range(2):
        await workers.leave(database, leaves.id, done_results=201)
    await workers.remove_silent(database)
    found = await reader.overview()
    assert [one.name for one in found.workers] == ["stays"]
    assert found.totals.results == 3211


async def test_counters_add_up(database: Database, reader: QueueReader):
    for by in (1, 4):
        async with database.writing() as connection:
            await count(connection, "takeovers", by)
            await count(connection, "hand_backs")
    totals = (await reader.overview()).totals
    assert (totals.takeovers, totals.hand_backs, totals.retries) == (5, 2, 0)
