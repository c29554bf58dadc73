"""The contract behind the same interface as the embedded market of tests/market_world.py.

So the same machine and the same table of cases run on both. A party is an address; every agent's
call is made by the agent itself or, every second time, by a relay with the agent's signature.
"""

from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import Any, TypeVar

from eth_utils.crypto import keccak

import arena.market.errors as market_errors
from arena.chain.artifact import load_artifact
from arena.content.tree import cid_of
from arena.errors import InvalidInput
from arena.market.call import ANYONE, Receipt
from arena.market.errors import InsufficientFunds
from arena.market.signing import Act
from arena.market.task import FINAL, Assignment, TaskPost, TaskState
from contract_chain import NO_SALT, ZERO, Chain, Reverted, Terms, address_of
from contract_projection import STATES, Projection, Seen
from market_world import START

T = TypeVar("T")

PEOPLE = ("ann", "bob", "solver", "rival", "third", "jim", "fay", "art", "nobody")
NAMES = {address_of(name): name for name in PEOPLE}
RELAY = address_of("relay")
PROUD = ("bob", "rival")
"""They refuse payments with little gas, so that theirs become credits."""
REFUSES_LITTLE_GAS = bytes.fromhex("619c405a10600957005b60006000fd")
"""if gas < 40000: revert"""
PROOF_SECONDS = 300


@dataclass(frozen=True, kw_only=True)
class Proof:
    """What an agent would sign; it is signed when it is relayed."""

    act: Act
    task_id: int
    signer: str
    agent: str
    content: Any
    is_elsewhere: bool
    """For another chain or another contract."""


class ContractWorld:
    """A chain with a manual clock; each team has a contract of its own."""

    def __init__(
        self, abi: Sequence[Mapping[str, Any]] | None = None, bytecode: bytes | None = None
    ) -> None:
        shipped = load_artifact()
        self._made_of = (abi or shipped.abi, bytecode or shipped.bytecode)
        self.at = START
        self.chain = Chain(*self._made_of)
        self.market = ContractDoor(self)
        self.contract = self

    def close(self) -> None:
        pass

    def run(self, call: Awaitable[T]) -> T:
        """The calls of this world never wait."""
        running = call.__await__()
        try:
            next(running)
        except StopIteration as done:
            return done.value
        raise AssertionError("a call of the contract waits for something")

    def set_time(self, microseconds: int) -> None:
        self.at = START + timedelta(microseconds=microseconds)
        assert self.at.microsecond == 0, "a chain's clock has whole seconds"
        self.chain.set_time(int(self.at.timestamp()))

    def moment(self, microseconds: int | None) -> datetime | None:
        return None if microseconds is None else START + timedelta(microseconds=microseconds)

    def new_team(self) -> str:
        self.chain = Chain(*self._made_of)
        self.chain.set_time(int(self.at.timestamp()))
        self.chain.fund(RELAY)
        for name in PROUD:
            self.chain.env.set_code(address_of(name), REFUSES_LITTLE_GAS)
        self.market.begin()
        return "the team"

    def proof(
        self,
        team: str,
        act: Act,
        task_id: int,
        agent: str,
        content: Any = "",
        *,
        signer: str | None = None,
        market: str | None = None,
    ) -> Proof:
        return Proof(
            act=act,
            task_id=task_id,
            signer=signer or agent,
            agent=agent,
            content=content,
            is_elsewhere=market is not None,
        )

    def commitment(self, team: str, task_id: int, agent: str, result_hash: str) -> bytes:
        return self.chain.commitment(task_id, address_of(agent), result_hash, salt_of("salt"))


def salt_of(text: str | None) -> bytes:
    return NO_SALT if text is None else keccak(text=text)


