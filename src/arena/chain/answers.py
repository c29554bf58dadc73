"""Values in a node's answers, checked: a node may be wrong, outdated or not a node at all."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeVar, cast

from arena.chain.errors import chain_libraries
from arena.text import printable

T = TypeVar("T")

MAX_REASON = 500
"""Bytes of a contract's reason that are kept."""
ERROR_SELECTOR = bytes.fromhex("08c379a0")
"""`Error(string)`: a reason."""
PANIC_SELECTOR = bytes.fromhex("4e487b71")
"""`Panic(uint256)`: a failed check of the language, such as an overflow."""

Tag = Literal["latest", "pending", "safe", "finalized"] | int | str
"""Which block: by a name, its number or its hash."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockHead:
    """A block, as far as Arena needs it."""

    number: int
    hash: str
    """Empty for a pending block."""
    parent_hash: str
    timestamp: int
    """Unix seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fees:
    """What gas costs now, in wei per unit."""

    base_fee: int
    """Of the next block."""
    tip: int
    block_number: int
    """The latest block."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Log:
    """An event of a contract."""

    address: str
    topics: tuple[bytes, ...]
    data: bytes
    block_number: int
    block_hash: str
    transaction_hash: str
    log_index: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TransactionReceipt:
    """A mined transaction."""

    transaction_hash: str
    is_reverted: bool
    block_number: int
    block_hash: str
    gas_used: int
    contract: str | None
    """The address of the contract that it created."""
    logs: tuple[Log, ...]


class Invalid(ValueError):
    """A value that cannot be right."""


def quantity(value: object) -> int:
    """A number: `0x1f`."""
    if not isinstance(value, str) or not value.startswith("0x") or len(value) > 66:
        raise Invalid(f"{_shown(value)} is no number")
    try:
        return int(value, 16)
    except ValueError:
        raise Invalid(f"{_shown(value)} is no number") from None


def data(value: object) -> bytes:
    """Bytes: `0x00ff`."""
    if not isinstance(value, str) or not value.startswith("0x"):
        raise Invalid(f"{_shown(value)} is no data")
    try:
        return bytes.fromhex(value[2:])
    except ValueError:
        raise Invalid(f"{_shown(value)} is no data") from None


def digest(value: object) -> str:
    """A hash of 32 bytes, in lower case."""
    if len(found := data(value)) != 32:
        raise Invalid(f"{_shown(value)} is no hash")
    return f"0x{found.hex()}"


def address(value: object) -> str:
    """An address, with its checksum."""
    if len(found := data(value)) != 20:
        raise Invalid(f"{_shown(value)} is no address")
    return checksummed(f"0x{found.hex()}")


def checksummed(text: str) -> str:
    """An address in the spelling that detects typing errors (EIP-55)."""
    with chain_libraries():
        from eth_utils.address import to_checksum_address  # here to save start-up

    return to_checksum_address(text)


def block(value: object) -> BlockHead:
    """The head of a block."""
    fields = mapping(value)
    # A pending block has no hash, and on some nodes no number.
    found = fields.get("hash")
    return BlockHead(
        number=quantity(fields.get("number")),
        hash="" if found is None else digest(found),
        parent_hash=digest(fields.get("parentHash")),
        timestamp=quantity(fields.get("timestamp")),
    )


def log(value: object) -> Log:
    """An event."""
    fields = mapping(value)
    return Log(
        address=address(fields.get("address")),
        topics=tuple(data(one) for one in items(fields.get("topics"))),
        data=data(fields.get("data")),
        block_number=quantity(fields.get("blockNumber")),
        block_hash=digest(fields.get("blockHash")),
        transaction_hash=digest(fields.get("transactionHash")),
        log_index=quantity(fields.get("logIndex")),
    )


def receipt(value: object) -> TransactionReceipt:
    """A mined transaction."""
    fields = mapping(value)
    created = fields.get("contractAddress")
    return TransactionReceipt(
        transaction_hash=digest(fields.get("transactionHash")),
        is_reverted=quantity(fields.get("status")) == 0,
        block_number=quantity(fields.get("blockNumber")),
        block_hash=digest(fields.get("blockHash")),
        gas_used=quantity(fields.get("gasUsed")),
        contract=None if created is None else address(created),
        logs=tuple(log(one) for one in items(fields.get("logs"))),
    )


def mapping(value: object) -> Mapping[str, Any]:
    """An object."""
    if not isinstance(value, dict):
        raise Invalid(f"{_shown(value)} is no object")
    return cast(dict[str, Any], value)


def items(value: object) -> list[Any]:
    """A list."""
    if not isinstance(value, list):
        raise Invalid(f"{_shown(value)} is no list")
    return cast(list[Any], value)


def optional(parse: Callable[[object], T], value: object) -> T | None:
    """A value, or None if there is none."""
    return None if value is None else parse(value)


def revert_data(found: object) -> bytes | None:
    """What a contract returned when it reverted; each kind of node puts it elsewhere."""
    if isinstance(found, dict):
        parts = cast(dict[str, Any], found)
        found = parts.get("data", parts.get("result"))
    if not isinstance(found, str):
        return None
    text = found.removeprefix("Reverted ").strip()  # as Nethermind writes it
    try:
        return data(text)
    except Invalid:
        return None


def revert_reason(returned: bytes) -> str:
    """The reason in what a contract returned; empty if it gave none."""
    selector, body = returned[:4], returned[4:]
    if selector == PANIC_SELECTOR:
        return f"Panic(0x{int.from_bytes(body[:32], 'big'):02x})"
    if selector != ERROR_SELECTOR:
        return f"0x{returned[:36].hex()}" if returned else ""
    # An offset, a length, then the text.
    length = int.from_bytes(body[32:64], "big")
    return printable(body[64 : 64 + min(length, MAX_REASON)].decode(errors="replace"))


def _shown(value: object) -> str:
    return repr(value)[:60]
