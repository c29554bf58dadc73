"""Settles what workers have at places with the tables, in one short transaction."""

from collections.abc import Mapping, Sequence
from datetime import timedelta

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from arena.limits.records.permits import startable, take_permits
from arena.limits.records.places import Place, add_places, locked, pause, read
from arena.limits.request import Outcome, Rate, Request
from arena.limits.shares import SLICE_SECONDS, Claim, shares
from arena.store.database import Database, shielded

CHANNEL = "arena_limits_"
"""Followed by the id of a process; a notification says which place has changed for it."""


@shielded
async def settle(database: Database, requests: Sequence[Request]) -> list[Outcome]:
    """Renew, take and give back at several places, in one transaction."""
    places = sorted({one.place for one in requests})
    while True:
        async with database.writing() as connection:
            known = await locked(connection, places)
            if len(known) == len(places):
                return await _settle_all(connection, known, requests)
        await add_places(database, places)


@shielded
async def spend(database: Database, place: str, team: str, rate: Rate) -> float | None:
    """Take one permit; if none is free, returns the seconds until one is."""
    request = Request(place=place, holder="", capacity=0, lease_seconds=0.0, needs={}, rate=rate)
    while True:
        async with database.writing() as connection:
            known = await locked(connection, [place])
            if known:
                taken, seconds = await take_permits(connection, known[place], request, {team: 1})
                return None if taken else seconds
        await add_places(database, [place])


async def _settle_all(
    connection: AsyncConnection, known: dict[str, Place], requests: Sequence[Request]
) -> list[Outcome]:
    outcomes: list[Outcome] = []
    done: set[str] = set()
    for request in requests:
        if request.place in done:  # changed by the request before
            known |= await read(connection, [request.place])
        outcomes.append(await _settle(connection, known[request.place], request))
        done.add(request.place)
    return outcomes


async def _settle(connection: AsyncConnection, here: Place, request: Request) -> Outcome:
    mine = here.of(request.holder)
    kept = {
        team: min(need.kept, mine[team].slots) if team in mine else 0
        for team, need in request.needs.items()
    }
    claims = _claims(here, request, kept)
    silent = sum(row.slots for row in here.rows.values() if here.is_silent(row))
    divided = shares(request.capacity - silent, claims)
    share = {team: divided[team, request.holder] for team in request.needs}
    slots = _granted(here, request, kept, share)
    await _write_shares(connection, here, request, slots)
    paused_until = await pause(connection, here, request.place, request.pause_seconds)
    paused = (paused_until - here.now).total_seconds() if paused_until else 0.0
    wanted = {} if paused > 0 else startable(request.needs, slots, share)
    permits, next_seconds = await take_permits(connection, here, request, wanted)
    notified = _to_notify(here, request, slots, divided)
    if request.pause_seconds:
        notified = {holder for _, holder in here.rows}
    if channels := {CHANNEL + holder.partition(".")[0] for holder in notified - {request.holder}}:
        values = {"channels": sorted(channels), "place": request.place}
        await connection.execute(_NOTIFY, values)
    return Outcome(
        slots=slots,
        shares=share,
        paused_seconds=max(paused, 0.0),
        permits=permits,
        next_permit_seconds=next_seconds,
        slice_seconds=_slice_seconds(claims, request.holder),
    )


def _granted(
    here: Place, request: Request, kept: Mapping[str, int], share: Mapping[str, int]
) -> dict[str, int]:
    """The slots of each team: those that are kept, and up to its share of those that are free."""
    others = sum(row.slots for row in here.rows.values() if row.holder != request.holder)
    free = request.capacity - others - sum(kept.values())
    slots: dict[str, int] = {}
    for team, count in kept.items():
        more = max(min(free, share[team] - count), 0)
        slots[team] = count + more
        free -= more
    return slots


