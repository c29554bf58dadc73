"""A worker for tests of the queue: in this process, or `python tests/queue_worker.py NAME [JUDGE]`.

It does what `arena worker` does for everything but runs: it is seen in the table of workers, takes
jobs, delivers those of dead workers again and adds missing ones.
"""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from uuid import uuid4

from sqlalchemy import text

from arena.assembly import Arena, open_arena
from arena.queue.queue import JobQueue
from arena.settings import Settings, read_settings
from arena.store.database import Database
from http_server import Request
from judging import STANDARD, Endpoint, vote

TEAM = "red"
BEAT_SECONDS = 0.5
HANG_SECONDS = 120
"""Only something broken takes as long: the test then fails instead of hanging."""

JUDGED = {
    "type": "judge_prompt",
    "prompt": STANDARD.prompt,
    "criteria": list(STANDARD.criteria),
    "weights": list(STANDARD.weights),
}
"""A standard that the model below judges by."""

SEEN = text(
    """
    INSERT INTO arena_workers (id, name, host, pid, version, queues, labels, judges, shards,
        questions, has_sandbox, is_stopping, busy, done_shards, done_results, started_at, seen_at)
    VALUES (:id, :name, 'here', 1, '1', cast(:queues AS jsonb), '[]', '[]', 1, 1, false, false, 0,
        0, 0, clock_timestamp(), clock_timestamp())
    ON CONFLICT (id) DO UPDATE SET seen_at = clock_timestamp()
    """
)


@asynccontextmanager
async def registered(
    database: Database, name: str, queues: Sequence[str]
) -> AsyncGenerator[Callable[[], Awaitable[None]]]:
    """A live worker in the table; yields its heartbeat."""
    values = {"id": uuid4(), "name": name, "queues": json.dumps(queues)}

    async def beat() -> None:
        async with database.writing() as connection:
            await connection.execute(SEEN, values)

    await beat()
    yield beat
    async with database.writing() as connection:
        await connection.execute(text("DELETE FROM arena_workers WHERE id = :id"), values)


@asynccontextmanager
async def working(
    settings: Settings, name: str = "w", *judges: str, at_once: int = 4
) -> AsyncGenerator[Arena]:
    """A worker of chores, reviews and these judges, with rooms of its own."""
    async with open_arena(settings) as arena, asyncio.TaskGroup() as group:
        queue, stop = JobQueue(settings.database), asyncio.Event()
        await queue.prepare(arena.database)
        judging = [arena.jobs.judging.serve(TEAM, judge, at_once=at_once) for judge in judges]
        queues = ["chores", *judging]
        async with registered(arena.database, name, queues) as beat:

            async def mind() -> None:
                while True:
                    await beat()
                    await queue.retry_dead(arena.database)
                    for reconcile in arena.jobs.reconcilers:
                        await reconcile()
                    await asyncio.sleep(BEAT_SECONDS)

            minding = group.create_task(mind())
            delivering = group.create_task(
                queue.deliver(arena.jobs.handlers, queues, name=name, at_once=at_once, stop=stop)
            )
            yield arena
            stop.set()
            await delivering
            minding.cancel()
            await asyncio.gather(minding, return_exceptions=True)


@contextmanager
def worker_process(settings: Settings, *words: str) -> Generator[subprocess.Popen[str]]:
    """Such a worker as a process, which is ready."""
    given = settings.model_dump(exclude_defaults=True, include={"judge_base_url", "judge_models"})
    env = {
        **os.environ,
        "ARENA_HOME": str(settings.home),
        "ARENA_DATABASE_URL": settings.database,
        "ARENA_DISPATCH": "queued",
        "ARENA_JUDGE_BASE_URL": given["judge_base_url"],
        "ARENA_JUDGE_MODELS": ",".join(given["judge_models"]),
        "ARENA_JUDGE_CACHE_ENTRIES": "0",
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    command = [sys.executable, str(Path(__file__)), *words]
    with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        yield process
        process.kill()


class Model(Endpoint):
    """Answers every request with a good vote, and can be held."""

    def __init__(self) -> None:
        super().__init__()
        self.is_open = asyncio.Event()
        self.is_open.set()
        self.answer()

    def answer(self) -> None:
        """Answer from now on."""
        self.follow(self._answer)

    async def _answer(self, request: Request, _writer: asyncio.StreamWriter) -> object:
        if "never held" not in request.body.decode():
            await self.is_open.wait()
        return vote(70, 80, 90)

    @contextmanager
    def held(self) -> Generator[None]:
        """Until the block ends, it does not answer."""
        self.is_open.clear()
        try:
            yield
        finally:
            self.is_open.set()

    def asked(self, word: str = "") -> int:
        """How often it was asked about something with this word."""
        return sum(word in request.body.decode() for request in self.requests)


async def jobs_left(house: Arena) -> int:
    """How many jobs the queue has."""
    async with house.database.reading() as connection:
        found = await connection.execute(text("SELECT count(*) FROM procrastinate_jobs"))
    return found.scalar_one()


async def empty_queue(house: Arena) -> None:
    """Lose every job."""
    async with house.database.writing() as connection:
        await connection.execute(text("TRUNCATE procrastinate_jobs CASCADE"))


async def until(condition: Callable[[], Awaitable[object]]) -> None:
    """Wait until it is true."""
    async with asyncio.timeout(HANG_SECONDS):
        while not await condition():
            await asyncio.sleep(0.05)


async def _main(name: str, *judges: str) -> None:
    async with working(read_settings(), name, *judges):
        print("ready", flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(_main(*sys.argv[1:]))
