"""Content in one file for transfer: a CAR of version 1.

    header = length, {"roots": [CID…], "version": 1} in CBOR       section = length, CID, block

Arena accepts only complete archives: every block matches its CID, and everything that the roots
refer to is included. So one changed byte anywhere is detected.
"""

from collections.abc import Iterator, Sequence

from arena.content.cid import Cid, parse_cid, read_cid, read_varint, write_varint
from arena.content.errors import ContentMissing, ContentTooLarge, InvalidArchive
from arena.content.ports import ContentStore
from arena.content.store import MAX_BLOCK_BYTES
from arena.content.tree import walk
from arena.errors import InvalidInput

MAX_ROOTS = 1000
MAX_VISITS_OF_ALL = 500_000
ARRAY, BYTES = 4, 2
"""Types of CBOR values."""
# CBOR: a map of two entries, the first key; the tag of a CID; the second key with its value.
START, CID_TAG, END = b"\xa2\x65roots", b"\xd8\x2a", b"\x67version\x01"


def write_archive(store: ContentStore, cids: Sequence[str]) -> bytes:
    """An archive of these contents, each block once."""
    roots = list(dict.fromkeys(parse_cid(cid) for cid in cids))
    if not 0 < len(roots) <= MAX_ROOTS:
        raise InvalidInput(f"an archive has 1 to {MAX_ROOTS} roots, not {len(roots)}")
    header = _write_header(roots)
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


def read_archive(store: ContentStore, data: bytes) -> list[str]:
    """Store the content of an archive, or nothing if any of it is bad; returns its roots."""
    try:
        roots, at = _read_header(data)
        blocks = {cid.key: (cid, block) for cid, block in _sections(data, at)}
    except ValueError as error:
        raise InvalidArchive(f"the archive is damaged or not a CAR of version 1: {error}") from None
    reached = _reached(roots, {key: block for key, (_, block) in blocks.items()}, store.max_bytes)
    if reached != blocks.keys():
        raise InvalidArchive("the archive holds blocks that none of its roots refers to")
    for cid, block in blocks.values():
        store.put_block(cid, block)
    return [str(root) for root in roots]


def _reached(roots: Sequence[Cid], blocks: dict[Cid, bytes], max_bytes: int) -> set[Cid]:
    def read(cid: Cid) -> bytes:
        if cid.key not in blocks:
            raise ContentMissing(f"the archive is incomplete: it does not hold {cid}")
        return blocks[cid.key]

    reached: set[Cid] = set()
    visits = 0
    for root in roots:
        for cid, _, _ in walk(root, read, max_bytes=max_bytes):
            reached.add(cid.key)
            visits += 1
            # `walk` limits the visits per root; this limits all roots together.
            if visits > MAX_VISITS_OF_ALL:
                raise InvalidArchive("the archive refers to its parts too often")
    return reached


def _sections(data: bytes, at: int) -> Iterator[tuple[Cid, bytes]]:
    while at < len(data):
        length, at = read_varint(data, at)
        end = at + length
        if end > len(data):
            raise ValueError("it is cut off")
        cid, begin = read_cid(data, at)
        if begin > end or end - begin > MAX_BLOCK_BYTES:
            raise ValueError("a block has an impossible length")
        block = data[begin:end]
        if not cid.names(block):
            raise ValueError(f"the bytes of {cid} do not match it")
        yield cid, block
        at = end


def _write_header(roots: Sequence[Cid]) -> bytes:
    names = [b"\0" + root.binary for root in roots]
    entries = b"".join(CID_TAG + _cbor_head(BYTES, len(name)) + name for name in names)
    return START + _cbor_head(ARRAY, len(roots)) + entries + END


def _read_header(data: bytes) -> tuple[list[Cid], int]:
    length, at = read_varint(data, 0)
    header = data[at : at + length]
    roots: list[Cid] = []
    place = header.find(CID_TAG)
    while header.startswith(CID_TAG, place):
        # After the tag: the head of a byte string, which is two bytes long, and a zero.
        cid, place = read_cid(header, place + len(CID_TAG) + 3)
        roots.append(cid)
    # A header has only one encoding, so it is valid if writing it gives the same bytes.
    if not 0 < len(roots) <= MAX_ROOTS or _write_header(roots) != header or len(header) != length:
        raise ValueError("its header is not valid")
    return roots, at + length


def _cbor_head(kind: int, number: int) -> bytes:
    """The start of a CBOR value, as short as possible."""
    if number < 24:
        return bytes((kind << 5 | number,))
    if number < 0x100:
        return bytes((kind << 5 | 24, number))
    return bytes((kind << 5 | 25, *number.to_bytes(2, "big")))
