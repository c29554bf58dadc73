"""What workers do besides runs: judge paid tasks, settle reviews, recalculate and audit.

Only with `settings.is_queued`: this imports the queue.
"""

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from arena.evaluation.resources import Resources
from arena.market.judge_jobs import JudgeJobs
from arena.market.judge_market import LocalMarket
from arena.market.judging import JudgeFlow
from arena.market.market import Market
from arena.market.reviewing import TaskReviews
from arena.queue.chores import CHORE, Chores
from arena.queue.job import JUDGE, Handler
from arena.queue.queue import JobQueue
from arena.reviews.queued import SETTLE, QueuedReviews
from arena.reviews.reviews import Reviews
from arena.scoring.history import Subject
from arena.scoring.scores import Scores
from arena.settings import Settings
from arena.store.database import Database

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rooms:
    """The rooms that jobs need, each opened by its first job."""

    market: Callable[[], Market]
    reviews: Callable[[], Reviews]
    task_reviews: Callable[[], TaskReviews]
    scores: Callable[[], Scores]
    resources: Callable[[str], Resources]
    """Of judging tasks of a team."""


class Jobs:
    """The queue, and the handlers of its jobs."""

    def __init__(
        self, settings: Settings, database: Database, queue: JobQueue, rooms: Rooms
    ) -> None:
        self._settings = settings
        self._database = database
        self._rooms = rooms
        self.queue = queue

    @cached_property
    def handlers(self) -> Mapping[str, Handler]:
        """What is done for a job, by its kind."""
        return {
            JUDGE: self.judging.handle,
            SETTLE: self._reviews.handle,
            CHORE: self.chores.handle,
        }

    @property
    def reconcilers(self) -> Sequence[Callable[[], Awaitable[None]]]:
        """Each adds the missing jobs of a kind; a worker calls them every few seconds."""
        return self.judging.reconcile, self._reviews.reconcile, self.chores.reconcile

    @cached_property
    def judging(self) -> JudgeJobs:
        """Judging of paid tasks."""
        return JudgeJobs(self._database, self.queue, self._rooms.market, self._flow)

    @cached_property
    def chores(self) -> Chores:
        """Work on request."""
        work = {
            "recalculate": self._recalculate,
            "audit_ledger": self._audit_ledger,
            "rebuild": self._rebuild,
        }
        return Chores(self._database, self.queue, work)

    @property
    def _reviews(self) -> QueuedReviews:
        reviews = self._rooms.reviews()
        assert isinstance(reviews, QueuedReviews)
        return reviews

    def _flow(self, team_id: str, judge: str, at_once: int) -> JudgeFlow:
        rooms, market = self._rooms, self._rooms.market()
        return JudgeFlow(
            LocalMarket(market, rooms.reviews(), rooms.task_reviews(), team_id),
            judge,
            market.contents,
            rooms.resources(team_id),
            sandbox=self._settings.sandbox,
            report=log.info,
            at_once=at_once,
        )

    async def _recalculate(self, team_id: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        subject = Subject(team_id=team_id, **arguments) if arguments else None
        return asdict(await self._rooms.scores().recalculate(team_id, subject))

    async def _audit_ledger(self, team_id: str, _arguments: Mapping[str, Any]) -> dict[str, Any]:
        return asdict(await self._rooms.market().embedded.audit(team_id))

    async def _rebuild(self, team_id: str, _arguments: Mapping[str, Any]) -> dict[str, Any]:
        return asdict(await self._rooms.market().embedded.rebuild(team_id))
