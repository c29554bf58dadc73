"""Tasks that people judge: a review is opened for the judge, and its verdict settles the task."""

import asyncio
import math
from functools import partial
from typing import cast

from arena.content import LocalStore, read_json
from arena.evaluation import Submission, Verdict, keep_record
from arena.market.errors import KeyConflict, TooLate, WrongRole, WrongState
from arena.market.market import Judgement, Market
from arena.market.task import Task, TaskState
from arena.reviews import NewReview, Review, ReviewDetails, ReviewSubject, SubjectKind
from arena.reviews.records import close_review, get_review
from arena.store.database import Database, shielded


class TaskReviews:
    """Opens reviews of submitted tasks and takes what people say as the judge's verdict."""

    def __init__(
        self,
        database: Database,
        market: Market,
        content: LocalStore,
        *,
        sandbox: str,
        reviewers_needed: int,
    ) -> None:
        self._database = database
        self._market = market
        self._content = content
        self._sandbox = sandbox
        self._reviewers_needed = reviewers_needed

    async def wanted(self, team_id: str, task_id: int, *, by: str) -> NewReview:
        """The review that a task's judge wants to have answered."""
        task = await self._market.task(team_id, task_id)
        if task.state is not TaskState.SUBMITTED:
            raise WrongState(f"task {task_id} is {task.state}: there is nothing to review")
        if by not in (task.terms.judge, task.terms.fallback_judge):
            raise WrongRole(f"{by!r} is not the judge of task {task_id}")
        if self._is_over(task):
            raise TooLate(_over(task))
        result = await self._market.result_of(task)
        document = await asyncio.to_thread(self._content.get, task.evaluation_cid)
        return NewReview(
            team_id=team_id,
            subject=ReviewSubject(kind=SubjectKind.TASK, id=str(task_id)),
            title=f"task {task_id}",
            prompt=task.description,
            standard=cast("dict[str, object]", read_json(document)),
            submission=Submission(output=result.decode("utf-8", "replace")),
            reviewers_needed=self._reviewers_needed,
            due_at=task.fallback_until,
        )

    async def settle(self, details: ReviewDetails, verdict: Verdict) -> None:
        """Give the verdict and close the review; both may be repeated without a second effect."""
        review = details.review
        task = await self._market.task(review.team_id, int(review.subject.id))
        reason = await self._recorded(task, details.submission, verdict)
        # Making a verdict may take minutes, and money cannot be called back: an answer that was
        # changed meanwhile must count, so the verdict is made anew.
        now = await get_review(self._database, review.id, None)
        if (now.status, now.revision) != (review.status, review.revision):
            return
        trouble = None
        try:
            await self._judge(task, verdict, reason, key=f"review {review.id}")
        except KeyConflict:
            pass  # given before, by a process that did not live to close the review
        except (WrongState, TooLate):
            task = await self._market.task(task.team_id, task.id)
            if task.state is TaskState.SUBMITTED and not self._is_over(task):
                return  # the judge's window shut in this moment: once more, as the fallback judge
            # Judged otherwise meanwhile, or out of time: the answers decide nothing.
            trouble = f"{_over(task)}: the answers did not count"
        await _close(self._database, review, trouble)

    def _is_over(self, task: Task) -> bool:
        """Whether the last judge's window is shut."""
        return task.fallback_until is not None and self._market.now() >= task.fallback_until

    async def _recorded(self, task: Task, submission: Submission, verdict: Verdict) -> str:
        """Keep the verdict by the names that the task has; the record's CID."""
        is_text = submission.output.encode() == await self._market.result_of(task)
        keep = partial(
            keep_record,
            self._content,
            task.evaluation_cid,
            submission,
            verdict,
            sandbox=self._sandbox,
            submission_cid=task.result_hash if is_text else None,
        )
        return await asyncio.to_thread(keep)

    async def _judge(self, task: Task, verdict: Verdict, reason: str, *, key: str) -> None:
        assert task.agent and task.result_hash and task.judge_until
        terms, is_late = task.terms, self._market.now() >= task.judge_until
        judgement = Judgement(
            score=math.floor(verdict.score),
            winner=task.agent,
            result_hash=task.result_hash,
            reason_uri=reason,
        )
        by = terms.fallback_judge if is_late and terms.fallback_judge else terms.judge
        await self._market.judge(task.team_id, task.id, judgement, by=by, key=key)


def _over(task: Task) -> str:
    """Why a task can no longer be judged."""
    if task.judged_at is not None:
        return f"task {task.id} was judged by {task.judged_by} at {task.judged_at.isoformat()}"
    assert task.fallback_until is not None
    return f"the time to judge task {task.id} ended at {task.fallback_until.isoformat()}"


@shielded
async def _close(database: Database, review: Review, trouble: str | None) -> None:
    async with database.writing() as connection:
        await close_review(connection, review, trouble=trouble)
