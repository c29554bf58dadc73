"""Content by CID: standards, submissions and verdict records."""

import asyncio
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from arena.operations.operation import OperationGroup, get, post
from arena.pools.threads import WRITES

BYTES = "application/octet-stream"
ARCHIVE = "application/vnd.ipld.car"

# Untrusted bytes: a browser must neither guess their type nor display or run them.
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Content-Disposition": "attachment",
    "Content-Security-Policy": "default-src 'none'; sandbox",
}
# The content of a CID never changes.
IMMUTABLE = {"Cache-Control": "private, max-age=31536000, immutable"}

Cids = Annotated[
    list[str],
    Field(alias="cid", min_length=1, max_length=1000, description="The content to include."),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class ContentKept:
    """The CID of stored content."""

    cid: Annotated[
        str, Field(examples=["bafkreifzjut3te2nhyekklss27nh3k72ysco7y32koao5eei66wof36n5e"])
    ]
    """Version 1, sha2-256, chunks of 262,144 bytes, 174 wide."""
    bytes: Annotated[int, Field(ge=0)]


@dataclass(frozen=True, slots=True, kw_only=True)
class ContentImported:
    """What an archive contained."""

    roots: list[str]
    """The CIDs it was created for."""


class ContentOperations(OperationGroup):
    """Content by CID."""

    @post("/api/content", tag="content", errors=(413, 507), team=False)
    async def put_content(self, data: bytes) -> ContentKept:
        """Store the body as it is; returns its CID."""
        # In threads, here and below: the store uses the disk and waits for it. What writes, or
        # reads much, has other threads than the short reads.
        cid = await WRITES.run(self.arena.content.put, data)
        return ContentKept(cid=cid, bytes=len(data))

    @get(
        "/api/content/{cid}",
        id="get_content",
        tag="content",
        errors=(404,),
        team=False,
        media_type=BYTES,
        description="The bytes.",
        response_headers=HEADERS | IMMUTABLE,
    )
    async def content(self, cid: str) -> bytes:
        """The content with this CID, every block verified."""
        return await asyncio.to_thread(self.arena.content.get, cid)

    @get(
        "/api/archive",
        tag="content",
        errors=(404,),
        team=False,
        media_type=ARCHIVE,
        description="The bytes.",
        response_headers=HEADERS,
    )
    async def export_content(self, cids: Cids) -> bytes:
        """One file (CAR) with these contents; a verdict record includes what it refers to."""
        return await WRITES.run(self._archive, cids)

    def _archive(self, cids: list[str]) -> bytes:
        # Imported here to save start-up: few commands use archives or judge.
        from arena.content.archive import write_archive
        from arena.evaluation.record import contents_of

        return write_archive(self.arena.content, contents_of(self.arena.content, cids))

    @post("/api/archive", tag="content", errors=(404, 413, 507), team=False)
    async def import_content(self, archive: bytes) -> ContentImported:
        """Store everything in an archive, or nothing if a byte is wrong."""
        # Imported here to save start-up: few commands use archives.
        from arena.content.archive import read_archive

        roots = await WRITES.run(read_archive, self.arena.content, archive)
        return ContentImported(roots=roots)
