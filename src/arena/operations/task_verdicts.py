"""The verdict on a paid task: claim it, judge it, dispute it, decide the dispute."""

from functools import partial
from typing import Annotated

from pydantic import Field

from arena.fields import NonBlank
from arena.market.call import Action, Call, Claim, Receipt
from arena.market.signing import Act, Proof
from arena.market.task import Cid, Party, Task
from arena.operations.market import IdempotencyKey, MarketOperations, TaskId
from arena.operations.operation import post
from arena.reviews.review import Review

move = partial(post, tag="tasks", errors=(404, 409))
"""An operation that changes one task."""

Score = Annotated[int, Field(strict=True, ge=0, le=100)]
ResultHash = Annotated[Cid, Field(alias="resultHash")]
Uri = Annotated[NonBlank, Field(max_length=2000)]
ReasonUri = Annotated[Uri, Field(alias="reasonURI")]
ClaimToken = Annotated[
    str,
    Field(pattern="^[A-Za-z0-9_-]{16,64}$", description="Random; identifies the process."),
]


class TaskVerdictOperations(MarketOperations):
    """Verdicts on paid tasks."""

    @move("/api/tasks/{task_id}/review", body="TaskReview")
    async def review_task(self, task_id: TaskId, *, by: Party) -> Review:
        """Open a review of a submitted task; the verdict of its reviewers is the judge's."""
        new = await self.arena.task_reviews.new_review(self.team, task_id, by=by)
        return await self.arena.reviews.open(new)

    @move("/api/tasks/{task_id}/claim", id="claim_task", body="TaskClaim")
    async def claim(self, task_id: TaskId, *, by: Party, token: ClaimToken) -> Claim:
        """Claim a submitted task as a process of its judge; again with the token: renew the claim.

        Processes that judge under one name share the tasks by claims. A claim expires by itself.
        """
        return await self.arena.market.claim(self.team, task_id, by=by, token=token)

    @move("/api/tasks/{task_id}/release", id="release_task", body="TaskRelease")
    async def release(self, task_id: TaskId, *, token: ClaimToken) -> Task:
        """End a claim before it expires; nothing happens if another process has taken it over."""
        await self.arena.market.release(self.team, task_id, token=token)
        return await self.arena.market.reader.task(self.team, task_id)

    @move("/api/tasks/{task_id}/judge", id="judge_task", body="TaskJudge")
    async def judge(
        self,
        task_id: TaskId,
        *,
        by: Party,
        score: Score,
        winner: Annotated[
            Party, Field(description="The agent the task is assigned to, whatever the score.")
        ],
        result_hash: ResultHash,
        reason_uri: Annotated[
            ReasonUri, Field(description="Where the verdict's record is, such as its CID.")
        ],
        claim: Annotated[
            ClaimToken | None,
            Field(description="The claim it was made under; refused if another has the task now."),
        ] = None,
        key: IdempotencyKey = None,
    ) -> Receipt:
        """Give the one verdict (judgeAndPay); 60 pays the agent, 59 refunds the poster.

        It names the agent and the result it is about. Without a dispute window it settles at once.
        """
        call = Call(
            action=Action.JUDGE,
            by=by,
            agent=winner,
            score=score,
            result_hash=result_hash,
            reason_uri=reason_uri,
            claim=claim,
        )
        return await self._act(task_id, call, key)

    @move("/api/tasks/{task_id}/dispute", id="dispute_verdict", body="TaskDispute")
    async def _send_dispute(
        self,
        task_id: TaskId,
        *,
        by: Party,
        reason_uri: ReasonUri,
        proof: Proof | None = None,
        key: IdempotencyKey = None,
    ) -> Receipt:
        """Dispute the verdict, once, as the side that lost; locks the bond. An agent signs it."""
        call = Call(action=Action.DISPUTE, by=by, reason_uri=reason_uri)
        return await self._act(task_id, call, key, proof)

    async def dispute(
        self, task_id: int, *, by: str, reason_uri: str, key: str | None = None
    ) -> Receipt:
        """Dispute a verdict as the side that lost; signed if it is the signer's agent."""
        if self.signer is None or self.signer.agent != by:
            return await self._send_dispute(task_id, by=by, reason_uri=reason_uri, key=key)
        return await self._signed(
            Act.DISPUTE,
            task_id,
            reason_uri,
            lambda agent, proof: self._send_dispute(
                task_id, by=agent, reason_uri=reason_uri, proof=proof, key=key
            ),
        )

    @move("/api/tasks/{task_id}/resolve", id="resolve_dispute", body="TaskResolve")
    async def resolve(
        self,
        task_id: TaskId,
        *,
        by: Party,
        score: Score,
        reason_uri: ReasonUri,
        key: IdempotencyKey = None,
    ) -> Receipt:
        """Decide a dispute as the arbiter; settles at once."""
        call = Call(action=Action.RESOLVE, by=by, score=score, reason_uri=reason_uri)
        return await self._act(task_id, call, key)

    async def _act(
        self, task_id: int, call: Call, key: str | None, proof: Proof | None = None
    ) -> Receipt:
        return await self.arena.market.act(self.team, task_id, call, proof=proof, key=key)
