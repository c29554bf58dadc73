"""The app behind a real client: every request goes through the whole stack, without a network."""

import shutil
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import httpx2
import pytest

from app_transport import AppTransport
from arena.api import create_app
from arena.settings import Settings
from factories import write_agent, write_tests

Opened = AbstractAsyncContextManager[httpx2.AsyncClient]


@asynccontextmanager
async def open_api(
    settings: Settings, *, serves: bool = False
) -> AsyncIterator[httpx2.AsyncClient]:
    """A client of an app with these settings."""
    app = create_app(settings, serves=serves)
    async with (
        app.router.lifespan_context(app),
        httpx2.AsyncClient(base_url="http://localhost", transport=AppTransport(app)) as client,
    ):
        yield client


def furnish(settings: Settings) -> Settings:
    """Put a small agent and five tests into the home; `absent` is for tests to define."""
    write_agent(settings.home / "agents", "parrot", "return prompt.upper()")
    file = settings.home / "benchmarks" / "parrot.yaml"
    write_tests(file, count=5, agents=["parrot", "absent"])
    return settings


@pytest.fixture
async def api(settings: Settings) -> AsyncIterator[httpx2.AsyncClient]:
    """The API on each kind of database."""
    async with open_api(furnish(settings)) as client:
        yield client


@pytest.fixture
def opened(tmp_path: Path, sqlite_tables: Path) -> Callable[..., Opened]:
    """Opens the API on SQLite with the settings that a test needs."""

    def open_with(*, serves: bool = False, home: str = "home", **given: object) -> Opened:
        settings = furnish(Settings(home=tmp_path / home, **given))
        shutil.copy(sqlite_tables, settings.home)
        return open_api(settings, serves=serves)

    return open_with


@pytest.fixture
async def local(opened: Callable[..., Opened]) -> AsyncIterator[httpx2.AsyncClient]:
    """The API on SQLite: for what has nothing to do with the database."""
    async with opened() as client:
        yield client
