"""No receiver can block a payment, double it, or make it dear."""

import pytest

from contract_attacks import (
    ANN,
    JIM,
    NOBODY,
    PAYMENTS,
    REFUSING,
    RETURNS_64_KIB,
    SOLVER,
    STORES,
    callbacks,
    check_gas_limits,
    check_gas_of_a_burner,
    check_reentrance,
    check_refusing_receivers,
)
from contract_chain import ETHER, START, Chain, Reverted, Terms
from contract_world import ContractWorld
from market_rows import ROWS, Row

PAYING = [row for row in ROWS if any(amount > 0 for amount in row.pays.values())]


@pytest.fixture(scope="module")
def world() -> ContractWorld:
    return ContractWorld()


@pytest.mark.parametrize("receiver", REFUSING)
@pytest.mark.parametrize("row", PAYING, ids=str)
def test_a_receiver_that_refuses_gets_a_credit(world: ContractWorld, row: Row, receiver: str):
    check_refusing_receivers(world, row, REFUSING[receiver])


@pytest.mark.parametrize("receiver", [RETURNS_64_KIB, STORES], ids=["returns 64 KiB", "stores"])
def test_a_receiver_with_modest_code_is_paid(receiver: bytes):
    chain = Chain.deployed()
    task_id = chain.submitted()
    chain.env.set_code(SOLVER, receiver)
    done = chain.judge(task_id, 100)
    assert [log.name for log in done.logs] == ["Judged", "Paid"]
    assert chain.balance(SOLVER) == ETHER
    # Nothing is copied: the call costs no more memory than the receiver pays for.
    assert done.computation.children[0].get_gas_used() <= 32_300


@pytest.mark.parametrize("attack", callbacks(1, 2))
@pytest.mark.parametrize("payment", PAYMENTS)
def test_a_receiver_cannot_re_enter(payment: str, attack: str):
    check_reentrance(Chain.deployed(), PAYMENTS[payment], attack)


def test_the_attacks_are_all_the_functions_that_write():
    chain = Chain.deployed()
    writing = {name for name, one in chain.functions.items() if one["stateMutability"] != "view"}
    assert set(callbacks(1, 2)) == writing


def test_no_gas_limit_turns_a_payment_into_a_credit():
    check_gas_limits(Chain.deployed())


def test_a_receiver_cannot_burn_the_callers_gas():
    check_gas_of_a_burner(Chain.deployed())


def test_a_credit_is_for_its_holder_only():
    chain = Chain.deployed()
    task_id = chain.submitted()
    chain.env.set_code(SOLVER, REFUSING["reverts"])
    assert [log.name for log in chain.judge(task_id, 100).logs] == ["Judged", "Paid", "Credited"]
    for other in (ANN, JIM, NOBODY):
        with pytest.raises(Reverted, match="InsufficientFunds"):
            chain.call("withdraw", by=other)
    with pytest.raises(Reverted):
        chain.call("withdraw", by=SOLVER)  # it still refuses
    assert chain.read("credits", SOLVER) == chain.read("held") == ETHER
    chain.env.set_code(SOLVER, b"")
    done = chain.call("withdraw", by=SOLVER)
    assert (done.value, done.logs[0].name) == (ETHER, "Withdrawn")
    assert chain.balance(SOLVER) == ETHER
    assert chain.read("held") == chain.balance(chain.address) == 0


def test_credits_add_up():
    chain = Chain.deployed()
    chain.env.set_code(SOLVER, REFUSING["reverts"])
    for _ in range(3):
        chain.judged(score=100)
    assert chain.read("credits", SOLVER) == chain.read("held") == 3 * ETHER


@pytest.mark.filterwarnings("ignore:SELFDESTRUCT:DeprecationWarning")  # the attack itself
def test_forced_ether_changes_nothing_that_is_owed():
    chain = Chain.deployed()
    task_id = chain.submitted()
    chain.fund(NOBODY, 7)
    # A contract that destroys itself in its constructor sends its ether without asking.
    bomb = bytes.fromhex(f"73{chain.address[2:]}ff")
    chain.env.deploy(bytecode=bomb, sender=NOBODY, value=7)
    assert chain.balance(chain.address) == ETHER + 7
    assert chain.read("held") == ETHER
    chain.judge(task_id, 100)
    assert (chain.read("held"), chain.balance(chain.address)) == (0, 7)
    with pytest.raises(Reverted, match="InsufficientFunds"):
        chain.call("withdraw", by=NOBODY)
    chain.judge(chain.submitted(), 0)
    assert (chain.read("held"), chain.balance(chain.address)) == (0, 7)


def test_ether_is_taken_only_by_the_calls_that_need_it():
    chain = Chain.deployed()
    task_id = chain.posted()
    chain.fund(NOBODY, 100)
    for name, given in callbacks(task_id, task_id).items():
        if chain.functions[name]["stateMutability"] != "payable":
            with pytest.raises(Reverted):
                chain.call(name, *given, by=NOBODY, value=1)
    sent = chain.env.execute_code(to_address=chain.address, sender=NOBODY, value=1)
    assert sent.is_error, "a plain transfer must be refused"
    assert chain.balance(chain.address) == ETHER


@pytest.mark.parametrize("amount", [1, 2**96 - 1])
def test_amounts_have_96_bits(amount: int):
    chain = Chain.deployed()
    terms = Terms(
        disputeWindow=60, arbiter=NOBODY, arbiterWindow=60, bond=amount, deadline=START + 5
    )
    task_id = chain.posted(terms, reward=amount)
    view = chain.read("getTask", task_id)
    assert (view["reward"], view["terms"]["bond"], view["poster"]) == (amount, amount, ANN)
    chain.call("cancelTask", task_id, by=ANN)
    assert chain.balance(ANN) == amount
    for bad in ({"reward": 2**96}, {"terms": Terms(**{**vars(terms), "bond": 2**96})}):
        with pytest.raises(Reverted, match="InvalidInput"):
            chain.posted(**{"terms": terms, "reward": 1, **bad})
