"""Content in one file that can be carried elsewhere: a CAR of version 1.

    header = length, {"roots": [CID…], "version": 1} in CBOR       section = length, CID, block

An archive that Arena takes is whole: every block is what its name says and everything that its
roots lead to is in it. So one changed byte anywhere is found, or changes nothing.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from arena.content.cid import Cid, parse_cid, read_cid
from arena.content.errors import ContentMissing, ContentTooLarge
from arena.content.store import MAX_BLOCK_BYTES, LocalStore
from arena.content.tree import walk
from arena.content.varint import read_varint, write_varint
from arena.errors import InvalidInput

MAX_ROOTS = 1000
MAX_VISITS_OF_ALL = 500_000
UINT, BYTES, TEXT, ARRAY, MAP, TAG = 0, 2, 3, 4, 5, 6
"""The kinds of CBOR values that a header has."""
CID_TAG = 42


class InvalidArchive(InvalidInput):
    """The file is not an archive that Arena can take."""

    code = "invalid_archive"


def write_archive(store: LocalStore, cids: Sequence[str]) -> bytes:
    """An archive of these contents, each block once."""
    roots = list(dict.fromkeys(parse_cid(cid) for cid in cids))
    if not 0 < len(roots) <= MAX_ROOTS:
        raise InvalidInput(f"an archive has 1 to {MAX_ROOTS} roots, not {len(roots)}")
    header = _head(MAP, 2) + _text("roots") + _head(ARRAY, len(roots))
    header += b"".join(_head(TAG, CID_TAG) + _bytes(b"\0" + root.binary) for root in roots)
    header += _text("version") + _head(UINT, 1)
    parts = [write_varint(len(header)), header]
    seen: set[Cid] = set()
    size = 0
    for root in roots:
        for cid, block in store.blocks(str(root)):
            if cid.key not in seen:
                seen.add(cid.key)
                section = cid.binary + block
                parts += [write_varint(len(section)), section]
                size += len(section)
        if size > 2 * store.max_bytes:
            raise ContentTooLarge(f"the archive would have more than {2 * store.max_bytes} bytes")
    return b"".join(parts)


def read_archive(store: LocalStore, data: bytes) -> list[str]:
    """Keep all that an archive holds and give its roots; nothing is kept unless all is right."""
    try:
        roots, at = _read_header(data)
        blocks = {cid.key: (cid, block) for cid, block in _sections(data, at)}
    except ValueError as wrong:
        raise InvalidArchive(f"the archive is damaged or no CAR of version 1: {wrong}") from None
    reached = _reached(roots, {key: block for key, (_, block) in blocks.items()}, store.max_bytes)
    if reached != blocks.keys():
        raise InvalidArchive("the archive holds blocks that none of its roots leads to")
    for cid, block in blocks.values():
        store.put_block(cid, block)
    return [str(root) for root in roots]


def _reached(roots: Sequence[Cid], blocks: dict[Cid, bytes], max_bytes: int) -> set[Cid]:
    def read(cid: Cid) -> bytes:
        if cid.key not in blocks:
            raise ContentMissing(f"the archive is damaged: {cid} is missing in it")
        return blocks[cid.key]

    reached: set[Cid] = set()
    visits = 0
    for root in roots:
        for cid, _, _ in walk(root, read, max_bytes=max_bytes):
            reached.add(cid.key)
            visits += 1
            # Each root by itself may name its parts often; all of them together not without end.
            if visits > MAX_VISITS_OF_ALL:
                raise InvalidArchive("the archive names its parts too often")
    return reached


def _sections(data: bytes, at: int) -> Iterator[tuple[Cid, bytes]]:
    while at < len(data):
        length, at = read_varint(data, at)
        end = at + length
        if end > len(data):
            raise ValueError("it is cut off")
        cid, begin = read_cid(data, at)
        if begin > end or end - begin > MAX_BLOCK_BYTES:
            raise ValueError("a block has a length it cannot have")
        block = data[begin:end]
        if not cid.names(block):
            raise ValueError(f"the bytes of {cid} are not those it names")
        yield cid, block
        at = end


def _read_header(data: bytes) -> tuple[list[Cid], int]:
    length, at = read_varint(data, 0)
    if at + length > len(data):
        raise ValueError("its header is cut off")
    header = _Header(data=data[at : at + length])
    header.expect(MAP, 2)
    header.expect_text("roots")
    count = header.take(ARRAY)
    if not 0 < count <= MAX_ROOTS:
        raise ValueError(f"it has {count} roots")
    roots = [header.take_cid() for _ in range(count)]
    header.expect_text("version")
    header.expect(UINT, 1)
    if header.at != length:
        raise ValueError("something follows its header")
    return roots, at + length


@dataclass(slots=True, kw_only=True)
class _Header:
    """A reader of the header; there is one way to write it, and no other is taken."""

    data: bytes
    at: int = 0

    def take(self, kind: int) -> int:
        """The number with which a value of that kind begins."""
        for extra in (0, 1, 2):
            number = int.from_bytes(self.data[self.at + 1 : self.at + 1 + extra], "big")
            if extra == 0 and self.at < len(self.data):
                number = self.data[self.at] & 0x1F
            head = _head(kind, number)
            if self.data[self.at : self.at + len(head)] == head and len(head) == 1 + extra:
                self.at += len(head)
                return number
        raise ValueError("its header is not the one of a CAR of version 1")

    def expect(self, kind: int, number: int) -> None:
        if self.take(kind) != number:
            raise ValueError("its header is not the one of a CAR of version 1")

    def expect_text(self, text: str) -> None:
        if self._cut(self.take(TEXT)) != text.encode():
            raise ValueError(f"its header lacks {text!r}")

    def take_cid(self) -> Cid:
        self.expect(TAG, CID_TAG)
        binary = self._cut(self.take(BYTES))
        if binary[:1] != b"\0":
            raise ValueError("a root is not a CID")
        cid, end = read_cid(binary, 1)
        if end != len(binary):
            raise ValueError("something follows a root")
        return cid

    def _cut(self, length: int) -> bytes:
        self.at += length
        return self.data[self.at - length : self.at]


def _head(kind: int, number: int) -> bytes:
    """The beginning of a CBOR value, as short as it can be."""
    if number < 24:
        return bytes((kind << 5 | number,))
    if number < 0x100:
        return bytes((kind << 5 | 24, number))
    return bytes((kind << 5 | 25, *number.to_bytes(2, "big")))


def _text(text: str) -> bytes:
    return _head(TEXT, len(text)) + text.encode()


def _bytes(data: bytes) -> bytes:
    return _head(BYTES, len(data)) + data
