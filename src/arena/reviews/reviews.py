"""The entry point of reviews: open, list, answer and settle them."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from datetime import datetime
from uuid import UUID
from weakref import WeakValueDictionary

from arena.errors import ArenaError, InfrastructureError, NotFound
from arena.evaluation.evaluate import evaluate
from arena.evaluation.reading import read_document
from arena.evaluation.resources import RUN, Purpose, Resources, Unsealing, purpose_of_task
from arena.evaluation.verdict import Verdict
from arena.feed import Feed
from arena.reviews import records
from arena.reviews.case import NewReview, ReviewCase
from arena.reviews.review import (
    Review,
    ReviewAnswer,
    ReviewCounts,
    ReviewDetails,
    ReviewsSettled,
    ReviewStatus,
    ReviewSubject,
    SubjectKind,
)
from arena.store.database import Database
from arena.team import working_for

log = logging.getLogger(__name__)

Settler = Callable[[ReviewCase, Verdict], Awaitable[None]]
"""Takes the verdict of a review for its run or task: records it and closes the review, in one
transaction, or does nothing if `close_review` returns that the answers have changed."""

Admission = Callable[[Review, str], Awaitable[None]]
"""Raises if this reviewer may not answer this review."""

RETRY_SECONDS = 30.0
"""How often a server retries verdicts that could not be made."""
WATCH_SECONDS = 1.0
"""How often a watcher polls: another process may record answers."""
MAX_CHANGES = 20
"""How often a verdict is remade because an answer changed meanwhile."""


class Reviews:
    """All operations on reviews."""

    def __init__(
        self,
        database: Database,
        resources: Resources,
        settlers: Mapping[SubjectKind, Settler],
        *,
        feed: Feed | None = None,
        sealed_for: Callable[[Review], Unsealing] | None = None,
        admissions: Mapping[SubjectKind, Admission] | None = None,
    ) -> None:
        """`sealed_for` finds the hidden cases for a review, if teams have their own.

        `admissions` decide who may answer; without one for its subject, anybody may.
        """
        self._database = database
        self._resources = resources
        self._settlers = settlers
        self._sealed_for = sealed_for
        self._admissions = admissions or {}
        self._feed = feed or Feed()
        # Weak: a lock is dropped when no caller settles the review any more.
        self._locks: WeakValueDictionary[UUID, asyncio.Lock] = WeakValueDictionary()

    async def open(self, new: NewReview) -> Review:
        """Open a review; a subject that already has one keeps it."""
        review = await records.open_review(self._database, new)
        self._notify(review.team_id)
        return review

    async def list(
        self,
        team_id: str,
        *,
        status: ReviewStatus | None = None,
        subject: tuple[SubjectKind, str] | None = None,
        limit: int = 20,
        after: tuple[datetime, UUID] | None = None,
    ) -> Sequence[Review]:
        """A team's reviews, longest waiting first."""
        return await records.list_reviews(
            self._database, team_id, status=status, subject=subject, limit=limit, after=after
        )

    async def get(
        self, review_id: UUID, team_id: str | None, *, history: bool = False
    ) -> ReviewDetails:
        """A team's review with everything a reviewer needs; None means any team's."""
        case = await records.get_case(self._database, review_id, team_id, history=history)
        return case.details

    async def answer(
        self, review_id: UUID, team_id: str, reviewer: str, answers: Sequence[ReviewAnswer]
    ) -> Review:
        """Record answers; the last one makes the verdict.

        The answers are kept even if the verdict cannot be made: then the review stays `answered`,
        its `trouble` says why, and it is settled later.
        """
        review = await records.get_review(self._database, review_id, team_id)
        if admission := self._admissions.get(review.subject.kind):
            await admission(review, reviewer)
        review = await self._record(review_id, team_id, reviewer, answers)
        self._notify(review.team_id)
        return await self._ended(review) if review.status is ReviewStatus.ANSWERED else review

    async def _record(
        self, review_id: UUID, team_id: str, reviewer: str, answers: Sequence[ReviewAnswer]
    ) -> Review:
        return await records.add_answers(self._database, review_id, team_id, reviewer, answers)

    async def _ended(self, review: Review) -> Review:
        """The review after its verdict was made, or could not be made."""
        return await self.settle(review)

    async def settle(self, review: Review) -> Review:
        """Make the verdict of an answered review and pass it on; returns the updated review."""
        # One at a time: a second caller would pay models and sandboxes for the same verdict.
        lock = self._locks.setdefault(review.id, asyncio.Lock())
        async with lock:
            for _ in range(MAX_CHANGES):
                case = await records.get_case(self._database, review.id, None)
                if case.review.status is not ReviewStatus.ANSWERED:
                    break
                if trouble := await self._trouble_with(case):
                    await records.note_trouble(self._database, case.review, trouble)
                    break
        self._notify(review.team_id)
        return await records.get_review(self._database, review.id, None)

    async def _trouble_with(self, case: ReviewCase) -> str | None:
        """Settle a review; returns what prevented it, or None."""
        try:
            with working_for(case.review.team_id):
                await self._settle_once(case)
        except ArenaError as error:
            log.warning("review %s cannot be settled yet: %s", case.review.id, error.message)
            return error.message
        except Exception:
            # The edge of this work: the answers are kept, and other reviews continue.
            log.exception("review %s could not be settled", case.review.id)
            return "internal error; see the log"
        return None

    async def _settle_once(self, case: ReviewCase) -> None:
        # Outside any transaction: test cases and models may take minutes.
        resources = replace(
            self._resources, answers=case.decided, purpose=_purpose(case.review.subject)
        )
        if self._sealed_for is not None:
            resources = replace(resources, unseal=self._sealed_for(case.review))
        standard = await read_document(case.document)
        verdict = await evaluate(standard, case.submission, resources)
        kind = case.review.subject.kind
        settler = self._settlers.get(kind)
        if settler is None:
            raise ArenaError(f"no handler for verdicts of the kind {kind!r}")
        await settler(case, verdict)

    async def settle_answered(self, team_id: str | None = None) -> ReviewsSettled:
        """Settle every answered review without a verdict; of one team, or of all.

        Overdue ones are closed.
        """
        await records.close_overdue(self._database, team_id)
        ended: list[Review] = []
        for review_id in await records.answered_reviews(self._database, team_id):
            with contextlib.suppress(NotFound):  # deleted meanwhile, with its run
                review = await records.get_review(self._database, review_id, None)
                ended.append(await self.settle(review))
        return ReviewsSettled(
            settled=[one.id for one in ended if one.status is ReviewStatus.DONE],
            waiting=[one for one in ended if one.status is ReviewStatus.ANSWERED],
        )

    @asynccontextmanager
    async def settling(self) -> AsyncGenerator[None]:
        """Until the block ends: settle answered reviews, now and every `RETRY_SECONDS`."""
        task = asyncio.create_task(self._keep_settling(), name="reviews")
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _keep_settling(self) -> None:
        while True:
            try:
                await self._settle_due()
            except InfrastructureError as error:
                log.warning("reviews could not be settled: %s", error.message)
            except Exception:
                # The edge of the loop: one failure must not end it for good.
                log.exception("reviews could not be settled")
            await asyncio.sleep(RETRY_SECONDS)

    async def _settle_due(self) -> None:
        await self.settle_answered()

    async def watch(self, team_id: str) -> AsyncGenerator[ReviewCounts]:
        """The number of the team's reviews per state: now, and at every change."""
        before: object = None
        states = self._feed.watch(
            ("reviews", team_id), lambda _: self.state(team_id), poll_seconds=WATCH_SECONDS
        )
        async with aclosing(states):
            async for state in states:
                if state != before:
                    before, (counts, _) = state, state
                    yield ReviewCounts(
                        **{str(status): counts.get(status, 0) for status in ReviewStatus}
                    )

    async def state(self, team_id: str) -> tuple[Mapping[ReviewStatus, int], int]:
        """A value that differs after every change of the team's reviews."""
        return await records.count_reviews(self._database, team_id)

    def _notify(self, team_id: str) -> None:
        """Wake the watchers of the reviews and of the team."""
        self._feed.notify(("reviews", team_id), ("team", team_id))


def _purpose(subject: ReviewSubject) -> Purpose:
    return RUN if subject.kind is SubjectKind.RUN else purpose_of_task(subject.id)
