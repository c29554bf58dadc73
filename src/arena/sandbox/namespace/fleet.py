"""The zygotes of one kind: as many as there are cores, replaced when they die or grow old."""

import asyncio
from collections.abc import Callable

from arena.sandbox.errors import SandboxDestroyed, SandboxUnavailable
from arena.sandbox.namespace.box import Box
from arena.sandbox.namespace.launch import Started, launch
from arena.sandbox.namespace.zygote import NO_SIGN, Zygote

MAX_SPAWNS = 20_000
"""After so many children a zygote is replaced, so that nothing can pile up in it."""
PAUSE_SECONDS = 1.0
"""Before a box that ended without a word is started again."""


class Fleet:
    """Hands out the least busy zygote of its kind, and starts one where there is none."""

    def __init__(self, box: Box, size: int) -> None:
        self.box = box
        self.launch: Callable[[Box], Started] = launch
        self.size = size
        self._zygotes: list[Zygote] = []
        self._retired: list[Zygote] = []
        self._starting = asyncio.Lock()
        self._closed = False

    @property
    def zygotes(self) -> tuple[Zygote, ...]:
        """Those that run now."""
        return tuple(self._zygotes)

    async def zygote(self) -> Zygote:
        """A zygote that is alive."""
        usable = [zygote for zygote in self._zygotes if zygote.alive]
        if len(usable) < self.size or any(z.spawned >= MAX_SPAWNS for z in usable):
            idle = [zygote for zygote in usable if zygote.busy == 0]
            # A second one is started only when the first has something to do.
            if not idle or any(z.spawned >= MAX_SPAWNS for z in idle):
                await self._replenish()
                usable = [zygote for zygote in self._zygotes if zygote.alive]
        return min(usable, key=lambda zygote: zygote.busy)

    async def _replenish(self) -> None:
        async with self._starting:
            for zygote in list(self._zygotes):
                if not zygote.alive or zygote.spawned >= MAX_SPAWNS:
                    self._zygotes.remove(zygote)
                    self._retired.append(zygote)
            if len(self._zygotes) < self.size:
                fresh = await self._started()
                if self._closed:
                    await fresh.close()
                    raise SandboxDestroyed("this provider has been closed; make a new one")
                self._zygotes.append(fresh)
            for zygote in [old for old in self._retired if old.busy == 0]:
                self._retired.remove(zygote)
                await zygote.close()

    async def _started(self) -> Zygote:
        """A new one; a box that ends without a word is started once more.

        Where the machine refuses something it says so. Silence is a moment without a process or
        memory to spare.
        """
        fresh = Zygote(self.box)
        try:
            await fresh.start(self.launch)
        except SandboxUnavailable as wrong:
            if wrong.report[0].detail != NO_SIGN:
                raise
            await asyncio.sleep(PAUSE_SECONDS)
            fresh = Zygote(self.box)
            await fresh.start(self.launch)
        return fresh

    async def close(self) -> None:
        """End all of them."""
        self._closed = True
        everyone = [*self._zygotes, *self._retired]
        self._zygotes.clear()
        self._retired.clear()
        await asyncio.gather(*(zygote.close() for zygote in everyone))
