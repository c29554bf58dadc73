"""The market's tables as a projection of the chain: every contract that has tasks here is read."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime

from arena.amounts import MAX_DECIMALS, Currency
from arena.chain.contract import ContractEvent
from arena.chain.descriptions import MISSING, Descriptions
from arena.chain.keys import Keys
from arena.chain.node import Node
from arena.chain.parties import Parties
from arena.chain.reader import ChainReader, OnGone, ReaderOptions
from arena.chain.records import events as records
from arena.chain.records.events import Names
from arena.chain.replay import Place
from arena.errors import ArenaError
from arena.feed import Feed
from arena.market.call import EventKind
from arena.market.records.mirror import store_description
from arena.market.records.projecting import OnSubmitted
from arena.settings import Settings
from arena.store.database import Database, shielded


class ChainProjection:
    """Keeps the tables up to date with the chain."""

    def __init__(
        self,
        settings: Settings,
        database: Database,
        node: Node,
        keys: Keys,
        descriptions: Descriptions,
        feed: Feed,
        *,
        on_gone: OnGone,
        on_submitted: OnSubmitted | None = None,
    ) -> None:
        self.keys = keys
        self.parties = Parties(database, settings.chain_team, keys)
        self._settings = settings
        self._database = database
        self._node = node
        self._descriptions = descriptions
        self._feed = feed
        self._on_gone = on_gone
        self._on_submitted = on_submitted
        self._readers: dict[str, ChainReader] | None = None
        self.problem: str | None = None
        """Why the tables may be behind the chain; None if they are not."""

    async def network(self) -> str:
        """The chain's name, as CAIP-2 writes it."""
        return f"eip155:{await self._node.chain_id()}"

    async def place(self, contract: str) -> Place:
        """A contract on this chain, for the team."""
        return Place(
            team_id=self._settings.chain_team,
            network=await self.network(),
            contract=contract,
            currency=Currency(code=self._settings.chain_currency, decimals=MAX_DECIMALS),
        )

    async def refresh(self) -> None:
        """Read what is new, unless that was done just now; never fails."""
        try:
            readers = await self._opened()
        except ArenaError as error:  # the node does not answer: what is known can be read
            self.problem = error.message
            return
        for reader in readers.values():
            await reader.refresh()
        self.problem = next((one.problem for one in readers.values() if one.problem), None)

    async def read(self) -> None:
        """Read everything that is new now."""
        for reader in (await self._opened()).values():
            await reader.read()
        self.problem = None

    async def fill_descriptions(self) -> None:
        """Take descriptions that were not there yet from this machine, if they have come."""
        await self._fill(self._descriptions.find)

    async def fetch_descriptions(self) -> None:
        """Look in the content network for descriptions that were not there yet."""
        await self._fill(self._descriptions.fetch)

    async def _fill(self, find: Callable[[str], Awaitable[str | None]]) -> None:
        for contract in await self._opened():
            place = await self.place(contract)
            for task_id, cid in (await self._without_description(place)).items():
                if text := await find(cid):
                    await self._store_description(place, task_id, text)

    @shielded
    async def outcome(
        self, contract: str, transaction_hash: str
    ) -> tuple[int, EventKind, datetime] | None:
        """What a transaction did: the task, the last event, and when; None if it is not known."""
        place = await self.place(contract)
        async with self._database.reading() as connection:
            return await records.task_of_transaction(connection, place, transaction_hash)

    async def _opened(self) -> dict[str, ChainReader]:
        """The readers: of the contract for new tasks, and of those that had tasks before."""
        if self._readers is None:
            contract = self._settings.chain_contract
            assert contract is not None
            await self.parties.addresses()  # names the keys of this machine
            own = await self.place(contract.lower())
            contracts = dict.fromkeys([own.contract, *await self._contracts(own)])
            self._readers = {
                one: ChainReader(
                    self._database,
                    self._node,
                    await self.place(one),
                    self._feed,
                    self._names,
                    self._on_gone,
                    ReaderOptions(
                        confirmations=self._settings.chain_confirmations,
                        from_block=self._settings.chain_from_block,
                        on_submitted=self._on_submitted,
                    ),
                )
                for one in contracts
            }
        return self._readers

    async def _names(self, events: Sequence[ContractEvent]) -> Names:
        known = await self.parties.by_address()
        cids = {one.args["descriptionCID"] for one in events if one.name == "TaskPosted"}
        texts = await self._descriptions.read(cids)
        return Names(names=known, descriptions=texts)

    async def block_of(self, contract: str) -> int:
        """The last block of a contract that was read."""
        place = await self.place(contract)
        return await self._block_of(place)

    @shielded
    async def _block_of(self, place: Place) -> int:
        async with self._database.reading() as connection:
            return (await records.read_cursor(connection, place)).number

    @shielded
    async def _contracts(self, place: Place) -> list[str]:
        async with self._database.reading() as connection:
            return await records.contracts_with_tasks(connection, place)

    @shielded
    async def _without_description(self, place: Place) -> dict[int, str]:
        async with self._database.reading() as connection:
            return await records.missing_descriptions(connection, place, MISSING)

    @shielded
    async def _store_description(self, place: Place, task_id: int, text: str) -> None:
        async with self._database.writing() as connection:
            await store_description(connection, place.team_id, task_id, text)
