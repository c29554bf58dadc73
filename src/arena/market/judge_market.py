"""The market as a judge uses it: in this process, or on a server (`client/judging.py`)."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from arena.market.call import Receipt
from arena.market.checks import MAX_PAGE
from arena.market.market import Market
from arena.market.reviewing import TaskReviews
from arena.market.task import Task, TaskFilter, TaskState
from arena.market.verdicts import verdict_call
from arena.reviews.review import Review
from arena.reviews.reviews import Reviews


class JudgeMarket(Protocol):
    """The market as a judge uses it: in this process or on a server."""

    async def close_due(self) -> Sequence[Receipt]:
        """Close the tasks whose time has run out."""
        ...

    async def submitted(self, judge: str) -> tuple[datetime, Sequence[Task]]:
        """The time that decides about windows, and every task waiting for this judge."""
        ...

    async def claim(self, task: Task, token: str, *, by: str) -> None:
        """Claim the task, or renew the claim; `AlreadyClaimed` if another process has it."""
        ...

    async def release(self, task: Task, token: str) -> None:
        """End the claim."""
        ...

    async def fetch(self, cid: str) -> None:
        """Copy verified content to the judge's store."""
        ...

    async def give(self, task: Task, score: int, reason: str, *, by: str, claim: str) -> Receipt:
        """Give the verdict whose record has the CID `reason`, and publish the record."""
        ...

    async def open_review(self, task: Task, *, by: str) -> Review:
        """Open a review of the task's checklists, or return the existing one."""
        ...


class LocalMarket:
    """The market of this process, for one team: content and records are already in place."""

    def __init__(
        self, market: Market, reviews: Reviews, task_reviews: TaskReviews, team_id: str
    ) -> None:
        self._market = market
        self._reviews = reviews
        self._task_reviews = task_reviews
        self._team_id = team_id

    async def close_due(self) -> Sequence[Receipt]:
        """Close the tasks whose time has run out."""
        return await self._market.close_due(self._team_id)

    async def submitted(self, judge: str) -> tuple[datetime, Sequence[Task]]:
        """The time that decides about windows, and every task waiting for this judge."""
        waiting = TaskFilter(states=frozenset({TaskState.SUBMITTED}), judge=judge)
        tasks: list[Task] = []
        while True:
            before = tasks[-1].id if tasks else None
            page = await self._market.reader.tasks(
                self._team_id, waiting, limit=MAX_PAGE, before=before
            )
            tasks += page
            if len(page) < MAX_PAGE:
                return await self._market.ledger.now(), tasks

    async def fetch(self, cid: str) -> None:
        """Nothing to do: the judge reads the market's own store."""

    async def claim(self, task: Task, token: str, *, by: str) -> None:
        """Claim the task, or renew the claim."""
        await self._market.claim(task.team_id, task.id, by=by, token=token)

    async def release(self, task: Task, token: str) -> None:
        """End the claim."""
        await self._market.release(task.team_id, task.id, token=token)

    async def give(self, task: Task, score: int, reason: str, *, by: str, claim: str) -> Receipt:
        """Give the verdict."""
        call = verdict_call(task, score, reason, by=by, claim=claim)
        return await self._market.act(task.team_id, task.id, call)

    async def open_review(self, task: Task, *, by: str) -> Review:
        """Open a review of the task's checklists."""
        return await self._reviews.open(
            await self._task_reviews.new_review(task.team_id, task.id, by=by)
        )
