"""The contract that ships with Arena, on a real node: what is signed here is valid there."""

from collections.abc import AsyncIterator
from typing import Any
from uuid import uuid4

import pytest
from web3 import Web3

from anvil_node import COIN, LocalChain, outbox_of, with_keys
from arena.chain.artifact import load_artifact
from arena.chain.deployment import deploy, is_deployed
from arena.chain.intent import Intent, IntentState, NewTransaction
from arena.chain.keys import Keys
from arena.chain.node import Node
from arena.chain.outbox import Outbox
from arena.chain.signing import Domain, commitment_of, salt_word, typed_data
from arena.market.call import CallKey
from arena.market.errors import BadSignature, WrongState
from arena.market.signing import Act
from arena.market.wallets import signature_bytes
from arena.settings import Settings
from arena.store.database import Database

ZERO = "0x" + "00" * 20
OPEN, ASSIGNED, COMMITTED, SUBMITTED = 1, 2, 3, 4


class Market:
    """The contract, called through the outbox: Alice posts, Judy judges, Bob works without gas."""

    def __init__(self, outbox: Outbox, node: Node, keys: Keys, address: str) -> None:
        self.outbox, self.node, self.keys, self.address = outbox, node, keys, address
        abi: Any = load_artifact().abi
        self.abi = Web3().eth.contract(abi=abi)
        self.domain = Domain(chain_id=31337, contract=address)
        self.bob = keys.address_of("bob") or ""

    async def send(self, by: str, name: str, *arguments: Any, value: int = 0) -> Intent:
        sent = await self.outbox.send(
            NewTransaction(
                team_id="t",
                key=CallKey(text=uuid4().hex),
                digest="d",
                action=name,
                task="1",
                sender_name=by,
                to=self.address,
                data=Web3.to_bytes(hexstr=self.abi.encode_abi(name, args=list(arguments))),
                value=value,
            )
        )
        done = await self.outbox.wait(sent.id, seconds=10)
        assert done.state is IntentState.FINAL
        return done

    async def post(self, *, commit_seconds: int = 0) -> int:
        now = (await self.node.head()).timestamp
        terms = (now + 10_000, self.keys.address_of("judy"), 3600, ZERO, 0, 0, 0, ZERO, 0, 0)
        commits = now + commit_seconds if commit_seconds else 0
        await self.send(
            "alice", "postTask", (*terms, commits, 10, False, True), "cid", "words", value=COIN
        )
        return now + 10_000

    def signed(self, act: Act, expires: int, **fields: Any) -> bytes:
        """Bob's signature."""
        full = {"taskId": 1, "agent": self.bob, "expires": expires, **fields}
        return signature_bytes(self.keys.sign_typed_data("bob", typed_data(self.domain, act, full)))

    async def state(self) -> int:
        data = Web3.to_bytes(hexstr=self.abi.encode_abi("getTask", args=[1]))
        returned = await self.node.call(self.address, data)
        # Words: the 14 terms, the poster, the reward, the state.
        return int.from_bytes(returned[16 * 32 : 17 * 32])


@pytest.fixture
async def market(
    settings: Settings, database: Database, chain: LocalChain
) -> AsyncIterator[Market]:
    keyed = with_keys(settings, chain)
    node = Node(chain.url)
    async with outbox_of(keyed, database) as outbox:
        made = await deploy(outbox, node, load_artifact(), by="alice", team_id="t", seconds=10)
        assert await is_deployed(node, made.contract, load_artifact())
        yield Market(outbox, node, Keys(keyed), made.contract)
    await node.close()


async def test_an_agent_without_gas_applies_and_submits_by_signature(market: Market):
    expires = await market.post()
    assert await market.state() == OPEN
    applied = market.signed(Act.APPLY, expires, version="1.0")
    arguments = 1, market.bob, "1.0", expires, applied
    with pytest.raises(BadSignature, match="applyForTaskSigned of task 1"):
        await market.send("judy", "applyForTaskSigned", 1, market.bob, "2.0", expires, applied)
    await market.send("judy", "applyForTaskSigned", *arguments)
    assert await market.state() == ASSIGNED
    with pytest.raises(WrongState, match=r"of task 1: .* \(the contract: WrongState\)"):
        await market.send("alice", "applyForTaskSigned", *arguments)
    submitted = market.signed(Act.SUBMIT, expires, resultHash="bafké", language="python")
    fields = 1, market.bob, "bafké", "python", b"\0" * 32, expires, submitted
    await market.send("judy", "submitResultSigned", *fields)
    assert await market.state() == SUBMITTED


async def test_a_commitment_made_here_is_revealed_there(market: Market, chain: LocalChain):
    expires = await market.post(commit_seconds=500)
    applied = market.signed(Act.APPLY, expires, version="1.0")
    await market.send("judy", "applyForTaskSigned", 1, market.bob, "1.0", expires, applied)
    commitment = bytes.fromhex(commitment_of(market.domain, 1, market.bob, "bafk", "salt"))
    committed = market.signed(Act.COMMIT, expires, commitment=commitment)
    await market.send("judy", "commitResultSigned", 1, market.bob, commitment, expires, committed)
    assert await market.state() == COMMITTED
    chain.ask("evm_increaseTime", 600)
    chain.mine()
    await market.send("bob", "submitResult", 1, "bafk", "", salt_word("salt"))
    assert await market.state() == SUBMITTED
