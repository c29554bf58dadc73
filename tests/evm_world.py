"""The market on a real node, behind the same interface as tests/market_world.py.

So the same table of cases and the same machine run on it. Every call goes through `Market` and
`EvmLedger`, is a real transaction, and comes back as events.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar
from uuid import uuid4

from eth_account import Account
from eth_utils.crypto import keccak

from anvil_node import COIN, LocalChain, own_node
from arena import clock
from arena.amounts import Amount
from arena.assembly import Arena
from arena.chain import signing
from arena.chain.artifact import load_artifact
from arena.chain.errors import NoFunds
from arena.chain.keys import Keys
from arena.chain.senders import Senders
from arena.chain.signing import Domain
from arena.chain.wallet import WalletSigner
from arena.market.call import Action, Call, CallKey, Receipt
from arena.market.errors import InsufficientFunds
from arena.market.market import new_task
from arena.market.signing import Act, Proof
from arena.market.task import TaskPost
from arena.settings import Settings
from market_door import Door
from market_world import RESULTS, START

T = TypeVar("T")

PEOPLE = ("ann", "bob", "solver", "rival", "third", "jim", "fay", "art", "nobody", "relay")
AGENTS = ("solver", "rival", "third")
ALLOWANCE = 100 * COIN
"""What everybody has for gas; it is not their money here."""


def private_key(name: str) -> str:
    return f"0x{keccak(text=f'test key of {name}').hex()}"


def wei(amount: int) -> Amount:
    """The same number of minor units, on the chain."""
    return Amount(amount, 18)


ADDRESSES = {name: Account.from_key(private_key(name)).address for name in PEOPLE}


class EvmWorld:
    """A node with a manual clock; each team has a contract of its own."""

    def __init__(self, folder: Path, url: str) -> None:
        self.runner = asyncio.Runner()
        self._folder, self._url = folder, url
        self._opened = AsyncExitStack()
        self.start, self.at = START, START
        self._real_now = clock.now
        clock.now = lambda: self.at
        node = own_node(folder / "node", "--timestamp", str(int(START.timestamp())))
        self.chain: LocalChain = self.run(self._opened.enter_async_context(node))
        self.chain.ask("anvil_setBlockTimestampInterval", 0)
        self.team = ""
        self.contract: Any = self
        self.arena: Any = None
        self.market: Any = None

    def close(self) -> None:
        self._close_arena()
        self.run(self._opened.aclose())
        self.runner.close()
        clock.now = self._real_now

    def run(self, call: Awaitable[T]) -> T:
        async def wait() -> T:
            return await call

        return self.runner.run(wait())

    def set_time(self, microseconds: int) -> None:
        """Set both clocks; a chain's never goes back."""
        at = self.start + timedelta(microseconds=microseconds)
        if at <= self.at:
            return
        self.at = at
        self.chain.ask("evm_setNextBlockTimestamp", int(at.timestamp()))

    def moment(self, microseconds: int | None) -> datetime | None:
        return None if microseconds is None else self.start + timedelta(microseconds=microseconds)

    def new_team(self) -> str:
        """A new contract, whose agents are registered; time goes on from where it is."""
        self._close_arena()
        self.team = f"team-{uuid4().hex}"
        self.at += timedelta(seconds=1)
        self.start = self.at
        self.chain.ask("evm_setNextBlockTimestamp", int(self.at.timestamp()))
        for address in ADDRESSES.values():
            self.chain.ask("anvil_setBalance", address, hex(ALLOWANCE))
        self.address = self.chain.deploy(load_artifact().bytecode)
        self.settings = Settings.model_validate(
            {
                "home": self._folder / self.team,
                "database_url": self._url,
                "ledger": "evm",
                "chain_url": self.chain.url,
                "chain_contract": self.address,
                "chain_confirmations": 1,
                "chain_team": self.team,
                "chain_relayer": "relay",
                "chain_keys": [f"{name}:{private_key(name)}" for name in PEOPLE],
            }
        )
        self.keys = Keys(self.settings)
        self.closing = AsyncExitStack()
        self.arena = Arena(self.settings, self.closing)
        for data in RESULTS.values():
            self.arena.content.put(data)
        self.market = EvmDoor(self)
        for agent in AGENTS:
            public = WalletSigner(agent, self.keys).public_key
            proof = self.proof(self.team, Act.REGISTER, None, agent, public)
            self.run(self.market.register_agent(self.team, agent, public, proof))
        self.spent: Counter[str] = Counter()
        self._seen_block = self.chain.number("eth_blockNumber")
        return self.team

    def proof(
        self,
        team: str,
        act: Act,
        task_id: int | None,
        agent: str,
        content: str = "",
        *,
        signer: str | None = None,
        market: str | None = None,
    ) -> Proof:
        """The first task of a team is the contract's first, and so on."""
        place = market or f"eip155:31337:{self.address.lower()}"
        if act is Act.REGISTER:
            place = self.run(self.market.embedded.market_id(team))
        if act is Act.APPLY:
            content = "1.0.0"
        return WalletSigner(signer or agent, self.keys).prove(
            place, act, task_id=task_id, content=content, at=self.at
        )

    def commitment(self, team: str, task_id: int, agent: str, result_hash: str) -> str:
        domain = Domain(chain_id=31337, contract=self.address)
        return signing.commitment_of(domain, task_id, ADDRESSES[agent], result_hash, "salt")

    def money(self, name: str) -> int:
        """What a party has besides its allowance, in wei: the minor units of the tests."""
        self._count_gas()
        address = ADDRESSES[name]
        return self.chain.balance(address) - ALLOWANCE + self.spent[address.lower()]

    def give(self, name: str, wei: int) -> None:
        address = ADDRESSES[name]
        balance = self.chain.balance(address) + wei
        self.chain.ask("anvil_setBalance", address, hex(balance))

    def _count_gas(self) -> None:
        """Gas is not the market's money: add up what everybody spent on it."""
        last = self.chain.number("eth_blockNumber")
        for number in range(self._seen_block + 1, last + 1):
            for receipt in self.chain.ask("eth_getBlockReceipts", hex(number)):
                cost = int(receipt["gasUsed"], 16) * int(receipt["effectiveGasPrice"], 16)
                self.spent[receipt["from"]] += cost
        self._seen_block = last

    def _close_arena(self) -> None:
        if self.arena is not None:
            self.run(self.closing.aclose())
            self.arena = None


