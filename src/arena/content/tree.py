"""Bytes as a tree of blocks, and back.

A *profile* says how: the same bytes under another profile have another CID, so unequal CIDs do not
prove unequal content. Both profiles cut at 262,144 bytes and make balanced trees 174 wide.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from arena.content.cid import DAG_PB, RAW, Cid
from arena.content.errors import ContentMalformed, ContentTooLarge
from arena.content.node import Link, read_node, write_node

CHUNK_BYTES = 262_144
WIDTH = 174
MAX_DEPTH = 8
"""Deeper than any file of Arena's size limits: 174 ** 4 chunks are 240 TB."""
MAX_VISITS = 65_536
"""How many blocks one content may take to read; a small block may name the same part often."""
MAX_EXTRA_BYTES = 16 * 1024**2
"""How much more than their content the blocks may take; a node may hold megabytes for one byte."""

Profile = Literal["v1-raw-256k-174", "v0-256k-174"]
V1: Profile = "v1-raw-256k-174"
V0: Profile = "v0-256k-174"

Block = tuple[Cid, bytes]
ReadBlock = Callable[[Cid], bytes]
"""Gives the verified bytes of one block."""


def cut(data: bytes, profile: Profile = V1) -> Iterator[Block]:
    """The blocks of `data`, every part before the node that names it, the top last."""
    version = 0 if profile == V0 else 1
    level: list[Link] = []
    for start in range(0, max(len(data), 1), CHUNK_BYTES):
        chunk = data[start : start + CHUNK_BYTES]
        block = write_node(chunk, ()) if version == 0 else chunk
        cid = Cid.of_block(block, codec=RAW if version else DAG_PB, version=version)
        level.append(Link(cid=cid, content_bytes=len(chunk), total_bytes=len(block)))
        yield cid, block
    while len(level) > 1:
        above: list[Link] = []
        for start in range(0, len(level), WIDTH):
            links = level[start : start + WIDTH]
            block = write_node(b"", links)
            cid = Cid.of_block(block, codec=DAG_PB, version=version)
            content = sum(link.content_bytes for link in links)
            total = len(block) + sum(link.total_bytes for link in links)
            above.append(Link(cid=cid, content_bytes=content, total_bytes=total))
            yield cid, block
        level = above


def cid_of(data: bytes, profile: Profile = V1) -> str:
    """The CID of `data`, computed without keeping anything."""
    top = ""
    for cid, _ in cut(data, profile):
        top = str(cid)
    return top


@dataclass(frozen=True, slots=True, kw_only=True)
class _Due:
    """A block that is still to be read, and what its parent said of it."""

    cid: Cid
    depth: int
    content_bytes: int | None


def walk(top: Cid, read: ReadBlock, *, max_bytes: int) -> Iterator[tuple[Cid, bytes, bytes]]:
    """Every block of the content in the order of its bytes: its name, it, and its own bytes.

    Ends with an error before more than `max_bytes` of content, too deep, too many blocks or far
    larger ones than the content needs.
    """
    pending = [_Due(cid=top, depth=0, content_bytes=None)]
    visits = 0
    left = max_bytes + MAX_EXTRA_BYTES
    while pending:
        due = pending.pop()
        visits += 1
        if visits > MAX_VISITS or due.depth > MAX_DEPTH:
            raise ContentMalformed(f"{top} is cut into too many parts, or nested too deep")
        block = read(due.cid)
        left -= len(block)
        if left < 0:
            raise ContentMalformed(f"the parts of {top} are far larger than what they hold")
        own, links = block, ()
        if due.cid.codec == DAG_PB:
            node = read_node(block, due.cid)
            own, links = node.data, node.links
        size = len(own) + sum(link.content_bytes for link in links)
        if due.content_bytes is None and size > max_bytes:
            raise ContentTooLarge(f"{top} has {size} bytes, at most {max_bytes} are allowed here")
        # A parent's word bounds the whole: no part may hold more than it says.
        if due.content_bytes not in (None, size):
            raise ContentMalformed(f"{due.cid} in {top} has another size than {top} says")
        yield due.cid, block, own
        pending.extend(
            _Due(cid=link.cid, depth=due.depth + 1, content_bytes=link.content_bytes)
            for link in reversed(links)
        )
