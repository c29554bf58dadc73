"""Transactions on a real node: each happens exactly once, or fails with a reason."""

import asyncio
import os
import signal
import threading
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from anvil_node import (
    COIN,
    GWEI,
    Counter,
    LocalChain,
    call,
    new_anvil,
    outbox_of,
    own_node,
    with_keys,
)
from arena.chain.errors import FeeTooHigh, MissingKey, NodeUnreachable, NoFunds, WrongChain
from arena.chain.intent import IntentState, NewTransaction
from arena.chain.outbox import Outbox
from arena.market.call import CallKey
from arena.market.errors import InsufficientFunds, KeyConflict, WrongState
from arena.settings import Settings
from arena.store.database import Database
from drills import until

NOBODY = "0x" + "22" * 20


@pytest.fixture
def keyed(settings: Settings, chain: LocalChain) -> Settings:
    return with_keys(settings, chain)


@pytest.fixture
async def outbox(keyed: Settings, database: Database) -> AsyncIterator[Outbox]:
    async with outbox_of(keyed, database) as made:
        yield made


def payment(key: str = "k", **fields: Any) -> NewTransaction:
    new = NewTransaction(
        team_id="t",
        key=CallKey(text=key),
        digest="d" * 64,
        action="pay",
        sender_name="alice",
        to=NOBODY,
        value=7,
    )
    return replace(new, **fields)


def adding(counter: Counter, number: int, **fields: Any) -> NewTransaction:
    data = call("add(uint256)", number)
    return payment(f"add-{number}", to=counter.address, data=data, value=0, **fields)


async def test_a_transaction_is_sent_mined_and_final(outbox: Outbox, chain: LocalChain):
    sent = await outbox.send(payment())
    assert sent.state is IntentState.SENT
    done = await outbox.wait(sent.id, seconds=10)
    assert done.state is IntentState.FINAL
    assert chain.balance(NOBODY) == 7
    assert (done.block_number, done.gas_used, done.is_reverted) == (1, 21_000, False)
    assert done.hash == sent.hash == done.transaction_hash
    assert done == await outbox.get(sent.id) == await outbox.find("t", CallKey(text="k"))
    assert await outbox.unfinished() == []


async def test_the_same_key_is_the_same_transaction(outbox: Outbox, chain: LocalChain):
    first = await outbox.send(payment())
    assert (await outbox.send(payment())).id == first.id
    await outbox.wait(first.id, seconds=10)
    assert (await outbox.send(payment())).state is IntentState.FINAL
    assert chain.balance(NOBODY) == 7
    # Another team's key, and one that Arena itself chose, are other keys.
    others = [payment(team_id="u"), replace(payment(), key=CallKey(text="k", is_internal=True))]
    for other in others:
        sent = await outbox.send(other)
        assert (await outbox.wait(sent.id, seconds=10)).state is IntentState.FINAL
    assert chain.balance(NOBODY) == 21


async def test_the_same_key_for_another_call_is_refused(outbox: Outbox, chain: LocalChain):
    await outbox.send(payment())
    with pytest.raises(KeyConflict, match="'k' was used for another call"):
        await outbox.send(payment(digest="e" * 64))
    assert chain.balance(NOBODY) == 7


async def test_a_call_that_would_revert_is_refused_before_anything_is_written(
    outbox: Outbox, counter: Counter, chain: LocalChain
):
    new = payment(
        action="judge", task="7", to=counter.address, data=call("add_below(uint256)", 0), value=0
    )
    with pytest.raises(WrongState, match="judge of task 7: the move is not possible"):
        await outbox.send(new)
    assert await outbox.find("t", new.key) is None
    assert chain.number("eth_getTransactionCount", chain.accounts[0].address, "pending") == 0


