"""What the other rooms use of content: reading it from a source, keeping it in a store.

A *source* is anything that content can be read from by its CID: a folder on this machine, a Kubo
daemon, a gateway. A *store* also keeps content, on this machine; what it does not have it may look
for in sources. Whatever a source returns matches its CID: every block is hashed here.
"""

from collections.abc import Iterator
from typing import Protocol

from arena.content.cid import Cid
from arena.content.store import LocalStore
from arena.content.tree import V1, Block, Profile


class ContentSource(Protocol):
    """Reads content: `LocalStore`, `KuboStore`, `GatewayStore`, `TieredStore`. Calls block."""

    def get(self, cid: str, *, max_bytes: int | None = None) -> bytes:
        """The content with this CID, every block verified."""
        ...

    def blocks(self, cid: str) -> Iterator[Block]:
        """Every block of the content once, verified, its root first."""
        ...


class ContentStore(ContentSource, Protocol):
    """Keeps content on this machine: `LocalStore`, `TieredStore`. Calls block."""

    @property
    def local(self) -> LocalStore:
        """What is stored on this machine, without the network."""
        ...

    @property
    def max_bytes(self) -> int:
        """The largest content that is stored or returned."""
        ...

    def put(self, data: bytes, *, profile: Profile = V1) -> str:
        """Store `data` on this machine and return its CID."""
        ...

    def put_block(self, cid: Cid, block: bytes) -> None:
        """Store one block on this machine; it must match its CID."""
        ...

    def pin(self, cid: str) -> None:
        """Mark content on this machine that must be kept."""
        ...
