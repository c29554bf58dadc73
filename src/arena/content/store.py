"""Content on this machine: one file per block, named by its CID.

    blocks/<two letters>/<CID>     the bytes of a block, never changed
    partial/                       files being written, renamed once they are complete
    pins/<CID>                     marks content that must be kept
    quota/<hash of a team>         how many bytes the team has stored, if teams have a quota

A block is checked against its CID on every read, so content that was lost or changed on the disk is
an error, never a result. Calls block: on an event loop use `asyncio.to_thread`. Any number of
threads and processes may use one folder. Arena never deletes content; pins tell tools that do what
to keep.
"""

import os
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Protocol, Self, TypeVar

from arena import clock
from arena.content.cid import Cid, parse_cid
from arena.content.errors import ContentCorrupt, ContentMissing, ContentTooLarge
from arena.content.quota import Quota
from arena.content.tree import V1, Block, Profile, cut, distinct, join
from arena.errors import InfrastructureError, StorageFull
from arena.files import sync_folder, write_atomically

MAX_BYTES = 64 * 1024**2
MAX_BLOCK_BYTES = 2 * 1024**2
"""The largest block that IPFS tools exchange."""
ABANDONED_SECONDS = 3600
"""No write takes an hour: the writer of an older partial file has died."""

T = TypeVar("T", bound=Sequence[str])


class ContentSink(Protocol):
    """Takes content: a folder, a table. Calls block."""

    def put(self, data: bytes, *, profile: Profile = V1) -> str:
        """Store `data` and return its CID."""
        ...


class LocalStore:
    """A folder of content."""

    def __init__(
        self,
        folder: Path,
        max_bytes: int = MAX_BYTES,
        *,
        quota_bytes: int | None = None,
        min_free_bytes: int = 0,
    ) -> None:
        """`quota_bytes` per team; with less than `min_free_bytes` on the disk nothing is stored."""
        self.folder = folder
        self._min_free_bytes = min_free_bytes
        self._quota = Quota(folder / "quota", quota_bytes) if quota_bytes else None
        self.max_bytes = max_bytes
        """The largest content that is stored or returned."""
        self._blocks, self._partial = folder / "blocks", folder / "partial"
        self._pins = folder / "pins"
        self._is_swept = False

    @property
    def local(self) -> Self:
        """What is stored on this machine: everything."""
        return self

    @property
    def in_folder(self) -> "LocalStore":
        """What is in the folder, for other processes of this machine: everything."""
        return self

    def share(self, cids: Iterable[str]) -> None:
        """Make contents of the folder readable on all machines: there is only this one."""

    def keep(self, write: Callable[[ContentSink], T]) -> T:
        """Let `write` store contents; returns what it returns, their CIDs."""
        return write(self)

    def put(self, data: bytes, *, profile: Profile = V1) -> str:
        """Store `data` and return its CID; when this returns, it is on the disk."""
        if len(data) > self.max_bytes:
            raise ContentTooLarge(f"{len(data)} bytes are too many; the limit is {self.max_bytes}")
        self._sweep()
        # The root comes last: if it is there, all other blocks are.
        root = None
        for root, block in cut(data, profile):
            self.put_block(root, block)
        return str(root)

    def get(self, cid: str, *, max_bytes: int | None = None) -> bytes:
        """The content with this CID, every block verified."""
        limit = self.max_bytes if max_bytes is None else min(max_bytes, self.max_bytes)
        return join(parse_cid(cid), self.read_block, max_bytes=limit)

    def blocks(self, cid: str) -> Iterator[Block]:
        """Every block of the content once, verified, its root first."""
        return distinct(parse_cid(cid), self.read_block, max_bytes=self.max_bytes)

    def pin(self, cid: str) -> None:
        """Mark content that must be kept; all of it must be stored here."""
        for _ in self.blocks(cid):
            pass
        self._write(self._pins / str(parse_cid(cid).key), b"")

    def put_block(self, cid: Cid, block: bytes) -> None:
        """Store one block, which must match its CID."""
        if not cid.names(block):
            raise ContentCorrupt(f"these bytes do not match {cid}")
        path = self._path(cid)
        with _disk(), suppress(FileNotFoundError):
            # Compared, not only looked for: storing the right bytes repairs a damaged block.
            if path.read_bytes() == block:
                return
        if self._quota is not None:
            with _disk():
                self._quota.charge(len(block))
        self._write(path, block)

    def copy_block(self, cid: Cid, block: bytes) -> None:
        """Store a verified block that was put, and counted for its team, on another machine."""
        self._write(self._path(cid), block)

    def read_block(self, cid: Cid) -> bytes:
        """One block, verified."""
        with _disk():
            try:
                with self._path(cid).open("rb") as file:
                    block = file.read(MAX_BLOCK_BYTES + 1)
            except FileNotFoundError:
                raise ContentMissing(f"{cid} is not stored here") from None
        if not cid.names(block):
            where = self._path(cid).relative_to(self.folder)
            raise ContentCorrupt(f"{where} was damaged: it does not match {cid}")
        return block

    def _sweep(self) -> None:
        """Remove the partial files of killed writers, once per store."""
        if self._is_swept:
            return
        self._is_swept = True
        before = clock.now().timestamp() - ABANDONED_SECONDS
        with _disk():
            for path in self._partial.iterdir() if self._partial.is_dir() else ():
                with suppress(FileNotFoundError):  # its writer has just finished
                    if path.stat().st_mtime < before:
                        path.unlink()

    def _path(self, cid: Cid) -> Path:
        name = str(cid.key)
        # Not the last letter, which has few bits: the two before it spread evenly over 1,024
        # folders.
        return self._blocks / name[-3:-1] / name

    def _refuse_if_full(self, count: int) -> None:
        """Keep the rest of the disk free: the database needs it to answer at all."""
        if not self._min_free_bytes:
            return
        disk = os.statvfs(self.folder)
        if disk.f_bavail * disk.f_frsize < self._min_free_bytes + count:
            left = self._min_free_bytes // 1024**2
            raise StorageFull(f"the disk has less than {left} MiB left: nothing more is stored")

    def _write(self, path: Path, data: bytes) -> None:
        """Write the whole file or nothing, even if the power fails."""
        with _disk():
            for folder in (self._partial, path.parent):
                _make(folder, self.folder)
            self._refuse_if_full(len(data))
            write_atomically(path, data, mode=0o600, partial_folder=self._partial)


def _make(folder: Path, top: Path) -> None:
    if folder.is_dir():
        return
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    while folder != top:
        folder = folder.parent
        sync_folder(folder)


@contextmanager
def _disk() -> Generator[None]:
    """Raise disk errors as infrastructure errors."""
    try:
        yield
    except OSError as error:
        message = f"the content store: {error.strerror}"
        raise InfrastructureError(message) from error
