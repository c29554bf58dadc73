"""Content on this machine, and behind it the network: a Kubo daemon and gateways, in order.

Everything is put here and only here; nothing is sent to the network by any method of the store.
What is missing here is looked for in each source in turn. It is kept only when the whole content
has arrived and every block has been verified: of a lie, or of half an answer, nothing is kept.
"""

import logging
from collections.abc import Iterator, Sequence
from time import monotonic

from arena.content.cid import Cid, parse_cid
from arena.content.errors import ContentCorrupt, ContentMissing, ContentPending, SourceFault
from arena.content.network import NetworkStore
from arena.content.store import LocalStore
from arena.content.tree import V1, Block, Profile, ReadBlock, walk

log = logging.getLogger(__name__)


class TieredStore:
    """The content of this machine, and what can be had from the network."""

    def __init__(
        self, local: LocalStore, sources: Sequence[NetworkStore], *, timeout_seconds: float
    ) -> None:
        """`timeout_seconds` is for looking in all sources together."""
        self.local = local
        self._sources = tuple(sources)
        self._timeout_seconds = timeout_seconds

    @property
    def max_bytes(self) -> int:
        """The largest content that is stored or returned."""
        return self.local.max_bytes

    def put(self, data: bytes, *, profile: Profile = V1) -> str:
        """Store `data` on this machine and return its CID."""
        return self.local.put(data, profile=profile)

    def put_block(self, cid: Cid, block: bytes) -> None:
        """Store one block on this machine; it must match its CID."""
        self.local.put_block(cid, block)

    def pin(self, cid: str) -> None:
        """Mark content that must be kept; all of it must be stored on this machine."""
        self.local.pin(cid)

    def get(self, cid: str, *, max_bytes: int | None = None) -> bytes:
        """The content with this CID, every block verified; what comes from outside is kept."""
        try:
            return self.local.get(cid, max_bytes=max_bytes)
        except (ContentMissing, ContentCorrupt) as problem:
            self._fetch(cid, max_bytes, problem)
        return self.local.get(cid, max_bytes=max_bytes)

    def blocks(self, cid: str) -> Iterator[Block]:
        """Every block of the content once, verified, its root first."""
        try:
            # A list: whether all blocks are here is known only after the last.
            return iter(list(self.local.blocks(cid)))
        except (ContentMissing, ContentCorrupt) as problem:
            self._fetch(cid, None, problem)
        return self.local.blocks(cid)

    def close(self) -> None:
        """End what other threads are waiting for."""
        for source in self._sources:
            source.close()

    def _fetch(self, cid: str, max_bytes: int | None, problem: Exception) -> None:
        """Bring content from the network and keep it, all of it or nothing."""
        root = parse_cid(cid)
        limit = self.max_bytes if max_bytes is None else min(max_bytes, self.max_bytes)
        found: dict[Cid, bytes] = {}
        try:
            self._look(root, limit, found)
        except SourceFault:
            if isinstance(problem, ContentCorrupt):
                # Not "try again later": the disk has to be looked at.
                raise problem from None
            raise
        # In reverse, so that the root comes last: if it is there, all other blocks are.
        for key, block in reversed(found.items()):
            self.local.put_block(key, block)

    def _look(self, root: Cid, limit: int, found: dict[Cid, bytes]) -> None:
        """Find every block of the content that is not stored here."""
        faults: list[SourceFault] = []
        ends_at = monotonic() + self._timeout_seconds
        for place, source in enumerate(self._sources):
            # A source that searches for long leaves as much time to each of the others.
            seconds = (ends_at - monotonic()) / (len(self._sources) - place)
            try:
                with source.reading(seconds) as read:
                    for _ in walk(root, self._reader(read, found), max_bytes=limit):
                        pass
            except SourceFault as fault:
                faults.append(fault)
                if not isinstance(fault, ContentPending):
                    log.warning("%s", fault.message)
            else:
                return
        raise _all_together(root, faults)

    def _reader(self, read: ReadBlock, found: dict[Cid, bytes]) -> ReadBlock:
        """Reads a block from here if it is here, otherwise from the source, once."""

        def read_any(cid: Cid) -> bytes:
            if cid.key in found:
                return found[cid.key]
            try:
                return self.local.read_block(cid)
            except (ContentMissing, ContentCorrupt):
                found[cid.key] = read(cid)
            return found[cid.key]

        return read_any


def _all_together(root: Cid, faults: Sequence[SourceFault]) -> SourceFault:
    """One error for all sources: of the first that did more than not have the content."""
    if all(isinstance(fault, ContentPending) for fault in faults):
        return ContentPending(
            f"{root} is neither stored here nor found in the network now: publish it, or try again "
            "later"
        )
    first = next(fault for fault in faults if not isinstance(fault, ContentPending))
    reasons = "; ".join(fault.message for fault in faults)
    return type(first)(
        f"{root} is not stored here, and it cannot be fetched: {reasons}",
        retryable=any(fault.retryable for fault in faults),
    )
