"""People judge a task: a review is opened for it, and the last answer gives the verdict."""

import math
import unicodedata
from datetime import datetime

from arena.evaluation.verdict import Verdict
from arena.market.call import CallKey
from arena.market.errors import KeyConflict, TooLate, WrongRole, WrongState
from arena.market.market import Market
from arena.market.task import Task, TaskState
from arena.market.verdicts import keep_verdict, read_submitted, verdict_call
from arena.reviews.case import NewReview, ReviewCase
from arena.reviews.records import close_review, get_review
from arena.reviews.review import Review, ReviewSubject, SubjectKind
from arena.store.database import Database, shielded


class TaskReviews:
    """Opens reviews of submitted tasks, and gives the verdicts from people's answers."""

    def __init__(
        self, database: Database, market: Market, *, sandbox: str, reviewers_needed: int
    ) -> None:
        self._database = database
        self._market = market
        self._sandbox = sandbox
        self._reviewers_needed = reviewers_needed

    async def new_review(self, team_id: str, task_id: int, *, by: str) -> NewReview:
        """The review that a task's judge may open."""
        task = await self._market.reader.task(team_id, task_id)
        if task.state is not TaskState.SUBMITTED:
            raise WrongState(f"task {task_id} is {task.state}: there is nothing to review")
        if by not in (task.judge, task.fallback_judge):
            raise WrongRole(f"{by!r} is not the judge of task {task_id}")
        if await self._is_over(task):
            raise TooLate(_why_over(task))
        document, submission = await read_submitted(self._market.contents, task)
        return NewReview(
            team_id=team_id,
            subject=ReviewSubject(kind=SubjectKind.TASK, id=str(task_id)),
            title=f"task {task_id}",
            prompt=task.description,
            standard=document,
            submission=submission,
            reviewers_needed=self._reviewers_needed,
            due_at=task.fallback_until,
        )

    async def admit(self, review: Review, reviewer: str) -> None:
        """Refuse a reviewer who gains or loses by the verdict, or who decides a dispute of it.

        The judges may answer: the verdict is theirs anyway. In a self-judged task the poster is
        the judge.
        """
        story = await self._market.reader.story(review.team_id, int(review.subject.id))
        task = story.task
        roles = {one.agent: "has applied for it" for one in story.applicants}
        roles[task.arbiter or ""] = "is its arbiter"
        roles[task.agent or ""] = "is its agent"
        if not task.is_self_judged:
            roles[task.poster] = "is its poster"
        for party, role in roles.items():
            if party and _is_same_name(reviewer, party):
                raise WrongRole(
                    f"{reviewer!r} cannot review task {task.id}: {party!r} {role}; "
                    "somebody else must answer"
                )

    async def settle(self, case: ReviewCase, verdict: Verdict) -> None:
        """Give the verdict and close the review; both are idempotent."""
        review = case.review
        task = await self._market.reader.task(review.team_id, int(review.subject.id))
        contents = self._market.contents
        record = await keep_verdict(contents, task, case.submission, verdict, sandbox=self._sandbox)
        # Making a verdict may take minutes and a payment is final: if an answer was changed
        # meanwhile, this verdict is dropped and made again from the new answers.
        now = await get_review(self._database, review.id, None)
        if (now.status, now.revision) != (review.status, review.revision):
            return
        trouble = None
        try:
            key = CallKey(text=f"review {review.id}", is_internal=True)
            await self._give(task, math.floor(verdict.score), record, key=key)
        except KeyConflict:
            # Given by a process that was killed before it closed the review; the task must agree.
            task = await self._market.reader.task(task.team_id, task.id)
            if task.judged_at is None:
                raise
        except (WrongState, TooLate):
            task = await self._market.reader.task(task.team_id, task.id)
            if task.state is TaskState.SUBMITTED and not await self._is_over(task):
                return  # the judge's window has just closed: try again as the fallback judge
            trouble = f"{_why_over(task)}: the answers did not count"
        await _close(self._database, review, trouble)

    async def _give(self, task: Task, score: int, reason: str, *, key: CallKey) -> None:
        assert task.judge_until is not None
        is_late = await self._now(task) >= task.judge_until
        by = task.fallback_judge if is_late and task.fallback_judge else task.judge
        call = verdict_call(task, score, reason, by=by)
        await self._market.act(task.team_id, task.id, call, key=key)

    async def _is_over(self, task: Task) -> bool:
        """Whether the last judge's window is closed."""
        return task.fallback_until is not None and await self._now(task) >= task.fallback_until

    async def _now(self, task: Task) -> datetime:
        return await self._market.ledger_named(task.ledger).now()


def _is_same_name(reviewer: str, party: str) -> bool:
    """Whether a reviewer's name is a party's: also in capitals, with spaces or with a version."""
    name = unicodedata.normalize("NFKC", reviewer).strip().casefold()
    known = party.casefold()
    return name == known or name.startswith((f"{known}@", f"{known}:"))


def _why_over(task: Task) -> str:
    """Why a task can no longer be judged."""
    if task.judged_at is not None:
        return f"task {task.id} was judged by {task.judged_by} at {task.judged_at.isoformat()}"
    assert task.fallback_until is not None
    return f"the time to judge task {task.id} ended at {task.fallback_until.isoformat()}"


@shielded
async def _close(database: Database, review: Review, trouble: str | None) -> None:
    async with database.writing() as connection:
        await close_review(connection, review, trouble=trouble)
