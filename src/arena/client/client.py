"""The Python client: everything the API has, as typed methods.

    async with Client("http://localhost:5109", team_id="my-team") as client:
        details = await client.run_and_wait("qa-web-manager")
        print(details.run.score_percent)

Errors come back as the errors of `arena.errors`: the caller's own, or the infrastructure's.
"""

import contextlib
from collections.abc import AsyncIterator, Sequence
from uuid import UUID

import httpx2

from arena import schemas
from arena.client.connection import quoted
from arena.client.market import MarketCalls
from arena.client.signing import Signer
from arena.operations.operations import Operations


class Client(Operations, MarketCalls):
    """Everything a server has. Calls on the market are in `arena.client.market`."""

    def __init__(
        self,
        url: str,
        *,
        team_id: str | None = None,
        token: str | None = None,
        signer: Signer | None = None,
        transport: httpx2.AsyncBaseTransport | None = None,
    ) -> None:
        MarketCalls.__init__(
            self, url, team_id=team_id, token=token, signer=signer, transport=transport
        )
        Operations.__init__(self, self)

    # Reviews

    async def reviews(
        self,
        *,
        status: str | None = None,
        subject: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> schemas.ReviewList:
        """A page of reviews, of `run:ID` or `task:ID`; those that wait longest come first."""
        query = {"status": status, "subject": subject, "limit": limit, "cursor": cursor}
        return await self._get("/api/reviews", schemas.ReviewList, **query)

    async def review(self, review_id: UUID, *, history: bool = False) -> schemas.ReviewDetails:
        """A review with its submission, its items and what was said to them."""
        path = f"/api/reviews/{review_id}"
        return await self._get(path, schemas.ReviewDetails, history=history)

    async def answer_review(
        self, review_id: UUID, answers: schemas.ReviewAnswers
    ) -> schemas.ReviewDetails:
        """Answer items of a review; the last answer makes the verdict."""
        return await self._post(f"/api/reviews/{review_id}", schemas.ReviewDetails, body=answers)

    async def suggest_answers(self, review_id: UUID) -> schemas.ReviewSuggestions:
        """What the configured judge would answer; a hint, never a verdict."""
        return await self._post(f"/api/reviews/{review_id}/suggest", schemas.ReviewSuggestions)

    async def settle_reviews(self) -> schemas.ReviewsSettled:
        """Make the verdicts of answered reviews that something was in the way of."""
        return await self._post("/api/reviews/settle", schemas.ReviewsSettled)

    async def watch_reviews(self) -> AsyncIterator[schemas.ReviewCounts]:
        """How many of the team's reviews are in each state, now and at every change."""
        path = "/api/reviews/events"
        events = self._watch(path, schemas.ReviewCounts, until="you had seen enough")
        async with contextlib.aclosing(events):
            async for _, counts in events:
                yield counts

    # Content

    async def put_content(self, data: bytes) -> schemas.ContentKept:
        """Keep bytes; their CID."""
        return await self._upload("/api/content", schemas.ContentKept, data)

    async def content(self, cid: str) -> bytes:
        """The bytes that a CID names."""
        request = self._http.build_request("GET", f"/api/content/{quoted(cid)}")
        return (await self._send(request)).content

    async def export_content(self, cids: Sequence[str]) -> bytes:
        """An archive of these contents."""
        request = self._http.build_request("GET", "/api/archive", params={"cid": list(cids)})
        return (await self._send(request)).content

    async def import_content(self, archive: bytes) -> schemas.ContentImported:
        """Keep all that an archive holds."""
        return await self._upload("/api/archive", schemas.ContentImported, archive)
