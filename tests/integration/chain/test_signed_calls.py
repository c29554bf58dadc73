"""A signature lets anyone relay one act of one agent, on one task of one contract, once."""

import pytest
from eth_abi.abi import encode
from eth_utils.crypto import keccak

from contract_attacks import (
    ACTS,
    ANN,
    DISPUTABLE,
    NOBODY,
    SOLVER,
    check_fork,
    check_frauds,
    relay_of,
)
from contract_chain import ETHER, NO_SALT, START, Chain, Reverted, Terms


@pytest.fixture
def chain() -> Chain:
    return Chain.deployed()


@pytest.mark.parametrize("kind", ACTS)
def test_a_fraud_is_refused_and_a_signature_is_good_once(chain: Chain, kind: str):
    check_frauds(chain, kind)


@pytest.mark.parametrize("kind", ACTS)
def test_a_signature_is_void_after_a_fork(chain: Chain, kind: str):
    check_fork(chain, kind)


@pytest.mark.parametrize("kind", ACTS)
def test_a_relayed_call_does_what_the_agents_own_call_does(chain: Chain, kind: str):
    relay, act = relay_of(chain, kind), ACTS[kind]
    chain.fund(SOLVER)
    given = (relay.task_id, *relay.content, *act.unsigned)
    own = chain.call(act.name, *given, by=SOLVER, value=act.value, is_trial=True)
    assert relay.send(chain).logs == own.logs


@pytest.mark.parametrize("kind", ACTS)
def test_a_signature_is_checked_before_the_task(chain: Chain, kind: str):
    relay = relay_of(chain, kind)
    for task_id in (0, relay.task_id + 1):  # there are no such tasks
        bad = type(relay)(**{**vars(relay), "task_id": task_id})
        with pytest.raises(Reverted, match="BadSignature"):
            bad.send(chain)
        signed = chain.signature(
            kind, "solver", task_id, SOLVER, *relay.content, expires=relay.expires
        )
        with pytest.raises(Reverted, match="UnknownTask"):
            type(relay)(**{**vars(bad), "signature": signed}).send(chain)


def test_a_signature_is_good_until_the_second_before_it_expires(chain: Chain):
    relay = relay_of(chain, "Apply")
    chain.set_time(relay.expires)
    with pytest.raises(Reverted, match="BadSignature"):
        relay.send(chain)
    chain.set_time(relay.expires - 1)
    relay.send(chain)


def test_the_bond_of_a_relayed_dispute_is_the_agents(chain: Chain):
    relay = relay_of(chain, "Dispute")
    before = chain.balance(NOBODY)
    relay.send(chain)
    assert chain.balance(NOBODY) == before - DISPUTABLE.bond
    chain.set_time(chain.now + DISPUTABLE.arbiterWindow)
    chain.call("settle", relay.task_id, by=NOBODY)
    assert chain.balance(SOLVER) == DISPUTABLE.bond
    assert chain.balance(ANN) == ETHER
    assert chain.read("held") == 0


def test_a_signature_of_one_kind_is_void_for_another(chain: Chain):
    """A version and a reason are both one text, and both kinds have the same fields."""
    relay = relay_of(chain, "Dispute")
    given = (relay.task_id, SOLVER, "unfair")
    wrong = chain.signature("Apply", "solver", *given, expires=relay.expires)
    with pytest.raises(Reverted, match="BadSignature"):
        type(relay)(**{**vars(relay), "signature": wrong}).send(chain)


def test_the_domain_is_that_of_eip_712(chain: Chain):
    kind = "EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"
    texts = [keccak(text=kind), keccak(text="Arena"), keccak(text="1")]
    shape = ["bytes32"] * 3 + ["uint256", "address"]
    expected = keccak(encode(shape, [*texts, chain.chain_id, chain.address]))
    assert chain.read("domainSeparator") == expected


def test_a_commitment_cannot_be_used_by_another_agent_task_contract_or_chain(chain: Chain):
    task_id = chain.assigned(Terms(commitDeadline=START + 500))
    elsewhere = chain.commitment(task_id, ANN, "result", NO_SALT)
    chain.call("commitResult", task_id, elsewhere, by=SOLVER)
    chain.set_time(START + 500)
    with pytest.raises(Reverted, match="BadContent"):
        chain.call("submitResult", task_id, "result", "", NO_SALT, by=SOLVER)
    other = chain.assigned(Terms(commitDeadline=START + 501))
    mine = chain.commitment(other, SOLVER, "result", NO_SALT)
    chain.call("commitResult", other, mine, by=SOLVER)
    chain.set_time(START + 501)
    chain.set_chain_id(1)
    with pytest.raises(Reverted, match="BadContent"):
        chain.call("submitResult", other, "result", "", NO_SALT, by=SOLVER)
