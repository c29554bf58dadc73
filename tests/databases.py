"""New databases for tests: empty ones, and copies of a template."""

import asyncio
import shutil
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import psycopg

from arena.assembly import Arena, open_arena
from arena.settings import Settings
from arena.store.database import Database


@contextmanager
def new_postgres(server: str, template: str = "template1") -> Iterator[str]:
    """The address of a new database on the server, copied from `template`."""
    name = f"arena_{uuid4().hex}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE {template}")
    yield urlsplit(server)._replace(path=f"/{name}").geturl()
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


@contextmanager
def settings_on(dialect: str, home: Path, fixture: Callable[[str], Any]) -> Iterator[Settings]:
    """Settings for a home whose database already has its tables; `fixture` looks up fixtures."""
    if dialect == "sqlite":
        home.mkdir(exist_ok=True)
        shutil.copy(fixture("sqlite_tables"), home)
        yield Settings(home=home, retry_delay_seconds=0.01)
        return
    dispatch = "queued" if dialect == "queued" else "embedded"
    with new_postgres(fixture("postgres_server"), fixture("postgres_tables")) as url:
        yield Settings(home=home, database_url=url, retry_delay_seconds=0.01, dispatch=dispatch)


def make_tables(settings: Settings) -> None:
    """Bring the database of these settings up to date."""

    async def make() -> None:
        database = Database(settings.database)
        await database.open()
        await database.close()

    # In a thread: the browser's library keeps an event loop running in the main one.
    with ThreadPoolExecutor(1) as thread:
        thread.submit(lambda: asyncio.run(make())).result()


@asynccontextmanager
async def open_house(settings: Settings) -> AsyncIterator[Arena]:
    """A whole Arena; if runs are queued, with a worker."""
    async with open_arena(settings) as opened:
        if not settings.is_queued:
            yield opened
            return
        from arena.worker import WorkerOptions, working

        await opened.database.open()
        async with working(opened, WorkerOptions()):
            yield opened