def _slice_seconds(claims: Sequence[Claim], holder: str) -> float | None:
    """When slots of this worker may be for others; None if nobody waits without a slot."""
    if not any(claim.wanted and not claim.held for claim in claims if claim.holder != holder):
        return None
    held = [claim.seconds for claim in claims if claim.holder == holder and claim.held]
    left = [SLICE_SECONDS - seconds for seconds in held if seconds < SLICE_SECONDS]
    return min(left, default=None)


def _claims(here: Place, request: Request, kept: Mapping[str, int]) -> list[Claim]:
    """All claims to slots of the place: those of others as stored, and the request's."""
    claims = [
        Claim(
            team=row.team_id,
            holder=row.holder,
            held=row.slots,
            wanted=row.wanted,
            seconds=here.seconds_since(row),
        )
        for row in here.rows.values()
        if row.holder != request.holder and not here.is_silent(row)
    ]
    mine = here.of(request.holder)
    for team, need in request.needs.items():
        row = mine.get(team)
        is_same = row is not None and bool(row.slots) == bool(kept[team])
        seconds = here.seconds_since(row) if row is not None and is_same else 0.0
        claims.append(
            Claim(
                team=team,
                holder=request.holder,
                held=kept[team],
                wanted=need.wanted,
                seconds=seconds,
            )
        )
    return claims


def _to_notify(
    here: Place, request: Request, slots: Mapping[str, int], divided: Mapping[tuple[str, str], int]
) -> set[str]:
    """The workers that should look: they may take what was given back, or must give back."""
    mine = here.of(request.holder)
    had = sum(row.slots for row in mine.values())
    was_short = any(row.slots < row.wanted for row in mine.values())
    is_short = any(slots[team] < need.wanted for team, need in request.needs.items())
    others = [
        (row, divided[key])
        for key, row in here.rows.items()
        if row.holder != request.holder and key in divided
    ]
    notified: set[str] = set()
    if sum(slots.values()) < had:
        notified |= {row.holder for row, share in others if share > row.slots}
    if is_short and not was_short:
        notified |= {row.holder for row, share in others if share < row.slots}
    return notified


async def _write_shares(
    connection: AsyncConnection, here: Place, request: Request, slots: Mapping[str, int]
) -> None:
    mine = here.of(request.holder)
    rows: list[tuple[object, ...]] = []
    for team, need in request.needs.items():
        if not slots[team] and not need.wanted:
            continue
        row = mine.get(team)
        is_same = row is not None and bool(row.slots) == bool(slots[team])
        since = row.since if row is not None and is_same else here.now
        rows.append((team, slots[team], need.wanted, need.waiting + need.holding, since))
    expires_at = here.now + timedelta(seconds=request.lease_seconds)
    key = {"place": request.place, "holder": request.holder}
    if rows:
        names = ("teams", "slots", "wanted", "waiting", "since")
        columns = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
        times = {"now": here.now, "expires_at": expires_at}
        await connection.execute(_RENEW, key | columns | times)
    if gone := sorted(mine.keys() - {row[0] for row in rows}):
        await connection.execute(_GIVE_BACK, key | {"teams": gone})


_RENEW = text(
    """
    INSERT INTO arena_limit_shares
        (place, holder, team_id, slots, wanted, waiting, since, seen_at, expires_at)
    SELECT :place, :holder, team_id, slots, wanted, waiting, since, :now, :expires_at
    FROM unnest(
        CAST(:teams AS text[]), CAST(:slots AS int[]), CAST(:wanted AS int[]),
        CAST(:waiting AS int[]), CAST(:since AS timestamptz[])
    ) AS mine (team_id, slots, wanted, waiting, since)
    ON CONFLICT (place, holder, team_id) DO UPDATE SET
        slots = excluded.slots, wanted = excluded.wanted, waiting = excluded.waiting,
        since = excluded.since, seen_at = excluded.seen_at, expires_at = excluded.expires_at
    """
)
_GIVE_BACK = text(
    """
    DELETE FROM arena_limit_shares
    WHERE place = :place AND holder = :holder AND team_id = ANY(:teams)
    """
)
_NOTIFY = text("SELECT pg_notify(channel, :place) FROM unnest(CAST(:channels AS text[])) channel")
