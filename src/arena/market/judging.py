"""Judges paid tasks: one flow for test cases, models and people.

    JudgeFlow.step    for each submitted task: evaluate, keep the record, give the verdict
        ReviewNeeded  people must answer a checklist first: a review is opened
    TaskReviews       the last answer to that review makes the verdict, given like any other

The flow keeps no state that could be lost. A task is judged while it is submitted and its window is
open, and the market accepts only one verdict: a killed judge starts over, and of two judges the
first verdict counts.
"""

import asyncio
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Protocol

from arena.backoff import backoff_seconds
from arena.errors import ArenaError, Conflict, Forbidden
from arena.evaluation.evaluate import evaluate
from arena.evaluation.reading import read_standard_document
from arena.evaluation.record import keep_record
from arena.evaluation.resources import Resources, ReviewNeeded
from arena.evaluation.verdict import Submission, Verdict
from arena.market.call import Action, Call, Receipt
from arena.market.contents import Contents
from arena.market.errors import KeyConflict, TooLate, WrongRole, WrongState
from arena.market.market import Market
from arena.market.records.reading import MAX_PAGE
from arena.market.task import Task, TaskFilter, TaskState
from arena.reviews.case import NewReview, ReviewCase
from arena.reviews.records import close_review, get_review
from arena.reviews.review import Review, ReviewStatus, ReviewSubject, SubjectKind
from arena.reviews.reviews import Reviews
from arena.store.database import Database, shielded

FIRST_WAIT_SECONDS = 5.0
MAX_WAIT_SECONDS = 300.0


class JudgeMarket(Protocol):
    """The market as a judge uses it: in this process or on a server."""

    async def close_due(self) -> Sequence[Receipt]:
        """Close the tasks whose time has run out."""
        ...

    async def submitted(self, judge: str) -> tuple[datetime, Sequence[Task]]:
        """The time that decides about windows, and every task waiting for this judge."""
        ...

    async def fetch(self, cid: str) -> None:
        """Copy verified content to the judge's store."""
        ...

    async def give(self, task: Task, score: int, reason: str, *, by: str) -> Receipt:
        """Give the verdict whose record has the CID `reason`, and publish the record."""
        ...

    async def open_review(self, task: Task, *, by: str) -> Review:
        """Open a review of the task's checklists, or return the existing one."""
        ...


@dataclass(slots=True)
class _Postponed:
    """Tasks that could not be judged: when to try again."""

    failures: dict[int, int] = field(default_factory=dict[int, int])
    until: dict[int, datetime] = field(default_factory=dict[int, datetime])

    def add(self, task_id: int, now: datetime) -> None:
        self.failures[task_id] = self.failures.get(task_id, 0) + 1
        seconds = backoff_seconds(
            FIRST_WAIT_SECONDS, self.failures[task_id], most_seconds=MAX_WAIT_SECONDS
        )
        self.until[task_id] = now + timedelta(seconds=seconds)

    def includes(self, task_id: int, now: datetime) -> bool:
        return task_id in self.until and now < self.until[task_id]


