"""Bytes by CID: standards, submissions and verdict records."""

import asyncio
from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import Depends, Query, Request
from fastapi.responses import Response

from arena import schemas
from arena.api.arena import House
from arena.api.problems import responses
from arena.api.room import room_router
from arena.content.archive import read_archive, write_archive
from arena.content.store import LocalStore
from arena.evaluation.record import contents_of

router = room_router("/api", "content")

BYTES = "application/octet-stream"
ARCHIVE = "application/vnd.ipld.car"

# Somebody else's bytes: a browser must neither guess what they are nor show or run them.
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Content-Disposition": "attachment",
    "Content-Security-Policy": "default-src 'none'; sandbox",
}


BINARY = {"schema": {"type": "string", "format": "binary"}}


def _sends(media_type: str) -> dict[int | str, dict[str, Any]]:
    return {200: {"description": "The bytes.", "content": {media_type: BINARY}}}


TAKES_BYTES = {"requestBody": {"required": True, "content": {BYTES: BINARY}}}


async def _sent(request: Request) -> bytes:
    return await request.body()


Sent = Annotated[bytes, Depends(_sent)]
"""The body as it came, whatever its type is said to be."""


@router.post("/content", responses=responses(413), openapi_extra=TAKES_BYTES)
async def put_content(house: House, body: Sent) -> schemas.ContentKept:
    """Keep the body as it is and tell its CID."""
    cid = await asyncio.to_thread(house.content.put, body)
    return schemas.ContentKept(cid=cid, bytes=len(body))


@router.get(
    "/content/{cid}", response_class=Response, responses={**_sends(BYTES), **responses(404)}
)
async def get_content(house: House, cid: str) -> Response:
    """The content called `cid`, every block of it verified."""
    data = await asyncio.to_thread(house.content.get, cid)
    # What a CID names never changes.
    caching = {"Cache-Control": "private, max-age=31536000, immutable"}
    return Response(data, media_type=BYTES, headers=HEADERS | caching)


@router.get("/archive", response_class=Response, responses={**_sends(ARCHIVE), **responses(404)})
async def export_content(
    house: House,
    cid: Annotated[list[str], Query(min_length=1, max_length=1000, description="What to pack.")],
) -> Response:
    """One file (CAR) with these contents; a verdict record brings what it speaks of."""
    data = await asyncio.to_thread(_packed, house.content, cid)
    return Response(data, media_type=ARCHIVE, headers=HEADERS)


def _packed(store: LocalStore, cids: Sequence[str]) -> bytes:
    return write_archive(store, contents_of(store, cids))


@router.post("/archive", responses=responses(404, 413), openapi_extra=TAKES_BYTES)
async def import_content(house: House, body: Sent) -> schemas.ContentImported:
    """Keep all that an archive holds, or nothing of it where a byte is wrong."""
    roots = await asyncio.to_thread(read_archive, house.content, body)
    return schemas.ContentImported(roots=roots)