class ContractDoor:
    """The interface that tests call: that of tests/market_door.py, over a contract."""

    def __init__(self, world: ContractWorld) -> None:
        self.world = world
        self.begin()

    def begin(self) -> None:
        self.projection = Projection()
        self.outside = 0
        self.calls = 0
        self.direct = 0
        self.relayed = 0
        self.credited = 0

    @property
    def chain(self) -> Chain:
        return self.world.chain

    # Money. A chain has no deposits: the parties get ether from nowhere.

    async def deposit_test_money(
        self, team: str, who: str, amount: int, *, key: str | None = None
    ) -> Receipt:
        self.chain.fund(address_of(who), amount)
        self.outside -= amount
        return self._receipt(None)

    async def withdraw_test_money(
        self, team: str, who: str, amount: int, *, key: str | None = None
    ) -> Receipt:
        self._collect(address_of(who), amount)
        if self.chain.balance(address_of(who)) < amount:
            raise InsufficientFunds
        self.chain.fund(address_of(who), -amount)
        self.outside += amount
        return self._receipt(None)

    def credit(self, name: str) -> int:
        return self.chain.read("credits", address_of(name))

    def collect(self, name: str) -> None:
        """Row 19: withdraw this party's credit."""
        self._make("withdraw", by=address_of(name))

    def _collect(self, who: str, amount: int) -> None:
        """Withdraw a credit, if this party cannot spend the amount without it."""
        if self.chain.balance(who) < amount and self.chain.read("credits", who):
            self._make("withdraw", by=who)

    # Tasks.

    async def post_task(self, team: str, post: TaskPost) -> Receipt:
        poster = address_of(post.poster)
        self._collect(poster, post.reward)
        given = (terms_of(post).values(), "standard", cid_of(post.description.encode()))
        if self.chain.balance(poster) >= post.reward:
            self._make("postTask", *given, by=poster, value=post.reward)
            return self._receipt(len(self.projection.tasks))
        # A wallet refuses to send it, but the terms are to be checked first.
        self.chain.fund(poster, post.reward)
        try:
            self._call("postTask", *given, by=poster, value=post.reward, is_trial=True)
        finally:
            self.chain.fund(poster, -post.reward)
        raise InsufficientFunds

    async def apply(
        self, team: str, task_id: int, agent: str, proof: Proof, *, key: str | None = None
    ) -> Receipt:
        return self._act("applyForTask", task_id, agent, proof, ("1.0.0",), ("1.0.0",))

    async def assign(
        self, team: str, task_id: int, agent: str, *, by: str, key: str | None = None
    ) -> Receipt:
        self._make("assignTask", task_id, address_of(agent), by=address_of(by))
        return self._receipt(task_id)

    async def cancel(self, team: str, task_id: int, *, by: str, key: str | None = None) -> Receipt:
        self._make("cancelTask", task_id, by=address_of(by))
        return self._receipt(task_id)

    async def commit_result(
        self,
        team: str,
        task_id: int,
        agent: str,
        commitment: bytes,
        proof: Proof,
        *,
        key: str | None = None,
    ) -> Receipt:
        return self._act("commitResult", task_id, agent, proof, (commitment,), (commitment,))

    async def submit_result(
        self,
        team: str,
        task_id: int,
        agent: str,
        result: bytes | str,
        proof: Proof,
        *,
        salt: str | None = None,
        key: str | None = None,
    ) -> Receipt:
        result_hash = result if isinstance(result, str) else cid_of(result)
        given = (result_hash, "", salt_of(salt))
        return self._act("submitResult", task_id, agent, proof, given, (result_hash, ""))

    async def judge(
        self,
        team: str,
        task_id: int,
        *,
        by: str,
        score: int,
        winner: str,
        result_hash: str,
        reason_uri: str = "ipfs://why",
        key: str | None = None,
    ) -> Receipt:
        given = (task_id, score % 2**256, address_of(winner), result_hash, reason_uri)
        self._make("judgeAndPay", *given, by=address_of(by))
        return self._receipt(task_id)

    async def dispute(
        self,
        team: str,
        task_id: int,
        *,
        by: str,
        reason_uri: str,
        proof: Proof | None = None,
        key: str | None = None,
    ) -> Receipt:
        who, bond = address_of(by), self.chain.read("getTask", task_id)["terms"]["bond"]
        self._collect(who, bond)
        if proof is not None:
            return self._act("dispute", task_id, by, proof, (reason_uri,), (reason_uri,), bond=bond)
        sent = min(bond, self.chain.balance(who))
        self._make("dispute", task_id, reason_uri, by=who, value=sent)
        return self._receipt(task_id)

    async def resolve(
        self,
        team: str,
        task_id: int,
        score: int,
        *,
        by: str,
        reason_uri: str,
        key: str | None = None,
    ) -> Receipt:
        self._make("resolve", task_id, score % 2**256, reason_uri, by=address_of(by))
        return self._receipt(task_id)

    async def expire(
        self, team: str, task_id: int, *, by: str = ANYONE, key: str | None = None
    ) -> Receipt:
        self._make("expire", task_id, by=address_of(by))
        return self._receipt(task_id)

    async def settle(
        self, team: str, task_id: int, *, by: str = ANYONE, key: str | None = None
    ) -> Receipt:
        self._make("settle", task_id, by=address_of(by))
        return self._receipt(task_id)

    async def close_due(self, team: str) -> None:
        """Take every exit that is open."""
        for number, seen in self.projection.tasks.items():
            for exit_call in ("settle", "expire"):
                if seen.state not in FINAL:
                    try:
                        self._make(exit_call, number, by=RELAY)
                    except (market_errors.WrongState, market_errors.TooEarly):
                        continue

    # How calls are made.

    def _act(
        self,
        name: str,
        task_id: int,
        agent: str,
        proof: Proof,
        given: tuple[Any, ...],
        signed: tuple[Any, ...],
        *,
        bond: int = 0,
    ) -> Receipt:
        """An agent's call: by itself, or its signature relayed."""
        who = address_of(agent)
        self.calls += 1
        is_honest = (proof.task_id, proof.signer, proof.is_elsewhere) == (task_id, agent, False)
        sent = min(bond, self.chain.balance(who))
        if is_honest and self.calls % 2:
            self._make(name, task_id, *given, by=who, value=sent)
            self.direct += 1
            return self._receipt(task_id)
        chain_id, other = self.chain.chain_id, None
        if proof.is_elsewhere:
            chain_id, other = (chain_id + 1, None) if self.calls % 2 else (chain_id, RELAY)
        expires = self.chain.now + PROOF_SECONDS
        signature = self.chain.signature(
            proof.act.value.capitalize(),
            proof.signer,
            proof.task_id,
            who,
            *signed,
            expires=expires,
            chain_id=chain_id,
            contract=other,
        )
        relayed = (task_id, who, *given, expires, signature)
        self._make(f"{name}Signed", *relayed, by=RELAY, value=sent)
        self.relayed += 1
        # The agent repays its relay, so that both ways cost it the same.
        self.chain.fund(who, -sent)
        self.chain.fund(RELAY, sent)
        return self._receipt(task_id)

    def _make(self, name: str, *given: Any, by: str, value: int = 0) -> None:
        for log in self._call(name, *given, by=by, value=value).logs:
            self.projection.fold(log)
            self.credited += log.name == "Credited"

    def _call(self, name: str, *given: Any, **named: Any) -> Any:
        try:
            return self.chain.call(name, *given, **named)
        except Reverted as refused:
            raise error_of(str(refused)) from None

    def _receipt(self, task_id: int | None) -> Receipt:
        state = None
        if task_id is not None:
            state = TaskState(STATES[self.chain.read("getTask", task_id)["state"]])
        return Receipt(ref=0, task_id=task_id, state=state, at=self.world.at)

    # Reading.

    async def balances(self, team: str) -> dict[str, int]:
        """What the contract and the chain say; a credit is its holder's money."""
        chain = self.chain
        found = {"outside": self.outside}
        for who, name in NAMES.items():
            found[f"user:{name}"] = chain.balance(who) + chain.read("credits", who)
        for number, seen in self.projection.tasks.items():
            found |= {f"escrow:{number}": seen.escrow, f"bond:{number}": seen.bond}
        return {name: amount for name, amount in found.items() if amount}

    async def tasks(self, team: str, limit: int) -> list[Any]:
        return [self._task(number) for number in range(1, self.chain.read("taskCount") + 1)]

    def _task(self, number: int) -> Any:
        view, seen = self.chain.read("getTask", number), self.projection.tasks[number]
        state = TaskState(STATES[view["state"]])
        return SimpleNamespace(
            id=number,
            state=state,
            agent=NAMES.get(view["agent"]),
            score=view["score"] if view["judgedAt"] else None,
            expiry_reason=seen.expiry_reason,
            result_hash=seen.result_hash,
            exit_at=None if state.is_final else self.world.at,
        )

    async def agents(self, team: str) -> list[Any]:
        """A chain keeps no reputation."""
        return []

    async def audit(self, team: str) -> Any:
        """Compare the contract's views with its events, and its debts with its balance."""
        wrong: list[str] = []
        owed = sum(seen.escrow + seen.bond for seen in self.projection.tasks.values())
        owed += sum(self.projection.credits.values())
        held, balance = self.chain.read("held"), self.chain.balance(self.chain.address)
        if not held == owed == balance:
            wrong.append(f"held {held}, owed {owed}, balance {balance}")
        for who in NAMES:
            credit = self.chain.read("credits", who)
            if credit != self.projection.credits[who]:
                wrong.append(f"credit of {NAMES[who]} is {credit}")
        for number, seen in self.projection.tasks.items():
            wrong += differences(self.chain.read("getTask", number), seen)
        return SimpleNamespace(violations=tuple(wrong))


