"""The rows of places: locked, and read with the leases of their slots."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import delete, text
from sqlalchemy.ext.asyncio import AsyncConnection

from arena.store.database import Database, insert_or_ignore
from arena.store.tables.queue import LimitPlaces, LimitShares

SILENT_SECONDS = 3.0
"""A worker that has not renewed for this time gets nothing more: it may be dead."""
STALLED_MS = 2000
"""A worker that is stopped in the middle of a transaction loses its locks after this time."""


@dataclass(frozen=True, slots=True)
class Place:
    """A place as the tables have it."""

    now: datetime
    paused_until: datetime | None
    rows: Mapping[tuple[str, str], Any]
    """The leases that have not expired, by team and holder."""

    def is_silent(self, row: Any) -> bool:
        """Whether the worker of a lease may be dead."""
        return (self.now - row.seen_at).total_seconds() > SILENT_SECONDS

    def of(self, holder: str) -> dict[str, Any]:
        """The leases of a worker, by team."""
        return {team: row for (team, whose), row in self.rows.items() if whose == holder}

    def seconds_since(self, row: Any) -> float:
        """How long a lease has had a slot, or none."""
        return (self.now - row.since).total_seconds() if row is not None else 0.0


async def add_places(database: Database, places: Sequence[str]) -> None:
    """Add the places that are not known yet; before the lock, so that nobody deadlocks."""
    async with database.writing() as connection:
        rows = [{"place": place} for place in sorted(places)]
        await connection.execute(insert_or_ignore(connection, LimitPlaces).values(rows))


async def locked(connection: AsyncConnection, places: Sequence[str]) -> dict[str, Place]:
    """Lock the places that are known; nobody else changes them until the transaction ends."""
    found = await connection.execute(_LOCK, {"places": places, "ms": str(STALLED_MS)})
    # Only these: one that was added meanwhile can be read, and is not locked.
    names = [row.place for row in found]
    return await read(connection, names) if names else {}


async def read(connection: AsyncConnection, places: Sequence[str]) -> dict[str, Place]:
    """The places as they are now; a lease that has expired is removed."""
    # After the lock was taken: before, the clock and the rows may be older.
    found: dict[str, list[Any]] = {}
    for row in await connection.execute(_READ, {"places": places}):
        found.setdefault(row.place, []).append(row)
    read: dict[str, Place] = {}
    for place, rows in found.items():
        now = min(row.now for row in rows)
        leases = {(row.team_id, row.holder): row for row in rows if row.holder is not None}
        if expired := [key for key, row in leases.items() if row.expires_at <= now]:
            gone = delete(LimitShares).where(
                LimitShares.place == place, LimitShares.expires_at <= now
            )
            await connection.execute(gone)
            for key in expired:
                del leases[key]
        read[place] = Place(now, rows[0].paused_until, leases)
    return read


async def pause(
    connection: AsyncConnection, here: Place, place: str, seconds: float
) -> datetime | None:
    """When the pause of the place ends, if it is paused for `seconds` from now on."""
    if not seconds:
        return here.paused_until
    until = here.now + timedelta(seconds=seconds)
    if here.paused_until is not None and here.paused_until >= until:
        return here.paused_until
    await connection.execute(_PAUSE, {"place": place, "until": until})
    return until


# The setting is made in the same statement: it must hold before this transaction has the lock.
_LOCK = text(
    """
    SELECT place, set_config('idle_in_transaction_session_timeout', :ms, true)
    FROM arena_limit_places WHERE place = ANY(:places) ORDER BY place FOR UPDATE
    """
)
_READ = text(
    """
    SELECT places.place, paused_until, clock_timestamp() AS now, holder, team_id, slots, wanted,
        waiting, since, seen_at, expires_at
    FROM arena_limit_places places LEFT JOIN arena_limit_shares shares
        ON shares.place = places.place
    WHERE places.place = ANY(:places)
    """
)
_PAUSE = text("UPDATE arena_limit_places SET paused_until = :until WHERE place = :place")
