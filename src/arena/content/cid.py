"""CIDs: content identifiers made from a hash, and the varints in them.

A CID is a version, a codec (raw bytes, or a dag-pb node of a file's tree) and a sha2-256 digest.
Two texts can encode one CID, so CIDs are compared as values of `Cid`, never as text.
"""

import base64
import binascii
import hashlib
from dataclasses import dataclass

from arena.errors import InvalidInput

RAW = 0x55
DAG_PB = 0x70
CODECS = {RAW: "raw", DAG_PB: "dag-pb"}
SHA2_256 = 0x12
DIGEST_BYTES = 32
MULTIHASH_HEAD = bytes((SHA2_256, DIGEST_BYTES))
MAX_TEXT = 128
"""Longer than any CID of these kinds in any encoding."""
V0_LENGTH = 46
"""The length of a CID of version 0: always a sha2-256 digest in base58btc."""
MAX_VARINT_BITS = 63
"""As in the multiformats specification: a longer one is a mistake or an attack."""
BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cid:
    """The identifier of one block, and of the content whose root it is."""

    version: int
    codec: int
    digest: bytes

    @classmethod
    def of_block(cls, block: bytes, *, codec: int, version: int = 1) -> "Cid":
        """The CID of exactly these bytes."""
        return cls(version=version, codec=codec, digest=hashlib.sha256(block).digest())

    @property
    def binary(self) -> bytes:
        """The binary form, as in nodes and archives."""
        multihash = MULTIHASH_HEAD + self.digest
        if self.version == 0:
            return multihash
        return write_varint(1) + write_varint(self.codec) + multihash

    @property
    def key(self) -> "Cid":
        """The CID that a block is stored under: versions 0 and 1 identify the same bytes."""
        return Cid(version=1, codec=self.codec, digest=self.digest)

    def names(self, block: bytes) -> bool:
        """Whether the hash of `block` matches."""
        return hashlib.sha256(block).digest() == self.digest

    def __str__(self) -> str:
        if self.version == 0:
            return _write_base58(self.binary)
        return "b" + base64.b32encode(self.binary).decode().rstrip("=").lower()


def parse_cid(text: str) -> Cid:
    """Parse a CID in base58btc (Qm…, z…) or base32 (b…)."""
    try:
        return _parse(text)
    except ValueError as error:
        shown = text if len(text) <= MAX_TEXT else f"{text[:20]}…"
        raise InvalidInput(f"{shown!r} is not a CID Arena can use: {error}") from None


def _parse(text: str) -> Cid:
    if len(text) > MAX_TEXT:
        raise ValueError("it is too long")
    if text.startswith("Qm"):
        if len(text) != V0_LENGTH:
            raise ValueError(f"a CID with Qm has {V0_LENGTH} characters, this has {len(text)}")
        binary = _read_base58(text)
    elif text.startswith("b"):
        binary = _read_base32(text[1:])
    elif text.startswith("z"):
        binary = _read_base58(text[1:])
        if binary.startswith(MULTIHASH_HEAD):
            raise ValueError("version 0 is written without a letter for its base")
    else:
        raise ValueError("it does not begin with Qm, b or z")
    cid, end = read_cid(binary, 0)
    if end != len(binary):
        raise ValueError("something follows it")
    return cid


def read_cid(data: bytes, at: int) -> tuple[Cid, int]:
    """The binary CID at `at` and the position after it; ValueError if there is none."""
    version, codec = 0, DAG_PB
    if data[at : at + 2] != MULTIHASH_HEAD:
        version, at = read_varint(data, at)
        if version != 1:
            raise ValueError(f"its version is {version}, only 0 and 1 are known")
        codec, at = read_varint(data, at)
        if codec not in CODECS:
            raise ValueError(f"its codec is 0x{codec:x}, only raw and dag-pb are known")
    if data[at : at + 2] != MULTIHASH_HEAD:
        raise ValueError("its hash is not sha2-256 of 32 bytes")
    digest = data[at + 2 : at + 2 + DIGEST_BYTES]
    if len(digest) != DIGEST_BYTES:
        raise ValueError("it is cut off")
    return Cid(version=version, codec=codec, digest=digest), at + 2 + DIGEST_BYTES


def _read_base32(text: str) -> bytes:
    if text != text.lower():
        raise ValueError("base32 is written in small letters")
    try:
        binary = base64.b32decode(text.upper() + "=" * (-len(text) % 8))
    except (binascii.Error, ValueError):
        raise ValueError("it is not base32") from None
    # The last letter has unused bits, which must be zero: only one encoding is valid.
    if base64.b32encode(binary).decode().rstrip("=").lower() != text:
        raise ValueError("it is not canonical base32")
    return binary


def _read_base58(text: str) -> bytes:
    number = 0
    for letter in text:
        place = BASE58.find(letter)
        if place < 0:
            raise ValueError("it is not base58btc")
        number = number * 58 + place
    zeros = len(text) - len(text.lstrip(BASE58[0]))
    return bytes(zeros) + number.to_bytes((number.bit_length() + 7) // 8, "big")


def _write_base58(data: bytes) -> str:
    number = int.from_bytes(data, "big")
    letters: list[str] = []
    while number:
        number, place = divmod(number, 58)
        letters.append(BASE58[place])
    zeros = len(data) - len(data.lstrip(b"\0"))
    return BASE58[0] * zeros + "".join(reversed(letters))


def write_varint(number: int) -> bytes:
    """The number, seven bits per byte, least significant first."""
    written = bytearray()
    while number > 0x7F:
        written.append(number & 0x7F | 0x80)
        number >>= 7
    written.append(number)
    return bytes(written)


def read_varint(data: bytes, at: int) -> tuple[int, int]:
    """The number at `at` and the position after it; ValueError if there is none."""
    number = shift = 0
    while True:
        if at >= len(data):
            raise ValueError("a number is cut off")
        byte = data[at]
        at += 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            # Only the shortest encoding, or the same content could have two CIDs.
            if byte == 0 and shift:
                raise ValueError("a number is written longer than it needs")
            return number, at
        shift += 7
        if shift >= MAX_VARINT_BITS:
            raise ValueError("a number is too large")