class EvmDoor(Door):
    """The market of one team, with money as the tests know it."""

    def __init__(self, world: EvmWorld) -> None:
        arena = world.arena
        super().__init__(
            arena.database,
            arena.content,
            arena.feed,
            ledger="evm",
            others={"evm": lambda: arena.chain},
            refresh=arena._refresh_chain,
        )
        self.world = world
        self.outside = 0
        self.direct = self.relayed = self.credited = 0
        self.calls = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.reader, name)

    async def deposit_test_money(
        self, team: str, who: str, amount: int, *, key: str | None = None
    ) -> Receipt:
        self.world.give(who, amount)
        self.outside -= amount
        return self._cash()

    async def withdraw_test_money(
        self, team: str, who: str, amount: int, *, key: str | None = None
    ) -> Receipt:
        if self.world.money(who) < amount:
            raise InsufficientFunds
        self.world.give(who, -amount)
        self.outside += amount
        return self._cash()

    def _cash(self) -> Receipt:
        return Receipt(ref=0, task_id=None, state=None, at=self.world.at)

    async def post_task(self, team_id: str, post: TaskPost) -> Receipt:
        ledger = self.ledger
        post = replace(post, reward=wei(post.reward), bond=wei(post.bond))
        if self.world.money(post.poster) < post.reward:
            task, _ = await new_task(team_id, post, ledger)
            await ledger.preview_task(task, key=CallKey(text="trial"))
            raise InsufficientFunds
        return await super().post_task(team_id, post)

    async def act(self, team_id: str, task_id: int, call: Call, **named: Any) -> Receipt:
        await self._check_bond(team_id, task_id, call, named.get("proof"))
        # Every second time an agent has its key here and pays for its own gas.
        self.calls += 1
        is_direct = self.calls % 2 == 0
        if "proof" in named and named["proof"] is not None:
            self.direct += is_direct
            self.relayed += not is_direct
        relayer = None if is_direct and call.by in AGENTS else "relay"
        self.world.arena.chain._senders = Senders(self.world.keys, relayer)
        try:
            return await super().act(team_id, task_id, call, **named)
        except NoFunds:
            raise AssertionError("everybody has money for gas") from None

    async def _check_bond(
        self, team_id: str, task_id: int, call: Call, proof: Proof | None
    ) -> None:
        """The bond is paid from the tests' money, not from the allowance."""
        if call.action is not Action.DISPUTE:
            return
        known = {task.id: task for task in await self.reader.tasks(team_id, limit=100)}
        if task_id in known and self.world.money(call.by) < known[task_id].bond:
            key = CallKey(text=uuid4().hex)
            await self.ledger.preview(team_id, task_id, call, key=key, proof=proof)
            raise InsufficientFunds

    async def balances(self, team_id: str) -> dict[str, int]:
        """Wallets, and what the contract holds for live tasks."""
        found = {f"user:{name}": self.world.money(name) for name in PEOPLE}
        found["outside"] = self.outside
        for one in await self.ledger.balances(team_id):
            if not one.account.startswith("user:"):
                found[one.account] = int(one.amount)
        return {name: amount for name, amount in found.items() if amount}

    async def audit(self, team_id: str) -> Any:
        return await self.ledger.audit(team_id)

    def credit(self, name: str) -> int:
        """Nobody here refuses a payment."""
        return 0

    def collect(self, name: str) -> None:
        call = self.ledger.withdraw(self.world.team, name, wei(1), key=CallKey(text=uuid4().hex))
        self.world.run(call)
