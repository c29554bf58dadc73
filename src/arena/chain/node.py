"""A node of an EVM chain: the few calls that Arena makes, with checked answers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self, TypeVar

from arena.chain import answers
from arena.chain.answers import BlockHead, Fees, Invalid, Log, Tag, TransactionReceipt
from arena.chain.errors import (
    NoContract,
    NodeUnreachable,
    Refused,
    Reverted,
    UnknownBlock,
    WrongChain,
)
from arena.chain.refusals import (
    METHOD_NOT_FOUND,
    is_too_large,
    lacks_pending,
    refusal,
    reverted,
)
from arena.chain.rpc import Call, Rpc, RpcError
from arena.chain.wei import GWEI
from arena.errors import InvalidInput
from arena.settings import Settings

T = TypeVar("T")

TIMEOUT_SECONDS = 20
DEFAULT_TIP = GWEI
"""Where a node does not suggest one."""
FEE_CALLS: tuple[Call, ...] = (
    ("eth_feeHistory", ["0x1", "latest", []]),
    ("eth_maxPriorityFeePerGas", []),
)
RICH = hex(2**128)
FIRST_BLOCK: Call = ("eth_getBlockByNumber", ["0x0", False])


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    """What a transaction would meet if it were sent now."""

    genesis: str
    nonce: int
    """The sender's next one, as far as the node knows."""
    balance: int
    fees: Fees
    gas: int | Reverted | NodeUnreachable
    """The estimate, or why there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far transactions are."""

    genesis: str
    fees: Fees
    counts: dict[str, int]
    """Of each sender, the transactions in blocks: its next nonce."""
    receipts: dict[str, TransactionReceipt]
    """Of those that are mined, by their hash."""
    known: frozenset[str]
    """The hashes of those that the node has, mined or waiting."""


