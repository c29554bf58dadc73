"""An archive carries content whole, or is refused whole."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings as bounded
from hypothesis import strategies as st

from arena.content import archive
from arena.content.archive import read_archive, write_archive
from arena.content.errors import ContentMissing, ContentTooLarge, InvalidArchive
from arena.content.store import LocalStore
from arena.content.tree import V0, cid_of
from arena.errors import ArenaError, InvalidInput
from cid_vectors import HELLO, HELLO_CID, noise


@pytest.fixture
def store(tmp_path: Path) -> LocalStore:
    return LocalStore(tmp_path / "content")


@pytest.fixture
def other(tmp_path: Path) -> LocalStore:
    return LocalStore(tmp_path / "other")


KNOWN = bytes.fromhex(
    # Length of the header; {"roots": [42(h'00…')], "version": 1}
    "3aa265726f6f747381d82a58250001551220b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2"
    "efcde96776657273696f6e01"
    # Length of the section, the CID, the bytes.
    "2f01551220b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde968656c6c6f20776f726c64"
)


def test_an_archive_is_written_as_the_standard_says(store: LocalStore):
    assert write_archive(store, [store.put(HELLO)]) == KNOWN


def test_an_archive_of_another_tool_is_read(store: LocalStore):
    assert read_archive(store, KNOWN) == [HELLO_CID]
    assert store.get(HELLO_CID) == HELLO


def test_all_content_arrives(store: LocalStore, other: LocalStore):
    contents = [noise(700_000), HELLO, b"", b"\0" * 600_000]
    cids = [store.put(data) for data in contents] + [store.put(HELLO, profile=V0)]
    assert read_archive(other, write_archive(store, [*cids, cids[0]])) == cids
    assert [other.get(cid) for cid in cids] == [*contents, HELLO]


def test_a_hundred_roots_fit(store: LocalStore, other: LocalStore):
    cids = [store.put(b"%d" % number) for number in range(300)]
    assert read_archive(other, write_archive(store, cids)) == cids


def test_one_changed_byte_anywhere_is_found_and_nothing_is_kept(
    store: LocalStore, other: LocalStore
):
    archive = write_archive(store, [store.put(b"standard"), store.put(HELLO, profile=V0)])
    for place in range(len(archive)):
        for changed in {archive[place] ^ 1, archive[place] ^ 0x80, 0x55, 0x70, 0, 1} - {
            archive[place]
        }:
            damaged = archive[:place] + bytes((changed,)) + archive[place + 1 :]
            with pytest.raises(ArenaError):
                read_archive(other, damaged)
    assert not other.folder.exists()


def test_one_changed_byte_of_a_tree_is_found(store: LocalStore, other: LocalStore):
    archive = write_archive(store, [store.put(noise(600_000))])
    for place in [*range(300), *range(300, len(archive), 4999)]:
        damaged = archive[:place] + bytes((archive[place] ^ 4,)) + archive[place + 1 :]
        with pytest.raises(ArenaError):
            read_archive(other, damaged)
    assert not other.folder.exists()


def test_a_cut_archive_is_refused(store: LocalStore, other: LocalStore):
    archive = write_archive(store, [store.put(b"a"), store.put(b"b")])
    for length in range(len(archive)):
        with pytest.raises(ArenaError):
            read_archive(other, archive[:length])
    assert not other.folder.exists()


@bounded(max_examples=200)
@given(st.binary(max_size=200))
def test_any_bytes_are_refused(data: bytes):
    with pytest.raises(ArenaError):
        read_archive(LocalStore(Path("/nonexistent")), data)


def test_blocks_that_no_root_leads_to_are_refused(store: LocalStore, other: LocalStore):
    archive = write_archive(store, [store.put(HELLO)])
    more = write_archive(store, [store.put(b"stowaway")])
    with pytest.raises(InvalidArchive, match="none of its roots"):
        read_archive(other, archive + more[more[0] + 1 :])


def test_what_is_not_here_cannot_be_written(store: LocalStore):
    with pytest.raises(ContentMissing):
        write_archive(store, [HELLO_CID])
    with pytest.raises(InvalidInput, match="roots"):
        write_archive(store, [])


def test_an_archive_larger_than_the_store_takes_is_refused(store: LocalStore, tmp_path: Path):
    cids = [store.put(b"%d" % number * 10) for number in range(10)]
    with pytest.raises(ContentTooLarge):
        write_archive(LocalStore(store.folder, max_bytes=50), cids)


def test_content_larger_than_the_store_takes_is_not_read(store: LocalStore, tmp_path: Path):
    archive = write_archive(store, [store.put(HELLO)])
    with pytest.raises(ContentTooLarge):
        read_archive(LocalStore(tmp_path / "small", max_bytes=5), archive)
    assert cid_of(HELLO) == HELLO_CID


def test_roots_that_name_their_parts_without_end_are_refused(
    store: LocalStore, other: LocalStore, monkeypatch: pytest.MonkeyPatch
):
    roots = [store.put(noise(300_000 + extra)) for extra in range(3)]
    packed = write_archive(store, roots)
    monkeypatch.setattr(archive, "MAX_VISITS_OF_ALL", 8)
    with pytest.raises(InvalidArchive, match="too often"):
        read_archive(other, packed)
    monkeypatch.setattr(archive, "MAX_VISITS_OF_ALL", 9)
    assert read_archive(other, packed) == roots
