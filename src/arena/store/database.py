"""The connection to the database: short transactions for reading and for writing."""

import asyncio
import contextlib
import dataclasses
import fcntl
import functools
import importlib
import os
import sqlite3
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from sqlalchemy import Connection, event, text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import DatabaseError, DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from arena.errors import InfrastructureError

P = ParamSpec("P")
T = TypeVar("T")

MIGRATIONS = Path(__file__).parent / "migrations" / "versions"

OUTAGES = (OperationalError, InterfaceError, DatabaseError)
"""A database that is unreachable, full, damaged or deadlocked: every driver has its own classes for
these, and SQLAlchemy raises all of them as one of these three."""

BUSY_SECONDS = 30
"""How long a writer on SQLite waits for another one."""
POOL_SECONDS = 30
"""How long a transaction waits for a free connection."""
CONNECTION: dict[str, Any] = {
    "connect_timeout": 5,
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,
}
"""Of PostgreSQL: a cut in the network that nobody reports is noticed after ten seconds."""


STALLED_SECONDS = 5
"""A process that stops in the middle of a transaction, or whose machine is gone, loses its locks
after this time: other machines wait for them. By default PostgreSQL keeps them for two hours."""


class StoreUnavailable(InfrastructureError):
    """The database cannot be used."""

    code = "store_unavailable"


class Database:
    """One database and its pool of connections.

    Creating one is cheap. The first transaction connects and migrates the tables.
    """

    def __init__(self, url: str, *, is_shared: bool = False) -> None:
        """`is_shared`: whether processes on other machines wait for its locks."""
        self._url = make_url(url)
        self._is_shared = is_shared
        self._engines: _Engines | None = None
        self._opening = asyncio.Lock()

    @property
    def dialect(self) -> str:
        """`sqlite` or `postgresql`."""
        return self._url.get_backend_name()

    @asynccontextmanager
    async def reading(self) -> AsyncGenerator[AsyncConnection]:
        """A read-only transaction on one snapshot of the database."""
        engines = self._engines or await self._open()
        async with _begin(engines.reader) as connection:
            yield connection

    @asynccontextmanager
    async def writing(self) -> AsyncGenerator[AsyncConnection]:
        """A transaction, committed when the block succeeds and rolled back when it raises."""
        engines = self._engines or await self._open()
        async with _begin(engines.writer) as connection:
            yield connection

    async def open(self) -> None:
        """Connect and migrate now, so that a server does not start without its database."""
        await self._open()

    async def check(self) -> None:
        """Begin to write, as every change does; an error if the database cannot be written."""
        async with self.writing() as connection:
            if self.dialect == "postgresql":
                answer = await connection.exec_driver_sql("SHOW transaction_read_only")
                if answer.scalar() == "on":
                    raise StoreUnavailable("the database is read-only")

    async def close(self) -> None:
        """Close every connection."""
        if self._engines:
            await self._engines.base.dispose()

    async def _open(self) -> "_Engines":
        async with self._opening:
            if self._engines is None:
                engine = _create_engine(self._url)
                if self._is_shared:
                    event.listen(engine.sync_engine, "connect", _limit_stalled)
                engines = _Engines(engine)
                try:
                    async with _begin(engine) as connection:
                        revision = await connection.run_sync(_revision)
                    if revision != head():
                        await _migrate(engines.writer)
                except BaseException as error:
                    await engine.dispose()
                    if isinstance(error, OSError):
                        raise StoreUnavailable(f"cannot open the database: {error}") from error
                    raise
                self._engines = engines
        return self._engines


def make_tables(url: str) -> None:
    """Migrate a database from a thread without an event loop."""

    async def make() -> None:
        database = Database(url)
        try:
            await database.open()
        finally:
            await database.close()

    asyncio.run(make())


class _Engines:
    """The two ways to begin a transaction, over one pool."""

    def __init__(self, engine: AsyncEngine) -> None:
        self.base = self.reader = engine
        if engine.dialect.name == "postgresql":
            # As on SQLite: by default each statement on PostgreSQL sees a newer snapshot.
            self.reader = engine.execution_options(isolation_level="REPEATABLE READ")
        self.writer = engine.execution_options(arena_writes=True)


def shielded(function: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, Awaitable[T]]:
    """Delay the cancellation of a caller until its transaction has ended.

    A statement cannot be cancelled once the driver has it. A connection abandoned in the middle of
    one is unusable, and on SQLite it may hold the lock that every other writer waits for.
    """

    @functools.wraps(function)
    async def run(*args: P.args, **kwargs: P.kwargs) -> T:
        task = asyncio.create_task(function(*args, **kwargs))
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            while not task.done():
                # A second cancellation does not make the database faster.
                with contextlib.suppress(asyncio.CancelledError):
                    await asyncio.wait({task})
            if not task.cancelled():
                task.exception()  # retrieved, or asyncio reports it as never retrieved
            raise

    return run


def value_from(kind: Callable[..., T], row: Any, **changes: object) -> T:
    """The dataclass value from the columns of the row with the same names."""
    columns: Mapping[str, Any] = row._mapping
    return kind(**{name: columns[name] for name in _fields(kind) if name in columns} | changes)


@functools.cache
def _fields(kind: Any) -> tuple[str, ...]:
    return tuple(field.name for field in dataclasses.fields(kind))


