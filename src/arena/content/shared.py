"""The content of all machines that work on one database: a folder on this one, and a table.

Everything is put into both, so that a CID can be read on every machine as soon as its writer has
it. What the folder does not have is read from the table, verified, and kept in the folder.
"""

import logging
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from itertools import chain
from typing import TypeVar

from arena.content.cid import Cid
from arena.content.errors import ContentCorrupt, ContentMissing, QuotaReached
from arena.content.store import ContentSink, LocalStore
from arena.content.table import BlockTable
from arena.content.tree import V1, Block, Profile, cut
from arena.errors import InfrastructureError

log = logging.getLogger(__name__)

T = TypeVar("T", bound=Sequence[str])


class SharedStore(LocalStore):
    """A folder of content, and the blocks in the database."""

    def __init__(self, in_folder: LocalStore, table: BlockTable) -> None:
        super().__init__(in_folder.folder, in_folder.max_bytes)
        self._in_folder = in_folder
        self._table = table

    @property
    def in_folder(self) -> LocalStore:
        """Only what is in the folder: for worker processes, which do not use the database."""
        return self._in_folder

    def put(self, data: bytes, *, profile: Profile = V1) -> str:
        """Store `data` here and for all machines, and return its CID."""
        cid = self._in_folder.put(data, profile=profile)
        self.share([cid])
        return cid

    def put_block(self, cid: Cid, block: bytes) -> None:
        """Store one block here and for all machines; it must match its CID."""
        self._in_folder.put_block(cid, block)
        self._table.add([(cid, block)])

    def read_block(self, cid: Cid) -> bytes:
        """One block, verified; one from the table is kept in the folder."""
        try:
            return self._in_folder.read_block(cid)
        except (ContentMissing, ContentCorrupt):
            block = self._table.find(cid)
            if block is None:
                raise
        # A full disk does not keep anybody from reading.
        with suppress(InfrastructureError):
            self._in_folder.copy_block(cid, block)
        return block

    def share(self, cids: Iterable[str]) -> None:
        """Make contents of the folder readable on all machines."""
        self._table.add(block for cid in cids for block in self.blocks(cid))

    def keep(self, write: Callable[[ContentSink], T]) -> T:
        """Let `write` store contents and return their CIDs; then all machines can read them."""
        noted = _Noted(self._in_folder)
        try:
            cids = write(noted)
        except QuotaReached:
            raise
        except InfrastructureError as error:
            # The disk is full or broken, but what others wait for need not be lost.
            log.warning("%s; stored in the database only", error.message)
            return write(self._table)
        others = (self.blocks(cid) for cid in cids if cid not in noted.blocks)
        self._table.add(chain(*noted.blocks.values(), *others))
        return cids


class _Noted:
    """A folder, and what is put into it: reading it back would take longer than sending it."""

    def __init__(self, folder: LocalStore) -> None:
        self._folder = folder
        self.blocks: dict[str, list[Block]] = {}
        """By the CID of the content."""

    def put(self, data: bytes, *, profile: Profile = V1) -> str:
        """Store `data` in the folder and return its CID."""
        cid = self._folder.put(data, profile=profile)
        self.blocks[cid] = list(cut(data, profile))
        return cid
