"""Content on this machine: one file per block, named by its CID.

    blocks/<two letters>/<CID>     the bytes of a block, never changed once they are there
    partial/                       what is being written; a file gets its name when it is whole
    pins/<CID>                     what must be kept

A block is checked against its name on every read, so what the disk lost or somebody changed is an
error and never an answer. Calls block: on an event loop use `asyncio.to_thread`. Any number of
threads and processes may use one folder.
"""

from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from arena import clock
from arena.content.cid import Cid, parse_cid
from arena.content.errors import ContentCorrupt, ContentMissing, ContentTooLarge
from arena.content.tree import V1, Block, Profile, cut, walk
from arena.errors import InfrastructureError
from arena.files import sync_folder, write_atomically

MAX_BYTES = 64 * 1024**2
MAX_BLOCK_BYTES = 2 * 1024**2
"""What the field exchanges at most as one block."""
ABANDONED_SECONDS = 3600
"""Nobody takes an hour to write a block: whoever began that file is gone."""


class LocalStore:
    """A folder of content."""

    def __init__(self, folder: Path, max_bytes: int = MAX_BYTES) -> None:
        self.folder = folder
        self.max_bytes = max_bytes
        """The largest content that is taken or given."""
        self._blocks, self._partial = folder / "blocks", folder / "partial"
        self._pins = folder / "pins"
        self._is_swept = False

    def put(self, data: bytes, *, profile: Profile = V1) -> str:
        """Keep `data` and give its CID; once this returns it is on the disk."""
        if len(data) > self.max_bytes:
            told = f"{len(data)} bytes are too many: at most {self.max_bytes} are kept as one"
            raise ContentTooLarge(told)
        self._sweep()
        # The top comes last: who finds it finds the rest.
        top = None
        for top, block in cut(data, profile):
            self.put_block(top, block)
        return str(top)

    def get(self, cid: str, *, max_bytes: int | None = None) -> bytes:
        """The content called `cid`, every block of it verified."""
        walked = walk(parse_cid(cid), self._read, max_bytes=self._limit(max_bytes))
        return b"".join(own for _, _, own in walked)

    def has(self, cid: str) -> bool:
        """Whether every block of the content is here and sound."""
        try:
            for _ in self.blocks(cid):
                pass
        except (ContentMissing, ContentCorrupt):
            return False
        return True

    def blocks(self, cid: str) -> Iterator[Block]:
        """Every block of the content once, verified, its top first."""
        seen: set[Cid] = set()
        for found, block, _ in walk(parse_cid(cid), self._read, max_bytes=self.max_bytes):
            if found.key not in seen:
                seen.add(found.key)
                yield found, block

    def pin(self, cid: str) -> None:
        """Mark content that must be kept; it has to be here, whole."""
        for _ in self.blocks(cid):
            pass
        self._write(self._pins / str(parse_cid(cid).key), b"")

    def unpin(self, cid: str) -> None:
        """Take the mark off. The content stays: Arena itself never removes any."""
        with _disk():
            (self._pins / str(parse_cid(cid).key)).unlink(missing_ok=True)

    def pins(self) -> list[str]:
        """What is pinned."""
        with _disk():
            return sorted(path.name for path in _entries(self._pins))

    def put_block(self, cid: Cid, block: bytes) -> None:
        """Keep one block under its name, which must be its own."""
        if not cid.names(block):
            raise ContentCorrupt(f"these bytes are not what {cid} names")
        path = self._path(cid)
        with _disk(), suppress(FileNotFoundError):
            # Damaged bytes under this name are mended by whoever has the right ones.
            if path.read_bytes() == block:
                return
        self._write(path, block)

    def _sweep(self) -> None:
        """Remove what writers that were killed have left, once in the life of this value."""
        if self._is_swept:
            return
        self._is_swept = True
        before = clock.now().timestamp() - ABANDONED_SECONDS
        with _disk():
            for path in _entries(self._partial):
                with suppress(FileNotFoundError):  # its writer is alive after all, and done
                    if path.stat().st_mtime < before:
                        path.unlink()

    def _limit(self, max_bytes: int | None) -> int:
        return self.max_bytes if max_bytes is None else min(max_bytes, self.max_bytes)

    def _path(self, cid: Cid) -> Path:
        name = str(cid.key)
        # The last letter has few bits; the two before it spread evenly over 1,024 folders.
        return self._blocks / name[-3:-1] / name

    def _read(self, cid: Cid) -> bytes:
        with _disk():
            try:
                with self._path(cid).open("rb") as file:
                    block = file.read(MAX_BLOCK_BYTES + 1)
            except FileNotFoundError:
                raise ContentMissing(f"{cid} is not in {self.folder}") from None
        if not cid.names(block):
            told = f"{self._path(cid)} does not hold what {cid} names: it was damaged or changed"
            raise ContentCorrupt(told)
        return block

    def _write(self, path: Path, data: bytes) -> None:
        """Make the file appear whole or not at all, even if the power fails."""
        with _disk():
            for folder in (self._partial, path.parent):
                _make(folder, self.folder)
            write_atomically(path, data, mode=0o600, partial_folder=self._partial)


def _make(folder: Path, top: Path) -> None:
    if folder.is_dir():
        return
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    while folder != top:
        folder = folder.parent
        sync_folder(folder)


def _entries(folder: Path) -> list[Path]:
    return list(folder.iterdir()) if folder.is_dir() else []


@contextmanager
def _disk() -> Generator[None]:
    """A fault of the disk is one of the infrastructure."""
    try:
        yield
    except OSError as wrong:
        told = f"the content store: {wrong.strerror}: {wrong.filename}"
        raise InfrastructureError(told) from wrong
