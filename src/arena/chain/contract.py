"""The contract's calls and events, to and from bytes, by the ABI of its artifact."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any

from arena.chain.artifact import load_artifact
from arena.chain.errors import chain_libraries
from arena.chain.node import Log

STRING = "string"


@dataclass(frozen=True, slots=True, kw_only=True)
class ContractEvent:
    """Something that happened in the contract, and in which block."""

    name: str
    args: Mapping[str, Any]
    """Numbers as decimal text, addresses in lower case, bytes as hexadecimal text."""
    chain_task: int | None
    """The task it is about; None if it is about money only."""
    at: datetime
    """The time of the block."""
    block_number: int
    block_hash: str
    log_index: int
    transaction_hash: str

    @property
    def place(self) -> tuple[str, int]:
        """What identifies it: the same event in another block is another event."""
        return self.block_hash, self.log_index


def encode_call(name: str, *arguments: object) -> bytes:
    """The data of a call."""
    with chain_libraries():
        from eth_abi.abi import encode  # here to save start-up, as below

    entry = _entries("function")[name]
    types = [_type(one) for one in entry["inputs"]]
    return _selector(entry)[:4] + encode(types, arguments)


def decode_result(name: str, data: bytes) -> Any:
    """What a call returned: a value, or a mapping for a structure."""
    entry = _entries("function")[name]
    values = _decode(entry["outputs"], data)
    return next(iter(values.values()))


def decode_event(log: Log, at: datetime) -> ContractEvent | None:
    """The event of a log; None if the contract has no such event."""
    entry = _events_by_topic().get(log.topics[0]) if log.topics else None
    if entry is None:
        return None
    inputs: list[Mapping[str, Any]] = entry["inputs"]
    indexed = [one for one in inputs if one["indexed"]]
    args = _decode([one for one in inputs if not one["indexed"]], log.data)
    for one, topic in zip(indexed, log.topics[1:], strict=True):
        args |= _decode([one], topic)
    task = args.pop("taskId", None)
    return ContractEvent(
        name=entry["name"],
        args=args,
        chain_task=None if task is None else int(task),
        at=at,
        block_number=log.block_number,
        block_hash=log.block_hash,
        log_index=log.log_index,
        transaction_hash=log.transaction_hash,
    )


@cache
def _entries(kind: str) -> dict[str, Mapping[str, Any]]:
    return {one["name"]: one for one in load_artifact().abi if one["type"] == kind}


@cache
def _events_by_topic() -> dict[bytes, Mapping[str, Any]]:
    return {_selector(one): one for one in _entries("event").values()}


def _selector(entry: Mapping[str, Any]) -> bytes:
    with chain_libraries():
        from eth_utils.crypto import keccak

    return keccak(text=f"{entry['name']}({','.join(_type(one) for one in entry['inputs'])})")


def _type(parameter: Mapping[str, Any], *, text_as: str = STRING) -> str:
    kind: str = parameter["type"]
    if kind.startswith("tuple"):
        parts = ",".join(_type(one, text_as=text_as) for one in parameter["components"])
        return f"({parts}){kind.removeprefix('tuple')}"
    return text_as if kind == STRING else kind


def _decode(parameters: Sequence[Mapping[str, Any]], data: bytes) -> dict[str, Any]:
    with chain_libraries():
        from eth_abi.abi import decode

    # Texts are read as bytes: anyone may call the contract with what is not UTF-8.
    values = decode([_type(one, text_as="bytes") for one in parameters], data)
    return {one["name"]: _plain(one, value) for one, value in zip(parameters, values, strict=True)}


def _plain(parameter: Mapping[str, Any], value: Any) -> Any:
    kind: str = parameter["type"]
    if kind == "tuple":
        parts = zip(parameter["components"], value, strict=True)
        return {part["name"]: _plain(part, one) for part, one in parts}
    if kind == STRING:
        # No database stores a NUL in a text.
        return bytes(value).decode("utf-8", "replace").replace("\0", "\ufffd")
    if kind == "address":
        return str(value).lower()
    if kind == "bool":
        return bool(value)
    if isinstance(value, bytes):
        return value.hex()
    return str(value)
