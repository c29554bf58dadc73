"""Contracts of the standards on a real node: minimal ones, written here from the texts.

`contracts/*.vy` are compiled when a test needs them, and deployed and called with accounts of the
node that Arena knows nothing of.
"""

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eth_abi.abi import decode, encode
from eth_utils.abi import (
    event_abi_to_log_topic,
    function_abi_to_4byte_selector,
    get_abi_input_types,
    get_abi_output_types,
)

from anvil_node import LocalChain

FOLDER = Path(__file__).parent / "contracts"
DEPLOYER = 9
"""The number of the account that deploys."""


@functools.cache
def compiled(name: str) -> tuple[list[dict[str, Any]], bytes]:
    """The ABI and the bytecode of a contract."""
    import vyper  # takes seconds to import

    source = (FOLDER / f"{name}.vy").read_text()
    made = vyper.compile_code(source, output_formats=["abi", "bytecode"])
    return made["abi"], bytes.fromhex(made["bytecode"].removeprefix("0x"))


@dataclass(frozen=True, kw_only=True)
class Deployed:
    """A contract on the chain."""

    chain: LocalChain
    abi: list[dict[str, Any]]
    address: str

    def read(self, name: str, *given: Any) -> Any:
        """What a view returns."""
        function: Any = self._function(name, len(given))
        asked = {"to": self.address, "data": self._data(function, given)}
        returned = bytes.fromhex(self.chain.ask("eth_call", asked, "latest")[2:])
        values = decode(get_abi_output_types(function), returned)
        return values[0] if len(values) == 1 else values

    def send(self, name: str, *given: Any, by: str) -> None:
        """A transaction of an account that the node signs for."""
        function: Any = self._function(name, len(given))
        asked = {"from": by, "to": self.address, "data": self._data(function, given)}
        receipt = mined(self.chain, {**asked, "gas": hex(2_000_000)})
        assert receipt["status"] == "0x1", name

    def events(self, name: str) -> list[Mapping[str, Any]]:
        """The values that are no topics, of each event with this name."""
        event: Any = next(one for one in self.abi if one.get("name") == name)
        topic = f"0x{event_abi_to_log_topic(event).hex()}"
        asked = {"address": self.address, "fromBlock": "0x0", "topics": [topic]}
        kept = [one for one in event["inputs"] if not one["indexed"]]
        types, names = [one["type"] for one in kept], [one["name"] for one in kept]
        logs = self.chain.ask("eth_getLogs", asked)
        return [
            dict(zip(names, decode(types, bytes.fromhex(one["data"][2:])), strict=True))
            for one in logs
        ]

    def _function(self, name: str, count: int) -> dict[str, Any]:
        return next(
            one for one in self.abi if one.get("name") == name and len(one["inputs"]) == count
        )

    def _data(self, function: Any, given: Any) -> str:
        arguments = encode(get_abi_input_types(function), given)
        return f"0x{(function_abi_to_4byte_selector(function) + arguments).hex()}"


def deployed(chain: LocalChain, name: str, *given: Any) -> Deployed:
    """Deploy a contract."""
    abi, code = compiled(name)
    types = next((get_abi_input_types(one) for one in abi if one["type"] == "constructor"), [])
    data = f"0x{(code + encode(types, given)).hex()}"
    sender = chain.accounts[DEPLOYER].address
    receipt = mined(chain, {"from": sender, "data": data, "gas": hex(5_000_000)})
    return Deployed(chain=chain, abi=abi, address=receipt["contractAddress"])


def mined(chain: LocalChain, transaction: dict[str, str]) -> Any:
    """The receipt of a transaction."""
    sent = chain.ask("eth_sendTransaction", transaction)
    while (receipt := chain.ask("eth_getTransactionReceipt", sent)) is None:
        pass
    return receipt
