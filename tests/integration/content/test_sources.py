"""The same bytes have the same CIDs in every store, and come back whole from every one."""

import json
import urllib.request
from pathlib import Path

import pytest

from arena.assembly import open_arena
from arena.content.archive import read_archive, write_archive
from arena.content.cid import DAG_PB, Cid, parse_cid
from arena.content.errors import (
    ContentCorrupt,
    ContentMalformed,
    ContentMissing,
    ContentPending,
    ContentTooLarge,
    PinRefused,
    WrongBlock,
)
from arena.content.gateway import GatewayStore
from arena.content.kubo import KuboStore, publish
from arena.content.ports import ContentSource, ContentStore
from arena.content.store import LocalStore
from arena.content.tiered import TieredStore
from arena.content.tree import V0, V1, Link, Profile, cid_of, write_node
from arena.settings import Settings
from cid_vectors import HELLO, HELLO_CID, NOT_HELLO_CID, VECTORS, noise
from ipfs_server import IpfsServer

EVERY_CID = [
    pytest.param(data, profile, cid, id=f"{len(data)}-{profile}")
    for data, v0, v1 in VECTORS
    for profile, cid in ((V0, v0), (V1, v1))
]
LARGE, LARGE_CID = VECTORS[-1][0], VECTORS[-1][2]


@pytest.mark.parametrize(("data", "profile", "cid"), EVERY_CID)
def test_every_known_cid_holds_in_every_store(
    any_store: ContentSource, daemon: IpfsServer, data: bytes, profile: Profile, cid: str
):
    if isinstance(any_store, LocalStore | KuboStore):
        assert any_store.put(data, profile=profile) == cid
    else:
        assert daemon.keep(data, profile) == cid
    assert any_store.get(cid) == data
    blocks = list(any_store.blocks(cid))
    assert blocks[0][0] == parse_cid(cid)
    assert all(one.names(block) for one, block in blocks)


def test_no_store_returns_other_bytes_for_the_changed_cid(
    any_store: ContentSource, daemon: IpfsServer
):
    daemon.blocks[parse_cid(NOT_HELLO_CID).key] = HELLO
    with pytest.raises((ContentMissing, WrongBlock), match=NOT_HELLO_CID):
        any_store.get(NOT_HELLO_CID)
    with pytest.raises((ContentMissing, WrongBlock), match=NOT_HELLO_CID):
        list(any_store.blocks(NOT_HELLO_CID))
    if isinstance(any_store, LocalStore | TieredStore):
        with pytest.raises(ContentCorrupt, match=NOT_HELLO_CID):
            any_store.put_block(parse_cid(NOT_HELLO_CID), HELLO)


def test_fifty_megabytes_come_back_whole_from_the_gateway_of_a_daemon_that_got_them_by_rpc(
    local: LocalStore, daemon: IpfsServer, kubo: KuboStore, gateway: GatewayStore
):
    local.put(LARGE)
    publish(local, kubo, LARGE_CID)
    assert kubo.get(LARGE_CID) == LARGE
    assert gateway.get(LARGE_CID) == LARGE
    # The daemon itself joins the blocks to the same file.
    request = urllib.request.Request(f"{daemon.url}/api/v0/cat?arg={LARGE_CID}", method="POST")
    with urllib.request.urlopen(request) as answer:
        assert answer.read() == LARGE


def test_the_daemon_is_told_explicitly_how_to_split(kubo: KuboStore, daemon: IpfsServer):
    kubo.put(noise(300_000))
    kubo.put(noise(300_000), profile=V0)
    new, old = daemon.queries
    explicit = {"chunker": "size-262144", "hash": "sha2-256", "max-file-links": "174"}
    assert new.items() >= {**explicit, "cid-version": "1", "raw-leaves": "true"}.items()
    assert old.items() >= {**explicit, "cid-version": "0", "raw-leaves": "false"}.items()
    assert {query["pin"] for query in daemon.queries} == {"false"}


