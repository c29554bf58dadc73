"""The machine of tests/market_machine.py over the contract, alone or beside the embedded ledger.

Where both run, each call is made on both, and after it the error or the receipt, every state and
every balance must be equal (I12), and equal to the model's.
"""

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from random import Random
from typing import Any, TypeVar

from arena.errors import ArenaError
from arena.market.errors import InsufficientFunds
from contract_world import ContractWorld
from market_hunt import HistoryBroken
from market_machine import PEOPLE, REQUIRED, MarketMachine, a_job
from market_model import SECOND, Job
from market_world import World

T = TypeVar("T")

HISTORIES = range(40)
"""The histories that must pass, and of which one must find each mutant."""
STEPS = 50

ON_A_CHAIN = (REQUIRED - {"assign_best", "crashed", "raced"}) | {
    "direct",
    "relayed",
    "credited",
    "collected",
    "nothing to collect",
}
"""What must happen at least once in a run, or the run proves nothing."""


class ChainMachine(MarketMachine):
    """A history without what a chain does not have: keys of calls, and a choice by reputation."""

    modes = ("once",)
    tick = SECOND

    def act(self, chance: Random) -> None:
        if chance.random() < 0.08:
            self.collect(chance)
        else:
            super().act(chance)

    def collect(self, chance: Random) -> None:
        """Withdraw a credit, if there is one: the model sees no difference."""
        contract: ContractWorld = self.world.contract
        who = chance.choice(PEOPLE)
        owed = [name for name in PEOPLE if contract.market.credit(name)]
        if owed and chance.random() < 0.5:
            who = chance.choice(owed)
        try:
            contract.market.collect(who)
        except InsufficientFunds:
            assert who not in owed
            self.done["nothing to collect"] += 1
        else:
            assert who in owed
            self.done["collected"] += 1
            self.calls += 1

    def assign_best(self, chance: Random, mode: str, number: int, job: Job) -> None:
        self.assign(chance, mode, number, job)

    def new_job(self, chance: Random) -> Job:
        job = a_job(chance, self.model.now)
        if job.policy == "best_reputation":
            job.policy, job.apply_until = "manual", None
        return job

    def end(self) -> None:
        self.check_exits()
        market = self.world.contract.market
        self.done["relayed"] += market.relayed
        self.done["direct"] += market.direct
        self.done["credited"] += market.credited


@dataclass(frozen=True)
class Both:
    """What is called differently on the two sides: a team, a proof, a commitment."""

    embedded: Any
    contract: Any


class BothWorlds:
    """The embedded market and the contract, with one clock."""

    def __init__(self, url: str, folder: Path) -> None:
        self.embedded, self.contract = World(url, folder), ContractWorld()
        self.market: Any = BothDoors(self)

    def close(self) -> None:
        self.embedded.close()

    def run(self, call: Awaitable[T]) -> T:
        return self.embedded.run(call)

    def set_time(self, microseconds: int) -> None:
        self.embedded.set_time(microseconds)
        self.contract.set_time(microseconds)

    def moment(self, microseconds: int | None) -> datetime | None:
        return self.embedded.moment(microseconds)

    def new_team(self) -> Both:
        return Both(self.embedded.new_team(), self.contract.new_team())

    def proof(self, team: Both, *given: Any, **named: Any) -> Both:
        return self._both("proof", team, *given, **named)

    def commitment(self, team: Both, *given: Any) -> Both:
        return self._both("commitment", team, *given)

    def _both(self, name: str, *given: Any, **named: Any) -> Both:
        sides = (self.embedded, self.contract)
        return Both(*(getattr(one, name)(*of(one, given), **named) for one in sides))


def of(side: World | ContractWorld, given: Iterable[Any]) -> list[Any]:
    """The arguments as this side takes them."""
    name = "contract" if isinstance(side, ContractWorld) else "embedded"
    return [getattr(one, name) if isinstance(one, Both) else one for one in given]


class BothDoors:
    """Makes every call on both and compares."""

    def __init__(self, worlds: BothWorlds) -> None:
        self.worlds = worlds

    def __getattr__(self, name: str) -> Callable[..., Awaitable[Any]]:
        async def called(*given: Any, **named: Any) -> Any:
            outcomes = []
            for side in (self.worlds.embedded, self.worlds.contract):
                values = of(side, named.values())
                call = getattr(side.market, name)(
                    *of(side, given), **dict(zip(named, values, strict=True))
                )
                outcomes.append(await outcome(call))
            (embedded, error), (contract, other) = outcomes
            assert type(error) is type(other), f"{name}: {error!r}, on the chain {other!r}"
            if error is not None:
                raise error
            if name not in NOT_COMPARED:
                assert facts(embedded) == facts(contract), f"{name} differs"
            return embedded

        return called


async def outcome(call: Awaitable[T]) -> tuple[T | None, ArenaError | None]:
    try:
        return await call, None
    except ArenaError as error:
        return None, error


NOT_COMPARED = ("agents", "close_due")
"""A chain has no reputation; what the exits do shows in the states and the balances."""
TOLD = ("id", "task_id", "state", "at", "agent", "score", "expiry_reason", "result_hash")


def facts(answer: Any) -> Any:
    """What both sides must say alike: of a receipt, a task, balances or an audit."""
    if isinstance(answer, dict) or answer is None:
        return answer
    if hasattr(answer, "violations"):
        return answer.violations
    if isinstance(answer, list | tuple):
        return sorted((facts(one) for one in answer), key=lambda one: one["id"])
    return {name: getattr(answer, name) for name in TOLD if hasattr(answer, name)}


def drive_contract(world: Any, *, histories: Iterable[int], steps: int) -> Counter[str]:
    """Run histories until one fails; returns how often each action was done."""
    done: Counter[str] = Counter()
    try:
        for history in histories:
            machine = ChainMachine(world, done, history)
            try:
                machine.begin()
                for _ in range(steps):
                    machine.step()
                machine.end()
            except Exception as error:
                place = f"history {history}, step {machine.steps}"
                raise HistoryBroken(f"{place}: {error!r}") from error
    finally:
        world.close()
    return done
