"""A market on each database, with a stopped clock and two agents that are registered."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from arena import clock
from arena.content import LocalStore, cid_of
from arena.market import (
    Act,
    Judgement,
    Market,
    NewTask,
    Proof,
    Receipt,
    Statement,
    Terms,
    public_key_of,
    sign,
)
from arena.settings import Settings
from arena.store.database import Database

TEAM = "red"
STANDARD = {"type": "checklist", "items": ["It works"]}
ANSWER = b"def solve(): ..."


@dataclass
class Desk:
    """A market and what it takes to act in it."""

    market: Market
    database: Database
    content: LocalStore
    at: datetime = datetime(2026, 3, 1, 12, tzinfo=UTC)
    keys: dict[str, Ed25519PrivateKey] = field(default_factory=dict)

    def wait(self, seconds: float) -> None:
        self.at += timedelta(seconds=seconds)

    async def proof(
        self, act: Act, task_id: int | None, agent: str, content: str = "", **keys: Any
    ) -> Proof:
        statement = Statement(
            market=await self.market.identity(TEAM),
            act=act,
            task_id=task_id,
            agent=agent,
            content=content,
        )
        return sign(self.keys[agent], statement, **keys)

    async def register(self, agent: str, **keys: Any) -> None:
        self.keys.setdefault(agent, Ed25519PrivateKey.generate())
        public = public_key_of(self.keys[agent])
        proof = await self.proof(Act.REGISTER, None, agent, public)
        await self.market.register_agent(TEAM, agent, public, proof, **keys)

    def terms(self, **changes: Any) -> Terms:
        known = {"reward": 100, "deadline": self.at + timedelta(seconds=3600), "judge": "jim"}
        return Terms(**{"judge_window_seconds": 600, **known, **changes})

    async def post(self, *, key: str | None = None, evaluation: Any = None, **changes: Any) -> int:
        new = NewTask(
            description="solve it", evaluation=evaluation or STANDARD, terms=self.terms(**changes)
        )
        receipt = await self.market.post_task(TEAM, "ann", new, key=key)
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
        judgement = Judgement(
            score=score,
            winner=task.agent or "solver",
            result_hash=task.result_hash or cid_of(ANSWER),
            reason_uri="ipfs://why",
        )
        return await self.market.judge(TEAM, task_id, judgement, by=by, **keys)

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
    made = Desk(market=Market(database, content), database=database, content=content)
    monkeypatch.setattr(clock, "now", lambda: made.at)
    for agent in ("solver", "rival"):
        await made.register(agent)
    await made.market.deposit_test_money(TEAM, "ann", 1000)
    yield made
    assert (await made.market.audit(TEAM)).violations == ()
