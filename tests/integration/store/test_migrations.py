import asyncio
import subprocess
import sys
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, inspect, text

from arena.settings import Settings
from arena.store.database import Database, StoreUnavailable, head
from arena.store.migrations import configuration, downgrade, upgrade
from arena.store.tables.metadata import METADATA


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
