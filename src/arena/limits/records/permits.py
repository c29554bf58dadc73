"""Permits: the right to start a call, counted until it is older than the window."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from uuid import uuid4

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from arena.limits.records.places import Place
from arena.limits.request import Need, Permits, Request
from arena.limits.shares import Claim, shares


async def take_permits(
    connection: AsyncConnection,
    here: Place,
    request: Request,
    wanted: Mapping[str, int],
) -> tuple[list[Permits], float | None]:
    """Take permits, as many as are wanted by each team; and the seconds until more are free.

    Never more than `calls` starts in any window: take the starts of one window, and the permit P
    among theirs that was taken last, at time T (all are taken under the place's lock). If there
    were more than `calls`, one of the other permits, Q, no longer counted at T. It counted until
    `hold + window` after it was taken, and was used at most `hold` after that; so its call started
    at least a window before T. The call of P started after T: the two are not in one window.
    A permit that is given back was not used.
    """
    if request.used:
        # Set, not subtracted: if the commit gets lost, it is done again.
        counts = {"ids": list(request.used), "counts": list(request.used.values())}
        await connection.execute(_RETURN, counts)
    rate = request.rate
    if rate is None or not sum(wanted.values()):
        return [], None
    used: dict[tuple[str, str], int] = {}
    first: datetime | None = None
    for row in await connection.execute(_USED, {"place": request.place, "now": here.now}):
        if row.is_over:
            await connection.execute(_EXPIRE, {"place": request.place, "now": here.now})
            continue
        used[row.team_id, row.holder] = row.used
        first = row.first if first is None else min(first, row.first)
    free = rate.calls - sum(used.values())
    divided = shares(rate.calls, _permit_claims(here, request, wanted, used))
    taken: list[Permits] = []
    for team, count in wanted.items():
        more = divided[team, request.holder] - used.get((team, request.holder), 0)
        if (granted := max(min(count, more, free), 0)) > 0:
            taken.append(Permits(uuid4(), team, granted))
            free -= granted
    expires_at = here.now + timedelta(seconds=rate.hold_seconds + rate.window_seconds)
    key = {"place": request.place, "holder": request.holder, "expires_at": expires_at}
    for one in taken:
        values = key | {"id": one.id, "team": one.team, "count": one.count}
        await connection.execute(_TAKE, values)
    if sum(one.count for one in taken) == sum(wanted.values()):
        return taken, None
    if free > 0 or first is None:  # the rest is for others, who may not want it any more
        return taken, rate.window_seconds / 60
    return taken, max((first - here.now).total_seconds(), 0.0)


def startable(
    needs: Mapping[str, Need], slots: Mapping[str, int], share: Mapping[str, int]
) -> dict[str, int]:
    """How many calls of each team could start now if they had a permit."""
    startable: dict[str, int] = {}
    for team, need in needs.items():
        free = max(min(slots.get(team, 0), share.get(team, 0)) - need.in_use, 0)
        ahead = need.ahead if need.waiting > free else 0
        startable[team] = need.holding + min(need.waiting, free) + ahead
    return startable


def _permit_claims(
    here: Place,
    request: Request,
    wanted: Mapping[str, int],
    used: Mapping[tuple[str, str], int],
) -> list[Claim]:
    waiting = {
        key: row.waiting
        for key, row in here.rows.items()
        if row.holder != request.holder and not here.is_silent(row)
    }
    waiting |= {(team, request.holder): count for team, count in wanted.items()}
    return [
        Claim(
            team=team,
            holder=holder,
            held=used.get((team, holder), 0),
            wanted=used.get((team, holder), 0) + waiting.get((team, holder), 0),
            seconds=here.seconds_since(here.rows.get((team, holder))),
        )
        for team, holder in sorted(used.keys() | waiting.keys())
    ]


_USED = text(
    """
    SELECT team_id, holder, sum(count) AS used, min(expires_at) AS first,
        expires_at <= :now AS is_over
    FROM arena_limit_permits WHERE place = :place GROUP BY team_id, holder, is_over
    """
)
_EXPIRE = text("DELETE FROM arena_limit_permits WHERE place = :place AND expires_at <= :now")
_TAKE = text(
    """
    INSERT INTO arena_limit_permits (id, place, team_id, holder, count, expires_at)
    VALUES (:id, :place, :team, :holder, :count, :expires_at)
    """
)
_RETURN = text(
    """
    UPDATE arena_limit_permits permit SET count = used.count
    FROM unnest(CAST(:ids AS uuid[]), CAST(:counts AS int[])) AS used (id, count)
    WHERE permit.id = used.id
    """
)
