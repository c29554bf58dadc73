"""Files as trees of blocks: splitting, the encoding of nodes, and reading back.

A *profile* defines how bytes are split: the same bytes under another profile have another CID, so
different CIDs do not prove different content. Both profiles split at 262,144 bytes and build
balanced trees 174 wide. A node is UnixFS data inside dag-pb:

    node   = links (field 2)*, data (field 1)       link = hash (1), name (2), total size (3)
    data   = type (1), bytes (2), file size (3), size of each part (4)*

The output is byte for byte that of the IPFS tools. Input is untrusted: everything is checked, and
no size is trusted that the bytes do not confirm.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from arena.content.cid import DAG_PB, RAW, Cid, read_cid, read_varint, write_varint
from arena.content.errors import ContentMalformed, ContentTooLarge

CHUNK_BYTES = 262_144
WIDTH = 174
MAX_DEPTH = 8
"""Deeper than any file within Arena's limits: 174 ** 4 chunks are 240 TB."""
MAX_VISITS = 65_536
"""Blocks read for one content: a small node can refer to the same part many times."""
MAX_EXTRA_BYTES = 16 * 1024**2
"""How much larger than their content blocks may be: a node can have megabytes of overhead."""

Profile = Literal["v1-raw-256k-174", "v0-256k-174"]
V1: Profile = "v1-raw-256k-174"
V0: Profile = "v0-256k-174"

Block = tuple[Cid, bytes]
ReadBlock = Callable[[Cid], bytes]
"""Returns the verified bytes of one block."""
RAW_TYPE, FILE_TYPE = 0, 2
MAX_LINKS = 1024
"""The widest tree in use; Arena's own are narrower."""
VARINT, BYTES = 0, 2
FIELD_KINDS = {1: VARINT, 2: BYTES, 3: VARINT, 4: VARINT, 7: VARINT, 8: BYTES}
"""The fields that the UnixFS data of a file may have, and their wire types; 7 and 8 are its mode
and time, which Arena does not use."""


def cut(data: bytes, profile: Profile = V1) -> Iterator[Block]:
    """The blocks of `data`: every part before the node that refers to it, the root last."""
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
    """The CID of `data`, without storing anything."""
    *_, (root, _) = cut(data, profile)
    return str(root)


def walk(root: Cid, read: ReadBlock, *, max_bytes: int) -> Iterator[tuple[Cid, bytes, bytes]]:
    """Every block of the content in order: its CID, the block, its own content bytes.

    Raises before it reads more than `max_bytes` of content, too deep a tree, too many blocks, or
    blocks far larger than their content.
    """
    # A CID, its depth, and its size according to its parent.
    pending: list[tuple[Cid, int, int | None]] = [(root, 0, None)]
    visits = 0
    left = max_bytes + MAX_EXTRA_BYTES
    while pending:
        cid, depth, expected = pending.pop()
        visits += 1
        if visits > MAX_VISITS or depth > MAX_DEPTH:
            raise ContentMalformed(f"{root} has too many parts, or is nested too deep")
        block = read(cid)
        left -= len(block)
        if left < 0:
            raise ContentMalformed(f"the parts of {root} are far larger than their content")
        node = read_node(block, cid) if cid.codec == DAG_PB else Node(data=block, links=())
        size = node.content_bytes
        if expected is None and size > max_bytes:
            raise ContentTooLarge(f"{root} has {size} bytes, at most {max_bytes} are allowed here")
        # This bounds the whole content: no part may have another size than its parent says.
        if expected not in (None, size):
            raise ContentMalformed(f"{cid} in {root} has another size than {root} says")
        yield cid, block, node.data
        pending.extend((link.cid, depth + 1, link.content_bytes) for link in reversed(node.links))


def join(root: Cid, read: ReadBlock, *, max_bytes: int) -> bytes:
    """The content whose root is `root`."""
    return b"".join(own for _, _, own in walk(root, read, max_bytes=max_bytes))


def distinct(root: Cid, read: ReadBlock, *, max_bytes: int) -> Iterator[Block]:
    """Every block of the content once, its root first."""
    seen: set[Cid] = set()
    for cid, block, _ in walk(root, read, max_bytes=max_bytes):
        if cid.key not in seen:
            seen.add(cid.key)
            yield cid, block


