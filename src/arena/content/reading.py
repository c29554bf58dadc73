"""Reading content from asynchronous code, in threads."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

from arena.content.errors import ContentCorrupt, ContentMissing
from arena.content.ports import ContentStore
from arena.pools.threads import NETWORK, FairThreads

T = TypeVar("T")


async def reading(
    store: ContentStore,
    work: Callable[[ContentStore], T],
    *,
    threads: FairThreads | None = None,
) -> T:
    """The result of `work`, which reads content from the store it is given.

    First it is given what is stored on this machine, in `threads` (by default those of short
    reads). If something is missing there, it is called again with the whole store, in the threads
    that wait for the network: what is stored here is never read behind a slow gateway.
    """
    try:
        if threads is None:
            return await asyncio.to_thread(work, store.local)
        return await threads.run(work, store.local)
    except (ContentMissing, ContentCorrupt):
        if store.local is store:
            raise
    return await NETWORK.run(work, store)