@pytest.mark.parametrize("data", [HELLO, noise(300_000)], ids=len)
def test_a_daemon_may_report_cids_in_another_encoding(
    kubo: KuboStore, daemon: IpfsServer, data: bytes
):
    daemon.is_base58 = True
    cid = kubo.put(data)
    assert cid == cid_of(data)
    kubo.pin(cid)
    assert kubo.is_pinned(cid)


@pytest.mark.parametrize("profile", [V0, V1])
def test_a_pin_is_set_listed_and_removed(kubo: KuboStore, daemon: IpfsServer, profile: Profile):
    cid = kubo.put(noise(300_000), profile=profile)
    assert not kubo.is_pinned(cid)
    kubo.pin(cid)
    assert kubo.is_pinned(cid)
    assert daemon.pins == {parse_cid(cid)}
    kubo.unpin(cid)
    assert not kubo.is_pinned(cid)


def test_what_the_daemon_does_not_have_cannot_be_pinned_or_unpinned(kubo: KuboStore):
    with pytest.raises(PinRefused, match="block was not found"):
        kubo.pin(HELLO_CID)
    with pytest.raises(PinRefused, match="not pinned"):
        kubo.unpin(HELLO_CID)


def test_content_that_was_split_in_another_way_is_published_block_by_block(
    local: LocalStore, kubo: KuboStore, daemon: IpfsServer
):
    leaves = [Cid.of_block(part, codec=0x55) for part in (b"hello ", b"world")]
    sizes = (6, 5)
    links = [
        Link(cid=cid, content_bytes=size, total_bytes=size)
        for cid, size in zip(leaves, sizes, strict=True)
    ]
    node = write_node(b"", links)
    root = Cid.of_block(node, codec=DAG_PB)
    for cid, block in ((leaves[0], b"hello "), (leaves[1], b"world"), (root, node)):
        local.put_block(cid, block)
    publish(local, kubo, str(root))
    assert daemon.requests == ["block/put"] * 3 + ["pin/add"]
    assert kubo.get(str(root)) == HELLO
    assert kubo.is_pinned(str(root))


def test_what_no_source_has_is_pending(source: ContentSource):
    with pytest.raises(ContentPending, match=HELLO_CID) as caught:
        source.get(HELLO_CID)
    assert caught.value.retryable


def test_a_part_that_is_not_there_is_pending(source: ContentSource, daemon: IpfsServer):
    cid = daemon.keep(noise(300_000))
    part = next(key for key in daemon.blocks if str(key) != cid)
    del daemon.blocks[part]
    with pytest.raises(ContentPending, match=str(part)):
        source.get(cid)


def test_size_limits_apply_before_the_content_is_read(source: ContentSource, daemon: IpfsServer):
    cid = daemon.keep(noise(1_000_000))
    with pytest.raises(ContentTooLarge):
        source.get(cid, max_bytes=999_999)
    assert len(daemon.requests) == 1
    assert len(source.get(cid, max_bytes=1_000_000)) == 1_000_000


def test_a_tree_that_is_too_deep_or_refers_to_itself_too_often_is_refused(
    source: ContentSource, daemon: IpfsServer
):
    block = b"x"
    cid = Cid.of_block(block, codec=0x55)
    size = 1
    daemon.blocks[cid] = block
    for _ in range(10):
        node = write_node(b"", [Link(cid=cid, content_bytes=size, total_bytes=size)] * 8)
        cid, size = Cid.of_block(node, codec=DAG_PB), 8 * size
        daemon.blocks[cid] = node
    with pytest.raises((ContentMalformed, ContentTooLarge)):
        source.get(str(cid))
    assert len(daemon.requests) < 100


def test_a_folder_is_not_content(source: ContentSource, daemon: IpfsServer):
    folder = b"\x0a\x02\x08\x01"
    cid = Cid.of_block(folder, codec=DAG_PB)
    daemon.blocks[cid] = folder
    with pytest.raises(ContentMalformed, match="folder"):
        source.get(str(cid))


