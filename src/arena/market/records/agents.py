"""Agents of a market: their keys, their reputation, their used signatures."""

from datetime import datetime

from sqlalchemy import insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from arena import clock
from arena.errors import Conflict, NotFound
from arena.market.agents import Applicant, MarketAgent, Reputation, ranked
from arena.market.errors import BadSignature
from arena.market.events import EventKind, Happening
from arena.market.proof import Proof, Statement, check_proof
from arena.market.records.book import add_call, find_call, lock_book
from arena.market.records.events import add_events
from arena.market.records.rows import REPUTATION_COLUMNS, to_agent, to_reputation
from arena.store.database import Database, insert_or_ignore, shielded
from arena.store.tables import MarketAgents, MarketApplications, MarketNonces


@shielded
async def register(
    database: Database,
    new: MarketAgent,
    signed: tuple[Statement, Proof],
    *,
    key: str,
    digest: str,
) -> MarketAgent:
    """Let an agent in, or renew its version; nothing changes where all is as it was."""
    statement, proof = signed
    async with database.writing() as connection:
        await lock_book(connection, new.team_id)
        at = clock.now()
        check_proof(new.public_key, statement, proof, at)
        known = await _find(connection, new.team_id, new.id)
        if known and known.public_key != new.public_key:
            raise Conflict(f"agent {new.id!r} is registered with another key")
        again = await find_call(connection, new.team_id, key, digest)
        if known and (again or known.version == new.version):
            # Used up all the same: the version is not signed, and a copy could name another.
            row = {"team_id": new.team_id, "agent": new.id, "nonce": proof.nonce, "at": at}
            await connection.execute(insert_or_ignore(connection, MarketNonces), row)
            return known
        await use_nonce(connection, new.team_id, new.id, proof.nonce, at)
        await _store(connection, new, at)
        told = Happening(
            kind=EventKind.AGENT_REGISTERED,
            why="renewed" if known else "registered",
            data={"version": new.version, "public_key": new.public_key},
        )
        await add_events(connection, new.team_id, None, new.id, at, [told])
        await add_call(connection, new.team_id, key=key, digest=digest, action="register", at=at)
        return await read_agent(connection, new.team_id, new.id)


async def read_agent(connection: AsyncConnection, team_id: str, agent: str) -> MarketAgent:
    """A registered agent."""
    found = await _find(connection, team_id, agent)
    if found is None:
        raise NotFound(f"agent {agent!r} is not registered in this market: register it first")
    return found


async def check_signed(
    connection: AsyncConnection, team_id: str, signed: tuple[Statement, Proof], at: datetime
) -> MarketAgent:
    """The agent that signed; an error where it did not."""
    statement, proof = signed
    agent = await read_agent(connection, team_id, statement.agent)
    check_proof(agent.public_key, statement, proof, at)
    return agent


async def use_nonce(
    connection: AsyncConnection, team_id: str, agent: str, nonce: str, at: datetime
) -> None:
    """Let a signature be good this once."""
    row = {"team_id": team_id, "agent": agent, "nonce": nonce, "at": at}
    new = insert_or_ignore(connection, MarketNonces).values(**row).returning(MarketNonces.nonce)
    if (await connection.execute(new)).first() is None:
        raise BadSignature("the signature was used before: sign again")


async def add_reputation(
    connection: AsyncConnection, team_id: str, agent: str, gained: Reputation
) -> None:
    """Add to an agent's running sums."""
    columns = MarketAgents.__table__.c
    changed = {
        name: columns[name] + getattr(gained, name)
        for name in REPUTATION_COLUMNS
        if getattr(gained, name)
    }
    if changed:
        await connection.execute(
            update(MarketAgents)
            .where(MarketAgents.team_id == team_id, MarketAgents.id == agent)
            .values(changed)
        )


async def ranked_applicants(
    connection: AsyncConnection, team_id: str, task_id: int
) -> list[Applicant]:
    """Who applied for a task, the best first."""
    query = (
        select(
            MarketApplications.agent,
            MarketApplications.version.label("applied_version"),
            MarketApplications.applied_at,
            MarketAgents.__table__,
        )
        .join(
            MarketAgents,
            (MarketAgents.team_id == MarketApplications.team_id)
            & (MarketAgents.id == MarketApplications.agent),
        )
        .where(MarketApplications.task_id == task_id, MarketApplications.team_id == team_id)
    )
    return ranked(
        Applicant(
            agent=row.agent,
            version=row.applied_version,
            applied_at=row.applied_at,
            reputation=to_reputation(row),
        )
        for row in await connection.execute(query)
    )


async def all_agents(connection: AsyncConnection, team_id: str) -> list[MarketAgent]:
    """Every agent of a market, by id."""
    query = select(MarketAgents.__table__).where(MarketAgents.team_id == team_id)
    agents = [to_agent(row) for row in await connection.execute(query)]
    return sorted(agents, key=lambda agent: agent.id)


async def _find(connection: AsyncConnection, team_id: str, agent: str) -> MarketAgent | None:
    query = select(MarketAgents.__table__).where(
        MarketAgents.team_id == team_id, MarketAgents.id == agent
    )
    row = (await connection.execute(query)).one_or_none()
    return to_agent(row) if row else None


async def _store(connection: AsyncConnection, new: MarketAgent, at: datetime) -> None:
    is_mine = (MarketAgents.team_id == new.team_id) & (MarketAgents.id == new.id)
    renewed = await connection.execute(
        update(MarketAgents).where(is_mine).values(version=new.version)
    )
    if renewed.rowcount == 0:
        row = {
            "team_id": new.team_id,
            "id": new.id,
            "version": new.version,
            "public_key": new.public_key,
            "registered_at": at,
        }
        await connection.execute(insert(MarketAgents), row)
