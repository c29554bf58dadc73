"""Who takes part in a market: agents with their keys, and the addresses of parties on a chain."""

from datetime import datetime

from sqlalchemy import insert, update
from sqlalchemy.ext.asyncio import AsyncConnection

from arena import clock
from arena.errors import Conflict
from arena.market.agents import MarketAgent
from arena.market.call import CallKey, EventKind, NewEvent, digest_of
from arena.market.errors import BadSignature
from arena.market.records.book import add_call, add_events, find_call, lock_book
from arena.market.records.mirror import name_wallet
from arena.market.records.reading import find_agent, read_agent
from arena.market.signing import Act, Proof, Statement, check_proof, is_wallet
from arena.store.database import Database, insert_or_ignore, shielded
from arena.store.tables.market import MarketAgents, MarketNonces

Signed = tuple[Statement, Proof]
"""What an agent must have signed, and the signature it sent."""


class Participants:
    """The agents and parties of every team's market, whatever ledger its tasks are on."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @shielded
    async def name_party(self, team_id: str, name: str, address: str) -> None:
        """Give an address on a chain a name; `Conflict` if either is taken."""
        async with self._database.writing() as connection:
            await lock_book(connection, team_id)
            await name_wallet(connection, team_id, name, address)

    @shielded
    async def register(
        self, team_id: str, new: MarketAgent, signed: Signed, *, key: CallKey
    ) -> MarketAgent:
        """Register an agent, or update its version; no change if nothing differs."""
        statement, proof = signed
        digest = digest_of(
            Act.REGISTER, agent=new.id, public_key=new.public_key, version=new.version
        )
        async with self._database.writing() as connection:
            await lock_book(connection, team_id)
            at = clock.now()
            check_proof(new.public_key, statement, proof, at)
            known = await find_agent(connection, team_id, new.id)
            if known and known.public_key != new.public_key:
                raise Conflict(f"agent {new.id!r} is registered with another key")
            again = await find_call(connection, team_id, key, digest)
            if known and (again or known.version == new.version):
                # The nonce is used up all the same: the version is not signed, so a copy of this
                # proof could register another version.
                row = {"team_id": team_id, "agent": new.id, "nonce": proof.nonce, "at": at}
                await connection.execute(insert_or_ignore(connection, MarketNonces), row)
                return known
            await use_nonce(connection, team_id, new.id, proof.nonce, at)
            await _store_agent(connection, team_id, new, at)
            if is_wallet(new.public_key):
                await name_wallet(connection, team_id, new.id, new.public_key)
            event = NewEvent(
                kind=EventKind.AGENT_REGISTERED,
                why="renewed" if known else "registered",
                data={"version": new.version, "public_key": new.public_key},
            )
            await add_events(connection, team_id, None, new.id, at, [event])
            await add_call(connection, team_id, key=key, digest=digest, action="register", at=at)
            return await read_agent(connection, team_id, new.id)


async def use_nonce(
    connection: AsyncConnection, team_id: str, agent: str, nonce: str, at: datetime
) -> None:
    """Mark a signature as used; each is valid only once."""
    row = {"team_id": team_id, "agent": agent, "nonce": nonce, "at": at}
    new = insert_or_ignore(connection, MarketNonces).values(**row).returning(MarketNonces.nonce)
    if (await connection.execute(new)).first() is None:
        raise BadSignature("the signature was used before: sign again")


async def _store_agent(
    connection: AsyncConnection, team_id: str, new: MarketAgent, at: datetime
) -> None:
    is_mine = (MarketAgents.team_id == team_id) & (MarketAgents.id == new.id)
    renewed = await connection.execute(
        update(MarketAgents).where(is_mine).values(version=new.version)
    )
    if renewed.rowcount == 0:
        row = {
            "team_id": team_id,
            "id": new.id,
            "version": new.version,
            "public_key": new.public_key,
            "registered_at": at,
        }
        await connection.execute(insert(MarketAgents), row)
