"""How the chain is: node, newest block, contract, keys, and what is not finished."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from arena import clock
from arena.chain.artifact import load_artifact
from arena.chain.contract import decode_result, encode_call
from arena.chain.errors import NoContract, Reverted
from arena.chain.keys import Keys
from arena.chain.node import Node
from arena.chain.records.transactions import Transactions
from arena.chain.wei import GWEI, in_coins
from arena.settings import Settings
from arena.store.database import Database

WORD_BYTES = 32
"""Of a number that a contract returns."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContractStatus:
    """The configured contract."""

    address: str
    is_deployed: bool
    """Whether there is a contract at the address."""
    is_artifact: bool
    """Whether its code is that of the contract that ships with Arena."""
    source_sha256: str
    """Of the contract that ships with Arena."""
    compiler: str
    task_count: int | None
    """How many tasks were posted; None, like `held`, if it is no contract of the market."""
    held: str | None
    """What it owes: rewards of live tasks, bonds and credits; decimal text."""
    balance: str
    """What it has: never less than that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyStatus:
    """A party whose key is on this machine."""

    name: str
    address: str
    balance: str | None = None
    """Decimal text in the chain's currency; None if no node was asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnfinishedTransaction:
    """A transaction that is not final."""

    id: int
    action: str
    task: str | None
    state: str
    hash: str
    sender: str
    nonce: int
    attempts: int
    is_here: bool
    """Whether it belongs to the chain that the node serves."""
    reason: str | None
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainStatus:
    """How the chain is."""

    node: str
    chain_id: int
    genesis: str
    block_number: int
    block_hash: str
    block_age_seconds: int
    """By the clock of this machine."""
    base_fee_gwei: float
    """Per unit of gas."""
    currency: str
    confirmations: int
    contract: ContractStatus | None
    """None if none is configured."""
    keys: Sequence[KeyStatus]
    unfinished: Sequence[UnfinishedTransaction]


async def read_status(
    settings: Settings, node: Node, keys: Keys, database: Database
) -> ChainStatus:
    """Ask the node and the database."""
    contract = settings.chain_contract
    chain_id, genesis = await node.chain_id(), await node.genesis()
    head, fees = await node.head(), await node.fees()
    waiting = await Transactions(database).unfinished()
    return ChainStatus(
        node=node.name,
        chain_id=chain_id,
        genesis=genesis,
        block_number=head.number,
        block_hash=head.hash,
        block_age_seconds=int(clock.now().timestamp()) - head.timestamp,
        base_fee_gwei=fees.base_fee / GWEI,
        currency=settings.chain_currency,
        confirmations=settings.chain_confirmations,
        contract=await read_contract(node, contract) if contract else None,
        keys=[
            replace(one, balance=in_coins(await node.balance(one.address)))
            for one in known_keys(keys)
        ],
        unfinished=[
            UnfinishedTransaction(
                id=one.id,
                action=one.action,
                task=one.task,
                state=one.state,
                hash=one.hash,
                sender=one.sender,
                nonce=one.nonce,
                attempts=len(one.attempts),
                is_here=(one.chain_id, one.genesis) == (chain_id, genesis),
                reason=one.reason,
                created_at=one.created_at,
            )
            for one in waiting
        ],
    )


def known_keys(keys: Keys) -> list[KeyStatus]:
    """The parties whose keys are on this machine."""
    found = ((name, keys.address_of(name)) for name in keys.names())
    return [KeyStatus(name=name, address=address) for name, address in found if address]


async def read_contract(node: Node, address: str) -> ContractStatus:
    """What is at an address, and what it holds."""
    artifact = load_artifact()
    try:
        code = await node.check_contract(address)
    except NoContract:
        code = b""
    held = await _number(node, address, "held")
    return ContractStatus(
        address=address,
        is_deployed=bool(code),
        is_artifact=code == artifact.runtime_bytecode,
        source_sha256=artifact.source_sha256,
        compiler=artifact.compiler,
        task_count=await _number(node, address, "taskCount"),
        held=None if held is None else in_coins(held),
        balance=in_coins(await node.balance(address)),
    )


async def _number(node: Node, address: str, function: str) -> int | None:
    """A number of the contract; None if it has no such function."""
    try:
        returned = await node.call(address, encode_call(function))
    except Reverted:
        return None
    # An address without a contract returns nothing.
    return int(decode_result(function, returned)) if len(returned) == WORD_BYTES else None