class JudgeFlow:
    """Judges the tasks submitted to one judge."""

    def __init__(
        self,
        market: JudgeMarket,
        judge: str,
        contents: Contents,
        resources: Resources,
        *,
        sandbox: str,
        report: Callable[[str], None],
    ) -> None:
        self._market = market
        self._judge = judge
        self._contents = contents
        self._resources = resources
        self._sandbox = sandbox
        self._report = report
        self._postponed = _Postponed()

    async def step(self) -> int:
        """Judge waiting tasks and end overdue ones; returns how many were judged."""
        for closed in await self._market.close_due():
            self._report(f"task {closed.task_id} is {closed.state}: its time had run out")
        # All, not one page: tasks that wait for people must not hide those that can be judged.
        now, tasks = await self._market.submitted(self._judge)
        judged = 0
        # Oldest first: it usually has the least time left in its window.
        for task in sorted(tasks, key=lambda task: task.submitted_at or now):
            if self._is_ours(task, now) and not self._postponed.includes(task.id, now):
                judged += await self._judge_one(task, now)
        return judged

    def _is_ours(self, task: Task, now: datetime) -> bool:
        """Whether it is this judge's turn: the judge's window first, then the fallback's."""
        assert task.judge_until is not None
        return self._judge == (task.judge if now < task.judge_until else task.fallback_judge)

    async def _judge_one(self, task: Task, now: datetime) -> bool:
        """Judge a task; one that cannot be judged is reported and postponed."""
        try:
            if await self._settle(task):
                return True
        except (Conflict, Forbidden) as error:
            self._report(f"task {task.id} was not judged here: {error.message}")
        except ArenaError as error:
            self._report(f"task {task.id} cannot be judged now, will be retried: {error.message}")
        self._postponed.add(task.id, now)
        return False

    async def _settle(self, task: Task) -> bool:
        """Give the verdict; False if people must answer first, then a review is opened."""
        assert task.result_hash is not None
        for cid in (task.evaluation_cid, task.result_hash):
            await self._market.fetch(cid)
        document, submission = await _read(self._contents, task)
        standard = await asyncio.to_thread(read_standard_document, document)
        try:
            verdict = await evaluate(standard, submission, self._resources)
        except ReviewNeeded as needed:
            review = await self._market.open_review(task, by=self._judge)
            is_new = task.id not in self._postponed.until
            if review.status is ReviewStatus.OPEN and is_new:
                waits = f"task {task.id} waits for people: {needed.message}"
                self._report(f"{waits}; answer with: arena review")
            return False
        record = await _record(self._contents, task, submission, verdict, sandbox=self._sandbox)
        # The market has whole scores; rounded down, so that 59.9 does not pay.
        score = math.floor(verdict.score)
        receipt = await self._market.give(task, score, record, by=self._judge)
        self._report(
            f"task {task.id} is {receipt.state}: score {score}, why: arena verify {record}"
        )
        return True


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
        task = await self._market.ledger.task(team_id, task_id)
        if task.state is not TaskState.SUBMITTED:
            raise WrongState(f"task {task_id} is {task.state}: there is nothing to review")
        if by not in (task.judge, task.fallback_judge):
            raise WrongRole(f"{by!r} is not the judge of task {task_id}")
        if self._is_over(task):
            raise TooLate(_why_over(task))
        document, submission = await _read(self._market.contents, task)
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

    async def settle(self, case: ReviewCase, verdict: Verdict) -> None:
        """Give the verdict and close the review; both are idempotent."""
        review = case.review
        task = await self._market.ledger.task(review.team_id, int(review.subject.id))
        contents = self._market.contents
        record = await _record(contents, task, case.submission, verdict, sandbox=self._sandbox)
        # Making a verdict may take minutes and a payment is final: if an answer was changed
        # meanwhile, this verdict is dropped and made again from the new answers.
        now = await get_review(self._database, review.id, None)
        if (now.status, now.revision) != (review.status, review.revision):
            return
        trouble = None
        try:
            await self._give(task, math.floor(verdict.score), record, key=f"review {review.id}")
        except KeyConflict:
            pass  # already given, by a process that was killed before it closed the review
        except (WrongState, TooLate):
            task = await self._market.ledger.task(task.team_id, task.id)
            if task.state is TaskState.SUBMITTED and not self._is_over(task):
                return  # the judge's window has just closed: try again as the fallback judge
            trouble = f"{_why_over(task)}: the answers did not count"
        await _close(self._database, review, trouble)

    async def _give(self, task: Task, score: int, reason: str, *, key: str) -> None:
        assert task.judge_until is not None
        is_late = self._market.ledger.now() >= task.judge_until
        by = task.fallback_judge if is_late and task.fallback_judge else task.judge
        call = verdict_call(task, score, reason, by=by)
        await self._market.act(task.team_id, task.id, call, key=key)

    def _is_over(self, task: Task) -> bool:
        """Whether the last judge's window is closed."""
        return task.fallback_until is not None and self._market.ledger.now() >= task.fallback_until


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
            page = await self._market.ledger.tasks(
                self._team_id, waiting, limit=MAX_PAGE, before=before
            )
            tasks += page
            if len(page) < MAX_PAGE:
                return self._market.ledger.now(), tasks

    async def fetch(self, cid: str) -> None:
        """Nothing to do: the judge reads the market's own store."""

    async def give(self, task: Task, score: int, reason: str, *, by: str) -> Receipt:
        """Give the verdict."""
        call = verdict_call(task, score, reason, by=by)
        return await self._market.act(task.team_id, task.id, call)

    async def open_review(self, task: Task, *, by: str) -> Review:
        """Open a review of the task's checklists."""
        return await self._reviews.open(
            await self._task_reviews.new_review(task.team_id, task.id, by=by)
        )


def verdict_call(task: Task, score: int, reason: str, *, by: str) -> Call:
    """A verdict on a task, which names the agent and the result it is about."""
    return Call(
        action=Action.JUDGE,
        by=by,
        agent=task.agent,
        score=score,
        result_hash=task.result_hash,
        reason_uri=reason,
    )


async def _read(contents: Contents, task: Task) -> tuple[dict[str, Any], Submission]:
    """The standard's document and the submission of a task."""
    assert task.result_hash is not None
    document = await contents.standard(task.evaluation_cid)
    result = await contents.result(task.result_hash)
    # Bytes that are not UTF-8 are replaced, so that the rest can be judged.
    output = result.decode("utf-8", "replace")
    return document, Submission(output=output, language=task.language)


async def _record(
    contents: Contents, task: Task, submission: Submission, verdict: Verdict, *, sandbox: str
) -> str:
    """Store the record with the CIDs that the task has; returns the record's CID."""
    assert task.result_hash is not None
    # The judged text differs from the result if bytes were replaced: then it gets its own CID.
    is_text = submission.output.encode() == await contents.result(task.result_hash)
    keep = partial(
        keep_record,
        contents.store,
        task.evaluation_cid,
        submission,
        verdict,
        sandbox=sandbox,
        submission_cid=task.result_hash if is_text else None,
    )
    return await asyncio.to_thread(keep)


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
