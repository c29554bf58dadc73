import asyncio
import subprocess
import sys
from pathlib import Path
from uuid import UUID, uuid4

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, insert, inspect, select, text

from arena import clock
from arena.settings import Settings
from arena.store.database import Database, StoreUnavailable, head
from arena.store.migrations import configuration, downgrade, upgrade
from arena.store.tables.metadata import METADATA
from arena.store.tables.runs import Results, Runs


def test_the_head_that_the_code_names_is_the_newest_migration():
    assert ScriptDirectory.from_config(configuration()).get_current_head() == head()


async def test_migrations_give_exactly_the_tables_that_the_code_uses(database: Database):
    def differences(connection: Connection) -> list[object]:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        return compare_metadata(context, METADATA)

    async with database.reading() as connection:
        assert await connection.run_sync(differences) == []


async def test_migrations_can_be_run_down_and_up_again(database: Database):
    def tables(connection: Connection) -> set[str]:
        return set(inspect(connection).get_table_names())

    async with database.writing() as connection:
        full = await connection.run_sync(tables)
        await connection.run_sync(downgrade, "base")
        assert await connection.run_sync(tables) == {"alembic_version"}
        await connection.run_sync(upgrade)
        assert await connection.run_sync(tables) == full


async def test_each_migration_can_be_reverted_alone(database: Database):
    revisions = [r.revision for r in ScriptDirectory.from_config(configuration()).walk_revisions()]
    for revision in [*revisions[1:], "base"]:
        async with database.writing() as connection:
            await connection.run_sync(downgrade, revision)
    for revision in reversed(revisions):
        async with database.writing() as connection:
            await connection.run_sync(upgrade, revision)


async def test_ids_survive_every_direction_of_the_migration_that_makes_them_readable(
    database: Database,
):
    run, result = uuid4(), uuid4()
    async with database.writing() as connection:
        await connection.execute(insert(Runs), run_columns(run))
        await connection.execute(insert(Results), result_columns(result, run))
    for _ in range(2):
        async with database.writing() as connection:
            await connection.run_sync(downgrade, "0006")
            query = text("SELECT id, run_id FROM agent_benchmark_results")
            one = (await connection.execute(query)).one()
            assert [UUID(str(value)) for value in one] == [result, run]
            if database.dialect == "sqlite":
                assert [*one] == [result.hex, run.hex]
            await connection.run_sync(upgrade)
        async with database.reading() as connection:
            one = (await connection.execute(select(Results.id, Results.run_id))).one()
            assert [*one] == [result, run]
            one = (await connection.execute(query)).one()
            if database.dialect == "sqlite":
                assert [*one] == [str(result), str(run)]
            duration = await connection.execute(select(Runs.results_duration_seconds))
            assert duration.scalar_one() == 0.545684


def run_columns(run_id: UUID) -> dict[str, object]:
    return {
        "id": run_id,
        "team_id": "team",
        "agent_id": "agent",
        "agent_version": "1.0.0",
        "status": "completed",
        "total_tests": 1,
        "points_possible": 1,
        "is_full": True,
        "results_duration_seconds": 0.5456840000000001,
        "created_at": clock.now(),
    }


def result_columns(result_id: UUID, run_id: UUID) -> dict[str, object]:
    return {
        "id": result_id,
        "run_id": run_id,
        "sequence": 1,
        "test_id": "test",
        "category": "category",
        "status": "completed",
        "points_earned": 1,
        "points_possible": 1,
        "findings": [],
        "duration_seconds": 0.5,
        "attempts": 1,
        "created_at": clock.now(),
    }


async def test_several_processes_may_open_a_new_database_at_once(bare_settings: Settings):
    code = (
        "import asyncio, sys\n"
        "from arena.store.database import Database\n"
        "async def main():\n"
        "    database = Database(sys.argv[1])\n"
        "    await database.open()\n"
        "    await database.close()\n"
        "asyncio.run(main())\n"
    )
    url = bare_settings.database
    processes = [
        await asyncio.create_subprocess_exec(
            sys.executable, "-c", code, url, stderr=subprocess.PIPE
        )
        for _ in range(4)
    ]
    for process in processes:
        _, errors = await process.communicate()
        assert process.returncode == 0, errors.decode()
    database = Database(url)
    await database.open()
    await database.close()


async def test_a_database_of_a_newer_arena_is_refused(tmp_path: Path):
    url = Settings(home=tmp_path).database
    database = Database(url)
    async with database.writing() as connection:
        await connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    await database.close()
    with pytest.raises(StoreUnavailable, match="newer Arena"):
        await Database(url).open()
