"""Whether the worker in this container lives: exit code 0, or 1 with the reason.

    python worker_alive.py [SECONDS]

A worker has no port to ask. It writes a heartbeat to the database every second; this looks whether
the newest one of this host is at most SECONDS old (30). If the database does not respond, the
worker is not to blame, and a restart would not help: exit code 0.

It does not import Arena: a probe that runs every half minute has to be cheap (0.15 s of CPU time,
against more than a second for `arena workers`).
"""

import os
import socket
import sys

import psycopg

DEFAULT_SECONDS = 30.0
CONNECT_SECONDS = 3
QUERY = """
    SELECT extract(epoch FROM clock_timestamp() - max(seen_at)) FROM arena_workers WHERE host = %s
"""


def silent_seconds(url: str, host: str) -> float | None:
    """How long the host's workers have been silent; None if there is none."""
    with psycopg.connect(url, connect_timeout=CONNECT_SECONDS) as connection:
        row = connection.execute(QUERY, (host,)).fetchone()
    return None if row is None or row[0] is None else float(row[0])


def main() -> int:
    """The exit code."""
    allowed = float(sys.argv[1]) if len(sys.argv) > 1 else DEFAULT_SECONDS
    url = os.environ["ARENA_DATABASE_URL"].replace("postgresql+psycopg://", "postgresql://", 1)
    host = socket.gethostname()
    try:
        silent = silent_seconds(url, host)
    except psycopg.OperationalError as error:
        print(f"the database does not respond, so nothing is known: {error}")
        return 0
    if silent is None:
        print(f"no worker of host {host} is registered")
        return 1
    if silent > allowed:
        print(f"the worker of host {host} has been silent for {silent:.0f} s")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
