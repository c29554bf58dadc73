"""Whether a server can do its work: database, disk, catalog and sandbox."""

import asyncio
import os
import shutil
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated
from weakref import WeakKeyDictionary

from pydantic import Field

from arena.errors import ArenaError

if TYPE_CHECKING:
    from arena.assembly import Arena

FREE_BYTES = 100 * 1024 * 1024
"""With less free space on the disk of the home, writes may fail soon."""
PATIENCE_SECONDS = 5.0
"""A part that does not respond by then is not ready."""
KEPT_SECONDS = 2.0
"""Everybody may ask, so the answer is kept for this time."""
SANDBOX_KEPT_SECONDS = 60.0
"""The same for the sandbox, which has to start one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadinessCheck:
    """The state of one part of the server."""

    name: Annotated[str, Field(examples=["database"])]
    ok: bool
    detail: Annotated[str, Field(examples=["can be written"])]


@dataclass(frozen=True, slots=True, kw_only=True)
class Readiness:
    """Whether the server can do its work now."""

    ready: bool
    checks: list[ReadinessCheck]


Look = Callable[["Arena"], Awaitable[str]]
"""Looks at one part: describes it, or raises an error that does."""


class _Checks:
    """The latest result of each check of one server."""

    def __init__(self) -> None:
        self._latest: dict[str, tuple[float, asyncio.Future[str]]] = {}

    async def result(self, arena: "Arena", name: str, look: Look, kept: float) -> ReadinessCheck:
        at, task = self._latest.get(name, (-kept, None))
        if task is None or (task.done() and time.monotonic() - at >= kept):
            task = asyncio.ensure_future(look(arena))
            self._latest[name] = time.monotonic(), task
        # Not cancelled when it is late: a statement that is abandoned blocks its connection.
        await asyncio.wait({task}, timeout=PATIENCE_SECONDS)
        if not task.done():
            detail = f"no response within {PATIENCE_SECONDS:g} s"
            return ReadinessCheck(name=name, ok=False, detail=detail)
        error = task.exception()
        if error is None:
            return ReadinessCheck(name=name, ok=True, detail=task.result())
        if not isinstance(error, ArenaError):
            raise error
        return ReadinessCheck(name=name, ok=False, detail=error.message)


_checks: "WeakKeyDictionary[Arena, _Checks]" = WeakKeyDictionary()


async def readiness(arena: "Arena") -> Readiness:
    """The state of every part, at most a few seconds old."""
    known = _checks.setdefault(arena, _Checks())
    checks = [
        await known.result(arena, "database", _database, KEPT_SECONDS),
        await known.result(arena, "disk", _disk, KEPT_SECONDS),
        await known.result(arena, "catalog", _catalog, KEPT_SECONDS),
    ]
    # Only where it has been used: a server that judges no code needs none. Providers that do not
    # say so are left out: a sandbox of theirs may cost money.
    if "sandbox" in vars(arena) and getattr(arena.sandbox, "was_used", False):
        checks.append(await known.result(arena, "sandbox", _sandbox, SANDBOX_KEPT_SECONDS))
    return Readiness(ready=all(check.ok for check in checks), checks=checks)


class _NotReady(ArenaError):
    """A part of the server does not work."""


async def _database(arena: "Arena") -> str:
    await arena.database.check()
    return "can be written"


async def _disk(arena: "Arena") -> str:
    home = arena.settings.home
    try:
        free = shutil.disk_usage(home).free
    except OSError as error:
        raise _NotReady(f"the home cannot be read: {error.strerror}") from None
    if not os.access(home, os.W_OK):
        raise _NotReady("the home cannot be written")
    detail = f"{free // 1024**2:,} MiB free for the home"
    if free < FREE_BYTES:
        raise _NotReady(f"{detail}, at least {FREE_BYTES // 1024**2} MiB are needed")
    return detail


async def _catalog(arena: "Arena") -> str:
    catalog = arena.catalog.current
    if catalog.folder_problems:
        raise _NotReady("; ".join(map(str, catalog.folder_problems)))
    return f"{len(catalog.tests)} tests"


async def _sandbox(arena: "Arena") -> str:
    sandbox = await arena.sandbox.create()
    await sandbox.destroy()
    return "can be started"
