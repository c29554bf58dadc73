"""Judges paid tasks: one flow for test cases, models and people.

    JudgeFlow.step        what waits, several at once: claim, evaluate, keep the record, verdict
    JudgeFlow.judge_next  only the one whose turn it is: what a job of the queue does
        ReviewNeeded      people must answer a checklist first: a review is opened (`reviewing.py`)

The flow keeps no state that could be lost. A task is judged while it is submitted and its window is
open, and the market accepts only one verdict: a killed judge's claims expire and its tasks are
judged again. Several processes may judge under one name: they share the tasks by claims.
"""

import asyncio
import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from time import monotonic
from uuid import uuid4

from arena.backoff import backoff_seconds
from arena.errors import ArenaError, Conflict, Forbidden, InfrastructureError
from arena.evaluation.evaluate import evaluate
from arena.evaluation.reading import read_document
from arena.evaluation.resources import Resources, ReviewNeeded, purpose_of_task
from arena.market.contents import Contents
from arena.market.errors import AlreadyClaimed
from arena.market.judge_market import JudgeMarket
from arena.market.judge_queue import JudgeQueue, Party, newcomers, parties, to_give_up
from arena.market.records.claims import CLAIM_SECONDS
from arena.market.task import Task
from arena.market.verdicts import keep_verdict, read_submitted
from arena.reviews.review import ReviewStatus
from arena.team import working_for

AT_ONCE = 4
"""Tasks that one process judges at once, unless another number is given."""
FIRST_WAIT_SECONDS = 5.0
MAX_WAIT_SECONDS = 300.0
CLAIMED_WAIT_SECONDS = 1.0
"""After another process was faster to claim a task."""
RENEW_SECONDS = CLAIM_SECONDS / 3
REFRESH_SECONDS = 2.0
"""How often new submissions are looked for while others are judged."""
MIN_MIND_SECONDS = 0.1
RELEASE_SECONDS = 2.0
"""How long ending a claim may take; otherwise it expires."""


@dataclass(slots=True)
class _Postponed:
    """Tasks that could not be judged: when to try again."""

    failures: dict[int, int] = field(default_factory=dict[int, int])
    until: dict[int, datetime] = field(default_factory=dict[int, datetime])
    for_people: set[int] = field(default_factory=set[int])
    """Those that wait for people: the last answer gives the verdict."""

    def add(self, task_id: int, now: datetime) -> None:
        self.failures[task_id] = self.failures.get(task_id, 0) + 1
        seconds = backoff_seconds(
            FIRST_WAIT_SECONDS, self.failures[task_id], most_seconds=MAX_WAIT_SECONDS
        )
        self.wait(task_id, now, seconds)

    def wait(self, task_id: int, now: datetime, seconds: float) -> None:
        self.until[task_id] = now + timedelta(seconds=seconds)

    def includes(self, task_id: int, now: datetime) -> bool:
        return task_id in self.until and now < self.until[task_id]


@dataclass(slots=True, kw_only=True)
class _Work:
    """A task that is being judged here."""

    task: Task
    doing: asyncio.Task[bool]
    is_evaluated: bool = False
    """Its verdict is being given: too late to make room for another task."""