def dialect_insert(connection: AsyncConnection, table: Any) -> Any:
    """An INSERT for the current database that supports ON CONFLICT."""
    # By name: importing the PostgreSQL dialect would slow every start on SQLite.
    return importlib.import_module(f"sqlalchemy.dialects.{connection.dialect.name}").insert(table)


def insert_or_ignore(connection: AsyncConnection, table: Any) -> Any:
    """An INSERT that skips rows whose key already exists."""
    return dialect_insert(connection, table).on_conflict_do_nothing()


@functools.cache
def head() -> str:
    """The newest migration, by file name: a start needs Alembic only when one is missing."""
    return max(path.name.partition("_")[0] for path in MIGRATIONS.glob("[0-9]*_*.py"))


@asynccontextmanager
async def _begin(engine: AsyncEngine) -> AsyncGenerator[AsyncConnection]:
    """A transaction; an outage of the database becomes `StoreUnavailable`."""
    try:
        async with engine.begin() as connection:
            yield connection
    except DBAPIError as error:
        # The exact class, not its subclasses: a mistake in a statement is a DatabaseError too.
        if not error.connection_invalidated and type(error) not in OUTAGES:
            raise
        raise StoreUnavailable(f"the database does not respond: {error.orig}") from error
    except PoolTimeout as error:
        raise StoreUnavailable(
            f"no database connection became free within {POOL_SECONDS} s"
        ) from error


def _create_engine(url: Any) -> AsyncEngine:
    if url.get_backend_name() != "sqlite":
        try:
            return create_async_engine(
                # Pre-ping replaces a connection that the server has closed, instead of failing.
                url,
                pool_size=10,
                max_overflow=10,
                pool_pre_ping=True,
                pool_timeout=POOL_SECONDS,
                connect_args=CONNECTION,
            )
        except ModuleNotFoundError as error:
            raise StoreUnavailable(
                f'{error}; install it with: pip install "agent-arena[postgres]"', retryable=False
            ) from error
    options: dict[str, Any] = {}
    if url.database and url.database != ":memory:":
        options["pool_timeout"] = POOL_SECONDS  # in memory there is one connection and no queue
        folder = Path(url.database).parent
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreUnavailable(f"cannot create {folder}: {error}", retryable=False) from error
    engine = create_async_engine(url, connect_args={"timeout": BUSY_SECONDS}, **options)
    event.listen(engine.sync_engine, "connect", _set_up_sqlite)
    event.listen(engine.sync_engine, "begin", _begin_sqlite)
    event.listen(engine.sync_engine, "invalidate", _roll_back_sqlite)
    return engine


def _limit_stalled(connection: Any, _record: object) -> None:
    cursor = connection.cursor()
    cursor.execute(f"SET idle_in_transaction_session_timeout = '{STALLED_SECONDS}s'")
    cursor.close()
    connection.commit()


def _set_up_sqlite(connection: Any, _record: object) -> None:
    # The driver must not begin transactions itself: `_begin_sqlite` does, in the right mode.
    connection.isolation_level = None
    cursor = connection.cursor()
    # So that readers and the one writer do not block each other.
    cursor.execute("PRAGMA journal_mode = WAL")
    # NORMAL would lose the last commits at a power failure, although the client saw them succeed.
    cursor.execute("PRAGMA synchronous = FULL")
    cursor.execute("PRAGMA foreign_keys = ON")
    # Half of the default, per connection: what is sorted takes as much again, and the system keeps
    # the file in memory anyway. A run of 100,000 tests then takes 7 MiB less, and no more time.
    cursor.execute("PRAGMA cache_size = -1000")
    cursor.close()


def _begin_sqlite(connection: Connection) -> None:
    # A writer takes its lock at the start: upgrading a read lock later can fail at once.
    writes = connection.get_execution_options().get("arena_writes")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _roll_back_sqlite(connection: Any, _record: object, _error: object) -> None:
    # A cancelled transaction ends here. Closing does not end it while a statement is still
    # referenced: its lock would block every writer until the garbage collector runs.
    with contextlib.suppress(DBAPIError, sqlite3.Error):
        connection.rollback()


def _revision(connection: Connection) -> str | None:
    """The migration the database is at; None for an empty one."""
    if not connection.dialect.has_table(connection, "alembic_version"):
        return None
    return connection.execute(text("SELECT version_num FROM alembic_version")).scalar()


async def _migrate(engine: AsyncEngine) -> None:
    """Migrate the tables; of several processes one does it and the others wait."""
    from arena.store.migrations import upgrade  # Alembic takes half a second to import

    with _only_one(engine):
        async with _begin(engine) as connection:
            if engine.dialect.name == "postgresql":
                await connection.execute(text("SELECT pg_advisory_xact_lock(5109)"))
            revision = await connection.run_sync(_revision)
            if revision is not None and revision > head():
                raise StoreUnavailable(
                    f"the database was made by a newer Arena (migration {revision}, this one knows "
                    f"{head()}): update Arena",
                    retryable=False,
                )
            await connection.run_sync(upgrade)


@contextmanager
def _only_one(engine: AsyncEngine) -> Generator[None]:
    """A lock file next to the SQLite file; PostgreSQL has its own locks."""
    path = engine.url.database
    if engine.dialect.name != "sqlite" or not path or path == ":memory:":
        yield
        return
    lock = os.open(f"{path}.lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    with contextlib.closing(os.fdopen(lock)) as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield
