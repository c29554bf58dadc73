import asyncio

from sqlalchemy import text

from arena.queue.queue import JobQueue
from arena.settings import Settings
from arena.store.database import Database


async def test_several_processes_create_the_tables_of_the_queue_once(settings: Settings):
    databases = [Database(settings.database) for _ in range(6)]
    for database in databases:
        await database.open()
    pairs = [(JobQueue(settings.database), database) for database in databases]
    await asyncio.gather(*(queue.prepare(database) for queue, database in pairs))
    async with databases[0].reading() as connection:
        count = text("SELECT count(*) FROM procrastinate_jobs")
        assert (await connection.execute(count)).scalar() == 0
    for database in databases:
        await database.close()