class JudgeFlow:
    """Judges the tasks submitted to one judge, up to `at_once` of them at a time."""

    def __init__(
        self,
        market: JudgeMarket,
        judge: str,
        contents: Contents,
        resources: Resources,
        *,
        sandbox: str,
        report: Callable[[str], None],
        at_once: int = AT_ONCE,
    ) -> None:
        self._market = market
        self._judge = judge
        self._contents = contents
        self._resources = resources
        self._sandbox = sandbox
        self._report = report
        self._at_once = at_once
        self._queue = JudgeQueue(judge)
        self._postponed = _Postponed()
        self._work: dict[int, _Work] = {}
        """By task, in the order in which they were started."""
        self._now: datetime | None = None
        """The market's time when the lists below were read."""
        self._waiting: dict[frozenset[Party], list[Task]] = {}
        """What can be started, by agent and poster; the next of each is the last of its list."""
        self.claimed_elsewhere: Sequence[Task] = ()
        """The tasks that other processes of this judge work on."""
        self.retry_seconds: float | None = None
        """When the first task that could not be judged may be tried again; None: there is none."""
        self._refresh_at = 0.0
        self._choosing = asyncio.Lock()
        self._minding: asyncio.Task[None] | None = None

    async def step(self) -> int:
        """Judge until no task is left that can be judged now; returns how many were judged."""
        judged = 0
        self._refresh_at = 0.0
        try:
            while True:
                await self._begin_all()
                if not self._work:
                    return judged
                doing = [work.doing for work in self._work.values()]
                seconds = max(0.0, self._refresh_at - monotonic())
                await asyncio.wait(doing, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
                judged += self._collect()
        finally:
            await self._end(list(self._work.values()))

    async def judge_next(self) -> bool:
        """Judge the task whose turn it is, or the next if it cannot be; False if none can be.

        May be called several times at once, up to `at_once`; not together with `step`.
        """
        while True:
            async with self._choosing:
                work = await self._begin_next()
            if work is None:
                return False
            if self._minding is None:
                self._minding = asyncio.create_task(self._mind())
            try:
                await asyncio.wait({work.doing})
            finally:
                await self._end([work])
                if not self._work and self._minding:
                    self._minding.cancel()
                    self._minding = None
            if not work.doing.cancelled() and work.doing.result():
                return True

    async def _begin_next(self) -> _Work | None:
        """Begin the next task; a new list decides that there is none."""
        is_new = monotonic() >= self._refresh_at
        if is_new:
            await self._refresh()
        work = self._begin_one()
        if work is None and not is_new:
            await self._refresh()
            work = self._begin_one()
        return work

    async def _mind(self) -> None:
        """While tasks are judged here: make room for newcomers."""
        while True:
            await asyncio.sleep(max(MIN_MIND_SECONDS, self._refresh_at - monotonic()))
            async with self._choosing:
                if self._work:
                    await self._refresh_or_wait()
                    await self._make_room()

    async def _begin_all(self) -> None:
        """Begin as many tasks as there are places for."""
        await self._refresh_or_wait()
        await self._make_room()
        while len(self._work) < self._at_once:
            if self._begin_one() is None:
                return

    def _begin_one(self) -> _Work | None:
        """Begin the task whose turn it is."""
        task = self._queue.choose(self._heads(), self._in_work())
        if task is None:
            return None
        self._queue.begin(task)
        group = self._waiting[parties(task)]
        group.pop()
        if not group:
            del self._waiting[parties(task)]
        work = _Work(task=task, doing=asyncio.create_task(self._judge_one(task)))
        self._work[task.id] = work
        return work

    async def _refresh_or_wait(self) -> None:
        """Read the list again if it is old; what is being judged goes on without it."""
        if monotonic() < self._refresh_at:
            return
        try:
            await self._refresh()
        except InfrastructureError:
            if not self._work:
                raise
            # The server may be back before it is finished.
            self._refresh_at = monotonic() + REFRESH_SECONDS

    async def _refresh(self) -> None:
        began = monotonic()
        for closed in await self._market.close_due():
            self._report(f"task {closed.task_id} is {closed.state}: its time had run out")
        # All, not one page: tasks that wait for people must not hide those that can be judged.
        now, tasks = await self._market.submitted(self._judge)
        self._now = now
        others = [task for task in tasks if task.id not in self._work]
        is_claimed = {task.id for task in others if task.claimed_until and now < task.claimed_until}
        self.claimed_elsewhere = [task for task in others if task.id in is_claimed]
        self._waiting = {}
        for task in sorted(others, key=self._queue.ends, reverse=True):
            is_free = task.id not in is_claimed and not self._postponed.includes(task.id, now)
            if is_free and task.judge_at(now) == self._judge:
                self._waiting.setdefault(parties(task), []).append(task)
        self.retry_seconds = min(
            (
                (self._postponed.until[task.id] - now).total_seconds()
                for task in others
                if self._postponed.includes(task.id, now)
                and task.id not in is_claimed | self._postponed.for_people
                and task.judge_at(now) == self._judge
            ),
            default=None,
        )
        # Thousands of tasks take a while to read: most of the time is for judging them.
        self._refresh_at = monotonic() + max(REFRESH_SECONDS, 5 * (monotonic() - began))

    def _heads(self) -> list[Task]:
        """The next task of each agent and poster: the others of the same two come after it."""
        return [group[-1] for group in self._waiting.values()]

    def _in_work(self) -> list[Task]:
        return [*self.claimed_elsewhere, *(work.task for work in self._work.values())]

    async def _make_room(self) -> None:
        """Stop judging what holds a second place of an agent or poster while others wait."""
        while len(self._work) >= self._at_once and newcomers(self._heads(), self._in_work()):
            extra = to_give_up(self._in_work())
            work = self._work.get(extra.id) if extra else None
            if work is None or work.is_evaluated:
                return
            await self._end([work])
            self._refresh_at = 0.0  # it waits again, but the list does not have it

    async def _end(self, works: Sequence[_Work]) -> None:
        """Cancel this work; its tasks are judged later."""
        for work in works:
            work.doing.cancel()
        await asyncio.gather(*(work.doing for work in works), return_exceptions=True)
        for work in works:
            if self._work.get(work.task.id) is work:
                del self._work[work.task.id]

    def _collect(self) -> int:
        """Remove the finished work; returns how many tasks were judged."""
        judged = 0
        for work in [work for work in self._work.values() if work.doing.done()]:
            del self._work[work.task.id]
            judged += work.doing.result()
        return judged

    async def _judge_one(self, task: Task) -> bool:
        """Judge a task; one that cannot be judged is reported and postponed."""
        try:
            with working_for(task.team_id):
                is_judged = await self._settle_claimed(task)
            if is_judged:
                return True
        except (Conflict, Forbidden) as error:
            if error.code == AlreadyClaimed.code:
                assert self._now is not None
                self._postponed.wait(task.id, self._now, CLAIMED_WAIT_SECONDS)
                self._refresh_at = 0.0
                return False
            self._report(f"task {task.id} was not judged here: {error.message}")
        except ArenaError as error:
            self._report(f"task {task.id} cannot be judged now, will be retried: {error.message}")
        assert self._now is not None
        self._postponed.add(task.id, self._now)
        return False

    async def _settle_claimed(self, task: Task) -> bool:
        """Settle the task under a claim, which is renewed until then."""
        token = uuid4().hex
        await self._market.claim(task, token, by=self._judge)
        settling = asyncio.create_task(self._settle(task, token))
        renewing = asyncio.create_task(self._renew(task, token))
        try:
            await asyncio.wait({settling, renewing}, return_when=asyncio.FIRST_COMPLETED)
            # A claim that cannot be renewed is lost: the window has ended, or another process has
            # the task. Or the verdict has just been given: then its answer is on the way.
            is_given = settling.done() or self._work[task.id].is_evaluated
            return await (settling if is_given else renewing)
        finally:
            for part in (settling, renewing):
                part.cancel()
            await asyncio.gather(settling, renewing, return_exceptions=True)
            with suppress(ArenaError, TimeoutError):
                async with asyncio.timeout(RELEASE_SECONDS):
                    await self._market.release(task, token)

    async def _renew(self, task: Task, token: str) -> bool:
        """Renew the claim until it is lost, which raises."""
        while True:
            await asyncio.sleep(RENEW_SECONDS)
            # An unreachable server may be back before the claim expires.
            with suppress(InfrastructureError):
                await self._market.claim(task, token, by=self._judge)

    async def _settle(self, task: Task, token: str) -> bool:
        """Give the verdict; False if people must answer first, then a review is opened."""
        assert task.result_hash is not None
        for cid in (task.evaluation_cid, task.result_hash):
            await self._market.fetch(cid)
        document, submission = await read_submitted(self._contents, task)
        standard = await read_document(document)
        try:
            resources = replace(self._resources, purpose=purpose_of_task(task.id))
            verdict = await evaluate(standard, submission, resources)
        except ReviewNeeded as needed:
            review = await self._market.open_review(task, by=self._judge)
            self._postponed.for_people.add(task.id)
            is_new = task.id not in self._postponed.until
            if review.status is ReviewStatus.OPEN and is_new:
                waits = f"task {task.id} waits for people: {needed.message}"
                self._report(f"{waits}; answer with: arena review")
            return False
        self._work[task.id].is_evaluated = True
        record = await keep_verdict(
            self._contents, task, submission, verdict, sandbox=self._sandbox
        )
        # The market has whole scores; rounded down, so that 59.9 does not pay.
        score = math.floor(verdict.score)
        receipt = await self._market.give(task, score, record, by=self._judge, claim=token)
        self._report(
            f"task {task.id} is {receipt.state}: score {score}, why: arena verify {record}"
        )
        return True
