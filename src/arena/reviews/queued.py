"""Reviews whose verdicts workers make: the last answer adds a job for them."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from arena.errors import NotFound
from arena.queue.chores import CHORES_QUEUE, CLAIMED_SECONDS
from arena.queue.claiming import ClaimedElsewhere, under_claim
from arena.queue.job import URGENT, Job, Postponed
from arena.queue.queue import JobQueue
from arena.queue.records.serving import served_queues
from arena.reviews import claims, records
from arena.reviews.review import Review, ReviewAnswer, ReviewStatus
from arena.reviews.reviews import RETRY_SECONDS, Reviews
from arena.store.database import shielded

SETTLE = "settle"
ANSWER_SECONDS = 5.0
"""How long the one who gives the last answer waits for the verdict."""
FIRST_POLL_SECONDS, MAX_POLL_SECONDS = 0.05, 0.5


class QueuedReviews(Reviews):
    """Reviews that are settled by one worker at a time."""

    def __init__(self, *words: Any, queue: JobQueue, **named: Any) -> None:
        super().__init__(*words, **named)
        self._queue = queue

    async def settle(self, review: Review) -> Review:
        """Make the verdict of an answered review, unless a worker makes it now."""

        async def settle(token: str) -> Review:
            try:
                return await super(QueuedReviews, self).settle(review)
            finally:
                await claims.release_review(self._database, review.id, token)

        try:
            return await under_claim(
                lambda token: claims.claim_review(self._database, review.id, token), settle
            )
        except ClaimedElsewhere:
            return await records.get_review(self._database, review.id, None)

    async def handle(self, arguments: Mapping[str, Any]) -> None:
        """Make the verdict of a job's review; it comes again if the verdict could not be made."""
        try:
            review = await records.get_review(self._database, UUID(arguments["review"]), None)
            if review.status is ReviewStatus.ANSWERED:
                review = await self.settle(review)
        except NotFound:
            return  # deleted with its run
        if review.status is ReviewStatus.ANSWERED:
            raise Postponed(RETRY_SECONDS if review.trouble else CLAIMED_SECONDS)

    @shielded
    async def reconcile(self) -> None:
        """Add the jobs that are missing."""
        async with self._database.writing() as connection:
            idle = await claims.idle_reviews(connection)
            known = await self._queue.keys(connection) if idle else frozenset[str]()
            jobs = (_job(review_id) for review_id in idle)
            await self._queue.add(connection, [job for job in jobs if job.key not in known])

    async def _settle_due(self) -> None:
        # Not here: every server would make the same verdicts as the workers.
        await records.close_overdue(self._database, None)
        await self.reconcile()

    async def _record(
        self, review_id: UUID, team_id: str, reviewer: str, answers: Sequence[ReviewAnswer]
    ) -> Review:
        return await records.add_answers(
            self._database, review_id, team_id, reviewer, answers, self._on_answered
        )

    async def _on_answered(self, connection: AsyncConnection, review: Review) -> None:
        await self._queue.add(connection, [_job(review.id)])

    async def _ended(self, review: Review) -> Review:
        """The review once a worker has settled it, or as it is after some seconds."""
        if not await self._is_served():
            return await self.settle(review)
        seconds, waited = FIRST_POLL_SECONDS, 0.0
        while review.status is ReviewStatus.ANSWERED and not review.trouble:
            if waited >= ANSWER_SECONDS:
                break
            await asyncio.sleep(seconds)
            waited += seconds
            seconds = min(2 * seconds, MAX_POLL_SECONDS)
            review = await records.get_review(self._database, review.id, None)
        self._notify(review.team_id)
        return review

    @shielded
    async def _is_served(self) -> bool:
        async with self._database.reading() as connection:
            return CHORES_QUEUE in await served_queues(connection)


def _job(review_id: UUID) -> Job:
    return Job(
        kind=SETTLE,
        queue=CHORES_QUEUE,
        key=f"{SETTLE}:{review_id}",
        arguments={"review": str(review_id)},
        priority=URGENT,
    )