async def test_a_call_that_reverts_in_its_block_fails_with_its_reason_and_frees_its_key(
    outbox: Outbox, counter: Counter, chain: LocalChain
):
    new = payment(
        action="judge", task="7", to=counter.address, data=call("add_below(uint256)", 1), value=0
    )
    with chain.paused():
        sent = await outbox.send(new)
        # Another account is faster: it pays more.
        data = f"0x{call('add(uint256)', 1).hex()}"
        faster = {"from": chain.accounts[5].address, "to": counter.address, "data": data}
        chain.ask("eth_sendTransaction", {**faster, "gasPrice": hex(50 * GWEI)})
        chain.mine()
    done = await outbox.wait(sent.id, seconds=10)
    assert (done.state, done.is_reverted, done.reason) == (IntentState.FAILED, True, "WrongState")
    assert isinstance(done.error, WrongState)
    assert "judge of task 7" in done.error.message
    assert await outbox.find("t", new.key) is None
    with pytest.raises(WrongState):
        await outbox.send(new)
    again = await outbox.send(replace(new, data=call("add_below(uint256)", 2)))
    assert again.id != sent.id
    assert (await outbox.wait(again.id, seconds=10)).state is IntentState.FINAL
    assert counter.count() == 2


async def test_a_transaction_that_runs_out_of_gas_says_so(
    outbox: Outbox, counter: Counter, chain: LocalChain
):
    with chain.paused():
        sent = await outbox.send(adding(counter, 1))
        # What it estimated no longer holds: the code at the address is another one.
        chain.ask("anvil_setCode", counter.address, "0x5b600056")  # an endless loop
        chain.mine()
    done = await outbox.wait(sent.id, seconds=10)
    assert (done.state, done.is_reverted, done.gas_used) == (IntentState.FAILED, True, sent.gas)
    assert done.reason == "it ran out of gas"


