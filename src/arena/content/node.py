"""One node of a file's tree: dag-pb on the outside, UnixFS within.

    node   = links (field 2)*, data (field 1)       link = hash (1), name (2), total size (3)
    data   = type (1), bytes (2), file size (3), size of each part (4)*

What is written here is byte for byte what the IPFS tools write. What is read may come from a
stranger: everything is checked, and nothing is believed that the bytes do not bear out.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from arena.content.cid import Cid, read_cid
from arena.content.errors import ContentMalformed
from arena.content.varint import read_varint, write_varint

RAW_TYPE, FILE_TYPE = 0, 2
MAX_LINKS = 1024
"""The widest tree in use; Arena's own is narrower."""
VARINT, BYTES = 0, 2
KNOWN = {1: VARINT, 2: BYTES, 3: VARINT, 4: VARINT, 7: VARINT, 8: BYTES}
"""The fields of UnixFS data that a file may have, with how each is written; 7 and 8 are its mode
and time, which Arena does not use."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """The way from a node to one of its parts."""

    cid: Cid
    content_bytes: int
    """How much of the file lies behind it."""
    total_bytes: int
    """The size of all blocks behind it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A part of a file: bytes of its own, then its parts, in order."""

    data: bytes
    links: tuple[Link, ...]

    @property
    def content_bytes(self) -> int:
        """The size of the file, or part of it, whose top this is."""
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
    """The node that a block holds; its sizes add up."""
    try:
        return _read_node(block)
    except ValueError as wrong:
        raise ContentMalformed(f"{cid} is not a part of a file: {wrong}") from None


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
        if KNOWN.get(number) != (VARINT if isinstance(value, int) else BYTES):
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
    # Raw leaves of old tools leave the size out.
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