class Node:
    """A node, by the address of its JSON-RPC interface. It connects with the first call."""

    def __init__(
        self, url: str, *, chain_id: int | None = None, timeout_seconds: float = TIMEOUT_SECONDS
    ) -> None:
        self._rpc = Rpc(url, timeout_seconds=timeout_seconds)
        self._expected_id = chain_id
        self._chain_id: int | None = None
        self._pending = "pending"

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """The node in the settings."""
        if settings.chain_url is None:
            raise InvalidInput(
                "no node of a chain is configured: set ARENA_CHAIN_URL; `arena chain up` starts a "
                "local one"
            )
        return cls(settings.chain_url.get_secret_value(), chain_id=settings.chain_id)

    @property
    def name(self) -> str:
        """The node's address as it may be shown: its path may hold a key."""
        return self._rpc.name

    async def chain_id(self) -> int:
        """The chain's id; `WrongChain` if it is not the expected one."""
        if self._chain_id is None:
            found = self._parsed("eth_chainId", answers.quantity, await self._ask("eth_chainId"))
            if self._expected_id not in (None, found):
                raise WrongChain(
                    f"the node {self.name} serves chain {found}, expected was chain "
                    f"{self._expected_id}: correct ARENA_CHAIN_URL or ARENA_CHAIN_ID"
                )
            self._chain_id = found
        return self._chain_id

    async def genesis(self) -> str:
        """The hash of the first block: two chains may have the same id. Empty if it is unknown."""
        return self._genesis(await self._checked("eth_getBlockByNumber", "0x0", False))

    async def head(self, tag: Tag = "latest") -> BlockHead:
        """A block, by default the newest; `UnknownBlock` if there is none."""
        is_hash = isinstance(tag, str) and tag.startswith("0x")
        method = "eth_getBlockByHash" if is_hash else "eth_getBlockByNumber"
        (found,) = await self._at(tag, lambda name: [(method, [name, False])])
        if found is None and tag == "pending":
            return await self.head()
        if found is None:
            raise UnknownBlock(f"the chain has no block {tag}")
        return self._parsed(method, answers.block, found)

    async def call(
        self,
        to: str,
        data: bytes,
        *,
        sender: str | None = None,
        value: int = 0,
        block: Tag = "latest",
        is_funded: bool = False,
    ) -> bytes:
        """What a contract returns; `Reverted` if it refuses.

        `is_funded`: as if the sender could pay the value.
        """
        message = _message(to, data, sender, value)
        changed = [{sender: {"balance": RICH}}] if is_funded and value else []
        (found,) = await self._at(block, lambda tag: [("eth_call", [message, tag, *changed])])
        return self._parsed("eth_call", answers.data, found)

    async def estimate_gas(
        self, to: str | None, data: bytes, *, sender: str, value: int = 0, block: Tag = "pending"
    ) -> int:
        """The gas that a transaction needs; `Reverted` if the contract refuses it."""
        message = _message(to, data, sender, value)
        (found,) = await self._at(block, lambda tag: [("eth_estimateGas", [message, tag])])
        return self._parsed("eth_estimateGas", answers.quantity, found)

    async def transaction_count(self, address: str, tag: Tag = "latest") -> int:
        """How many transactions the account has sent: its next nonce."""
        method = "eth_getTransactionCount"
        (found,) = await self._at(tag, lambda name: [(method, [address, name])])
        return self._parsed(method, answers.quantity, found)

    async def balance(self, address: str, block: Tag = "latest") -> int:
        """What the account has, in wei."""
        (found,) = await self._at(block, lambda tag: [("eth_getBalance", [address, tag])])
        return self._parsed("eth_getBalance", answers.quantity, found)

    async def code(self, address: str) -> bytes:
        """The code of the contract at an address; empty if there is none."""
        return self._parsed(
            "eth_getCode", answers.data, await self._checked("eth_getCode", address, "latest")
        )

    async def check_contract(self, address: str) -> bytes:
        """The code of the contract at an address; `NoContract` if there is none."""
        found = await self.code(address)
        if not found:
            raise NoContract(
                f"there is no contract at {address} on chain {await self.chain_id()} "
                f"({self.name}): correct ARENA_CHAIN_CONTRACT, or deploy one with "
                "`arena chain deploy`"
            )
        return found

    async def fees(self) -> Fees:
        """What gas costs now."""
        await self.chain_id()
        return self._fees(await self._rpc.ask_all(FEE_CALLS))

    async def outlook(self, to: str | None, data: bytes, *, sender: str, value: int = 0) -> Outlook:
        """All that a new transaction depends on, in one request."""
        message = _message(to, data, sender, value)
        found = await self._at(
            "pending",
            lambda tag: [
                FIRST_BLOCK,
                ("eth_getTransactionCount", [sender, tag]),
                ("eth_getBalance", [sender, tag]),
                ("eth_estimateGas", [message, tag]),
                *FEE_CALLS,
            ],
        )
        first, count, balance, gas, *fees = found
        estimate: int | Reverted | NodeUnreachable
        if isinstance(gas, RpcError):
            estimate = reverted(gas) or self._failed("eth_estimateGas", gas)
        else:
            estimate = self._parsed("eth_estimateGas", answers.quantity, gas)
        return Outlook(
            genesis=self._genesis(first),
            nonce=self._parsed("eth_getTransactionCount", answers.quantity, count),
            balance=self._parsed("eth_getBalance", answers.quantity, balance),
            fees=self._fees(fees),
            gas=estimate,
        )

    async def send_raw(self, raw: bytes) -> None:
        """Send a signed transaction; `Refused` if the node does not accept it.

        A transaction that the node has already is accepted.
        """
        try:
            await self._rpc.ask("eth_sendRawTransaction", f"0x{raw.hex()}")
        except RpcError as error:
            if why := refusal(error):
                text = f"the node {self.name} refuses the transaction: {error.message}"
                raise Refused(why, text) from None

    async def knows(self, transaction_hash: str) -> bool:
        """Whether the node has this transaction, mined or not."""
        found = await self._checked("eth_getTransactionByHash", transaction_hash)
        return found is not None

    async def receipt(self, transaction_hash: str) -> TransactionReceipt | None:
        """A transaction if it is mined."""
        return (await self.receipts([transaction_hash]))[0]

    async def receipts(self, hashes: Sequence[str]) -> list[TransactionReceipt | None]:
        """The transactions that are mined, None for others, in few requests."""
        await self.chain_id()
        method = "eth_getTransactionReceipt"
        found = await self._rpc.ask_all([(method, [one]) for one in hashes])
        return [self._receipt(one, wanted) for one, wanted in zip(found, hashes, strict=True)]

    async def logs(
        self,
        addresses: Sequence[str],
        from_block: int,
        to_block: int,
        topics: Sequence[bytes | None] = (),
    ) -> list[Log]:
        """The events of these contracts in a range of blocks, ends included, in their order.

        With `topics` only those that have them, place by place; None is any. If the node refuses
        the range as too large, it is asked for in parts.
        """
        method = "eth_getLogs"
        asked = {
            "address": list(addresses),
            "fromBlock": hex(from_block),
            "toBlock": hex(to_block),
            "topics": [one and f"0x{one.hex()}" for one in topics],
        }
        await self.chain_id()
        try:
            found = await self._rpc.ask(method, asked)
        except RpcError as error:
            if from_block >= to_block or not is_too_large(error):
                raise self._failed(method, error) from None
            middle = (from_block + to_block) // 2
            first = await self.logs(addresses, from_block, middle, topics)
            return first + await self.logs(addresses, middle + 1, to_block, topics)
        logs = [self._parsed(method, answers.log, one) for one in self._list(method, found)]
        wanted = {one.lower() for one in addresses}
        for log in logs:
            if log.address.lower() not in wanted or not from_block <= log.block_number <= to_block:
                raise self._rpc.invalid(method, "an event that was not asked for")
            if any(one not in (None, had) for one, had in zip(topics, log.topics, strict=False)):
                raise self._rpc.invalid(method, "an event with other topics")
        return sorted(logs, key=lambda one: (one.block_number, one.log_index))

    async def ask(self, method: str, *params: object) -> Any:
        """Any other call, for development nodes: its answer is not checked."""
        return await self._checked(method, *params)

    async def close(self) -> None:
        """Close the connections."""
        await self._rpc.close()

    async def progress(self, senders: Sequence[str], hashes: Sequence[str]) -> Progress:
        """How far transactions are, in few requests."""
        await self.chain_id()
        count, mined, by_hash = (
            "eth_getTransactionCount",
            "eth_getTransactionReceipt",
            "eth_getTransactionByHash",
        )
        found = iter(
            await self._rpc.ask_all(
                [
                    *((count, [one, "latest"]) for one in senders),
                    *((mined, [one]) for one in hashes),
                    *((by_hash, [one]) for one in hashes),
                    FIRST_BLOCK,
                    *FEE_CALLS,
                ]
            )
        )
        counts = {one: self._parsed(count, answers.quantity, next(found)) for one in senders}
        receipts = {one: self._receipt(next(found), one) for one in hashes}
        known = {one: self._parsed(by_hash, bool, next(found)) for one in hashes}
        return Progress(
            counts=counts,
            receipts={one: receipt for one, receipt in receipts.items() if receipt},
            known=frozenset(one for one, is_known in known.items() if is_known),
            genesis=self._genesis(next(found)),
            fees=self._fees(list(found)),
        )

    async def _ask(self, method: str, *params: object) -> Any:
        try:
            return await self._rpc.ask(method, *params)
        except RpcError as error:
            raise reverted(error) or self._failed(method, error) from None

    async def _checked(self, method: str, *params: object) -> Any:
        await self.chain_id()
        return await self._ask(method, *params)

    async def _at(self, tag: Tag, calls: Callable[[str], list[Call]]) -> list[Any]:
        """Calls on one block; on the newest if the chain has no pending one."""
        await self.chain_id()
        if tag != "pending":
            return await self._rpc.ask_all(calls(hex(tag) if isinstance(tag, int) else tag))
        found = await self._rpc.ask_all(calls(self._pending))
        if self._pending == "pending" and any(map(lacks_pending, found)):
            self._pending = "latest"
            found = await self._rpc.ask_all(calls(self._pending))
        return found

    def _fees(self, found: Sequence[Any]) -> Fees:
        history, tip = found
        if isinstance(tip, RpcError) and tip.code == METHOD_NOT_FOUND:
            tip = hex(DEFAULT_TIP)
        method = "eth_feeHistory"
        fields = self._parsed(method, answers.mapping, history)
        bases = self._list(method, fields.get("baseFeePerGas"))
        if not bases:
            raise self._rpc.invalid(method, "no base fee; Arena needs a chain with EIP-1559")
        return Fees(
            base_fee=self._parsed(method, answers.quantity, bases[-1]),
            tip=self._parsed("eth_maxPriorityFeePerGas", answers.quantity, tip),
            block_number=self._parsed(method, answers.quantity, fields.get("oldestBlock")),
        )

    def _genesis(self, found: Any) -> str:
        block = self._parsed(
            "eth_getBlockByNumber", lambda one: answers.optional(answers.block, one), found
        )
        return block.hash if block else ""

    def _receipt(self, found: Any, wanted: str) -> TransactionReceipt | None:
        method = "eth_getTransactionReceipt"
        receipt = self._parsed(method, lambda one: answers.optional(answers.receipt, one), found)
        if receipt is not None and receipt.transaction_hash != wanted:
            raise self._rpc.invalid(method, "the receipt of another transaction")
        return receipt

    def _list(self, method: str, found: Any) -> list[Any]:
        return self._parsed(method, answers.items, found)

    def _parsed(self, method: str, parse: Callable[[object], T], found: Any) -> T:
        if isinstance(found, RpcError):
            raise reverted(found) or self._failed(method, found)
        try:
            return parse(found)
        except Invalid as error:
            raise self._rpc.invalid(method, str(error)) from None

    def _failed(self, method: str, error: RpcError) -> NodeUnreachable:
        return NodeUnreachable(f"the node {self.name} cannot answer {method}: {error.message}")


def _message(to: str | None, data: bytes, sender: str | None, value: int) -> dict[str, str]:
    """A call of a contract, a transfer or, without `to`, the creation of a contract."""
    fields = {"data": f"0x{data.hex()}", "value": hex(value)}
    if sender is not None:
        fields["from"] = sender
    if to is not None:
        fields["to"] = to
    return fields