async def test_an_account_without_funds_is_told_what_it_needs(
    outbox: Outbox, chain: LocalChain, keyed: Settings
):
    alice = chain.accounts[0]
    chain.ask("anvil_setBalance", alice.address, hex(COIN // 2))
    with pytest.raises(NoFunds, match=r"has 0\.5 ETH, up to 1\.0000\d+ ETH are needed") as raised:
        await outbox.send(payment(value=COIN))
    assert isinstance(raised.value, InsufficientFunds)
    assert alice.address.lower() in raised.value.message.lower()
    # Enough for the amount, but not for the fee.
    with pytest.raises(NoFunds):
        await outbox.send(payment(value=COIN // 2))
    assert await outbox.unfinished() == []
    chain.ask("anvil_setBalance", alice.address, hex(2 * COIN))
    sent = await outbox.send(payment(value=COIN))
    assert (await outbox.wait(sent.id, seconds=10)).nonce == 0


async def test_a_refusal_at_sending_abandons_the_intent_and_frees_its_nonce_and_key(
    keyed: Settings, database: Database, chain: LocalChain
):
    alice = chain.accounts[0].address
    is_poor = False

    def spend(step: str, intent: object) -> None:
        if step == "intent" and is_poor:
            chain.ask("anvil_setBalance", alice, "0x1")

    async with outbox_of(keyed, database, spend) as outbox:
        is_poor = True
        with pytest.raises(NoFunds, match="send it ETH"):
            await outbox.send(payment())
        assert await outbox.unfinished() == []
        assert await outbox.find("t", CallKey(text="k")) is None
        is_poor = False
        chain.ask("anvil_setBalance", alice, hex(COIN))
        sent = await outbox.send(payment())
        assert sent.nonce == 0
        assert (await outbox.wait(sent.id, seconds=10)).state is IntentState.FINAL
    assert chain.balance(NOBODY) == 7


async def test_nothing_is_sent_above_the_fee_limit(
    keyed: Settings, database: Database, chain: LocalChain
):
    async with outbox_of(keyed, database, max_fee=5 * GWEI) as outbox:
        chain.set_base_fee(6 * GWEI)
        chain.mine()
        with pytest.raises(FeeTooHigh, match="the limit is 5 gwei") as raised:
            await outbox.send(payment())
        assert raised.value.retryable
        assert await outbox.unfinished() == []
        chain.set_base_fee(4 * GWEI)
        chain.mine()
        sent = await outbox.send(payment())
        assert sent.last.max_fee == 5 * GWEI
        assert (await outbox.wait(sent.id, seconds=10)).state is IntentState.FINAL


async def test_a_stuck_transaction_is_replaced_with_the_same_nonce(
    keyed: Settings, database: Database, chain: LocalChain
):
    async with outbox_of(keyed, database, stuck_seconds=0) as outbox:
        with chain.paused():
            sent = await outbox.send(payment())
            behind = await outbox.send(payment("behind"))
            with chain.full():
                chain.mine(2)
                (first, _) = await outbox.advance()
                assert len(first.attempts) == 1, "two blocks are no reason to replace it"
                chain.mine()
            (first, second) = await outbox.advance()
            assert [one.hash for one in first.attempts] == [sent.hash, first.hash]
            assert first.last.max_fee == sent.last.max_fee * 5 // 4
            assert first.last.tip == sent.last.tip * 5 // 4
            assert len(second.attempts) == 1, "it only waits for the one before it"
            assert chain.waiting() == {first.hash, behind.hash}
            chain.mine()
        done = await outbox.wait(sent.id, seconds=10)
        assert (done.state, done.nonce) == (IntentState.FINAL, sent.nonce)
        assert done.hash == first.last.hash
        assert (await outbox.wait(behind.id, seconds=10)).state is IntentState.FINAL
    assert chain.balance(NOBODY) == 14


async def test_a_young_transaction_is_not_replaced(
    keyed: Settings, database: Database, chain: LocalChain
):
    async with outbox_of(keyed, database, stuck_seconds=3600) as outbox:
        with chain.paused():
            sent = await outbox.send(payment())
            with chain.full():
                chain.mine(4)
            chain.set_base_fee(20 * GWEI)
            chain.mine()
            assert chain.waiting() == set(), "the node drops what cannot pay the base fee"
            (kept,) = await outbox.advance()
            assert (kept.hash, kept.state) == (sent.hash, IntentState.SENT)
            assert "less than block base fee" in (kept.reason or "")
            chain.set_base_fee(GWEI)
            chain.mine()
            await outbox.advance()
            chain.mine()
        assert (await outbox.wait(sent.id, seconds=10)).state is IntentState.FINAL
    assert chain.balance(NOBODY) == 7


async def test_a_transaction_that_pays_less_than_the_base_fee_is_replaced_by_one_that_pays(
    keyed: Settings, database: Database, chain: LocalChain
):
    async with outbox_of(keyed, database, stuck_seconds=0) as outbox:
        with chain.paused():
            sent = await outbox.send(payment())
            chain.set_base_fee(20 * GWEI)
            chain.mine()
            (replaced,) = await outbox.advance()
            assert len(replaced.attempts) == 2
            assert replaced.last.max_fee > 30 * GWEI
            chain.mine()
        done = await outbox.wait(sent.id, seconds=10)
        assert (done.state, done.hash) == (IntentState.FINAL, replaced.last.hash)
    assert chain.balance(NOBODY) == 7


async def test_any_attempt_may_be_the_one_that_is_mined(
    keyed: Settings, database: Database, chain: LocalChain
):
    async with outbox_of(keyed, database, stuck_seconds=0) as outbox:
        with chain.paused():
            sent = await outbox.send(payment())
            with chain.full():
                chain.mine(3)
            (replaced,) = await outbox.advance()
            assert len(replaced.attempts) == 2
            # The node loses the replacement and gets the first one again, from elsewhere.
            chain.ask("anvil_dropTransaction", replaced.last.hash)
            chain.ask("eth_sendRawTransaction", f"0x{sent.last.raw.hex()}")
            chain.mine()
        done = await outbox.wait(sent.id, seconds=10)
        assert (done.state, done.hash) == (IntentState.FINAL, sent.hash)
    assert chain.balance(NOBODY) == 7


async def test_a_replacement_never_offers_more_than_the_limit(
    keyed: Settings, database: Database, chain: LocalChain
):
    async with outbox_of(keyed, database, stuck_seconds=0, max_fee=4 * GWEI) as outbox:
        with chain.paused():
            sent = await outbox.send(payment())
            assert sent.last.max_fee < 3.5 * GWEI  # twice the base fee, and the tip
            with chain.full():
                chain.mine(3)
                (capped,) = await outbox.advance()
                assert len(capped.attempts) == 2
                assert capped.last.max_fee <= 4 * GWEI
                chain.mine(3)
                (capped,) = await outbox.advance()
                assert len(capped.attempts) == 2
                assert "fee limit is 4 gwei" in (capped.reason or "")
            chain.mine()
        done = await outbox.wait(sent.id, seconds=10)
        assert (done.state, done.reason) == (IntentState.FINAL, None)
    assert chain.balance(NOBODY) == 7


async def test_what_the_node_loses_is_sent_again(outbox: Outbox, chain: LocalChain):
    with chain.paused():
        sent = [await outbox.send(payment(f"k{number}")) for number in range(3)]
        chain.ask("anvil_dropAllTransactions")
        assert chain.waiting() == set()
        await outbox.advance()
        assert chain.waiting() == {one.hash for one in sent}
        chain.mine()
    for one in sent:
        assert (await outbox.wait(one.id, seconds=10)).state is IntentState.FINAL
    assert chain.balance(NOBODY) == 21


async def test_a_reorganisation_of_three_blocks_is_survived(
    keyed: Settings, database: Database, chain: LocalChain
):
    async with outbox_of(keyed, database, confirmations=5) as outbox:
        chain.mine(3)
        sent = [await outbox.send(payment(f"k{number}")) for number in range(3)]
        for one in sent:
            mined = await outbox.wait(one.id, "mined", seconds=10)
            assert mined.state is IntentState.MINED
        chain.ask("anvil_reorg", 3, [])
        assert chain.balance(NOBODY) == 0
        lost = await outbox.advance()
        assert [one.state for one in lost] == [IntentState.SENT] * 3
        assert [one.block_hash for one in lost] == [None] * 3
        for one in sent:
            again = await outbox.wait(one.id, "mined", seconds=10)
            assert (again.state, again.hash) == (IntentState.MINED, one.hash)
        chain.mine(5)
        for one in sent:
            assert (await outbox.wait(one.id, seconds=10)).state is IntentState.FINAL
    assert chain.balance(NOBODY) == 21


async def test_what_was_final_is_sent_again_if_the_chain_drops_it_all_the_same(
    outbox: Outbox, chain: LocalChain
):
    chain.mine()
    sent = [await outbox.send(payment(f"k{number}")) for number in range(2)]
    done = [await outbox.wait(one, seconds=10) for one in sent]
    chain.ask("anvil_reorg", 2, [])
    assert chain.balance(NOBODY) == 0
    await outbox.reopen([one.block_hash or "" for one in done])
    again = [await outbox.wait(one.id, seconds=10) for one in sent]
    assert [one.state for one in again] == [IntentState.FINAL] * 2
    assert [one.hash for one in again] == [one.hash for one in sent]
    assert chain.balance(NOBODY) == 14


async def test_what_was_final_and_has_lost_its_nonce_fails(outbox: Outbox, chain: LocalChain):
    chain.mine()
    first = await outbox.wait(await outbox.send(payment()), seconds=10)
    chain.ask("anvil_reorg", 1, [])
    with chain.paused():
        second = await outbox.send(payment("second"))
        assert (first.nonce, second.nonce) == (0, 0)
        await outbox.reopen([first.block_hash or ""])
        lost = await outbox.get(first.id)
        assert (lost.state, lost.block_hash) == (IntentState.FAILED, None)
        assert "another transaction has its nonce now" in str(lost.error)
        chain.mine()
    assert (await outbox.wait(second, seconds=10)).state is IntentState.FINAL
    assert chain.balance(NOBODY) == 7


async def test_a_transaction_is_final_only_with_enough_blocks_on_top(
    keyed: Settings, database: Database, chain: LocalChain
):
    async with outbox_of(keyed, database, confirmations=3) as outbox:
        sent = await outbox.send(payment())
        for mined_on_top in range(2):
            seen = await outbox.wait(sent.id, "mined", seconds=10)
            assert (seen.state, mined_on_top) == (IntentState.MINED, mined_on_top)
            assert (await outbox.wait(sent.id, seconds=0)).state is IntentState.MINED
            chain.mine()
        assert (await outbox.wait(sent.id, seconds=10)).state is IntentState.FINAL


async def test_a_key_that_is_used_elsewhere_gets_the_next_nonce(
    keyed: Settings, database: Database, chain: LocalChain
):
    alice = chain.accounts[0]
    elsewhere = iter([0])

    def also_send(step: str, intent: object) -> None:
        # After the nonce was chosen and before the transaction is sent.
        for nonce in elsewhere if step == "intent" else ():
            chain.send_elsewhere(alice, nonce=nonce)
            break

    async with outbox_of(keyed, database, also_send) as outbox:
        sent = await outbox.send(payment())
        done = await outbox.wait(sent.id, seconds=10)
        assert (done.state, done.nonce) == (IntentState.FINAL, 1)
        assert await outbox.unfinished() == []
    assert chain.balance(NOBODY) == 7


@pytest.mark.parametrize("looks", [0, 1, 2])
async def test_a_nonce_that_is_lost_while_other_machines_look_is_replaced_by_the_next(
    keyed: Settings, database: Database, chain: LocalChain, tmp_path: Path, looks: int
):
    """Two machines have no lock in common: each sees what the other has written, but not sent."""
    is_lost = False

    async def other_machine() -> None:
        other = keyed.model_copy(update={"home": tmp_path / "other"})
        own = Database(keyed.database)
        async with outbox_of(other, own) as outbox:
            await outbox.send(payment("theirs"))
            for _ in range(looks):
                await outbox.advance()
        await own.close()

    def lose(step: str, intent: object) -> None:
        nonlocal is_lost
        if step != "intent" or is_lost:
            return
        is_lost = True
        chain.send_elsewhere(chain.accounts[0], nonce=0)
        thread = threading.Thread(target=asyncio.run, args=(other_machine(),))
        thread.start()
        thread.join()

    async with outbox_of(keyed, database, lose) as outbox:
        sent = await outbox.send(payment())
        done = await outbox.wait(sent.id, seconds=10)
        assert (done.state, done.nonce) == (IntentState.FINAL, 2)
        await outbox.advance()
        assert await outbox.unfinished() == []
    assert chain.balance(NOBODY) == 14


async def test_a_foreign_transaction_with_its_nonce_fails_an_intent(
    keyed: Settings, database: Database, chain: LocalChain
):
    async with outbox_of(keyed, database, confirmations=2) as outbox:
        with chain.paused():
            sent = await outbox.send(payment())
            chain.send_elsewhere(chain.accounts[0], nonce=sent.nonce)
            chain.mine()
        (seen,) = await outbox.advance()
        assert seen.state is IntentState.SENT, "the foreign one may yet be reorganised away"
        chain.mine()
        done = await outbox.wait(sent.id, seconds=10)
        assert (done.state, done.is_reverted) == (IntentState.FAILED, None)
        assert done.error is not None
        assert "has used its nonce 0: its key is in use elsewhere" in done.error.message
        assert chain.balance(NOBODY) == 0
        again = await outbox.send(payment())
        assert again.nonce == 1
        chain.mine()
        assert (await outbox.wait(again.id, seconds=10)).state is IntentState.FINAL
    assert chain.balance(NOBODY) == 7


async def test_a_foreign_transaction_that_is_reorganised_away_fails_nothing(
    keyed: Settings, database: Database, chain: LocalChain
):
    async with outbox_of(keyed, database, confirmations=3) as outbox:
        chain.mine()
        with chain.paused():
            sent = await outbox.send(payment())
            chain.send_elsewhere(chain.accounts[0], nonce=sent.nonce)
            chain.mine()
            (seen,) = await outbox.advance()
            assert seen.passed_block == 2
            chain.ask("anvil_reorg", 1, [])
            chain.ask("anvil_dropAllTransactions")
            (seen,) = await outbox.advance()
            assert seen.passed_block is None
            chain.mine(3)
        assert (await outbox.wait(sent.id, seconds=10)).state is IntentState.FINAL
    assert chain.balance(NOBODY) == 7


async def test_a_node_that_is_started_anew_is_another_chain(
    settings: Settings, database: Database, tmp_path: Path
):
    async with own_node(tmp_path / "anvil") as first:
        keyed = with_keys(settings, first)
        async with outbox_of(keyed, database) as outbox:
            with first.paused():
                sent = await outbox.send(payment())
            first.start_anew()
            with pytest.raises(WrongChain, match="was the node started anew"):
                await outbox.wait(sent.id, seconds=10)
            again = await outbox.send(payment())
            assert again.id != sent.id
            assert (await outbox.wait(again.id, seconds=10)).state is IntentState.FINAL
            assert [one.id for one in await outbox.unfinished()] == [sent.id]
            assert first.balance(NOBODY) == 7


async def test_a_node_that_does_not_answer_leaves_the_intent_for_later(
    settings: Settings, database: Database, tmp_path: Path
):
    anvil = new_anvil(tmp_path / "anvil")
    node = await anvil.start()
    chain = LocalChain(node.url, anvil.accounts())

    def stop(step: str, intent: object) -> None:
        if step == "intent":
            os.kill(node.pid, signal.SIGTERM)
            until(lambda: anvil.running() is None, "the node stops")

    async with outbox_of(with_keys(settings, chain), database, stop) as outbox:
        written = await outbox.send(payment())
        assert written.state is IntentState.WRITTEN
        assert "cannot be reached" in (written.reason or "")
        assert (await outbox.wait(written.id, seconds=0.1)).state is IntentState.WRITTEN
        with pytest.raises(NodeUnreachable):
            await outbox.advance()
        again = await anvil.start(port=int(node.url.rpartition(":")[2]))
        assert again.url == node.url
        done = await outbox.wait(written.id, seconds=30)
        assert (done.state, done.reason) == (IntentState.FINAL, None)
        assert chain.balance(NOBODY) == 7
    await anvil.stop()


async def test_what_a_dead_process_has_written_is_sent_before_the_next_one(
    keyed: Settings, database: Database, chain: LocalChain
):
    def die(step: str, intent: object) -> None:
        if step == "intent":
            raise RuntimeError("the process ends here")

    async with outbox_of(keyed, database, die) as outbox:
        with pytest.raises(RuntimeError, match="ends here"):
            await outbox.send(payment())
        (written,) = await outbox.unfinished()
        assert (written.state, chain.waiting()) == (IntentState.WRITTEN, set())
    async with outbox_of(keyed, database) as outbox:
        second = await outbox.send(payment("second"))
        assert (written.nonce, second.nonce) == (0, 1)
        for one in (written, second):
            assert (await outbox.wait(one.id, seconds=10)).state is IntentState.FINAL
    assert chain.balance(NOBODY) == 14


async def test_what_a_dead_process_has_written_is_given_up_if_nobody_can_pay_for_it(
    keyed: Settings, database: Database, chain: LocalChain
):
    def die(step: str, intent: object) -> None:
        if step == "intent":
            raise RuntimeError("the process ends here")

    async with outbox_of(keyed, database, die) as outbox:
        with pytest.raises(RuntimeError):
            await outbox.send(payment(value=COIN))
    chain.ask("anvil_setBalance", chain.accounts[0].address, hex(COIN // 2))
    async with outbox_of(keyed, database) as outbox:
        second = await outbox.send(payment("second"))
        assert second.nonce == 0, "its nonce is free"
        assert (await outbox.wait(second.id, seconds=10)).state is IntentState.FINAL
        assert await outbox.find("t", CallKey(text="k")) is None, "and so is its key"
    assert chain.balance(NOBODY) == 7


async def test_what_others_wait_for_is_not_given_up(
    keyed: Settings, database: Database, chain: LocalChain
):
    dies = True

    def die(step: str, intent: object) -> None:
        if step == "intent" and dies:
            raise RuntimeError("the process ends here")

    alice = chain.accounts[0].address
    async with outbox_of(keyed, database, die) as outbox:
        with chain.paused():
            with pytest.raises(RuntimeError):
                await outbox.send(payment(value=COIN))
            dies = False
            second = await outbox.send(payment("second"))
            chain.ask("anvil_dropAllTransactions")
            # Now the first one, which the node has lost, cannot be paid for.
            chain.ask("anvil_setBalance", alice, hex(COIN // 2))
            first, _ = await outbox.advance()
            assert (first.nonce, second.nonce) == (0, 1)
            assert "nsufficient funds" in (first.reason or "")
            chain.ask("anvil_setBalance", alice, hex(2 * COIN))
            await outbox.advance()
            chain.mine()
        for one in (first, second):
            assert (await outbox.wait(one.id, seconds=10)).state is IntentState.FINAL
    assert chain.balance(NOBODY) == COIN + 7


async def test_a_missing_key_is_named(outbox: Outbox):
    with pytest.raises(MissingKey, match="the key of 'zoe' is not on this machine") as raised:
        await outbox.send(payment(sender_name="zoe"))
    assert "arena chain key import" in raised.value.message
    assert "alice" in raised.value.message


async def test_a_wait_ends_when_its_time_is_over(outbox: Outbox, chain: LocalChain):
    with chain.paused():
        sent = await outbox.send(payment())
        assert (await outbox.wait(sent.id, seconds=0.1)).state is IntentState.SENT
