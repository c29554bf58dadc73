"""The cost of a task in the market, from posting to payout, and how it grows with the history.

    make bench-market     or: python benchmarks/market.py [--tasks 10000] [--agents 50]

Many agents take many tasks through the whole lifecycle; then every invariant is checked and the
money is counted. After that, single tasks alternate between this market and one with a hundredth of
its history, so that noise affects both alike. The ratio of the medians should be at most 1.3.
"""

import argparse
import asyncio
import os
import random
import statistics
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from arena import clock
from arena.amounts import Amount
from arena.content.store import LocalStore
from arena.content.tree import cid_of
from arena.market.call import Action, Call
from arena.market.market import Market
from arena.market.signing import Act, Proof, Signer
from arena.market.task import TaskPost
from arena.settings import Settings
from arena.store.database import Database

TEAM = "bench"
REWARD = 10
STANDARD = {"type": "checklist", "items": ["It works"]}
GOAL = 1.3


@dataclass
class Scenario:
    """A market with its agents, and how its tasks ended."""

    market: Market
    agents: int
    chance: random.Random = field(default_factory=lambda: random.Random(7))
    keys: dict[str, Signer] = field(default_factory=dict[str, Signer])
    ended: Counter[str] = field(default_factory=Counter[str])

    async def open(self, tasks: int) -> None:
        """Register the agents and deposit the rewards of all tasks for the poster."""
        for number in range(self.agents):
            agent = f"agent-{number}"
            self.keys[agent] = Signer.new(agent)
            public = self.keys[agent].public_key
            proof = await self.proof(Act.REGISTER, None, agent, public)
            await self.market.register_agent(TEAM, agent, public, proof)
        await self.market.deposit_test_money(TEAM, "poster", REWARD * tasks)

    async def proof(self, act: Act, task_id: int | None, agent: str, content: str = "") -> Proof:
        """The agent's signature."""
        market = await self.market.embedded.market_id(TEAM)
        return self.keys[agent].prove(market, act, task_id=task_id, content=content)

    async def run_task(self) -> float:
        """Run one task from posting to payout or refund; returns its seconds."""
        started = time.perf_counter()
        new = TaskPost(
            poster="poster",
            description="Do it",
            evaluation=STANDARD,
            reward=Amount(REWARD),
            deadline=clock.now() + timedelta(hours=1),
            judge="judge",
        )
        task_id = (await self.market.post_task(TEAM, new)).task_id
        assert task_id is not None
        applicants = self.chance.sample(sorted(self.keys), 2)
        for agent in applicants:
            proof = await self.proof(Act.APPLY, task_id, agent)
            apply = Call(action=Action.APPLY, by=agent)
            await self.market.act(TEAM, task_id, apply, proof=proof)
        agent = applicants[0]
        assign = Call(action=Action.ASSIGN, by="poster", agent=agent)
        await self.market.act(TEAM, task_id, assign)
        result = f"result of {agent}".encode()
        proof = await self.proof(Act.SUBMIT, task_id, agent, cid_of(result))
        await self.market.submit(TEAM, task_id, agent, result, proof=proof)
        verdict = Call(
            action=Action.JUDGE,
            by="judge",
            agent=agent,
            score=self.chance.randint(20, 100),
            result_hash=cid_of(result),
            reason_uri="why",
        )
        receipt = await self.market.act(TEAM, task_id, verdict)
        self.ended[str(receipt.state)] += 1
        return time.perf_counter() - started


async def fill(scenario: Scenario, tasks: int) -> None:
    step = max(tasks // 10, 1)
    for start in range(0, tasks, step):
        started, cpu = time.perf_counter(), time.process_time()
        for _ in range(min(step, tasks - start)):
            await scenario.run_task()
        each = (time.perf_counter() - started) / step * 1000
        own = (time.process_time() - cpu) / step * 1000
        print(f"  {start + step:>6,} tasks: {each:6.1f} ms each ({own:.1f} ms CPU)")


async def check_money(scenario: Scenario, tasks: int, deposited: int) -> None:
    """Check every invariant and the sum of all balances."""
    started = time.perf_counter()
    report = await scenario.market.ledger.audit(TEAM)
    assert report.is_clean, report.violations
    held = {one.account: one.amount for one in await scenario.market.ledger.balances(TEAM)}
    paid = scenario.ended["paid"] * REWARD
    assert sum(scenario.ended.values()) == tasks == report.tasks
    assert held["outside"] == -deposited
    assert sum(held.values()) == 0
    assert sum(amount for name, amount in held.items() if name.startswith("user:agent")) == paid
    print(
        f"  money conserved: {deposited:,} deposited, {paid:,} paid to agents, "
        f"{held['user:poster']:,} returned to the poster, nothing in escrow; {dict(scenario.ended)}"
    )
    print(
        f"  audit clean: {report.tasks:,} tasks, {report.entries:,} entries, "
        f"{report.postings:,} postings ({time.perf_counter() - started:.1f} s)"
    )


async def measure(folder: Path, tasks: int, agents: int, rounds: int) -> float:
    scenarios: list[Scenario] = []
    databases = [Database(Settings(home=folder / part).database) for part in ("small", "large")]
    for part, database, count in zip(
        ("small", "large"), databases, (max(tasks // 100, 1), tasks), strict=True
    ):
        scenario = Scenario(
            market=Market(database, LocalStore(folder / part / "content")), agents=agents
        )
        deposited = REWARD * (count + rounds)
        await scenario.open(count + rounds)
        print(f"{count:,} tasks, {agents} agents")
        await fill(scenario, count)
        await check_money(scenario, count, deposited)
        scenarios.append(scenario)
    took: list[list[float]] = [[], []]
    for _ in range(rounds):
        for which, scenario in enumerate(scenarios):
            took[which].append(await scenario.run_task())
    for database in databases:
        await database.close()
    small, large = (statistics.median(times) for times in took)
    print(
        f"one task with {max(tasks // 100, 1):,} before it {small * 1000:.1f} ms, with {tasks:,} "
        f"{large * 1000:.1f} ms: ratio {large / small:.2f} (goal: at most {GOAL})"
    )
    return large / small


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", type=int, default=10_000)
    parser.add_argument("--agents", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=100)
    options = parser.parse_args()
    for variable in [one for one in os.environ if one.startswith("ARENA_")]:
        del os.environ[variable]
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(measure(Path(folder), options.tasks, options.agents, options.rounds))


if __name__ == "__main__":
    main()
