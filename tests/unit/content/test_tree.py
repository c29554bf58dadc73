"""A tree is read back whole, and a malicious one is refused early."""

from collections.abc import Sequence
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.content.cid import DAG_PB, RAW, Cid, write_varint
from arena.content.errors import ContentMalformed, ContentTooLarge
from arena.content.tree import (
    MAX_DEPTH,
    V0,
    V1,
    Link,
    Node,
    Profile,
    cut,
    distinct,
    join,
    profile_of,
    read_node,
    walk,
    write_node,
)
from cid_vectors import noise

MAX_BYTES = 10_000_000


class Blocks(dict[Cid, bytes]):
    """Blocks in memory, and how often one was read."""

    reads = 0

    def add(self, block: bytes, codec: int) -> Cid:
        cid = Cid.of_block(block, codec=codec)
        self[cid] = block
        return cid

    def node(self, links: Sequence[Link], data: bytes = b"") -> Link:
        cid = self.add(write_node(data, links), DAG_PB)
        size = len(data) + sum(link.content_bytes for link in links)
        return Link(cid=cid, content_bytes=size, total_bytes=0)

    def leaf(self, data: bytes) -> Link:
        return Link(cid=self.add(data, RAW), content_bytes=len(data), total_bytes=len(data))

    def read(self, cid: Cid) -> bytes:
        self.reads += 1
        return self[cid]

    def whole(self, top: Cid) -> bytes:
        return join(top, self.read, max_bytes=MAX_BYTES)


@pytest.mark.parametrize("profile", [V0, V1])
@pytest.mark.parametrize("size", [0, 1, 262_144, 262_145, 262_144 * 174, 262_144 * 174 + 1])
def test_what_is_cut_can_be_put_together(size: int, profile: Profile):
    data = noise(size)
    blocks = dict(cut(data, profile))
    *_, (top, _) = cut(data, profile)
    walked = walk(top, blocks.__getitem__, max_bytes=size)
    assert b"".join(own for _, _, own in walked) == data


@given(st.lists(st.binary(min_size=1, max_size=50), min_size=1, max_size=30), st.binary())
def test_a_node_reads_back(parts: list[bytes], own: bytes):
    blocks = Blocks()
    links = tuple(blocks.leaf(part) for part in parts)
    block = write_node(own, links)
    top = Cid.of_block(block, codec=DAG_PB)
    assert read_node(block, top) == Node(data=own, links=links)
    blocks[top] = block
    assert blocks.whole(top) == own + b"".join(parts)


@given(st.binary())
def test_any_bytes_are_a_node_or_refused(data: bytes):
    with suppress(ContentMalformed):
        read_node(data, Cid.of_block(data, codec=DAG_PB))


def test_a_small_tree_that_says_it_is_huge_is_refused_at_its_top():
    blocks = Blocks()
    link = blocks.leaf(b"a" * 1000)
    for _ in range(5):  # 1000 ** 6 bytes in a few blocks
        link = blocks.node([link] * 1000)
    with pytest.raises(ContentTooLarge):
        blocks.whole(link.cid)
    assert blocks.reads == 1


def test_a_tree_that_lies_about_the_size_of_a_part_is_refused():
    blocks = Blocks()
    big = blocks.node([blocks.leaf(b"a" * 1000)] * 1000)
    top = blocks.node([Link(cid=big.cid, content_bytes=5, total_bytes=5)])
    with pytest.raises(ContentMalformed, match="another size"):
        blocks.whole(top.cid)
    assert blocks.reads == 2


def test_a_tree_of_tiny_parts_is_refused():
    blocks = Blocks()
    crumbs = blocks.node([blocks.leaf(b"a")] * 1024)
    top = blocks.node([crumbs] * 1024)
    with pytest.raises(ContentMalformed, match="too many parts"):
        blocks.whole(top.cid)
    assert blocks.reads <= 66_000


def test_a_tree_that_is_too_deep_is_refused():
    blocks = Blocks()
    link = blocks.leaf(b"a")
    for _ in range(MAX_DEPTH):
        link = blocks.node([link])
    assert blocks.whole(link.cid) == b"a"
    with pytest.raises(ContentMalformed, match="too deep"):
        blocks.whole(blocks.node([link]).cid)


FOLDER = bytes.fromhex("0a020801")
"""An empty folder, as IPFS tools write it."""


@pytest.mark.parametrize(
    ("block", "why"),
    [
        (b"", "no data"),
        (FOLDER, "a folder or a link"),
        (b"\x0a\xff", "cut off"),
        (b"\x0a\x80\x00", "longer than it needs"),
        (b"\x0b", "unknown kind"),
        (b"\x0a\x04\x08\x02\x18\x05", "do not add up"),
        (b"\x0a\x06\x08\x02\x18\x05\x20\x05", "size of each part"),
        (b"\x0a\x04\x08\x02\x18\x00" * 2, "out of order"),
        (b"\x0a\x06\x08\x02\x18\x00\x48\x01", "files do not have"),
        (b"\x12\x00\x0a\x04\x08\x02\x18\x00", "no CID"),
    ],
)
def test_a_block_that_is_not_part_of_a_file_is_refused_with_the_reason(block: bytes, why: str):
    with pytest.raises(ContentMalformed, match=why):
        read_node(block, Cid.of_block(block, codec=DAG_PB))


def test_empty_parts_and_too_many_parts_are_refused():
    blocks = Blocks()
    for links, why in (
        ([blocks.leaf(b"")], "empty part"),
        ([blocks.leaf(b"a")] * 1025, "more than 1024"),
    ):
        with pytest.raises(ContentMalformed, match=why):
            blocks.whole(blocks.node(links).cid)


def test_megabytes_for_one_byte_of_content_are_not_read_again_and_again():
    blocks = Blocks()
    padding = b"\0" * 1024**2
    # A file's data of type 2, one byte, its size, and a field that nobody uses.
    inner = b"\x08\x02\x12\x01x\x18\x01" + b"\x42" + write_varint(len(padding)) + padding
    padded = blocks.add(b"\x0a" + write_varint(len(inner)) + inner, DAG_PB)
    assert blocks.whole(padded) == b"x"
    top = blocks.node([Link(cid=padded, content_bytes=1, total_bytes=0)] * 1000)
    blocks.reads = 0
    with pytest.raises(ContentMalformed, match="far larger"):
        blocks.whole(top.cid)
    assert blocks.reads < 40


@pytest.mark.parametrize("profile", [V0, V1])
@pytest.mark.parametrize("size", [0, 11, 262_144, 600_000])
def test_the_profile_of_content_is_found(profile: Profile, size: int):
    *_, (root, _) = cut(noise(size), profile)
    assert profile_of(noise(size), root) == profile
    assert profile_of(noise(size), root.key) == profile


def test_content_that_was_split_in_another_way_has_no_known_profile():
    blocks = Blocks()
    top = blocks.node([blocks.leaf(b"hello "), blocks.leaf(b"world")])
    assert profile_of(b"hello world", top.cid) is None


def test_a_block_that_occurs_twice_is_listed_once():
    blocks = Blocks()
    leaf = blocks.leaf(b"again")
    top = blocks.node([leaf, leaf])
    listed = [cid for cid, _ in distinct(top.cid, blocks.read, max_bytes=MAX_BYTES)]
    assert listed == [top.cid, leaf.cid]
