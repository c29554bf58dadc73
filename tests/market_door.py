"""The market with one method per move, and the methods of its ledger."""

from collections.abc import Sequence
from typing import Any

from arena.market.agents import Applicant
from arena.market.call import ANYONE, Action, Call, Receipt
from arena.market.market import Market
from arena.market.records.reading import MarketReader
from arena.market.signing import Proof
from arena.market.task import Task


class Door(Market):
    """The interface that tests call."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self.reader if hasattr(MarketReader, name) else self.embedded, name)

    async def apply(
        self, team_id: str, task_id: int, agent: str, proof: Proof, *, key: str | None = None
    ) -> Receipt:
        call = Call(action=Action.APPLY, by=agent)
        return await self.act(team_id, task_id, call, proof=proof, key=key)

    async def assign(
        self, team_id: str, task_id: int, agent: str, *, by: str, key: str | None = None
    ) -> Receipt:
        call = Call(action=Action.ASSIGN, by=by, agent=agent)
        return await self.act(team_id, task_id, call, key=key)

    async def assign_best(
        self, team_id: str, task_id: int, *, by: str = ANYONE, key: str | None = None
    ) -> Receipt:
        return await self.act(team_id, task_id, Call(action=Action.ASSIGN_BEST, by=by), key=key)

    async def commit_result(
        self,
        team_id: str,
        task_id: int,
        agent: str,
        commitment: str,
        proof: Proof,
        *,
        key: str | None = None,
    ) -> Receipt:
        call = Call(action=Action.COMMIT, by=agent, commitment=commitment)
        return await self.act(team_id, task_id, call, proof=proof, key=key)

    async def submit_result(
        self,
        team_id: str,
        task_id: int,
        agent: str,
        result: bytes | str,
        proof: Proof,
        **more: Any,
    ) -> Receipt:
        return await self.submit(team_id, task_id, agent, result, proof=proof, **more)

    async def judge(
        self,
        team_id: str,
        task_id: int,
        *,
        by: str,
        score: int,
        winner: str,
        result_hash: str,
        reason_uri: str = "ipfs://why",
        key: str | None = None,
    ) -> Receipt:
        call = Call(
            action=Action.JUDGE,
            by=by,
            agent=winner,
            score=score,
            result_hash=result_hash,
            reason_uri=reason_uri,
        )
        return await self.act(team_id, task_id, call, key=key)

    async def dispute(
        self,
        team_id: str,
        task_id: int,
        *,
        by: str,
        reason_uri: str,
        proof: Proof | None = None,
        key: str | None = None,
    ) -> Receipt:
        call = Call(action=Action.DISPUTE, by=by, reason_uri=reason_uri)
        return await self.act(team_id, task_id, call, proof=proof, key=key)

    async def resolve(
        self,
        team_id: str,
        task_id: int,
        score: int,
        *,
        by: str,
        reason_uri: str,
        key: str | None = None,
    ) -> Receipt:
        call = Call(action=Action.RESOLVE, by=by, score=score, reason_uri=reason_uri)
        return await self.act(team_id, task_id, call, key=key)

    async def cancel(
        self, team_id: str, task_id: int, *, by: str, key: str | None = None
    ) -> Receipt:
        return await self.act(team_id, task_id, Call(action=Action.CANCEL, by=by), key=key)

    async def expire(
        self, team_id: str, task_id: int, *, by: str = ANYONE, key: str | None = None
    ) -> Receipt:
        return await self.act(team_id, task_id, Call(action=Action.EXPIRE, by=by), key=key)

    async def settle(
        self, team_id: str, task_id: int, *, by: str = ANYONE, key: str | None = None
    ) -> Receipt:
        return await self.act(team_id, task_id, Call(action=Action.SETTLE, by=by), key=key)

    async def balances(self, team_id: str) -> dict[str, int]:
        return {one.account: one.amount for one in await self.embedded.balances(team_id)}

    async def applicants(self, team_id: str, task_id: int) -> Sequence[Applicant]:
        return (await self.reader.story(team_id, task_id)).applicants

    async def result_of(self, task: Task) -> bytes:
        assert task.result_hash is not None
        return await self.contents.result(task.result_hash)
