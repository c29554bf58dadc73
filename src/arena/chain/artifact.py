"""The compiled contract that ships with Arena."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Artifact:
    """A compiled contract, and what it was compiled from."""

    name: str
    abi: Sequence[Mapping[str, Any]]
    """Functions and events, in the format that every Ethereum tool takes."""
    bytecode: bytes
    """To deploy; the contract has no constructor arguments."""
    runtime_bytecode: bytes
    """The code at the address of a deployed contract, exactly: it has no immutable values."""
    compiler: str
    """Name and version."""
    settings: Mapping[str, Any]
    """Those that the compiler used."""
    source_sha256: str


@cache
def load_artifact() -> Artifact:
    """The contract `ArenaMarket`."""
    text = files("arena.chain").joinpath("ArenaMarket.json").read_text(encoding="utf-8")
    stored: dict[str, Any] = json.loads(text)
    return Artifact(
        name=stored["name"],
        abi=tuple(stored["abi"]),
        bytecode=bytes.fromhex(stored["bytecode"].removeprefix("0x")),
        runtime_bytecode=bytes.fromhex(stored["runtimeBytecode"].removeprefix("0x")),
        compiler=stored["compiler"],
        settings=stored["settings"],
        source_sha256=stored["sourceSha256"],
    )