def test_a_gateway_is_asked_for_raw_blocks_only(gateway: GatewayStore, daemon: IpfsServer):
    gateway.get(daemon.keep(noise(300_000)))
    assert {query["format"] for query in daemon.queries} == {"raw"}
    assert {headers["accept"] for headers in daemon.headers} == {"application/vnd.ipld.raw"}
    assert {headers["accept-encoding"] for headers in daemon.headers} == {"identity"}


@pytest.mark.parametrize("ending", ["", "/", "/ipfs", "/ipfs/"])
def test_the_address_of_a_gateway_may_end_in_several_ways(daemon: IpfsServer, ending: str):
    store = GatewayStore(daemon.url + ending, timeout_seconds=60)
    assert store.get(daemon.keep(HELLO)) == HELLO


@pytest.mark.parametrize("ending", ["", "/", "/api/v0", "/api/v0/"])
def test_the_address_of_a_daemon_may_end_in_several_ways(daemon: IpfsServer, ending: str):
    store = KuboStore(daemon.url + ending, timeout_seconds=60)
    assert store.get(daemon.keep(HELLO)) == HELLO


def test_a_name_and_a_password_are_sent_to_the_daemon_and_never_shown(daemon: IpfsServer):
    url = daemon.url.replace("http://", "http://ann:secret-word@")
    store = KuboStore(url, timeout_seconds=60)
    store.get(daemon.keep(HELLO))
    assert daemon.headers[0]["authorization"].startswith("Basic ")
    assert "secret-word" not in store.name
    daemon.lie = "403"
    with pytest.raises(Exception, match="does not allow") as caught:
        store.get(HELLO_CID)
    assert "secret-word" not in str(caught.value)


def test_a_key_in_the_path_of_the_daemon_is_never_shown():
    store = KuboStore("http://127.0.0.1:1/secret-key/", timeout_seconds=60)
    with pytest.raises(Exception, match=r"http://127\.0\.0\.1:1 cannot be reached") as caught:
        store.get(HELLO_CID)
    assert "secret-key" not in str(caught.value)


async def test_the_network_is_used_only_if_it_is_configured(daemon: IpfsServer, tmp_path: Path):
    async with open_arena(Settings(home=tmp_path / "home")) as arena:
        assert isinstance(arena.content, LocalStore)
        assert arena.kubo is None
    settings = Settings(home=tmp_path / "home", kubo_url=daemon.url, ipfs_gateways=(daemon.url,))
    async with open_arena(settings) as arena:
        assert isinstance(arena.content, TieredStore)
        with pytest.raises(ContentPending):
            arena.content.get(HELLO_CID)
    # The daemon first, then the gateway.
    assert daemon.requests == ["block/get", f"/ipfs/{HELLO_CID}"]


def test_archives_are_made_of_content_in_the_network(
    tiered: TieredStore, daemon: IpfsServer, tmp_path: Path
):
    cids = [daemon.keep(noise(300_000)), daemon.keep(HELLO)]
    archive = write_archive(tiered, cids)
    elsewhere: ContentStore = LocalStore(tmp_path / "elsewhere")
    assert read_archive(elsewhere, archive) == cids
    assert [elsewhere.get(cid) for cid in cids] == [noise(300_000), HELLO]


def test_an_imported_archive_stays_on_this_machine(
    tiered: TieredStore, daemon: IpfsServer, tmp_path: Path
):
    elsewhere = LocalStore(tmp_path / "elsewhere")
    archive = write_archive(elsewhere, [elsewhere.put(HELLO)])
    read_archive(tiered, archive)
    assert tiered.local.get(HELLO_CID) == HELLO
    assert daemon.requests == []


def test_the_test_server_speaks_json_like_a_daemon(daemon: IpfsServer):
    request = urllib.request.Request(f"{daemon.url}/api/v0/version", method="POST")
    with urllib.request.urlopen(request) as answer:
        assert json.load(answer)["Version"]
