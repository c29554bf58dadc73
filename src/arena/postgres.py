"""PostgreSQL from threads: short blocking calls that survive a restart of the server.

For what is called outside the event loop: content and the private parts of sealed standards. Only
imported where several machines share one database. Everything else uses `arena.store`.
"""

import logging
from collections.abc import Callable
from threading import BoundedSemaphore, Event, Lock
from time import monotonic
from typing import Any, TypeVar

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from arena.backoff import backoff_seconds
from arena.errors import InfrastructureError

log = logging.getLogger(__name__)

T = TypeVar("T")
Connection = psycopg.Connection[tuple[Any, ...]]

MAX_CONNECTIONS = 3
"""Of one process; a call lasts a millisecond, so that few are needed."""
LIMITS = {
    "connect_timeout": 5,
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,  # milliseconds
}
"""A connection that was cut silently fails after about 10 s, instead of hours."""
PATIENCE_SECONDS = 60.0
"""How long a patient call waits for a database that does not respond."""
FIRST_WAIT_SECONDS, MAX_WAIT_SECONDS = 0.1, 1.0
OUTAGES = (psycopg.OperationalError, psycopg.InterfaceError)
"""The connection was cut, or the server is away, starting or full."""


class PostgresUnavailable(InfrastructureError):
    """The database cannot be used."""

    code = "store_unavailable"


class Postgres:
    """A few connections that the threads of this process share; opened when they are needed."""

    def __init__(self, url: str, *, make_tables: Callable[[str], None] | None = None) -> None:
        """`url` is SQLAlchemy's address; `make_tables` is called with it if a table is missing."""
        self._url = url
        scheme, _, rest = url.partition("://")
        address = f"{scheme.partition('+')[0]}://{rest}"
        given = conninfo_to_dict(address)
        limits = {name: value for name, value in LIMITS.items() if name not in given}
        self._address = make_conninfo(address, **limits)
        self._make_tables = make_tables
        self._slots = BoundedSemaphore(MAX_CONNECTIONS)
        self._lock = Lock()
        self._idle: list[Connection] = []
        self._closed = Event()

    def run(self, work: Callable[[Connection], T], *, is_patient: bool = False) -> T:
        """The result of `work`, which is called again if the connection was cut in the middle.

        So it must do no harm twice. Each of its statements is a transaction. A patient call waits
        for a database that is away; any other one tries again once, at once.
        """
        ends_at = monotonic() + (PATIENCE_SECONDS if is_patient else 0.0)
        failures, is_made = 0, False
        while True:
            try:
                return self._attempt(work)
            except psycopg.errors.UndefinedTable as error:
                if self._make_tables is None or is_made:
                    raise _unavailable(error) from error
                self._make_tables(self._url)
                is_made = True
            except OUTAGES as error:
                failures += 1
                self._drop_idle()  # they were cut by the same restart
                if failures > 1 and (monotonic() > ends_at or self._closed.is_set()):
                    raise _unavailable(error) from error
                log.debug("PostgreSQL does not respond: %s", error)
            except psycopg.Error as error:
                raise _unavailable(error) from error
            if failures > 1:
                wait = backoff_seconds(
                    FIRST_WAIT_SECONDS, failures - 1, most_seconds=MAX_WAIT_SECONDS
                )
                self._closed.wait(wait)

    def close(self) -> None:
        """Close the connections, and let nobody wait any longer."""
        self._closed.set()
        self._drop_idle()

    def _attempt(self, work: Callable[[Connection], T]) -> T:
        with self._slots:
            connection = self._taken() or self._connect()
            try:
                result = work(connection)
            except BaseException:
                # Whatever happened, a new connection costs less than one in an unknown state.
                connection.close()
                raise
            with self._lock:
                self._idle.append(connection)
        if self._closed.is_set():
            self._drop_idle()
        return result

    def _taken(self) -> Connection | None:
        with self._lock:
            return self._idle.pop() if self._idle else None

    def _connect(self) -> Connection:
        # Nothing is prepared: behind a pooler the next statement may use another session.
        return psycopg.connect(self._address, autocommit=True, prepare_threshold=None)

    def _drop_idle(self) -> None:
        with self._lock:
            dropped, self._idle = self._idle, []
        for connection in dropped:
            connection.close()


def _unavailable(error: psycopg.Error) -> PostgresUnavailable:
    return PostgresUnavailable(f"the database does not respond: {error}")
