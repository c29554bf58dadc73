"""The judge's flow: take submitted tasks, evaluate, keep the record, settle.

Nothing has to be remembered here. A task is judged while it is submitted and its window is open;
the market takes one verdict only. A judge that is killed begins anew where nothing was sent, and of
two judges the first verdict counts.
"""

import asyncio
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import Any, cast

from arena import schemas
from arena.backoff import backoff_seconds
from arena.client import Client
from arena.content import (
    V0,
    V1,
    ContentCorrupt,
    LocalStore,
    NotCanonical,
    cid_of,
    parse_cid,
    read_archive,
    read_json,
    write_archive,
)
from arena.errors import ArenaError, Conflict, Forbidden, InfrastructureError
from arena.evaluation import (
    Resources,
    ReviewNeeded,
    Standard,
    Submission,
    Verdict,
    evaluate,
    read_standard_document,
)
from arena.evaluation.record import contents_of, keep_record

FIRST_WAIT_SECONDS = 5.0
MAX_WAIT_SECONDS = 300.0


@dataclass(slots=True)
class _Waiting:
    """Tasks that could not be judged: when to try again."""

    count: dict[int, int] = field(default_factory=dict[int, int])
    until: dict[int, datetime] = field(default_factory=dict[int, datetime])

    def postpone(self, task_id: int, now: datetime) -> None:
        number = self.count.get(task_id, 0)
        self.count[task_id] = number + 1
        seconds = backoff_seconds(FIRST_WAIT_SECONDS, number + 1, most_seconds=MAX_WAIT_SECONDS)
        self.until[task_id] = now + timedelta(seconds=seconds)

    def is_postponed(self, task_id: int, now: datetime) -> bool:
        return task_id in self.until and now < self.until[task_id]


class JudgeFlow:
    """Judges what is submitted to one judge."""

    def __init__(
        self,
        client: Client,
        judge: str,
        resources: Resources,
        store: LocalStore,
        *,
        sandbox: str,
        tell: Callable[[str], None],
    ) -> None:
        self._client = client
        self._judge = judge
        self._resources = resources
        self._store = store
        self._sandbox = sandbox
        self._tell = tell
        self._waiting = _Waiting()

    async def step(self) -> int:
        """Judge what waits now, and end what is overdue; gives how many were judged."""
        for closed in (await self._client.close_due()).closed:
            self._tell(f"task {closed.task_id} is {closed.state}: its time had run out")
        now = (await self._client.market()).now
        judged = 0
        # All of them: those that wait for people must not hide what can be judged now.
        tasks = await self._client.all_tasks(state="submitted", judge=self._judge)
        # The one that has waited longest first.
        for task in sorted(tasks, key=lambda task: task.submitted_at or now):
            if self._is_ours(task, now) and not self._waiting.is_postponed(task.id, now):
                judged += await self._settle(task, now)
        return judged

    def _is_ours(self, task: schemas.Task, now: datetime) -> bool:
        """Whether it is this judge's turn: the judge's window first, then the fallback's."""
        assert task.judge_until is not None
        if now < task.judge_until:
            return task.judge == self._judge
        return task.fallback_judge == self._judge

    async def _settle(self, task: schemas.Task, now: datetime) -> bool:
        """Judge one task; what cannot be judged is left alone, and that is said."""
        try:
            try:
                score, reason = await self._evaluate(task)
            except ReviewNeeded as waiting:
                await self._ask_people(task, waiting.message)
                self._waiting.postpone(task.id, now)
                return False
            await self._give(task, score, reason)
        except (Conflict, Forbidden) as wrong:
            self._tell(f"task {task.id} was not judged here: {wrong.message}")
        except ArenaError as wrong:
            self._tell(f"task {task.id} cannot be judged now and is left alone: {wrong.message}")
        else:
            return True
        self._waiting.postpone(task.id, now)
        return False

    async def _ask_people(self, task: schemas.Task, told: str) -> None:
        """Open a review, once; the last answer to it gives the verdict."""
        review = await self._client.review_task(task.id, by=self._judge)
        if review.status == "open" and task.id not in self._waiting.until:
            self._tell(f"task {task.id} waits for people: {told}; answer with: arena review")

    async def _evaluate(self, task: schemas.Task) -> tuple[int, str]:
        """The score and the CID of the record, from content that is what its hash says."""
        assert task.result_hash is not None
        document = _document(task.evaluation_cid, await self._fetch(task.evaluation_cid))
        standard: Standard = await asyncio.to_thread(read_standard_document, document)
        result = await self._fetch(task.result_hash)
        # What is not text is judged as what can be read of it; the hash names the bytes.
        submission = Submission(output=result.decode("utf-8", "replace"))
        verdict = await evaluate(standard, submission, self._resources)
        is_text = submission.output.encode() == result
        named = task.result_hash if is_text else None
        record = await self._record(task.evaluation_cid, submission, verdict, named=named)
        return math.floor(verdict.score), record

    async def _record(
        self, standard: str, submission: Submission, verdict: Verdict, *, named: str | None
    ) -> str:
        """Keep the verdict here and where the market is, by the names that the task has."""
        keep = partial(keep_record, self._store, standard, submission, verdict)
        cid = await asyncio.to_thread(partial(keep, sandbox=self._sandbox, submission_cid=named))
        parts = await asyncio.to_thread(contents_of, self._store, [cid])
        archive = await asyncio.to_thread(write_archive, self._store, parts)
        await self._client.import_content(archive)
        return cid

    async def _give(self, task: schemas.Task, score: int, reason: str) -> None:
        assert task.agent is not None and task.result_hash is not None
        receipt = await self._client.judge(
            task.id,
            schemas.TaskJudge(
                by=self._judge,
                score=score,
                winner=task.agent,
                result_hash=task.result_hash,
                reason_uri=reason,
            ),
        )
        self._tell(f"task {task.id} is {receipt.state}: score {score}, why: arena verify {reason}")

    async def _fetch(self, cid: str) -> bytes:
        """Content that is what its name says, whoever sent it."""
        data = await self._client.content(cid)
        named = parse_cid(cid).key
        for profile in (V1, V0):
            if named == parse_cid(cid_of(data, profile=profile)).key:
                await asyncio.to_thread(partial(self._store.put, data, profile=profile))
                return data
        # Cut another way than ours: its blocks must tell.
        archive = await self._client.export_content([cid])
        return await asyncio.to_thread(self._unpacked, cid, archive)

    def _unpacked(self, cid: str, archive: bytes) -> bytes:
        read_archive(self._store, archive)
        return self._store.get(cid)


def _document(cid: str, data: bytes) -> dict[str, Any]:
    try:
        value = read_json(data)
    except NotCanonical as wrong:
        told = f"the standard {cid} cannot be used: {wrong.message}"
        raise InfrastructureError(told, retryable=False) from None
    if not isinstance(value, dict):
        raise ContentCorrupt(f"the standard {cid} is no object")
    return cast("dict[str, Any]", value)
