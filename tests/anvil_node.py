"""A real Ethereum node (anvil) for tests: one per worker of a test run, a clean chain per test."""

import asyncio
import functools
import itertools
import json
import urllib.request
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import pytest
from eth_abi.abi import encode
from eth_account import Account as Signer
from eth_utils.crypto import keccak

from arena.chain.anvil import Account, Anvil, NoAnvil, find_anvil
from arena.chain.keys import Keys
from arena.chain.node import Node
from arena.chain.outbox import Outbox
from arena.chain.sending import AtStep, OutboxOptions
from arena.settings import Settings
from arena.store.database import Database
from conftest import missing

COIN = 10**18
GWEI = 10**9
BLOCK_GAS = 30_000_000
COUNTER = """
# pragma version 0.4.3

event Counted:
    who: indexed(address)
    number: uint256

count: public(uint256)

@external
@payable
def add(number: uint256):
    self.count += 1
    log Counted(who=msg.sender, number=number)

@external
def add_below(limit: uint256):
    assert self.count < limit, "WrongState"
    self.count += 1

@external
def burn():
    for i: uint256 in range(1000000):
        self.count = i + msg.gas
"""


class LocalChain:
    """A node, and what only tests do with it. Not asynchronous: it is not what is tested."""

    def __init__(self, url: str, accounts: list[Account]) -> None:
        self.url = url
        self.accounts = accounts
        self._ids = itertools.count(1)

    def ask(self, method: str, *params: Any) -> Any:
        body = {"jsonrpc": "2.0", "id": next(self._ids), "method": method, "params": params}
        request = urllib.request.Request(
            self.url, json.dumps(body).encode(), {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=30) as answer:
            found = json.load(answer)
        assert "error" not in found, (method, found["error"])
        return found["result"]

    def mine(self, blocks: int = 1) -> None:
        for _ in range(blocks):
            self.ask("evm_mine")

    @contextmanager
    def paused(self) -> Iterator[None]:
        """While it lasts, blocks are made by `mine` only."""
        self.ask("evm_setAutomine", False)
        yield
        self.ask("evm_setAutomine", True)

    @contextmanager
    def full(self) -> Iterator[None]:
        """While it lasts, no block takes any transaction."""
        self.ask("evm_setBlockGasLimit", hex(15_000))
        yield
        self.ask("evm_setBlockGasLimit", hex(BLOCK_GAS))

    def set_base_fee(self, wei: int) -> None:
        self.ask("anvil_setNextBlockBaseFeePerGas", hex(wei))

    def number(self, method: str, *params: Any) -> int:
        return int(self.ask(method, *params), 16)

    def balance(self, address: str) -> int:
        return self.number("eth_getBalance", address, "latest")

    def waiting(self) -> set[str]:
        """The hashes of the transactions in the node's pool."""
        pool = self.ask("txpool_content")
        kinds = (pool["pending"], pool["queued"])
        return {one["hash"] for kind in kinds for by in kind.values() for one in by.values()}

    def send_elsewhere(self, account: Account, *, nonce: int, tip: int = 50 * GWEI) -> str:
        """A transaction of an account that Arena knows nothing of, sent with its key."""
        fields = {
            "type": 2,
            "chainId": 31337,
            "nonce": nonce,
            "to": b"\x11" * 20,
            "value": 1,
            "gas": 21_000,
            "maxFeePerGas": tip + 100 * GWEI,
            "maxPriorityFeePerGas": tip,
        }
        signed = Signer.sign_transaction(fields, account.private_key)
        return self.ask("eth_sendRawTransaction", f"0x{bytes(signed.raw_transaction).hex()}")

    def start_anew(self) -> None:
        """Another chain with the same id, at the same address."""
        before = self._first_block()
        while self._first_block() == before:
            # The new chain begins with the base fee of the old one, which a block changes. Without
            # it, both would have the same first block, and be the same chain.
            self.mine()
            self.ask("anvil_reset")

    def _first_block(self) -> str:
        return self.ask("eth_getBlockByNumber", "0x0", False)["hash"]

    def deploy(self, code: bytes) -> str:
        """Deploy a contract; returns its address."""
        fields = {
            "from": self.accounts[9].address,
            "data": f"0x{code.hex()}",
            "gas": hex(8_000_000),
        }
        sent = self.ask("eth_sendTransaction", fields)
        while (receipt := self.ask("eth_getTransactionReceipt", sent)) is None:
            pass
        return receipt["contractAddress"]

    def deploy_counter(self) -> "Counter":
        return Counter(self, self.deploy(counter_code()))


class Counter:
    """A small contract that counts."""

    def __init__(self, chain: LocalChain, address: str) -> None:
        self.chain = chain
        self.address = address

    def count(self) -> int:
        data = f"0x{call('count()').hex()}"
        return self.chain.number("eth_call", {"to": self.address, "data": data}, "latest")

    def numbers(self) -> list[int]:
        """The number of each `add`, in order."""
        asked = {"address": self.address, "fromBlock": "0x0", "toBlock": "latest"}
        return [int(one["data"], 16) for one in self.chain.ask("eth_getLogs", asked)]


def call(signature: str, *numbers: int) -> bytes:
    """The data of a call of a function that takes numbers."""
    return keccak(text=signature)[:4] + encode(["uint256"] * len(numbers), list(numbers))


@functools.cache
def counter_code() -> bytes:
    import vyper  # takes seconds to import

    return bytes.fromhex(vyper.compile_code(COUNTER)["bytecode"].removeprefix("0x"))


def new_anvil(folder: Path) -> Anvil:
    """A node to be started, if there is one."""
    try:
        find_anvil()
    except NoAnvil:
        missing("anvil (scripts/setup --anvil)")
    return Anvil(folder)


@asynccontextmanager
async def own_node(folder: Path, *options: str) -> AsyncIterator[LocalChain]:
    """A node of its own, stopped at the end."""
    anvil = new_anvil(folder)
    node = await anvil.start(options=options)
    try:
        yield LocalChain(node.url, anvil.accounts())
    finally:
        await anvil.stop()


@pytest.fixture(scope="session")
def anvil(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalChain]:
    """The node of this worker."""
    node = new_anvil(tmp_path_factory.mktemp("anvil"))
    url = asyncio.run(node.start()).url
    yield LocalChain(url, node.accounts())
    asyncio.run(node.stop())


@pytest.fixture
def chain(anvil: LocalChain) -> Iterator[LocalChain]:
    """The node's chain, as it was at its start."""
    before = anvil.ask("evm_snapshot")
    yield anvil
    anvil.ask("evm_setAutomine", True)
    anvil.ask("anvil_dropAllTransactions")
    anvil.ask("evm_revert", before)
    # What a snapshot does not hold.
    anvil.ask("evm_setBlockGasLimit", hex(BLOCK_GAS))
    anvil.ask("anvil_setNextBlockBaseFeePerGas", hex(GWEI))


@pytest.fixture
def counter(chain: LocalChain) -> Counter:
    return chain.deploy_counter()


PARTIES = ("alice", "bob", "judy")


def with_keys(settings: Settings, chain: LocalChain, **changes: Any) -> Settings:
    """Settings in which the parties have the node's first accounts."""
    keys = [
        f"{name}:{account.private_key}"
        for name, account in zip(PARTIES, chain.accounts, strict=False)
    ]
    given = {"chain_url": chain.url, "chain_keys": keys, "chain_confirmations": 1} | changes
    return Settings.model_validate(settings.model_dump(exclude_unset=True) | given)


@asynccontextmanager
async def outbox_of(
    settings: Settings, database: Database, at_step: AtStep | None = None, **options: Any
) -> AsyncIterator[Outbox]:
    """An outbox on the node of these settings."""
    assert settings.chain_url is not None
    node = Node(settings.chain_url.get_secret_value(), chain_id=settings.chain_id)
    plain = {"folder": settings.home / "chain", "confirmations": settings.chain_confirmations}
    made = OutboxOptions(**{**plain, "poll_seconds": 0.05, **options})
    try:
        yield Outbox(database, node, Keys(settings), made, at_step=at_step)
    finally:
        await node.close()
