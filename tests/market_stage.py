"""Runs the cases of tests/market_rows.py on a ledger."""

from collections.abc import Awaitable, Mapping
from typing import Any

from arena.amounts import Amount
from arena.errors import ArenaError
from arena.market.signing import Act
from arena.market.task import TaskPost
from market_model import SECOND
from market_rows import (
    ACTIONS,
    AGENTS,
    FUNDS,
    PARTIES,
    POSSIBLE,
    REWARD,
    RIGHTFUL,
    STATES,
    Refusal,
    Row,
)
from market_world import HASHES, STANDARD

PAYING = ("ann", "solver", "third")
"""Those who pay in some case: for a task or for a dispute."""


def check_window(world: Any, row: Row) -> None:
    """The move is possible exactly within its window, and does what the table says."""
    for second, error in row.moments:
        stage = Stage(world)
        number = stage.reach(row.terms, row.path)
        stage.at(second)
        assert stage.state(number) == row.state
        before = stage.money()
        assert stage.do(row.action, number, row.by, **row.args) == error, f"second {second}"
        pays = row.pays if error is None else {}
        after = {name: before[name] + pays.get(name, 0) for name in PARTIES}
        assert stage.money() == after, f"second {second}"
        assert stage.state(number) == (row.to if error is None else row.state)
        stage.audit()


def check_roles(world: Any, row: Row) -> None:
    """Nobody else may do it; then the right party does."""
    stage = Stage(world)
    number = stage.reach(row.terms, row.path)
    stage.at(row.inside)
    before = stage.money()
    for name, error in row.strangers.items():
        assert stage.do(row.action, number, name, **row.args) == error, name
    assert (stage.state(number), stage.money()) == (row.state, before)
    assert stage.do(row.action, number, row.by, **row.args) is None
    stage.audit()


def check_state(world: Any, name: str) -> None:
    """Every action that this state does not have is refused, whoever tries it."""
    state, terms, path = STATES[name]
    stage = Stage(world)
    number = stage.reach(terms, path)
    assert stage.state(number) == state
    before = stage.money()
    for action in ACTIONS:
        if action not in POSSIBLE.get(name, ()):
            # Also by somebody without the role: the state is checked first.
            for by in (RIGHTFUL[action], "rival"):
                assert stage.do(action, number, by) == "WrongState", f"{action} by {by}"
    assert (stage.state(number), stage.money()) == (state, before)
    stage.audit()


def check_refusal(world: Any, refusal: Refusal) -> None:
    """The call is refused, and nothing changes."""
    stage = Stage(world)
    number = stage.reach(refusal.terms, refusal.path)
    state, before = stage.state(number), stage.money()
    assert stage.do(refusal.action, number, refusal.by, **refusal.args) == refusal.error
    assert (stage.state(number), stage.money()) == (state, before)
    stage.audit()


class Stage:
    """One ledger, set up for a case: `world` is a World or a ContractWorld."""

    def __init__(self, world: Any) -> None:
        self.world = world
        self.world.set_time(0)
        self.team = world.new_team()
        for name in PAYING:
            self._run(self.world.market.deposit_test_money(self.team, name, FUNDS))

    def at(self, second: int) -> None:
        self.world.set_time(second * SECOND)

    def money(self) -> dict[str, int]:
        held = self.world.run(self.world.market.balances(self.team))
        return {name: held.get(f"user:{name}", 0) for name in PARTIES}

    def state(self, number: int) -> str:
        tasks = self.world.run(self.world.market.tasks(self.team, limit=100))
        return next(str(task.state) for task in tasks if task.id == number)

    def audit(self) -> None:
        assert self.world.run(self.world.market.audit(self.team)).violations == ()

    def reach(self, terms: Mapping[str, Any], path: list[Any]) -> int:
        """A task in the state that this path leads to."""
        number, error = self.post(terms)
        assert error is None, error
        for second, action, by, args in path:
            self.at(second)
            if action != "wait":
                error = self.do(action, number, by, **args)
                assert error is None, f"{action} by {by}: {error}"
        return number

    def post(self, terms: Mapping[str, Any]) -> tuple[int, str | None]:
        given: dict[str, Any] = {
            "poster": "ann",
            "description": "do it",
            "evaluation": STANDARD,
            "judge": "jim",
            "judge_window_seconds": 100,
            **terms,
            "reward": Amount(terms.get("reward", REWARD)),
            "bond": Amount(terms.get("bond", 0)),
            "deadline": self.world.moment(terms.get("deadline", 1000) * SECOND),
        }
        if "commit_deadline" in terms:
            given["commit_deadline"] = self.world.moment(terms["commit_deadline"] * SECOND)
        receipt, error = self._run(self.world.market.post_task(self.team, TaskPost(**given)))
        return (receipt.task_id if receipt else 0), error

    def do(self, action: str, number: int, by: str, **args: Any) -> str | None:
        """Make the call; returns the name of the error, None if it was done."""
        return self._run(getattr(self, f"_{action}")(number, by, **args))[1]

    def _run(self, call: Awaitable[Any]) -> tuple[Any, str | None]:
        try:
            return self.world.run(call), None
        except ArenaError as error:
            return None, type(error).__name__

    # The actions, with what they need by default.

    def _apply(self, number: int, by: str) -> Awaitable[Any]:
        proof = self.world.proof(self.team, Act.APPLY, number, by)
        return self.world.market.apply(self.team, number, by, proof)

    def _assign(self, number: int, by: str, agent: str = "solver") -> Awaitable[Any]:
        return self.world.market.assign(self.team, number, agent, by=by)

    def _cancel(self, number: int, by: str) -> Awaitable[Any]:
        return self.world.market.cancel(self.team, number, by=by)

    def _commit(self, number: int, by: str) -> Awaitable[Any]:
        commitment = self.world.commitment(self.team, number, by, HASHES["one"])
        proof = self.world.proof(self.team, Act.COMMIT, number, by, commitment)
        return self.world.market.commit_result(self.team, number, by, commitment, proof)

    def _submit(
        self, number: int, by: str, salt: str | None = None, result: str = "one"
    ) -> Awaitable[Any]:
        proof = self.world.proof(self.team, Act.SUBMIT, number, by, HASHES[result])
        market = self.world.market
        return market.submit_result(self.team, number, by, HASHES[result], proof, salt=salt)

    def _judge(
        self, number: int, by: str, score: int = 80, winner: str = "solver", result: str = "one"
    ) -> Awaitable[Any]:
        named = {"score": score, "winner": winner, "result_hash": HASHES[result]}
        return self.world.market.judge(self.team, number, by=by, **named)

    def _dispute(self, number: int, by: str) -> Awaitable[Any]:
        proof = None
        if by in AGENTS:
            proof = self.world.proof(self.team, Act.DISPUTE, number, by, "no")
        return self.world.market.dispute(self.team, number, by=by, reason_uri="no", proof=proof)

    def _resolve(self, number: int, by: str, score: int = 80) -> Awaitable[Any]:
        return self.world.market.resolve(self.team, number, score, by=by, reason_uri="so")

    def _settle(self, number: int, by: str) -> Awaitable[Any]:
        return self.world.market.settle(self.team, number, by=by)

    def _expire(self, number: int, by: str) -> Awaitable[Any]:
        return self.world.market.expire(self.team, number, by=by)
