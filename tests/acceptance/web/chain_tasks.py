"""Tasks on a chain without a node: hand-made events of the contract, written as a reader would."""

import asyncio
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from arena.amounts import MAX_DECIMALS, Currency
from arena.chain.contract import ContractEvent
from arena.chain.descriptions import MISSING
from arena.chain.records.events import Names, add_contract_events, remove_blocks
from arena.chain.replay import Place
from arena.chain.terms import NOBODY
from arena.clock import now
from arena.market.records.book import lock_book
from arena.settings import Settings
from arena.store.database import Database

DEVELOPMENT = "eip155:31337"
MAINNET = "eip155:1"
CONTRACT = "0x5fbdb2315678afecb367f032d93f642f64180aa3"
ALICE, WORKER, JUDY, STRANGER = (f"0x{digit * 40}" for digit in "a5b7")
NAMES = {ALICE: "alice", WORKER: "worker", JUDY: "judy"}
"""The stranger has no name: such a party goes by its address."""
TERMS: Mapping[str, Any] = {
    "judge": JUDY,
    "judgeWindow": "86400",
    "fallbackJudge": NOBODY,
    "fallbackWindow": "0",
    "agentSharePercent": "0",
    "disputeWindow": "0",
    "arbiter": NOBODY,
    "arbiterWindow": "0",
    "bond": "0",
    "commitDeadline": "0",
    "maxApplicants": "100",
    "isSelfJudged": False,
    "isFirst": False,
}


def hash_of(*parts: object) -> str:
    """A hash as a chain has them."""
    return "0x" + hashlib.sha256(repr(parts).encode()).hexdigest()


@dataclass(kw_only=True)
class HandmadeChain:
    """A contract whose events are written by hand; each call is a block of its own."""

    home: Path
    descriptions: dict[str, str] = field(default_factory=dict)
    """By CID; any other has a placeholder."""
    network: str = DEVELOPMENT
    _blocks: int = 0

    @property
    def _place(self) -> Place:
        currency = Currency(code="ETH", decimals=MAX_DECIMALS)
        return Place(team_id="default", network=self.network, contract=CONTRACT, currency=currency)

    def post(self, task: int, *, reward: int, description_cid: str, standard: str) -> str:
        """A task of alice; returns the hash of its block, as the others do."""
        deadline = str(int((now() + timedelta(days=2)).timestamp()))
        return self.call(
            ("TaskPosted",),
            task,
            poster=ALICE,
            judge=JUDY,
            reward=str(reward),
            terms={**TERMS, "deadline": deadline},
            evaluationCID=standard,
            descriptionCID=description_cid,
        )

    def call(self, names: Sequence[str], task: int, **args: Any) -> str:
        """The events of one call, all with these arguments."""
        self._blocks += 1
        block = hash_of(self.network, "block", self._blocks)
        at = now().replace(microsecond=0)
        events = [
            ContractEvent(
                name=name,
                args=args,
                chain_task=task,
                at=at,
                block_number=self._blocks,
                block_hash=block,
                log_index=index,
                transaction_hash=hash_of(self.network, "transaction", self._blocks),
            )
            for index, name in enumerate(names)
        ]
        asyncio.run(self._add(events))
        return block

    def drop(self, block: str) -> None:
        """A reorganisation: the block is no longer part of the chain."""
        asyncio.run(self._drop(block, now()))

    def _names(self, events: Sequence[ContractEvent] = ()) -> Names:
        cids = {one.args["descriptionCID"] for one in events if one.name == "TaskPosted"}
        texts = {cid: self.descriptions.get(cid, f"{MISSING}{cid}") for cid in cids}
        return Names(names=NAMES, descriptions=texts)

    async def _add(self, events: Sequence[ContractEvent]) -> None:
        database = Database(Settings(home=self.home).database)
        async with database.writing() as connection:
            await lock_book(connection, self._place.team_id)
            names = self._names(events)
            assert await add_contract_events(connection, self._place, events, names) == []
        await database.close()

    async def _drop(self, block: str, at: datetime) -> None:
        database = Database(Settings(home=self.home).database)
        async with database.writing() as connection:
            await lock_book(connection, self._place.team_id)
            await remove_blocks(connection, self._place, [block], at, self._names())
        await database.close()
