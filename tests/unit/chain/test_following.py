"""What the chain says about a transaction, as changes of its row."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from arena import clock
from arena.chain.answers import Fees, TransactionReceipt
from arena.chain.following import NOT_MINED, is_stuck, observed
from arena.chain.intent import Attempt, Intent, IntentState
from arena.chain.node import Progress

FIRST, SECOND = "0x" + "a1" * 32, "0x" + "a2" * 32
BLOCK = "0x" + "b1" * 32


def attempt(number: int, hash: str) -> Attempt:
    made = clock.now() - timedelta(seconds=100)
    return Attempt(
        number=number, hash=hash, raw=b"", max_fee=2, tip=1, block_number=10, created_at=made
    )


def intent(state: str = "sent", **fields: Any) -> Intent:
    now = clock.now()
    made = Intent(
        chain_id=1,
        genesis="",
        team_id="t",
        idempotency_key="k",
        is_internal=False,
        digest="d",
        action="judge",
        task="7",
        sender="0xA",
        recipient="0xB",
        value=0,
        data=b"",
        gas=21_000,
        nonce=5,
        state=IntentState(state),
        created_at=now,
        updated_at=now,
        attempts=(attempt(1, FIRST), attempt(2, SECOND)),
    )
    return replace(made, **fields)


def progress(head: int, *, count: int = 5, **fields: Any) -> Progress:
    fees = Fees(base_fee=1, tip=1, block_number=head)
    plain: dict[str, Any] = {"receipts": {}, "known": frozenset[str]()}
    return Progress(genesis="", fees=fees, counts={"0xA": count}, **plain | fields)


def receipt(block: int, *, is_reverted: bool = False, hash: str = FIRST) -> Any:
    found = TransactionReceipt(
        transaction_hash=hash,
        is_reverted=is_reverted,
        block_number=block,
        block_hash=BLOCK,
        gas_used=1000,
        contract=None,
        logs=(),
    )
    return {hash: found}


@pytest.mark.parametrize(
    ("head", "is_reverted", "state"),
    [
        (20, False, "mined"),
        (21, False, "mined"),
        (22, False, "final"),
        (99, False, "final"),
        (19, False, "mined"),  # the node's head is behind its receipts
        (21, True, "mined"),  # in another block it may succeed
        (22, True, "failed"),
    ],
)
def test_three_blocks_decide(head: int, is_reverted: bool, state: str):
    seen = progress(head, count=6, receipts=receipt(20, is_reverted=is_reverted))
    columns = observed(intent(), seen, 3)
    assert columns.pop("state") == state
    assert columns == {
        "transaction_hash": FIRST,
        "block_number": 20,
        "block_hash": BLOCK,
        "gas_used": 1000,
        "is_reverted": is_reverted,
    }


def test_any_attempt_may_be_mined():
    seen = progress(20, count=6, receipts=receipt(20, hash=SECOND))
    assert observed(intent(), seen, 1)["transaction_hash"] == SECOND


def test_nothing_changes_while_it_waits():
    assert observed(intent(), progress(20), 3) == {}


def test_what_the_node_has_was_sent():
    seen = progress(20, known=frozenset([FIRST]))
    assert observed(intent("written"), seen, 3) == {"state": "sent"}
    assert observed(intent("written"), progress(20), 3) == {}


def test_a_block_that_is_reorganised_away_is_forgotten():
    mined = intent(
        "mined",
        transaction_hash=FIRST,
        block_number=20,
        block_hash=BLOCK,
        gas_used=1,
        is_reverted=True,
        reason="WrongState",
    )
    assert observed(mined, progress(20), 3) == {**NOT_MINED, "state": "sent"}


def test_a_nonce_used_by_another_is_believed_after_enough_blocks():
    sent = intent()
    assert observed(sent, progress(20, count=6), 3) == {"passed_block": 20}
    sent = replace(sent, passed_block=20)
    assert observed(sent, progress(20, count=6), 3) == {}
    assert observed(sent, progress(21, count=6), 3) == {}
    failed = observed(sent, progress(22, count=6), 3)
    assert failed["state"] == "failed"
    assert "another transaction of 0xA has used its nonce 5" in str(failed["reason"])


def test_a_used_nonce_is_never_believed_at_the_first_look():
    assert observed(intent(), progress(20, count=6), 1) == {"passed_block": 20}


def test_a_nonce_that_is_free_again_is_no_longer_counted():
    sent = intent(passed_block=20)
    assert observed(sent, progress(21, count=5), 3) == {"passed_block": None}
    assert observed(sent, progress(19, count=6), 3) == {"passed_block": 19}  # a shorter chain


@pytest.mark.parametrize(
    ("head", "count", "seconds", "expected"),
    [
        (13, 5, 60, True),
        (12, 5, 60, False),  # two blocks left it out
        (13, 4, 60, False),  # another one is before it
        (13, 5, 600, False),  # it is young
    ],
)
def test_a_transaction_is_stuck_if_blocks_leave_it_out(
    head: int, count: int, seconds: float, expected: bool
):
    assert is_stuck(intent(), progress(head, count=count), seconds) is expected
