"""A market on each database, with a stopped clock and two registered agents."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from arena import clock
from arena.amounts import Amount
from arena.content.store import LocalStore
from arena.content.tree import cid_of
from arena.market.call import Receipt
from arena.market.signing import Act, Proof, Signer
from arena.market.task import TaskPost
from arena.settings import Settings
from arena.store.database import Database
from market_door import Door

TEAM = "red"
STANDARD = {"type": "checklist", "items": ["It works"]}
ANSWER = b"def solve(): ..."


@dataclass
class Desk:
    """A market and what it takes to act in it."""

    market: Door
    database: Database
    content: LocalStore
    at: datetime = datetime(2026, 3, 1, 12, tzinfo=UTC)
    keys: dict[str, Signer] = field(default_factory=dict)

    def wait(self, seconds: float) -> None:
        self.at += timedelta(seconds=seconds)

    async def proof(
        self, act: Act, task_id: int | None, agent: str, content: str = "", **keys: Any
    ) -> Proof:
        market = await self.market.market_id(TEAM)
        return self.keys[agent].prove(market, act, task_id=task_id, content=content, **keys)

    async def register(self, agent: str, **keys: Any) -> None:
        public = self.keys.setdefault(agent, Signer.new(agent)).public_key
        proof = await self.proof(Act.REGISTER, None, agent, public)
        await self.market.register_agent(TEAM, agent, public, proof, **keys)

    def offer(self, **changes: Any) -> TaskPost:
        """A task that ann posts and jim judges."""
        given = {
            "poster": "ann",
            "description": "solve it",
            "reward": Amount(100),
            "deadline": self.at + timedelta(seconds=3600),
            "judge": "jim",
            "judge_window_seconds": 600,
            **changes,
        }
        if not {"evaluation", "evaluation_cid"} & given.keys():
            given["evaluation"] = STANDARD
        return TaskPost(**given)

    async def post(self, *, key: str | None = None, evaluation: Any = None, **changes: Any) -> int:
        if isinstance(evaluation, str):
            changes["evaluation_cid"] = evaluation
        elif evaluation is not None:
            changes["evaluation"] = evaluation
        new = self.offer(**changes, idempotency_key=key)
        receipt = await self.market.post_task(TEAM, new)
        assert receipt.task_id is not None
        return receipt.task_id

    async def apply(self, task_id: int, agent: str = "solver", **keys: Any) -> Receipt:
        proof = await self.proof(Act.APPLY, task_id, agent)
        return await self.market.apply(TEAM, task_id, agent, proof, **keys)

    async def assign(self, task_id: int, agent: str = "solver", **keys: Any) -> Receipt:
        return await self.market.assign(TEAM, task_id, agent, by="ann", **keys)

    async def submit(
        self, task_id: int, result: bytes | str = ANSWER, agent: str = "solver", **keys: Any
    ) -> Receipt:
        name = result if isinstance(result, str) else cid_of(result)
        proof = await self.proof(Act.SUBMIT, task_id, agent, name)
        return await self.market.submit_result(TEAM, task_id, agent, result, proof, **keys)

    async def judge(self, task_id: int, score: int, *, by: str = "jim", **keys: Any) -> Receipt:
        task = await self.market.task(TEAM, task_id)
        return await self.market.judge(
            TEAM,
            task_id,
            by=by,
            score=score,
            winner=task.agent or "solver",
            result_hash=task.result_hash or cid_of(ANSWER),
            **keys,
        )

    async def dispute(self, task_id: int, reason_uri: str, *, by: str = "solver") -> Receipt:
        """Contest a verdict, as an agent."""
        proof = await self.proof(Act.DISPUTE, task_id, by, reason_uri)
        return await self.market.dispute(TEAM, task_id, by=by, reason_uri=reason_uri, proof=proof)

    async def submitted(self, agent: str = "solver", **changes: Any) -> int:
        """A task with a result."""
        task_id = await self.post(**changes)
        await self.apply(task_id, agent)
        if (await self.market.task(TEAM, task_id)).agent is None:
            await self.assign(task_id, agent)
        await self.submit(task_id, agent=agent)
        return task_id


@pytest.fixture
async def desk(
    settings: Settings, database: Database, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Desk]:
    content = LocalStore(settings.home / "content")
    made = Desk(market=Door(database, content), database=database, content=content)
    monkeypatch.setattr(clock, "now", lambda: made.at)
    for agent in ("solver", "rival"):
        await made.register(agent)
    await made.market.deposit_test_money(TEAM, "ann", 1000)
    yield made
    assert (await made.market.audit(TEAM)).violations == ()
