"""The connection to the database: short transactions for reading and for writing."""

import contextlib
import fcntl
import os
import sqlite3
from collections.abc import AsyncGenerator, Generator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, event, text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import DatabaseError, DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as NoConnection
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from arena.errors import InfrastructureError

HEAD = "0006"
"""The newest migration. Kept here so that a start needs Alembic only when something is to do."""

OUTAGES = (OperationalError, InterfaceError, DatabaseError)
"""What stands for a database that is away, full, damaged or at odds with itself (a deadlock); the
drivers have a class of their own for each reason, and these are what all of them belong to."""

BUSY_SECONDS = 30
"""How long a writer waits for another one on SQLite before it gives up."""
POOL_SECONDS = 30
"""How long a transaction waits for a connection to come free before it gives up."""


class StoreUnavailable(InfrastructureError):
    """The database cannot be used."""

    code = "store_unavailable"


class Database:
    """One database and its pool of connections."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine
        self._reader = engine
        if engine.dialect.name == "postgresql":
            # As on SQLite: by itself PostgreSQL shows each statement a moment of its own.
            self._reader = engine.execution_options(isolation_level="REPEATABLE READ")
        self._writer = engine.execution_options(arena_writes=True)

    @property
    def dialect(self) -> str:
        """`sqlite` or `postgresql`."""
        return self._engine.dialect.name

    def reading(self) -> AbstractAsyncContextManager[AsyncConnection]:
        """A transaction that sees one moment of the database and changes nothing."""
        return self._transaction(self._reader)

    def writing(self) -> AbstractAsyncContextManager[AsyncConnection]:
        """A transaction that is committed when the block ends well, and undone when it does not."""
        return self._transaction(self._writer)

    async def close(self) -> None:
        """Close every connection."""
        await self._engine.dispose()

    @asynccontextmanager
    async def _transaction(self, engine: AsyncEngine) -> AsyncGenerator[AsyncConnection]:
        try:
            async with engine.begin() as connection:
                yield connection
        except DBAPIError as wrong:
            if not _is_outage(wrong):
                raise
            raise StoreUnavailable(f"the database does not answer: {wrong.orig}") from wrong
        except NoConnection as busy:
            told = f"no connection to the database came free within {POOL_SECONDS} s"
            raise StoreUnavailable(told) from busy


async def open_database(url: str) -> Database:
    """The database at `url`, with its tables brought up to date."""
    engine = _create_engine(url)
    database = Database(engine)
    try:
        async with database.reading() as connection:
            is_current = await connection.run_sync(_revision) == HEAD
        if not is_current:
            await _migrate(database, url)
    except BaseException as wrong:
        await database.close()
        if isinstance(wrong, OSError):
            raise StoreUnavailable(f"the database cannot be opened: {wrong}") from wrong
        raise
    return database


def _create_engine(url: str) -> AsyncEngine:
    parsed = make_url(url)
    if parsed.get_backend_name() != "sqlite":
        try:
            return create_async_engine(
                parsed,
                pool_size=10,
                max_overflow=10,
                pool_pre_ping=True,
                pool_timeout=POOL_SECONDS,
            )
        except ModuleNotFoundError as missing:
            raise StoreUnavailable(
                f'{missing}; install it with: pip install "agent-arena[postgres]"', retryable=False
            ) from missing
    options: dict[str, Any] = {}
    if parsed.database and parsed.database != ":memory:":
        options["pool_timeout"] = POOL_SECONDS  # memory has one connection and no queue for it
        folder = Path(parsed.database).parent
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as wrong:
            raise StoreUnavailable(f"cannot make {folder}: {wrong}", retryable=False) from wrong
    engine = create_async_engine(parsed, connect_args={"timeout": BUSY_SECONDS}, **options)
    event.listen(engine.sync_engine, "connect", _set_up_sqlite)
    event.listen(engine.sync_engine, "begin", _begin_sqlite)
    event.listen(engine.sync_engine, "invalidate", _roll_back_sqlite)
    return engine


def _set_up_sqlite(connection: Any, _record: object) -> None:
    # The driver must not begin transactions of its own: `_begin_sqlite` does, in the right mode.
    connection.isolation_level = None
    cursor = connection.cursor()
    cursor.execute("PRAGMA journal_mode = WAL")
    cursor.execute("PRAGMA synchronous = FULL")
    cursor.execute("PRAGMA foreign_keys = ON")
    cursor.close()


def _begin_sqlite(connection: Connection) -> None:
    # A writer takes its lock at the start: upgrading a read lock later can fail at once.
    writes = connection.get_execution_options().get("arena_writes")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _roll_back_sqlite(connection: Any, _record: object, _wrong: object) -> None:
    # A cancelled transaction ends here. Closing alone does not end it while a statement is still
    # held somewhere: the lock would stay until the garbage is collected, and every writer with it.
    with contextlib.suppress(DBAPIError, sqlite3.Error):
        connection.rollback()


def _revision(connection: Connection) -> str | None:
    """The migration the database stands at; None where there is none yet."""
    if not connection.dialect.has_table(connection, "alembic_version"):
        return None
    return connection.execute(text("SELECT version_num FROM alembic_version")).scalar()


async def _migrate(database: Database, url: str) -> None:
    """Bring the tables up to date; of several processes one does it and the others wait."""
    from arena.store.migrations import upgrade  # Alembic takes half a second to import

    with _only_one(url):
        async with database.writing() as connection:
            if database.dialect == "postgresql":
                await connection.execute(text("SELECT pg_advisory_xact_lock(5109)"))
            revision = await connection.run_sync(_revision)
            if revision is not None and revision > HEAD:
                raise StoreUnavailable(
                    f"the database is of a newer Arena (migration {revision}, this one knows "
                    f"{HEAD}): update Arena",
                    retryable=False,
                )
            await connection.run_sync(upgrade)


@contextmanager
def _only_one(url: str) -> Generator[None]:
    """A lock beside the SQLite file; PostgreSQL has locks of its own."""
    path = make_url(url).database if url.startswith("sqlite") else None
    if not path or path == ":memory:":
        yield
        return
    lock = os.open(f"{path}.lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    with contextlib.closing(os.fdopen(lock)) as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield


def _is_outage(error: DBAPIError) -> bool:
    """Whether the database is at fault, as opposed to a statement that is wrong."""
    # The class itself and not what inherits from it: a wrong statement is a DatabaseError too.
    return error.connection_invalidated or type(error) in OUTAGES
