"""A store returns exactly what was put, or an error."""

import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings as bounded
from hypothesis import strategies as st

from arena.content.cid import DAG_PB, RAW, Cid, parse_cid
from arena.content.errors import ContentCorrupt, ContentMalformed, ContentMissing, ContentTooLarge
from arena.content.store import LocalStore
from arena.content.tree import V0, V1, Link, Profile, cid_of, write_node
from arena.errors import InfrastructureError, InvalidInput
from cid_vectors import HELLO, HELLO_CID, NOT_HELLO_CID, VECTORS, has, noise


@pytest.fixture
def store(tmp_path: Path) -> LocalStore:
    return LocalStore(tmp_path / "content")


def block_files(store: LocalStore) -> list[Path]:
    return [path for path in (store.folder / "blocks").rglob("*") if path.is_file()]


@pytest.mark.parametrize("profile", [V0, V1])
@pytest.mark.parametrize("data", [b"", HELLO, noise(262_145), noise(1_000_000)], ids=len)
def test_what_was_put_is_given_back(store: LocalStore, data: bytes, profile: Profile):
    cid = store.put(data, profile=profile)
    assert cid == cid_of(data, profile)
    assert store.get(cid) == data
    assert has(store, cid)


def test_content_of_two_levels_is_given_back(store: LocalStore):
    data, _, v1 = VECTORS[-1]
    assert store.put(data) == v1
    assert store.get(v1) == data


@bounded(max_examples=30)
@given(data=st.binary(max_size=3000))
def test_a_second_store_on_the_same_folder_gives_the_same(data: bytes, tmp_path_factory):
    folder = tmp_path_factory.mktemp("content")
    cid = LocalStore(folder).put(data)
    assert LocalStore(folder).get(cid) == data


def test_a_block_is_a_file_with_its_name(store: LocalStore):
    store.put(HELLO)
    (file,) = block_files(store)
    assert file.name == HELLO_CID
    assert file.read_bytes() == HELLO


def test_what_is_not_here_is_missing(store: LocalStore):
    with pytest.raises(ContentMissing, match=HELLO_CID):
        store.get(HELLO_CID)
    assert not has(store, HELLO_CID)


def test_content_with_a_missing_part_is_missing(store: LocalStore):
    data = noise(600_000)
    cid = store.put(data)
    part = next(path for path in block_files(store) if path.name.startswith("bafkrei"))
    part.unlink()
    with pytest.raises(ContentMissing, match=part.name):
        store.get(cid)
    assert not has(store, cid)


@pytest.mark.parametrize("change", ["flip", "cut", "empty", "grow"])
@pytest.mark.parametrize("data", [HELLO, noise(600_000)], ids=len)
def test_damaged_content_is_refused_and_repaired_by_the_next_put(
    store: LocalStore, data: bytes, change: str
):
    cid = store.put(data)
    for path in block_files(store):
        before = path.read_bytes()
        flipped = before[:-1] + bytes((before[-1] ^ 1,))
        after = {"flip": flipped, "cut": before[:-1], "empty": b"", "grow": before + b"\0"}
        path.write_bytes(after[change])
        with pytest.raises(ContentCorrupt, match=path.name):
            store.get(cid)
        assert not has(store, cid)
        with pytest.raises(ContentCorrupt):
            store.pin(cid)
        store.put(data)
        assert store.get(cid) == data


def test_a_block_is_not_stored_under_a_wrong_name(store: LocalStore):
    with pytest.raises(ContentCorrupt):
        store.put_block(parse_cid(NOT_HELLO_CID), HELLO)
    assert not has(store, NOT_HELLO_CID)


def test_bytes_moved_to_another_name_are_refused(store: LocalStore):
    store.put(HELLO)
    (file,) = block_files(store)
    misplaced = store.folder / "blocks" / NOT_HELLO_CID[-3:-1] / NOT_HELLO_CID
    misplaced.parent.mkdir(exist_ok=True)
    file.rename(misplaced)
    with pytest.raises(ContentCorrupt):
        store.get(NOT_HELLO_CID)


