"""A server's market for a judge that runs on this machine."""

import asyncio
from collections.abc import Sequence
from datetime import datetime
from functools import partial

from arena.content.archive import read_archive, write_archive
from arena.content.cid import parse_cid
from arena.content.ports import ContentStore
from arena.content.tree import profile_of
from arena.evaluation.record import contents_of
from arena.market.call import Receipt
from arena.market.task import Task, TaskState
from arena.operations.tasks import TaskOperations
from arena.reviews.review import Review


class ServerMarket:
    """Fetches content from the server and verifies it here; uploads the records of verdicts."""

    def __init__(self, client: TaskOperations, store: ContentStore) -> None:
        self._client = client
        self._store = store

    async def close_due(self) -> Sequence[Receipt]:
        """Close the tasks whose time has run out."""
        return (await self._client.close_due()).closed

    async def submitted(self, judge: str) -> tuple[datetime, Sequence[Task]]:
        """The server's time, and every task waiting for this judge."""
        now = (await self._client.market()).now
        return now, await self._client.all_tasks(state=[TaskState.SUBMITTED], judge=judge)

    async def fetch(self, cid: str) -> None:
        """Copy content into the judge's own store; an error if it does not match its CID."""
        data = await self._client.content(cid)
        profile = profile_of(data, parse_cid(cid))
        if profile is not None:
            await asyncio.to_thread(partial(self._store.put, data, profile=profile))
            return
        # Split into blocks in a way that is not ours: only the blocks themselves can prove the CID.
        archive = await self._client.export_content([cid])
        await asyncio.to_thread(read_archive, self._store, archive)

    async def claim(self, task: Task, token: str, *, by: str) -> None:
        """Claim the task on the server, or renew the claim."""
        await self._client.claim(task.id, by=by, token=token)

    async def release(self, task: Task, token: str) -> None:
        """End the claim."""
        await self._client.release(task.id, token=token)

    async def give(self, task: Task, score: int, reason: str, *, by: str, claim: str) -> Receipt:
        """Upload the record with everything it refers to, then send the verdict."""
        parts = await asyncio.to_thread(contents_of, self._store, [reason])
        archive = await asyncio.to_thread(write_archive, self._store, parts)
        await self._client.import_content(archive)
        assert task.agent and task.result_hash
        return await self._client.judge(
            task.id,
            by=by,
            score=score,
            winner=task.agent,
            result_hash=task.result_hash,
            reason_uri=reason,
            claim=claim,
        )

    async def open_review(self, task: Task, *, by: str) -> Review:
        """Let people answer the task's checklists."""
        return await self._client.review_task(task.id, by=by)
