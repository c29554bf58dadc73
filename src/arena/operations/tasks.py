"""Paid tasks: post, list, show, and the moves of a party; verdicts are in `task_verdicts.py`.

A token identifies a team, not a person: the request names the acting party, and agents prove their
identity by signatures. `_send_…` takes a signature; `apply`, `commit`, `submit` and `dispute` let
the client's `signer` create it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import BeforeValidator, Field

from arena.amounts import Amount, AmountText
from arena.content.cid import parse_cid
from arena.content.tree import cid_of
from arena.errors import InvalidInput
from arena.fields import NameFilter
from arena.market.call import ANYONE, Action, Call, Receipt, TaskStory
from arena.market.signing import Act, Proof
from arena.market.task import (
    MAX_LANGUAGE_LENGTH,
    MAX_RESULT_BYTES,
    Cid,
    Party,
    Task,
    TaskFilter,
    TaskPost,
    TaskState,
)
from arena.operations import paging
from arena.operations.content import ContentOperations
from arena.operations.ledger import PageLimit
from arena.operations.market import IdempotencyKey, SigningPlace, TaskId
from arena.operations.operation import get, post
from arena.operations.paging import Cursor
from arena.operations.task_verdicts import TaskVerdictOperations, move
from arena.text import utf8

TASKS_PAGE = 500

AssignedTo = Annotated[NameFilter, Field(description="Assigned to it.")]
AppliedBy = Annotated[NameFilter, Field(description="It has applied.")]
JudgedBy = Annotated[NameFilter, Field(description="Judge, fallback judge or arbiter.")]
MinReward = Annotated[AmountText | None, Field(max_length=20, examples=["0.05"])]
States = Annotated[
    list[TaskState] | None,
    BeforeValidator(lambda value: [value] if isinstance(value, str) else value),
    Field(description="Repeatable."),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskList:
    """A page of tasks, newest first."""

    tasks: Sequence[Task]
    count: int
    next_cursor: str | None = None


class TaskOperations(TaskVerdictOperations, ContentOperations):
    """Paid tasks."""

    @post("/api/tasks", tag="tasks", errors=(403, 404, 409))
    async def post_task(self, task: TaskPost) -> Receipt:
        """Offer a task; the standard is checked and pinned, then the reward is locked."""
        return await self.arena.market.post_task(self.team, task)

    @get("/api/tasks", id="list_tasks", tag="tasks")
    async def tasks(
        self,
        *,
        state: States = None,
        poster: NameFilter = None,
        agent: AssignedTo = None,
        applicant: AppliedBy = None,
        judge: JudgedBy = None,
        min_reward: MinReward = None,
        limit: PageLimit = 20,
        cursor: Cursor = None,
    ) -> TaskList:
        """List the team's tasks, newest first."""
        selection = TaskFilter(
            states=frozenset(state) if state else None,
            poster=poster,
            agent=agent,
            applicant=applicant,
            judge=judge,
            min_reward=None if min_reward is None else Amount.parse(min_reward),
        )
        before = paging.decode_number(cursor) or None
        tasks = await self.arena.market.reader.tasks(
            self.team, selection, limit=limit + 1, before=before
        )
        page = tasks[:limit]
        more = paging.encode(page[-1].id) if len(tasks) > limit else None
        return TaskList(tasks=page, count=len(page), next_cursor=more)

    async def all_tasks(
        self,
        *,
        state: States = None,
        poster: NameFilter = None,
        agent: AssignedTo = None,
        applicant: AppliedBy = None,
        judge: JudgedBy = None,
        min_reward: MinReward = None,
    ) -> list[Task]:
        """Every matching task, newest first."""
        tasks: list[Task] = []
        cursor: str | None = None
        while True:
            page = await self.tasks(
                state=state,
                poster=poster,
                agent=agent,
                applicant=applicant,
                judge=judge,
                min_reward=min_reward,
                limit=TASKS_PAGE,
                cursor=cursor,
            )
            tasks += page.tasks
            cursor = page.next_cursor
            if cursor is None:
                return tasks

    @get("/api/tasks/{task_id}", id="get_task", tag="tasks", errors=(404,))
    async def task(self, task_id: TaskId) -> TaskStory:
        """A task with its applicants, its events and the money that moved."""
        return await self.arena.market.reader.story(self.team, task_id)

    async def _place_on_chain(self, act: Act, task_id: int, place: SigningPlace) -> SigningPlace:
        """The contract of a task, if it is in one: there its own number and time count."""
        task = (await self.task(task_id)).task
        if task.contract is None:
            return place
        content = place.content
        if act is Act.APPLY:
            assert self.signer is not None
            content = (await self.market_agent(self.signer.agent)).version
        return SigningPlace(
            market=f"{task.network}:{task.contract}",
            task_id=task.chain_task,
            content=content,
            at=(await self.market()).now,
        )

    # What agents do

    @move("/api/tasks/{task_id}/apply", id="apply_for_task", body="TaskApply")
    async def _send_application(
        self, task_id: TaskId, *, agent: Party, proof: Proof, key: IdempotencyKey = None
    ) -> Receipt:
        """Apply for a task as an agent; signed."""
        return await self._act(task_id, Call(action=Action.APPLY, by=agent), key, proof)

    async def apply(self, task_id: int, *, key: str | None = None) -> Receipt:
        """Apply for a task as the signer's agent."""
        return await self._signed(
            Act.APPLY,
            task_id,
            "",
            lambda agent, proof: self._send_application(task_id, agent=agent, proof=proof, key=key),
        )

    @move("/api/tasks/{task_id}/commit", id="commit_result", body="TaskCommit")
    async def _send_commitment(
        self,
        task_id: TaskId,
        *,
        agent: Party,
        commitment: Annotated[str, Field(min_length=1, max_length=200)],
        proof: Proof,
        key: IdempotencyKey = None,
    ) -> Receipt:
        """Commit an agent to a result that it does not show yet; signed."""
        call = Call(action=Action.COMMIT, by=agent, commitment=commitment)
        return await self._act(task_id, call, key, proof)

    async def commit(self, task_id: int, commitment: str, *, key: str | None = None) -> Receipt:
        """Commit the signer's agent to a result that it does not show yet."""
        return await self._signed(
            Act.COMMIT,
            task_id,
            commitment,
            lambda agent, proof: self._send_commitment(
                task_id, agent=agent, commitment=commitment, proof=proof, key=key
            ),
        )

    @move("/api/tasks/{task_id}/submit", id="submit_result", body="TaskSubmit")
    async def _send_result(
        self,
        task_id: TaskId,
        *,
        agent: Party,
        result: Annotated[str | None, Field(max_length=MAX_RESULT_BYTES)] = None,
        result_hash: Annotated[Cid | None, Field(alias="resultHash")] = None,
        language: Annotated[
            str | None,
            Field(
                min_length=1,
                max_length=MAX_LANGUAGE_LENGTH,
                description="The language of its code; part of what is signed.",
            ),
        ] = None,
        salt: Annotated[
            str | None, Field(max_length=200, description="Reveals a commitment.")
        ] = None,
        proof: Proof,
        key: IdempotencyKey = None,
    ) -> Receipt:
        """Submit the result, once; signed. The whole content with that hash is judged.

        Code whose language is unclear, or is not the standard's, is refused (422).
        """
        if (result is None) == (result_hash is None):
            raise InvalidInput("give either result (the full answer) or resultHash")
        submitted = result_hash or utf8(result or "", "result")
        return await self.arena.market.submit(
            self.team,
            task_id,
            agent,
            submitted,
            proof=proof,
            language=language,
            salt=salt,
            key=key,
        )

    async def submit(
        self,
        task_id: int,
        result: str | bytes | None = None,
        *,
        result_hash: str | None = None,
        language: str | None = None,
        salt: str | None = None,
        key: str | None = None,
    ) -> Receipt:
        """Submit a result as the signer's agent: the result itself, or its CID in the store.

        `language` names that of its code, if neither the standard nor a fence does.
        """
        if (result is None) == (result_hash is None):
            raise InvalidInput("give either the result or its hash")
        # JSON cannot hold bytes: they are stored first and submitted by CID.
        if isinstance(result, bytes):
            result, result_hash = None, (await self.put_content(result)).cid
        signed = (
            str(parse_cid(result_hash or "")) if result is None else cid_of(utf8(result, "result"))
        )
        return await self._signed(
            Act.SUBMIT,
            task_id,
            signed,
            lambda agent, proof: self._send_result(
                task_id,
                agent=agent,
                result=result,
                result_hash=result_hash,
                language=language,
                salt=salt,
                proof=proof,
                key=key,
            ),
            language=language,
        )

    # What the others do

    @move("/api/tasks/{task_id}/assign", id="assign_task", body="TaskAssign")
    async def assign(
        self, task_id: TaskId, *, by: Party, agent: Party | None = None, key: IdempotencyKey = None
    ) -> Receipt:
        """Assign a task to an applicant; without one, to the best if the terms allow it."""
        action = Action.ASSIGN_BEST if agent is None else Action.ASSIGN
        return await self._act(task_id, Call(action=action, by=by, agent=agent), key)

    @move("/api/tasks/{task_id}/cancel", id="cancel_task", body="TaskEnd")
    async def cancel(
        self, task_id: TaskId, *, by: Party | None = None, key: IdempotencyKey = None
    ) -> Receipt:
        """Cancel an unassigned task as its poster; the reward is refunded."""
        if by is None:
            raise InvalidInput("by is missing: only the poster may cancel")
        return await self._act(task_id, Call(action=Action.CANCEL, by=by), key)

    @move("/api/tasks/{task_id}/expire", id="expire_task", body="TaskEnd")
    async def expire(
        self, task_id: TaskId, *, by: Party | None = None, key: IdempotencyKey = None
    ) -> Receipt:
        """End a task that was not submitted or not judged in time. Anyone may do this."""
        return await self._act(task_id, Call(action=Action.EXPIRE, by=by or ANYONE), key)

    @move("/api/tasks/{task_id}/settle", id="settle_task", body="TaskEnd")
    async def settle(
        self, task_id: TaskId, *, by: Party | None = None, key: IdempotencyKey = None
    ) -> Receipt:
        """Pay or refund by the verdict after the dispute window. Anyone may do this."""
        return await self._act(task_id, Call(action=Action.SETTLE, by=by or ANYONE), key)