def differences(view: dict[str, Any], seen: Seen) -> list[str]:
    """Where a view differs from what the events say."""
    expected = {
        "terms": seen.terms,
        "poster": seen.poster,
        "reward": seen.reward,
        "state": STATES.index(seen.state),
        "agent": seen.agent or ZERO,
        "applicantCount": len(seen.applicants),
        "score": seen.score or 0,
        "disputer": seen.disputer or ZERO,
        "evaluationDigest": keccak(text=seen.evaluation_cid),
        "resultDigest": keccak(text=seen.result_hash) if seen.result_hash else bytes(32),
        "commitment": seen.commitment,
    }
    return [
        f"{name} is {view[name]}, must be {value}"
        for name, value in expected.items()
        if view[name] != value
    ]


def terms_of(post: TaskPost) -> Terms:
    """The terms as the contract takes them."""
    assert post.judge is not None and post.assignment is not Assignment.BEST_REPUTATION
    committed = post.commit_deadline
    return Terms(
        deadline=int(post.deadline.timestamp()),
        judge=address_of(post.judge),
        judgeWindow=post.judge_window_seconds,
        fallbackJudge=address_of(post.fallback_judge) if post.fallback_judge else ZERO,
        fallbackWindow=post.fallback_window_seconds,
        agentSharePercent=post.agent_share_percent,
        disputeWindow=post.dispute_window_seconds,
        arbiter=address_of(post.arbiter) if post.arbiter else ZERO,
        arbiterWindow=post.arbiter_window_seconds,
        bond=int(post.bond),
        commitDeadline=int(committed.timestamp()) if committed else 0,
        maxApplicants=post.max_applicants,
        isSelfJudged=post.is_self_judged,
        isFirst=post.assignment is Assignment.FIRST,
    )


def error_of(reason: str) -> Exception:
    """Arena's error of this name."""
    if reason == "InvalidInput":
        return InvalidInput()
    found = getattr(market_errors, reason, None) if reason else None
    return found() if found else AssertionError(f"the contract reverted with {reason!r}")
