"""Reads the contract's events from a node and keeps the market's tables up to date with them.

Only blocks with enough confirmations are read. If the chain is reorganised all the same, the blocks
that are gone are found by their hashes and their events are undone.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from time import monotonic

from arena import clock
from arena.chain.answers import BlockHead
from arena.chain.contract import ContractEvent, decode_event
from arena.chain.errors import UnknownBlock
from arena.chain.node import Node
from arena.chain.records import events as records
from arena.chain.records.events import FIRST_BLOCK, Cursor, Names
from arena.chain.replay import Place
from arena.errors import ArenaError
from arena.feed import Feed
from arena.market.records.book import lock_book
from arena.market.records.projecting import OnSubmitted
from arena.store.database import Database, shielded

log = logging.getLogger(__name__)

BLOCKS_AT_ONCE = 2_000
"""Of a contract's logs per request: most nodes refuse much larger ranges."""
FRESH_SECONDS = 0.5
"""Reading again so soon tells little: a chain has a block every few seconds."""

Prepare = Callable[[Sequence[ContractEvent]], Awaitable[Names]]
"""Looks up what the events name before they are written: a transaction must not wait for it."""

OnGone = Callable[[Sequence[str]], Awaitable[None]]
"""Called with the hashes of blocks whose events were undone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderOptions:
    """How a contract is read."""

    confirmations: int
    """Blocks that an event needs to be read, its own included."""
    from_block: int = 0
    """Where to begin."""
    on_submitted: OnSubmitted | None = None


class ChainReader:
    """Follows one contract for the team that its tasks belong to."""

    def __init__(
        self,
        database: Database,
        node: Node,
        place: Place,
        feed: Feed,
        prepare: Prepare,
        on_gone: OnGone,
        options: ReaderOptions,
    ) -> None:
        self._database = database
        self._node = node
        self._place = place
        self._feed = feed
        self._prepare = prepare
        self._on_gone = on_gone
        self._options = options
        self._lock = asyncio.Lock()
        self._read_at = float("-inf")
        self.problem: str | None = None
        """Why the tables may be behind the chain; None if they are not."""

    async def refresh(self) -> None:
        """Read what is new, unless that was done just now.

        A node that does not answer is no error: what is known can still be read.
        """
        if self._is_fresh:
            return
        async with self._lock:
            if self._is_fresh:
                return  # another caller has read it meanwhile
            try:
                await self._follow()
            except ArenaError as error:
                if self.problem != error.message:
                    log.warning("the chain cannot be read now: %s", error.message)
                self.problem = error.message
            else:
                self.problem = None
            self._read_at = monotonic()

    async def read(self) -> None:
        """Read everything that is new now."""
        async with self._lock:
            await self._follow()
            self.problem = None
            self._read_at = monotonic()

    @property
    def _is_fresh(self) -> bool:
        return monotonic() - self._read_at < FRESH_SECONDS

    async def _follow(self) -> None:
        is_changed = False
        while True:
            head = await self._node.head()
            last = head.number - (self._options.confirmations - 1)
            cursor = await self._cursor()
            if gone := await self._gone_blocks(cursor):
                is_changed |= await self._undo(cursor, *gone)
                continue
            if cursor.number >= last:
                break
            is_changed |= await self._read_blocks(cursor, last)
        if is_changed:
            team = self._place.team_id
            self._feed.notify(("market", team), ("team", team))

    async def _read_blocks(self, cursor: Cursor, last: int) -> bool:
        """Read the next blocks; returns whether there was something in them."""
        start = max(cursor.number + 1, self._options.from_block)
        until = min(last, start + BLOCKS_AT_ONCE - 1)
        if until < start:
            until = last  # all of them are older than the contract
        end = await self._node.head(until)
        logs = await self._node.logs([self._place.contract], start, until) if start <= until else []
        numbers = sorted({one.block_number for one in logs})
        blocks = dict(zip(numbers, await self._heads(numbers), strict=True))
        # A block's hash covers all blocks before it: the end is the same, so all of this is of one
        # chain. Otherwise it was reorganised meanwhile, and the next round reads again.
        if (await self._node.head(until)).hash != end.hash:
            return False
        if any(blocks[one.block_number].hash != one.block_hash for one in logs):
            return False
        decoded = (decode_event(one, _time(blocks[one.block_number])) for one in logs)
        events = [one for one in decoded if one is not None]
        names = await self._prepare(events)
        await self._write(cursor, Cursor(number=until, hash=end.hash), events, names)
        return bool(events)

    @shielded
    async def _write(
        self, before: Cursor, after: Cursor, events: Sequence[ContractEvent], names: Names
    ) -> None:
        async with self._database.writing() as connection:
            await lock_book(connection, self._place.team_id)
            if await records.read_cursor(connection, self._place) != before:
                return  # another process has read these blocks
            problems = await records.add_contract_events(
                connection, self._place, events, names, self._options.on_submitted
            )
            await records.store_cursor(connection, self._place, after)
        for problem in problems:
            log.warning("%s: this task is not shown", problem)

    async def _gone_blocks(self, cursor: Cursor) -> tuple[Cursor, list[str]] | None:
        """Where the chain still is the one that was read, and the blocks since then that are gone.

        None if nothing is gone.
        """
        if cursor.number == FIRST_BLOCK or await self._is_there(cursor):
            return None
        gone: list[str] = []
        for block in await self._known_blocks():
            if await self._is_there(block):
                return block, gone
            gone.append(block.hash)
        return Cursor(number=FIRST_BLOCK, hash=""), gone

    async def _undo(self, before: Cursor, after: Cursor, gone: list[str]) -> bool:
        """Take back the events of the blocks that are gone, and read on from `after`."""
        if gone:
            log.warning("the chain was reorganised: %d blocks with events are gone", len(gone))
        names = await self._prepare(())
        await self._remove(before, after, gone, names)
        await self._on_gone(gone)
        return bool(gone)

    @shielded
    async def _remove(
        self, before: Cursor, after: Cursor, gone: Sequence[str], names: Names
    ) -> None:
        async with self._database.writing() as connection:
            await lock_book(connection, self._place.team_id)
            if await records.read_cursor(connection, self._place) != before:
                return
            await records.remove_blocks(connection, self._place, gone, clock.now(), names)
            await records.store_cursor(connection, self._place, after)

    async def _is_there(self, block: Cursor) -> bool:
        try:
            return (await self._node.head(block.number)).hash == block.hash
        except UnknownBlock:
            return False

    async def _heads(self, numbers: Sequence[int]) -> list[BlockHead]:
        return list(await asyncio.gather(*(self._node.head(number) for number in numbers)))

    @shielded
    async def _cursor(self) -> Cursor:
        async with self._database.reading() as connection:
            return await records.read_cursor(connection, self._place)

    @shielded
    async def _known_blocks(self) -> list[Cursor]:
        async with self._database.reading() as connection:
            return await records.blocks_with_events(connection, self._place)


def _time(block: BlockHead) -> datetime:
    return datetime.fromtimestamp(block.timestamp, UTC)