def test_size_limits_apply_to_put_and_get(store: LocalStore):
    small = LocalStore(store.folder, max_bytes=10)
    with pytest.raises(ContentTooLarge):
        small.put(HELLO)
    assert block_files(store) == []
    store.put(HELLO)
    for reader, limit in ((small, None), (small, 1000), (store, 10)):
        with pytest.raises(ContentTooLarge, match="11 bytes"):
            reader.get(HELLO_CID, max_bytes=limit)
    assert store.get(HELLO_CID, max_bytes=11) == HELLO


def test_a_bomb_that_came_from_elsewhere_is_refused(store: LocalStore):
    leaf = b"a" * 1000
    cid = Cid.of_block(leaf, codec=RAW)
    store.put_block(cid, leaf)
    size = 1000
    for _ in range(4):
        block = write_node(b"", [Link(cid=cid, content_bytes=size, total_bytes=size)] * 1000)
        cid, size = Cid.of_block(block, codec=DAG_PB), size * 1000
        store.put_block(cid, block)
    with pytest.raises(ContentTooLarge):
        store.get(str(cid))
    with pytest.raises(ContentTooLarge):
        list(store.blocks(str(cid)))


def test_a_folder_is_not_content(store: LocalStore):
    block = bytes.fromhex("0a020801")
    cid = Cid.of_block(block, codec=DAG_PB)
    store.put_block(cid, block)
    with pytest.raises(ContentMalformed):
        store.get(str(cid))


@pytest.mark.parametrize("name", ["", "../../etc/passwd", "bafy/../x", "\0", "b" * 10_000])
def test_a_name_that_is_not_a_cid_never_reaches_the_disk(store: LocalStore, name: str):
    for ask in (store.get, store.pin):
        with pytest.raises(InvalidInput):
            ask(name)


def test_every_block_comes_once_and_the_top_first(store: LocalStore):
    data = b"\0" * 262_144 * 5
    cid = store.put(data)
    blocks = list(store.blocks(cid))
    assert str(blocks[0][0]) == cid
    assert len(blocks) == 2


def test_many_may_put_the_same_at_once(store: LocalStore):
    data = noise(700_000)
    with ThreadPoolExecutor(8) as pool:
        cids = set(pool.map(lambda _: LocalStore(store.folder).put(data), range(40)))
    assert cids == {cid_of(data)}
    assert store.get(cids.pop()) == data
    assert list((store.folder / "partial").iterdir()) == []


def pins(store: LocalStore) -> list[str]:
    return [path.name for path in store.folder.glob("pins/*")]


@pytest.mark.parametrize("profile", [V0, V1])
def test_a_pin_marks_content_under_its_one_name(store: LocalStore, profile: Profile):
    cid = store.put(noise(600_000), profile=profile)
    store.pin(cid)
    store.pin(cid)
    assert pins(store) == [str(parse_cid(cid).key)]
    assert has(store, cid)


def test_only_what_is_here_can_be_pinned(store: LocalStore):
    with pytest.raises(ContentMissing):
        store.pin(HELLO_CID)
    assert pins(store) == []


def test_old_partial_files_are_removed(store: LocalStore):
    store.put(HELLO)
    for name, age in (("left", 7200), ("fresh", 0)):
        file = store.folder / "partial" / name
        file.write_bytes(b"hello wo")
        os.utime(file, (time.time() - age,) * 2)
    LocalStore(store.folder).put(HELLO)
    assert [path.name for path in (store.folder / "partial").iterdir()] == ["fresh"]


def test_a_disk_error_is_an_infrastructure_fault(tmp_path: Path):
    file = tmp_path / "content"
    file.write_bytes(b"a file where a folder should be")
    with pytest.raises(InfrastructureError):
        LocalStore(file).put(HELLO)
