"""Claims: of several workers that got the same work, one does it.

A claim is a token in the row of the work, with an expiry that is renewed while the work is done. A
dead worker's claim expires; a worker that was paused for longer finds that it has lost its claim.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any, TypeVar
from uuid import uuid4

from sqlalchemy import ColumnElement, DateTime, func, or_

from arena.errors import InfrastructureError

T = TypeVar("T")

CLAIM_SECONDS = 10
"""How long a dead worker keeps the others from its work."""
RENEW_SECONDS = CLAIM_SECONDS / 4

Take = Callable[[str], Awaitable[bool]]
"""Takes or renews the claim with this token; False if another token holds it."""


class ClaimedElsewhere(Exception):
    """Another worker does this work."""


async def under_claim(take: Take, do: Callable[[str], Coroutine[Any, Any, T]]) -> T:
    """Do it, given the token, while nobody else does; it is cancelled when the claim is lost."""
    token = uuid4().hex
    if not await take(token):
        raise ClaimedElsewhere
    working = asyncio.create_task(do(token))
    renewing = asyncio.create_task(_renew(take, token))
    try:
        await asyncio.wait({working, renewing}, return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return await working
        await renewing  # an error of the database's is raised here
        raise ClaimedElsewhere
    finally:
        for part in (working, renewing):
            part.cancel()
        await asyncio.gather(working, renewing, return_exceptions=True)


async def _renew(take: Take, token: str) -> None:
    """Renew the claim until it is lost."""
    is_held = True
    while is_held:
        await asyncio.sleep(RENEW_SECONDS)
        # The database may be back before the claim expires; if not, it says so then.
        with suppress(InfrastructureError):
            is_held = await take(token)


def is_free(token_column: Any, until_column: Any, token: str) -> ColumnElement[bool]:
    """Whether a row is claimed by nobody else, by the clock of the database."""
    return or_(token_column == token, until_column.is_(None), until_column <= database_now())


def claim_end() -> ColumnElement[datetime]:
    """When a claim that is taken now expires."""
    return database_now() + timedelta(seconds=CLAIM_SECONDS)


def database_now() -> ColumnElement[datetime]:
    """The time of PostgreSQL: the clocks of workers may differ."""
    return func.clock_timestamp(type_=DateTime(timezone=True))
