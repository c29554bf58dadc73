import asyncio
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from uuid import uuid4

import pytest
from sqlalchemy import insert, select, text
from sqlalchemy.exc import IntegrityError

from arena.settings import Settings
from arena.store import database as store
from arena.store.database import Database, StoreUnavailable
from arena.store.tables.runs import FrozenTests, Runs


def a_run(**changes: object) -> dict[str, object]:
    return {
        "id": uuid4(),
        "team_id": "t",
        "agent_id": "a",
        "agent_version": "1.0.0",
        "status": "pending",
        "total_tests": 1,
        "points_possible": 1.0,
        "is_full": True,
        "created_at": datetime.now(UTC),
        **changes,
    }


async def test_writes_of_a_failed_block_are_rolled_back(database: Database):
    with pytest.raises(RuntimeError):
        async with database.writing() as connection:
            await connection.execute(insert(FrozenTests), {"digest": "x", "body": {}})
            raise RuntimeError
    async with database.reading() as connection:
        assert (await connection.execute(select(FrozenTests.digest))).all() == []


async def test_writers_wait_for_each_other(database: Database):
    async with database.writing() as connection:
        await connection.execute(insert(Runs), a_run(team_id="counter"))

    async def add_one() -> None:
        async with database.writing() as connection:
            row = (
                await connection.execute(select(Runs.total_tests).with_for_update())
            ).scalar_one()
            await asyncio.sleep(0)
            await connection.execute(
                text(f"UPDATE agent_benchmark_runs SET total_tests = {row + 1}")
            )

    await asyncio.gather(*(add_one() for _ in range(20)))
    async with database.reading() as connection:
        assert (await connection.execute(select(Runs.total_tests))).scalar_one() == 21


async def test_times_come_back_aware_and_in_utc(database: Database):
    east = timezone(timedelta(hours=5))
    moment = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=east)
    async with database.writing() as connection:
        await connection.execute(insert(Runs), a_run(created_at=moment))
    async with database.reading() as connection:
        read = (await connection.execute(select(Runs.created_at))).scalar_one()
    assert read == moment
    assert read.utcoffset() == timedelta(0)


async def test_a_time_without_a_zone_is_refused(database: Database):
    async with database.writing() as connection:
        with pytest.raises(Exception, match="without a time zone"):
            await connection.execute(insert(Runs), a_run(created_at=datetime(2026, 1, 1)))  # noqa: DTZ001


async def test_an_unreachable_database_is_an_infrastructure_error():
    with pytest.raises(StoreUnavailable, match="does not respond"):
        await Database("postgresql+psycopg://nobody@127.0.0.1:1/none").open()


async def test_a_home_that_cannot_be_created_is_named(tmp_path: Path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreUnavailable, match="file"):
        await Database(f"sqlite+aiosqlite:///{tmp_path}/file/arena.db").open()


async def test_a_file_that_is_no_database_is_reported(tmp_path: Path):
    (tmp_path / "arena.db").write_text("this is not a database, just a long enough text " * 50)
    with pytest.raises(StoreUnavailable):
        await Database(f"sqlite+aiosqlite:///{tmp_path}/arena.db").open()


async def test_a_reader_sees_one_snapshot_whatever_is_written_meanwhile(database: Database):
    query = select(FrozenTests.digest).order_by(FrozenTests.digest)
    async with database.reading() as reader:
        assert (await reader.execute(query)).all() == []
        async with database.writing() as writer:
            await writer.execute(insert(FrozenTests), {"digest": "x", "body": {}})
        assert (await reader.execute(query)).all() == []
    async with database.reading() as reader:
        assert (await reader.execute(query)).scalars().all() == ["x"]


async def test_a_statement_timeout_is_an_infrastructure_error(
    postgres_url: str,
):
    # With its driver, as the settings name it: SQLAlchemy 2.0 would take another.
    database = Database(postgres_url.replace("postgresql:", "postgresql+psycopg:", 1))
    with pytest.raises(StoreUnavailable, match="statement timeout"):
        async with database.writing() as connection:
            await connection.execute(text("SET LOCAL statement_timeout = 1"))
            await connection.execute(text("SELECT pg_sleep(10)"))
    await database.close()


async def test_an_integrity_error_is_no_outage(database: Database):
    async with database.writing() as connection:
        await connection.execute(insert(FrozenTests), {"digest": "x", "body": {}})
    with pytest.raises(IntegrityError):
        async with database.writing() as connection:
            await connection.execute(insert(FrozenTests), {"digest": "x", "body": {}})


async def test_an_exhausted_connection_pool_is_an_infrastructure_error(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(store, "POOL_SECONDS", 0.01)
    database = Database(settings.database)
    with pytest.raises(StoreUnavailable, match="connection"):
        async with AsyncExitStack() as held:
            for _ in range(100):
                await held.enter_async_context(database.reading())
    await database.close()
