"""The door of this room: open, list, answer and settle reviews."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID
from weakref import WeakValueDictionary

from arena.errors import ArenaError, NotFound
from arena.evaluation import Resources, Unsealing, Verdict, evaluate
from arena.reviews import records
from arena.reviews.review import (
    Answer,
    NewReview,
    Review,
    ReviewDetails,
    ReviewStatus,
    SubjectKind,
)
from arena.store.database import Database, shielded

log = logging.getLogger(__name__)

Settler = Callable[[ReviewDetails, Verdict], Awaitable[None]]
"""Takes a verdict for whoever opened the review: writes it down and closes the review, in one
transaction, or does nothing where `close_review` says that it is not to be."""

RETRY_SECONDS = 30.0
"""How often a server tries again to make verdicts that something was in the way of."""
WATCH_SECONDS = 1.0
"""How often a watcher looks by itself: answers may come by another process."""
MAX_CHANGES = 20
"""So often a verdict is made anew because an answer was changed meanwhile."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settlement:
    """What became of the reviews that were answered."""

    settled: tuple[Review, ...]
    waiting: tuple[Review, ...]
    """Those whose verdict could not be made; `trouble` says why."""


class Reviews:
    """Reviews by people: all that can be done with them."""

    def __init__(
        self,
        database: Database,
        resources: Resources,
        settlers: Mapping[SubjectKind, Settler],
        *,
        sealed_for: Callable[[Review], Unsealing] | None = None,
    ) -> None:
        """`sealed_for` says where the hidden cases for a review come from, if not for all alike."""
        self._database = database
        self._resources = resources
        self._settlers = settlers
        self._sealed_for = sealed_for
        self._bell = asyncio.Event()
        self._locks: WeakValueDictionary[UUID, asyncio.Lock] = WeakValueDictionary()

    @shielded
    async def open(self, new: NewReview) -> None:
        """Open a review; a subject that has one already keeps it."""
        async with self._database.writing() as connection:
            await records.open_reviews(connection, [new])
        self._ring()

    async def list(
        self,
        team_id: str,
        *,
        status: ReviewStatus | None = None,
        subject: tuple[SubjectKind, str] | None = None,
        limit: int = 20,
        after: tuple[datetime, UUID] | None = None,
    ) -> Sequence[Review]:
        """A team's reviews, those that have waited longest first."""
        return await records.list_reviews(
            self._database, team_id, status=status, subject=subject, limit=limit, after=after
        )

    async def get(
        self, review_id: UUID, team_id: str | None, *, history: bool = False
    ) -> ReviewDetails:
        """A team's review with all that a reviewer needs; None asks for any team's."""
        return await records.get_details(self._database, review_id, team_id, history=history)

    async def answer(
        self, review_id: UUID, team_id: str, reviewer: str, answers: Sequence[Answer]
    ) -> Review:
        """Take answers, and make the verdict with the last one.

        The answers are kept whatever keeps the verdict from being made: then the review stays
        `answered`, says what the trouble was, and is settled later.
        """
        review = await records.add_answers(self._database, review_id, team_id, reviewer, answers)
        self._ring()
        return await self.settle(review) if review.status is ReviewStatus.ANSWERED else review

    async def settle(self, review: Review) -> Review:
        """Make the verdict of an answered review and hand it on; the review as it is then."""
        # One at a time: whoever comes second would pay models and sandboxes for the same verdict.
        lock = self._locks.setdefault(review.id, asyncio.Lock())
        async with lock:
            for _ in range(MAX_CHANGES):
                details = await records.get_details(self._database, review.id, None)
                if details.review.status is not ReviewStatus.ANSWERED:
                    break
                if trouble := await self._trouble_with(details):
                    await records.note_trouble(self._database, details.review, trouble)
                    break
        self._ring()
        return await records.get_review(self._database, review.id, None)

    async def _trouble_with(self, details: ReviewDetails) -> str | None:
        """Settle a review; what was in the way, or None."""
        try:
            await self._settle_once(details)
        except ArenaError as trouble:
            log.warning("review %s cannot be settled yet: %s", details.review.id, trouble.message)
            return trouble.message
        except Exception:
            # The edge of this work: the answers are kept, and the other reviews go on.
            log.exception("review %s could not be settled", details.review.id)
            return "an error of Arena itself; its log tells more"
        return None

    async def _settle_once(self, details: ReviewDetails) -> None:
        # Outside any transaction: test cases and a model's vote may take minutes.
        resources = replace(self._resources, answers=details.decided)
        if self._sealed_for is not None:
            resources = replace(resources, unseal=self._sealed_for(details.review))
        verdict = await evaluate(details.standard, details.submission, resources)
        kind = details.review.subject.kind
        settler = self._settlers.get(kind)
        if settler is None:
            raise ArenaError(f"nobody takes verdicts of the kind {kind!r} here")
        await settler(details, verdict)

    async def settle_answered(self, team_id: str | None = None) -> Settlement:
        """Settle every review that is answered but has no verdict; of one team, or of all.

        What can no longer be answered is closed.
        """
        await records.close_overdue(self._database, team_id)
        ended: list[Review] = []
        for review_id in await records.answered_reviews(self._database, team_id):
            with contextlib.suppress(NotFound):  # gone meanwhile, with its run
                review = await records.get_review(self._database, review_id, None)
                ended.append(await self.settle(review))
        waiting = [one for one in ended if one.status is ReviewStatus.ANSWERED]
        settled = [one for one in ended if one.status is ReviewStatus.DONE]
        return Settlement(settled=tuple(settled), waiting=tuple(waiting))

    @asynccontextmanager
    async def settling(self) -> AsyncGenerator[None]:
        """Until the block ends: settle what is left over, now and again and again."""
        task = asyncio.create_task(self._keep_settling(), name="reviews")
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _keep_settling(self) -> None:
        while True:
            try:
                await self.settle_answered()
            except Exception:
                # The edge of this work: what went wrong once may go well the next time.
                log.exception("reviews could not be settled")
            await asyncio.sleep(RETRY_SECONDS)

    async def watch(self, team_id: str) -> AsyncGenerator[Mapping[ReviewStatus, int]]:
        """How many of the team's reviews are in each state: now, and at every change."""
        before: object = None
        while True:
            bell = self._bell
            counts, revisions = await records.count_reviews(self._database, team_id)
            if (counts, revisions) != before:
                before = counts, revisions
                yield counts
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(WATCH_SECONDS):
                    await bell.wait()

    async def state(self, team_id: str) -> object:
        """Something that differs after every change of the team's reviews."""
        return await records.count_reviews(self._database, team_id)

    def _ring(self) -> None:
        """Wake those who watch."""
        bell, self._bell = self._bell, asyncio.Event()
        bell.set()
