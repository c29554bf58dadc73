"""Content by CID: standards, submissions and verdict records."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from arena.content.errors import NowhereToPublish
from arena.content.reading import reading
from arena.operations.operation import OperationGroup, get, post
from arena.pools.threads import NETWORK, WRITES

if TYPE_CHECKING:
    from arena.content.ports import ContentSource, ContentStore

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


@dataclass(frozen=True, slots=True, kw_only=True)
class ContentFetched:
    """What is stored on this machine now."""

    cids: list[str]
    """The content and, if it is a verdict record, what it refers to."""
    bytes: Annotated[int, Field(ge=0)]
    """Of all of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContentPublished:
    """What was added to the IPFS network, and pinned there."""

    cids: list[str]
    """The content and, if it is a verdict record, what it refers to."""
    bytes: Annotated[int, Field(ge=0)]
    """Of all of it."""
    published_to: Annotated[str, Field(examples=["the Kubo daemon at http://127.0.0.1:5001"])]


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
        return await reading(self.arena.content, lambda source: source.get(cid))

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
        return await reading(
            self.arena.content, lambda store: _archive(store, cids), threads=WRITES
        )

    @post("/api/archive", tag="content", errors=(404, 413, 507), team=False)
    async def import_content(self, archive: bytes) -> ContentImported:
        """Store everything in an archive, or nothing if a byte is wrong."""
        # Imported here to save start-up: few commands use archives.
        from arena.content.archive import read_archive

        roots = await WRITES.run(read_archive, self.arena.content, archive)
        return ContentImported(roots=roots)

    @post("/api/content/{cid}/fetch", tag="content", errors=(404, 507), team=False)
    async def fetch_content(self, cid: str) -> ContentFetched:
        """Store content that is in the IPFS network; with a verdict record, what it refers to.

        Every block is verified. If no source has it now, the error is `content_pending` (503):
        try again later.
        """
        cids, size = await reading(
            self.arena.content, lambda source: _whole(source, cid), threads=WRITES
        )
        return ContentFetched(cids=cids, bytes=size)

    @post("/api/content/{cid}/publish", tag="content", errors=(404, 409, 507), team=False)
    async def publish_content(self, cid: str) -> ContentPublished:
        """Add content to the IPFS network and pin it there; with a record, what it refers to.

        Anyone may then read it, and nobody can take it back. Arena publishes nothing else.
        """
        kubo = self.arena.kubo
        if kubo is None:
            raise NowhereToPublish
        # Imported here to save start-up: it loads an HTTP library.
        from arena.content.kubo import publish

        store = self.arena.content
        # All of it is read before any of it is published.
        cids, size = await NETWORK.run(_whole, store, cid)
        for one in cids:
            await NETWORK.run(publish, store, kubo, one)
        return ContentPublished(cids=cids, bytes=size, published_to=kubo.name)


def _archive(store: "ContentStore", cids: Sequence[str]) -> bytes:
    # Imported here to save start-up: few commands use archives or judge.
    from arena.content.archive import write_archive
    from arena.evaluation.record import contents_of

    return write_archive(store, contents_of(store, cids))


def _whole(source: "ContentSource", cid: str) -> tuple[list[str], int]:
    """The CIDs of a content and what it refers to, and the size of all of them; verified."""
    # Imported here to save start-up: few commands judge.
    from arena.evaluation.record import contents_of

    cids = contents_of(source, [cid])
    return cids, sum(len(source.get(one)) for one in cids)
