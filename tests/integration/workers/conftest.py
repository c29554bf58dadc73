"""A queue on PostgreSQL, filled by hand."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from arena.queue.records.reader import QueueReader
from arena.settings import Settings
from arena.store.database import Database
from databases import settings_on
from queue_rows import QueueRows, queue_rows


@pytest.fixture
def queued(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Settings]:
    """Settings of a database whose runs are executed by workers."""
    with settings_on("postgresql", tmp_path / "home", request.getfixturevalue) as settings:
        yield settings.model_copy(update={"dispatch": "queued"})


@pytest.fixture
def rows(queued: Settings) -> Iterator[QueueRows]:
    """Fills its tables."""
    assert queued.database_url is not None
    with queue_rows(queued.database_url.get_secret_value()) as made:
        yield made


@pytest.fixture
async def database(queued: Settings) -> AsyncIterator[Database]:
    """Its database."""
    opened = Database(queued.database)
    yield opened
    await opened.close()


@pytest.fixture
def reader(database: Database) -> QueueReader:
    """Reads its state."""
    return QueueReader(database)
