"""Attacks on the contract, as checks that must pass: receivers, gas limits, signatures, forks.

Each takes a world or a chain, so that it also runs on a contract with a planted mistake.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest
from eth.exceptions import Revert
from eth_utils.crypto import keccak

from contract_chain import ETHER, NO_SALT, START, ZERO, Chain, Done, Reverted, Terms, address_of
from contract_world import ContractWorld
from market_rows import Row
from market_stage import Stage

ANN, SOLVER, RIVAL, JIM = (address_of(name) for name in ("ann", "solver", "rival", "jim"))
NOBODY = address_of("nobody")
DISPUTABLE = Terms(disputeWindow=80, arbiter=address_of("art"), arbiterWindow=70, bond=ETHER // 10)

# Receivers: code at the address of a party, which runs when it is paid.

REFUSING = {
    "reverts": bytes.fromhex("60006000fd"),
    "fails": bytes.fromhex("fe"),
    "burns all its gas": bytes.fromhex("5b600056"),
    "reverts with 64 KiB": bytes.fromhex("620100006000fd"),
    "wants more gas": bytes.fromhex("619c405a10600957005b60006000fd"),
}
RETURNS_64_KIB = bytes.fromhex("620100006000f3")
STORES = bytes.fromhex("5a60005500")
"""Writes to its storage, for 22,100 of the 30,000 gas that a payment brings."""
PICKY = bytes.fromhex("6179185a10600957005b60006000fd")
"""Reverts at once, and gives the gas back, if it gets less than 31,000 with the stipend."""


def reentering(data: bytes, value: int) -> bytes:
    """Code that calls its payer with this data, and accepts the payment whatever comes of it."""
    length = len(data).to_bytes(2, "big").hex()
    copy = f"61{length}601f600039"  # CODECOPY(0, 0x1f, length)
    call = f"6000600061{length}600067{value:016x}335af1"  # CALL(gas, caller, value, ...)
    return bytes.fromhex(f"{copy}{call}5000") + data


def check_refusing_receivers(world: ContractWorld, row: Row, receiver: bytes) -> None:
    """Receivers that refuse cannot block the call, and can collect their money later."""
    stage = Stage(world)
    number = stage.reach(row.terms, row.path)
    stage.at(row.inside)
    chain, paid = world.chain, {name: amount for name, amount in row.pays.items() if amount > 0}
    before = stage.money()
    for name in paid:
        chain.env.set_code(address_of(name), receiver)
    assert stage.do(row.action, number, row.by, **row.args) is None
    assert stage.state(number) == row.to
    for name, amount in paid.items():
        assert chain.read("credits", address_of(name)) == amount
    stage.audit()
    assert stage.do(row.action, number, row.by, **row.args) == "WrongState"
    for name, amount in paid.items():
        who = address_of(name)
        had = chain.balance(who)
        chain.env.set_code(who, b"")
        world.market.collect(name)
        assert chain.balance(who) == had + amount
        with pytest.raises(Reverted, match="InsufficientFunds"):
            chain.call("withdraw", by=who)
    assert stage.money() == {name: before[name] + row.pays.get(name, 0) for name in before}
    stage.audit()


@dataclass(frozen=True, kw_only=True)
class Payment:
    """A call that pays somebody, and how to get there."""

    prepare: Callable[[Chain], int]
    name: str
    args: Callable[[int], tuple[Any, ...]]
    by: str
    to: str
    amount: int = ETHER


def _credited(chain: Chain) -> int:
    """The agent has a credit, because it refused a payment."""
    chain.env.set_code(SOLVER, REFUSING["reverts"])
    return chain.judged(score=100)


def _expired(chain: Chain) -> int:
    task_id = chain.posted(Terms(deadline=START + 1))
    chain.set_time(START + 1)
    return task_id


def _verdict(score: int) -> Callable[[int], tuple[Any, ...]]:
    return lambda task_id: (task_id, score, SOLVER, "result", "why")


def _only(task_id: int) -> tuple[Any, ...]:
    return (task_id,)


PAYMENTS = {
    "a verdict pays": Payment(
        prepare=Chain.submitted, name="judgeAndPay", args=_verdict(100), by=JIM, to=SOLVER
    ),
    "a verdict refunds": Payment(
        prepare=Chain.submitted, name="judgeAndPay", args=_verdict(0), by=JIM, to=ANN
    ),
    "cancelled": Payment(prepare=Chain.posted, name="cancelTask", args=_only, by=ANN, to=ANN),
    "expired": Payment(prepare=_expired, name="expire", args=_only, by=NOBODY, to=ANN),
    "withdrawn": Payment(
        prepare=_credited, name="withdraw", args=lambda _: (), by=SOLVER, to=SOLVER
    ),
}


def callbacks(number: int, other: int) -> dict[str, tuple[Any, ...]]:
    """Every function that writes, with arguments for the task that is paid or for an open one."""
    late, no_signature = 2**40, bytes(65)
    return {
        "postTask": (Terms().values(), "standard", "text"),
        "applyForTask": (other, "1.0.0"),
        "applyForTaskSigned": (other, SOLVER, "1.0.0", late, no_signature),
        "assignTask": (other, SOLVER),
        "cancelTask": (other,),
        "commitResult": (number, keccak(b"")),
        "commitResultSigned": (number, SOLVER, keccak(b""), late, no_signature),
        "submitResult": (number, "result", "", NO_SALT),
        "submitResultSigned": (number, SOLVER, "result", "", NO_SALT, late, no_signature),
        "judgeAndPay": (number, 100, SOLVER, "result", "why"),
        "dispute": (number, "no"),
        "disputeSigned": (number, SOLVER, "no", late, no_signature),
        "resolve": (number, 100, "so"),
        "expire": (number,),
        "settle": (number,),
        "withdraw": (),
    }


def check_reentrance(chain: Chain, payment: Payment, attack: str) -> None:
    """A receiver that calls back is refused at the door, and is paid once."""
    other = chain.posted(by="rival")
    number = payment.prepare(chain)
    value = 1 if chain.functions[attack]["stateMutability"] == "payable" else 0
    data = chain.data(attack, *callbacks(number, other)[attack])
    chain.env.set_code(payment.to, reentering(data, value))
    chain.fund(payment.to, ETHER)
    before, held = chain.balance(payment.to), chain.read("held")
    done = chain.call(payment.name, *payment.args(number), by=payment.by)
    (push,) = done.computation.children
    (inside,) = push.children
    # Without a reason: it is the lock that refuses, before any check of the market.
    assert inside.is_error and isinstance(inside.error, Revert), f"{attack} came through"
    assert inside.output == b"", f"{attack} came through the lock"
    assert chain.balance(payment.to) == before + payment.amount
    assert chain.read("held") == held - payment.amount == chain.balance(chain.address)


def check_gas_limits(chain: Chain) -> None:
    """Whatever gas limit a caller chooses, a payment that could be made is made."""
    task_id = chain.submitted()
    chain.env.set_code(SOLVER, PICKY)
    done: list[Done] = []
    for gas in range(60_000, 220_000, 1_000):
        try:
            done.append(chain.judge(task_id, 100, gas=gas, is_trial=True))
        except Reverted:
            assert not done, f"refused with {gas}, but not with less"
    assert 0 < len(done) < 160
    assert [log.name for one in done for log in one.logs] == ["Judged", "Paid"] * len(done)


def check_gas_of_a_burner(chain: Chain) -> None:
    """A receiver can burn no more than its allowance."""
    plain = chain.judge(chain.submitted(), 100, is_trial=True).gas
    task_id = chain.submitted()
    for receiver in REFUSING.values():
        chain.env.set_code(SOLVER, receiver)
        # 30,000 and the stipend of 2,300 for the receiver, 22,100 for its credit, 2,000 for a log.
        assert chain.judge(task_id, 100, is_trial=True).gas < plain + 60_000


# Signatures.


@dataclass(frozen=True, kw_only=True)
class SignedAct:
    """Something that an agent can sign."""

    name: str
    prepare: Callable[[Chain], int]
    content: Callable[[Chain, int], tuple[Any, ...]]
    others: tuple[Any, ...]
    """Other content, of the same shape."""
    unsigned: tuple[Any, ...] = ()
    value: int = 0
    state: int
    """Of the task afterwards."""


def _contested(chain: Chain) -> int:
    chain.fund(NOBODY)
    return chain.judged(DISPUTABLE, score=10)


ACTS: Mapping[str, SignedAct] = {
    "Apply": SignedAct(
        name="applyForTask",
        prepare=Chain.posted,
        content=lambda *_: ("1.0.0",),
        others=("6.6.6",),
        state=1,
    ),
    "Commit": SignedAct(
        name="commitResult",
        prepare=lambda chain: chain.assigned(Terms(commitDeadline=START + 500)),
        content=lambda chain, task_id: (chain.commitment(task_id, SOLVER, "result", NO_SALT),),
        others=(keccak(b"other"),),
        state=3,
    ),
    "Submit": SignedAct(
        name="submitResult",
        prepare=Chain.assigned,
        content=lambda *_: ("result", "python"),
        others=("result", "ruby"),
        unsigned=(NO_SALT,),
        state=4,
    ),
    "Dispute": SignedAct(
        name="dispute",
        prepare=_contested,
        content=lambda *_: ("unfair",),
        others=("because",),
        value=DISPUTABLE.bond,
        state=6,
    ),
}


@dataclass(frozen=True, kw_only=True)
class Relay:
    """A signed call as a relay sends it; change a field for a fraud."""

    act: SignedAct
    task_id: int
    content: tuple[Any, ...]
    signature: bytes
    expires: int
    agent: str = field(default=SOLVER)

    def send(self, chain: Chain) -> Done:
        return chain.call(
            f"{self.act.name}Signed",
            self.task_id,
            self.agent,
            *self.content,
            *self.act.unsigned,
            self.expires,
            self.signature,
            by=NOBODY,
            value=self.act.value,
        )


def relay_of(chain: Chain, kind: str, **changes: Any) -> Relay:
    """A valid call by the agent, of a new task."""
    act = ACTS[kind]
    task_id, expires = act.prepare(chain), chain.now + 10
    content = act.content(chain, task_id)
    signature = chain.signature(kind, "solver", task_id, SOLVER, *content, expires=expires)
    given = {"act": act, "task_id": task_id, "content": content, "expires": expires}
    return Relay(**{**given, "signature": signature, **changes})


ORDER = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141


def twin(signature: bytes) -> bytes:
    """The other signature by the same key over the same message, with a high s."""
    s, v = int.from_bytes(signature[32:64], "big"), signature[64]
    return signature[:32] + (ORDER - s).to_bytes(32, "big") + bytes([55 - v])


def frauds(chain: Chain, kind: str, good: Relay) -> dict[str, dict[str, Any]]:
    """What is changed in the call, by the name of the fraud."""
    r_and_s, v = good.signature[:64], good.signature[64]

    def signed(signer: str = "solver", **changes: Any) -> dict[str, Any]:
        task_id = changes.pop("task_id", good.task_id)
        agent = changes.pop("agent", SOLVER)
        content = changes.pop("content", good.content)
        given = {"expires": good.expires, **changes}
        return {"signature": chain.signature(kind, signer, task_id, agent, *content, **given)}

    return {
        "another chain": signed(chain_id=1),
        "another contract": signed(contract=NOBODY),
        "another task": signed(task_id=good.task_id + 1),
        "another agent": signed(agent=RIVAL),
        "another's key": signed("rival"),
        "for another agent": {"agent": RIVAL},
        "another content": signed(content=good.act.others),
        "for another content": {"content": good.act.others},
        "another expiry": {"expires": good.expires + 1},
        "expired": {"expires": chain.now, **signed(expires=chain.now)},
        "a high s": {"signature": twin(good.signature)},
        "v of 0 or 1": {"signature": r_and_s + bytes([v - 27])},
        "v of 29": {"signature": r_and_s + bytes([29])},
        "empty": {"signature": b""},
        "too short": {"signature": r_and_s},
        "all zero": {"signature": bytes(65)},
        "nobody's": {"signature": bytes(64) + b"\x1b", "agent": ZERO},
    }


def check_frauds(chain: Chain, kind: str) -> None:
    """Each is refused before anything else is checked; the signature itself is good once."""
    good = relay_of(chain, kind)
    state = chain.read("getTask", good.task_id)["state"]
    for name, changes in frauds(chain, kind, good).items():
        with pytest.raises(Reverted) as refused:
            Relay(**{**vars(good), **changes}).send(chain)
        assert str(refused.value) == "BadSignature", name
        assert chain.read("getTask", good.task_id)["state"] == state, name
    good.send(chain)
    assert chain.read("getTask", good.task_id)["state"] == good.act.state
    with pytest.raises(Reverted, match="WrongState"):
        good.send(chain)


def check_fork(chain: Chain, kind: str) -> None:
    """After a fork of the chain, what was signed for one side is refused on the other."""
    good, before = relay_of(chain, kind), chain.read("domainSeparator")
    chain.set_chain_id(chain.chain_id + 1)
    with pytest.raises(Reverted, match="BadSignature"):
        good.send(chain)
    assert chain.read("domainSeparator") != before
    chain.set_chain_id(chain.chain_id - 1)
    good.send(chain)
