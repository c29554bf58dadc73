"""The parties of a team on the chain: names here, addresses there.

A name belongs to one address for good, so that the history of a task reads the same later. An
address without a name is shown as itself.
"""

import re
from collections.abc import Mapping

from arena.chain.errors import MissingKey
from arena.chain.keys import Keys
from arena.errors import Conflict
from arena.market.records.mirror import name_wallet
from arena.market.records.reading import read_parties
from arena.store.database import Database, shielded

ADDRESS = re.compile("0x[0-9a-fA-F]{40}")


class Parties:
    """Names and addresses of one team."""

    def __init__(self, database: Database, team_id: str, keys: Keys) -> None:
        self._database = database
        self._team_id = team_id
        self._keys = keys

    async def by_address(self) -> dict[str, str]:
        """The names of all known addresses."""
        known = await self._known()
        return {address: name for name, address in known.items()}

    async def addresses(self) -> Mapping[str, str]:
        """The addresses of all known names, with those of the keys on this machine."""
        for name in self._keys.names():
            await self.address_of(name)
        return await self._known()

    async def address_of(self, name: str) -> str:
        """The address of a party, in lower case; an error if it is not known."""
        if ADDRESS.fullmatch(name):
            return name.lower()
        known = await self._known()
        mine = self._keys.address_of(name)
        if mine is None:
            if name not in known:
                raise MissingKey(
                    f"{name!r} has no address on the chain: name its address with "
                    f"`arena chain party {name} 0x…`, or give the address itself"
                )
            return known[name]
        if known.get(name, mine.lower()) != mine.lower():
            raise Conflict(
                f"{name!r} is {known[name]} in this market, but its key here is of "
                f"{mine.lower()}: use another name for that key"
            )
        if name not in known:
            await self.name(name, mine)
        return mine.lower()

    @shielded
    async def name(self, name: str, address: str) -> None:
        """Give an address a name; `Conflict` if either is taken."""
        async with self._database.writing() as connection:
            await name_wallet(connection, self._team_id, name, address)

    @shielded
    async def _known(self) -> dict[str, str]:
        async with self._database.reading() as connection:
            return await read_parties(connection, self._team_id)