def profile_of(data: bytes, cid: Cid) -> Profile | None:
    """The profile under which `data` has this CID; None if it was split in another way."""
    for profile in (V1, V0):
        *_, (root, _) = cut(data, profile)
        if root.key == cid.key:
            return profile
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A node's reference to one of its parts."""

    cid: Cid
    content_bytes: int
    """How much of the file is in the part."""
    total_bytes: int
    """The size of all blocks of the part."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A part of a file: its own bytes, then its sub-parts, in order."""

    data: bytes
    links: tuple[Link, ...]

    @property
    def content_bytes(self) -> int:
        """The size of the file, or of the part of it, that starts here."""
        return len(self.data) + sum(link.content_bytes for link in self.links)


def write_node(data: bytes, links: Sequence[Link]) -> bytes:
    """The block of a node."""
    parts = [_field(2, _write_link(link)) for link in links]
    size = len(data) + sum(link.content_bytes for link in links)
    inner = [_number(1, FILE_TYPE)]
    if data:
        inner.append(_field(2, data))
    inner.append(_number(3, size))
    inner.extend(_number(4, link.content_bytes) for link in links)
    parts.append(_field(1, b"".join(inner)))
    return b"".join(parts)


def read_node(block: bytes, cid: Cid) -> Node:
    """Parse a node; checks that its sizes add up."""
    try:
        return _read_node(block)
    except ValueError as error:
        raise ContentMalformed(f"{cid} is not a part of a file: {error}") from None


def _write_link(link: Link) -> bytes:
    return _field(1, link.cid.binary) + _field(2, b"") + _number(3, link.total_bytes)


def _field(number: int, value: bytes) -> bytes:
    return write_varint(number << 3 | BYTES) + write_varint(len(value)) + value


def _number(number: int, value: int) -> bytes:
    return write_varint(number << 3 | VARINT) + write_varint(value)


def _read_node(block: bytes) -> Node:
    inner: bytes | None = None
    targets: list[tuple[Cid, int]] = []
    for number, value in _fields(block):
        if number == 1 and isinstance(value, bytes) and inner is None:
            inner = value
        elif number == 2 and isinstance(value, bytes) and inner is None:
            targets.append(_read_link(value))
        else:
            raise ValueError("its fields are out of order")
        if len(targets) > MAX_LINKS:
            raise ValueError(f"it has more than {MAX_LINKS} parts")
    if inner is None:
        raise ValueError("it has no data")
    data, size, sizes = _read_data(inner)
    if len(sizes) != len(targets):
        raise ValueError("it does not give the size of each part")
    links = [
        Link(cid=cid, content_bytes=content, total_bytes=total)
        for (cid, total), content in zip(targets, sizes, strict=True)
    ]
    node = Node(data=data, links=tuple(links))
    if node.content_bytes != size:
        raise ValueError("its sizes do not add up")
    if any(link.content_bytes == 0 for link in links):
        raise ValueError("it has an empty part")
    return node


def _read_link(data: bytes) -> tuple[Cid, int]:
    cid: Cid | None = None
    total = 0
    for number, value in _fields(data):
        if number == 1 and isinstance(value, bytes):
            cid, end = read_cid(value, 0)
            if end != len(value):
                raise ValueError("something follows the name of a part")
        elif number == 3 and isinstance(value, int):
            total = value
        elif number != 2 or value != b"":
            raise ValueError("a part has a name, as in a folder")
    if cid is None:
        raise ValueError("a part has no CID")
    return cid, total


def _read_data(data: bytes) -> tuple[bytes, int, list[int]]:
    """The bytes, the size of the file and the sizes of the parts."""
    kind, own, size = -1, b"", None
    sizes: list[int] = []
    for number, value in _fields(data):
        if FIELD_KINDS.get(number) != (VARINT if isinstance(value, int) else BYTES):
            raise ValueError("its data has a field that files do not have")
        if isinstance(value, bytes):
            own = value if number == 2 else own
        elif number == 1:
            kind = value
        elif number == 3:
            size = value
        elif number == 4:
            sizes.append(value)
    if kind not in (RAW_TYPE, FILE_TYPE):
        raise ValueError("it is a folder or a link, not a file")
    # Old tools leave the size out of raw leaves.
    return own, len(own) + sum(sizes) if size is None else size, sizes


def _fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    at = 0
    while at < len(data):
        key, at = read_varint(data, at)
        number, wire = key >> 3, key & 7
        if wire == VARINT:
            value, at = read_varint(data, at)
            yield number, value
        elif wire == BYTES:
            length, at = read_varint(data, at)
            if at + length > len(data):
                raise ValueError("a field is cut off")
            yield number, data[at : at + length]
            at += length
        else:
            raise ValueError("a field is of an unknown kind")
