"""The market on the node of a test: a deployed contract, parties with keys, agents with wallets."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from typing import Any

from anvil_node import LocalChain
from arena.assembly import Arena, open_arena
from arena.chain.artifact import load_artifact
from arena.chain.keys import Keys
from arena.chain.wallet import WalletSigner
from arena.content.tree import cid_of
from arena.market.call import Receipt
from arena.market.task import TaskPost, TaskState
from arena.operations.operation import InProcess
from arena.operations.operations import Operations
from arena.settings import Settings

PARTIES = ("alice", "judy", "operator", "solver", "rival")
STANDARD = {"type": "checklist", "items": ["It works"]}
ANSWER = "def add(a, b): return a + b"
COIN = 10**18


def chain_settings(settings: Settings, chain: LocalChain, **changes: Any) -> Settings:
    """Settings with a new contract and a funded key for each party."""
    keys = [
        f"{name}:{account.private_key}"
        for name, account in zip(PARTIES, chain.accounts, strict=False)
    ]
    given = {
        "ledger": "evm",
        "chain_url": chain.url,
        "chain_keys": keys,
        "chain_confirmations": 1,
        "chain_relayer": "operator",
        "chain_contract": changes.get("chain_contract") or chain.deploy(load_artifact().bytecode),
    }
    return Settings.model_validate(settings.model_dump(exclude_unset=True) | given | changes)


@asynccontextmanager
async def opened(settings: Settings, *, team: str | None = None) -> AsyncIterator["Stall"]:
    """A process with these settings."""
    async with open_arena(settings) as arena:
        yield Stall(arena, team)


class Stall:
    """What the parties of the seed's story do, through the operations of one process."""

    def __init__(self, arena: Arena, team: str | None = None) -> None:
        self.arena = arena
        self.operations = Operations(InProcess(arena=arena, team_id=team))

    def sign_as(self, agent: str) -> None:
        self.operations.signer = WalletSigner(agent, Keys(self.arena.settings))

    async def join(self, agent: str = "solver") -> None:
        self.sign_as(agent)
        await self.operations.register()

    async def now(self) -> datetime:
        return (await self.operations.market()).now

    async def offer(self, **changes: Any) -> TaskPost:
        given = {
            "poster": "alice",
            "description": "Write add(a, b).",
            "evaluation": STANDARD,
            "reward": "0.05",
            "deadline": await self.now() + timedelta(hours=1),
            "judge": "judy",
            **changes,
        }
        return TaskPost(**given)

    async def post(self, **changes: Any) -> int:
        receipt = await self.operations.post_task(await self.offer(**changes))
        assert receipt.task_id is not None
        return receipt.task_id

    async def judge(self, task_id: int, score: int, **named: Any) -> Receipt:
        task = (await self.operations.task(task_id)).task
        assert task.agent and task.result_hash
        return await self.operations.judge(
            task_id,
            by="judy",
            score=score,
            winner=task.agent,
            result_hash=task.result_hash,
            reason_uri=cid_of(b"why"),
            **named,
        )

    async def submitted(self, agent: str = "solver", **changes: Any) -> int:
        task_id = await self.post(**changes)
        self.sign_as(agent)
        await self.operations.apply(task_id)
        await self.operations.assign(task_id, by="alice", agent=agent)
        await self.operations.submit(task_id, ANSWER)
        return task_id

    async def state(self, task_id: int) -> TaskState:
        return (await self.operations.task(task_id)).task.state

    async def balance(self, name: str) -> int:
        return int((await self.operations.balance(name)).balances[0].amount)
