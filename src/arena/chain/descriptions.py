"""The descriptions of tasks: on the chain is only their CID, the text is content.

A task that somebody else posted may be seen before its description can be had. Until then its CID
stands in for it.
"""

import asyncio
from collections.abc import Callable, Iterable
from time import monotonic

from arena.errors import ArenaError
from arena.market.task import MAX_DESCRIPTION_LENGTH
from arena.pools.threads import WRITES

MISSING = "ipfs://"
MAX_BYTES = 4 * MAX_DESCRIPTION_LENGTH
RETRY_SECONDS = 60.0

Get = Callable[[str], bytes]


class Descriptions:
    """Texts by CID: from this machine at once, from the network when there is time."""

    def __init__(self, put: Callable[[bytes], str], get_here: Get, get_anywhere: Get) -> None:
        self._put = put
        self._get_here = get_here
        self._get_anywhere = get_anywhere
        self._tried: dict[str, float] = {}

    async def keep(self, text: str) -> str:
        """Store a description; returns its CID."""
        return await WRITES.run(self._put, text.encode())

    async def read(self, cids: Iterable[str]) -> dict[str, str]:
        """The descriptions that are on this machine; a placeholder for the others."""
        return {cid: await self.find(cid) or MISSING + cid for cid in cids}

    async def find(self, cid: str) -> str | None:
        """A description that is on this machine; None if it is not."""
        return await self._read(cid, self._get_here)

    async def fetch(self, cid: str) -> str | None:
        """A description from the network; None if it cannot be had now."""
        if monotonic() < self._tried.get(cid, 0.0):
            return None
        self._tried[cid] = monotonic() + RETRY_SECONDS
        return await self._read(cid, self._get_anywhere)

    async def _read(self, cid: str, get: Get) -> str | None:
        try:
            data = await asyncio.to_thread(get, cid)
        except ArenaError:
            return None
        text = data[:MAX_BYTES].decode("utf-8", "replace").replace("\0", "\ufffd")
        return text[:MAX_DESCRIPTION_LENGTH] or None
