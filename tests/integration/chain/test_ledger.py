"""The ledger on a chain: the same calls as on the embedded one, on a real node."""

import socket
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from eth_abi.abi import encode

from anvil_node import LocalChain
from arena.amounts import Amount
from arena.chain.artifact import load_artifact
from arena.chain.contract import encode_call
from arena.chain.errors import MissingKey, NoContract, NodeUnreachable
from arena.chain.keys import Keys
from arena.chain.wallet import WalletSigner
from arena.content.tree import cid_of
from arena.errors import ArenaError, Conflict, InvalidInput
from arena.market.call import CallKey, ReceiptStatus
from arena.market.errors import (
    BadSignature,
    InsufficientFunds,
    KeyConflict,
    TooEarly,
    WrongRole,
    WrongState,
)
from arena.market.signing import Act, Signer
from arena.market.task import TaskState
from arena.settings import Settings
from chain_market import ANSWER, COIN, Stall, chain_settings, opened

REWARD = COIN // 20


async def story(stall: Stall) -> dict[str, Any]:
    """The seed's story: a score of 60 pays, 59 refunds; and the errors on the way."""
    arena = stall.operations
    await arena.register()
    seen: list[Any] = []

    async def refused(call: Any) -> None:
        with pytest.raises(ArenaError) as error:
            await call
        seen.append(error.value.code)

    for score in (60, 59):
        task_id = await stall.post()
        await refused(arena.assign(task_id, by="alice", agent="solver"))
        seen.append((await arena.apply(task_id)).state)
        await refused(arena.apply(task_id))
        await refused(arena.assign(task_id, by="judy", agent="solver"))
        seen.append((await arena.assign(task_id, by="alice", agent="solver")).state)
        await refused(arena.cancel(task_id, by="alice"))
        await refused(stall.operations.expire(task_id))
        seen.append((await arena.submit(task_id, ANSWER)).state)
        await refused(arena.submit(task_id, ANSWER))
        await refused(
            arena.judge(
                task_id,
                by="alice",
                score=100,
                winner="solver",
                result_hash=cid_of(ANSWER.encode()),
                reason_uri="x",
            )
        )
        seen.append((await stall.judge(task_id, score)).state)
        await refused(stall.judge(task_id, 100))
    stories = [await arena.task(number) for number in (1, 2)]
    return {
        "seen": seen,
        "tasks": [
            (one.task.state, one.task.payout, one.task.final_score, one.task.reward)
            for one in stories
        ],
        "events": [[(e.kind, e.who, e.why, e.data) for e in one.events] for one in stories],
        "entries": [
            [(e.kind, [(p.account, p.amount) for p in e.postings]) for e in one.entries]
            for one in stories
        ],
        "reputation": (await arena.market_agent("solver")).reputation,
        "audit": (await arena.audit()).violations,
        "escrow": [
            one.account
            for one in (await arena.balances()).balances
            if one.account.startswith(("escrow", "bond"))
        ],
    }


async def test_the_seeds_story_is_the_same_on_both_ledgers(settings: Settings, chain: LocalChain):
    async with opened(chain_settings(settings, chain)) as stall:
        stall.sign_as("solver")
        before = await stall.balance("solver")
        on_chain = await story(stall)
        # The agent has paid nothing, not even gas.
        assert await stall.balance("solver") == before + REWARD
    async with opened(settings, team="blue") as stall:
        stall.operations.signer = Signer.new("solver")
        await stall.operations.deposit_test_money("alice", "1")
        in_database = await story(stall)
    assert on_chain == in_database
    assert on_chain["tasks"][0][:2] == (TaskState.PAID, on_chain["tasks"][0][3])


async def test_changing_the_setting_strands_nothing(settings: Settings, chain: LocalChain):
    on_chain = chain_settings(settings, chain)
    async with opened(on_chain) as stall:
        await stall.join()
        first = await stall.submitted()
    async with opened(on_chain.model_copy(update={"ledger": "embedded"})) as stall:
        await stall.operations.deposit_test_money("alice", "1")
        second = await stall.post()
        third = await stall.post(ledger="evm")
        ledgers = {
            task.id: (task.ledger, task.currency) for task in await stall.operations.all_tasks()
        }
        assert ledgers == {
            first: ("evm", "ETH"),
            second: ("embedded", "TEST"),
            third: ("evm", "ETH"),
        }
        assert (await stall.judge(first, 60)).state is TaskState.PAID
        assert (await stall.operations.cancel(second, by="alice")).state is TaskState.CANCELLED
        few = await stall.operations.all_tasks(min_reward="0.04")
        assert {task.id for task in few} == {first, second, third}
        assert await stall.operations.all_tasks(min_reward="0.050000000000000001") == []
    # Without a node, everything can still be read, and a move says what is missing.
    async with opened(settings) as stall:
        assert await stall.state(third) is TaskState.OPEN
        with pytest.raises(InvalidInput, match="ARENA_CHAIN_URL"):
            await stall.operations.cancel(third, by="alice")


async def test_a_contract_of_before_stays_readable_and_its_tasks_can_be_ended(
    settings: Settings, chain: LocalChain
):
    old = chain_settings(settings, chain)
    async with opened(old) as stall:
        await stall.join()
        first = await stall.submitted()
    new = old.model_copy(update={"chain_contract": chain.deploy(load_artifact().bytecode).lower()})
    async with opened(new) as stall:
        second = await stall.post()
        tasks = {task.id: task for task in await stall.operations.all_tasks()}
        assert tasks[first].contract == (old.chain_contract or "").lower()
        assert tasks[second].contract == new.chain_contract
        assert (tasks[first].chain_task, tasks[second].chain_task) == (1, 1)
        assert (await stall.judge(first, 59)).state is TaskState.REFUNDED


async def test_a_move_is_pending_until_it_is_final(settings: Settings, chain: LocalChain):
    patient = chain_settings(settings, chain, chain_confirmations=3, chain_wait_seconds=0)
    async with opened(patient) as stall:
        offer = await stall.offer(idempotency_key="one")
        with chain.paused():
            receipt = await stall.operations.post_task(offer)
            assert (receipt.status, receipt.task_id, receipt.state) == ("pending", None, None)
            assert receipt.transaction_hash is not None
            assert (await stall.operations.post_task(offer)) == replace(receipt)
            chain.mine(1)
            pending = await stall.operations.post_task(offer)
            assert pending.status is ReceiptStatus.PENDING
            assert await stall.operations.all_tasks() == []
            chain.mine(2)
        final = await stall.operations.post_task(offer)
        assert (final.status, final.task_id, final.state) == ("final", 1, TaskState.OPEN)
        assert final.transaction_hash == receipt.transaction_hash
        assert [task.id for task in await stall.operations.all_tasks()] == [1]
        with pytest.raises(KeyConflict):
            await stall.operations.post_task(replace(offer, description="another"))


async def test_a_call_with_a_key_is_made_once(settings: Settings, chain: LocalChain):
    async with opened(chain_settings(settings, chain)) as stall:
        await stall.join()
        task_id = await stall.submitted()
        first = await stall.judge(task_id, 60, key="verdict")
        blocks = chain.number("eth_blockNumber")
        assert await stall.judge(task_id, 60, key="verdict") == first
        assert chain.number("eth_blockNumber") == blocks


async def test_terms_that_a_contract_cannot_keep_are_refused(settings: Settings, chain: LocalChain):
    async with opened(chain_settings(settings, chain)) as stall:
        until = await stall.now() + timedelta(minutes=5)
        with pytest.raises(InvalidInput, match="cannot rank"):
            await stall.post(assignment="best_reputation", apply_until=until)
        with pytest.raises(InsufficientFunds, match="up to 1000000"):
            await stall.post(reward="1000000")
        with pytest.raises(MissingKey, match="'bob' has no address"):
            await stall.post(judge="bob")
        with pytest.raises(MissingKey, match="key of 'bob'"):
            await stall.operations.name_market_party(name="bob", address="0x" + 40 * "b")
            await stall.post(poster="bob")
        with pytest.raises(WrongRole):
            await stall.post(judge="alice")
        assert await stall.operations.all_tasks() == []


async def test_no_reward_goes_to_an_address_that_is_not_the_market(
    settings: Settings, chain: LocalChain
):
    # An address without a contract, and a contract that takes ether with any call.
    takes_all = chain.deploy(bytes.fromhex("6001600c60003960016000f300"))
    for address in ("0x" + 40 * "2", takes_all):
        where = chain_settings(settings, chain, chain_contract=address)
        async with opened(where) as stall:
            before = await stall.balance("alice")
            with pytest.raises(NoContract, match="ARENA_CHAIN_CONTRACT"):
                await stall.post()
            assert await stall.balance("alice") == before


async def test_only_the_configured_team_has_the_chain(settings: Settings, chain: LocalChain):
    async with opened(chain_settings(settings, chain, chain_team="red")) as stall:
        with pytest.raises(InvalidInput, match="belong to the team 'red'"):
            await stall.post()
        key = CallKey(text="money")
        await stall.arena.market.embedded.deposit("default", "alice", Amount(10**6), key=key)
        assert await stall.post(ledger="embedded") == 1


async def test_an_agent_without_a_wallet_is_told_so(settings: Settings, chain: LocalChain):
    async with opened(chain_settings(settings, chain)) as stall:
        task_id = await stall.post()
        stall.operations.signer = Signer.new("plain")
        await stall.operations.register()
        with pytest.raises(MissingKey, match="agent 'plain' has no wallet"):
            await stall.operations.apply(task_id)


async def test_a_signature_for_another_task_contract_or_chain_is_refused(
    settings: Settings, chain: LocalChain
):
    where = chain_settings(settings, chain)
    async with opened(where) as stall:
        await stall.join()
        first, second = await stall.post(), await stall.post()
        contract, signer = (where.chain_contract or "").lower(), WalletSigner("solver", Keys(where))
        other = chain.deploy(load_artifact().bytecode).lower()
        at = await stall.now()
        for market, number in (
            (f"eip155:31337:{contract}", second),
            (f"eip155:31337:{other}", first),
            (f"eip155:1:{contract}", first),
            ("0" * 32, first),
        ):
            proof = signer.prove(market, Act.APPLY, task_id=number, content="1.0.0", at=at)
            with pytest.raises(BadSignature):
                await stall.operations._send_application(first, agent="solver", proof=proof)
        right = f"eip155:31337:{contract}"
        proof = signer.prove(right, Act.APPLY, task_id=first, content="1.0.0", at=at)
        await stall.operations._send_application(first, agent="solver", proof=proof)
        with pytest.raises(WrongState):  # it was used: the state refuses it
            await stall.operations._send_application(first, agent="solver", proof=proof)


async def test_commit_and_reveal_on_a_chain(settings: Settings, chain: LocalChain):
    async with opened(chain_settings(settings, chain)) as stall:
        await stall.join()
        now = await stall.now()
        task_id = await stall.post(commit_deadline=now + timedelta(minutes=10))
        await stall.operations.apply(task_id)
        await stall.operations.assign(task_id, by="alice", agent="solver")
        task = (await stall.operations.task(task_id)).task
        commitment = await stall.arena.chain.commitment(
            task, "solver", cid_of(ANSWER.encode()), "my salt"
        )
        await stall.operations.commit(task_id, commitment)
        assert (await stall.operations.task(task_id)).task.commitment == commitment
        with pytest.raises(TooEarly):
            await stall.operations.submit(task_id, ANSWER, salt="my salt")
        chain.ask("evm_increaseTime", 601)
        chain.mine()
        with pytest.raises(ArenaError, match="BadContent"):
            await stall.operations.submit(task_id, ANSWER, salt="another")
        receipt = await stall.operations.submit(task_id, ANSWER, salt="my salt")
        assert receipt.state is TaskState.SUBMITTED


async def test_a_dispute_with_a_bond_is_paid_by_the_agent_itself(
    settings: Settings, chain: LocalChain
):
    terms = {
        "dispute_window_seconds": 600,
        "arbiter": "rival",
        "arbiter_window_seconds": 600,
        "bond": "0.01",
    }
    where = chain_settings(settings, chain)
    async with opened(where) as stall:
        await stall.join()
        task_id = await stall.submitted(**terms)
        assert (await stall.judge(task_id, 30)).state is TaskState.JUDGED
        with pytest.raises(InsufficientFunds, match="its own wallet"):
            await stall.operations.dispute(task_id, by="solver", reason_uri="no")
    async with opened(where.model_copy(update={"chain_relayer": None})) as stall:
        stall.sign_as("solver")
        await stall.operations.dispute(task_id, by="solver", reason_uri="no")
        held = {
            one.account: str(one.amount) for one in (await stall.operations.balances()).balances
        }
        assert (held["escrow:1"], held["bond:1"]) == ("0.05", "0.01")
        done = await stall.operations.resolve(task_id, by="rival", score=80, reason_uri="yes")
        assert done.state is TaskState.PAID
        lines = (await stall.operations.ledger_history("solver")).lines
        assert [(line.kind, str(line.amount)) for line in lines] == [
            ("settlement", "0.06"),
            ("bond", "-0.01"),
        ]
        assert (await stall.operations.audit()).violations == ()


async def test_reading_goes_on_while_the_node_is_away(settings: Settings, chain: LocalChain):
    where = chain_settings(settings, chain)
    async with opened(where) as stall:
        await stall.join()
        task_id = await stall.post()
    closed = where.model_copy(update={"chain_url": _closed_port(where)})
    async with opened(closed) as stall:
        assert await stall.state(task_id) is TaskState.OPEN
        market = await stall.operations.market()
        assert market.problem is not None and "cannot be reached" in market.problem
        stall.sign_as("solver")
        with pytest.raises(NodeUnreachable, match="cannot be reached"):
            await stall.operations.cancel(task_id, by="alice")


def _closed_port(settings: Settings) -> Any:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    return type(settings.chain_url)(f"http://127.0.0.1:{port}")


async def test_whatever_others_write_into_the_contract_can_be_read(
    settings: Settings, chain: LocalChain
):
    """Anyone may call the contract: with unknown parties, and texts that are no texts."""
    where = chain_settings(settings, chain)
    stranger, judge = chain.accounts[7].address, chain.accounts[8].address
    deadline = int(chain.ask("eth_getBlockByNumber", "latest", False)["timestamp"], 16) + 3600
    nobody = "0x" + 40 * "0"
    terms = (deadline, judge, 600, nobody, 0, 0, 0, nobody, 0, 0, 0, 10, False, False)
    # The ABI of a text is that of bytes: these are not UTF-8.
    bad = b"\xff\x00\xfe"
    head = encode(
        ["(uint256,address,uint256,address,uint256,uint256,uint256,address,uint256,uint256,"
         "uint256,uint256,bool,bool)", "bytes", "bytes"],
        [terms, bad, bad],
    )  # fmt: skip
    data = encode_call("postTask", terms, "x", "y")[:4] + head
    for by, sent, value in (
        (stranger, data, "0x5"),
        (chain.accounts[6].address, encode_call("applyForTask", 1, ""), "0x0"),
        (stranger, encode_call("assignTask", 1, chain.accounts[6].address), "0x0"),
        (chain.accounts[6].address, encode_call("submitResult", 1, "no CID", "", bytes(32)), "0x0"),
        (judge, encode_call("judgeAndPay", 1, 77, chain.accounts[6].address, "no CID", ""), "0x0"),
    ):
        fields = {"from": by, "to": where.chain_contract, "value": value, "gas": hex(10**6)}
        chain.ask("eth_sendTransaction", {**fields, "data": f"0x{sent.hex()}"})
    async with opened(where) as stall:
        task = (await stall.operations.task(1)).task
        assert (task.state, task.poster, task.judge) == ("paid", stranger.lower(), judge.lower())
        assert (task.agent_version, task.result_hash, task.score) == ("1.0.0", "no CID", 77)
        assert task.description.startswith("ipfs://\ufffd")
        assert (await stall.operations.audit()).violations == ()
        parties = {one.name for one in (await stall.operations.market_parties()).parties}
        assert stranger.lower() in parties
        with pytest.raises(Conflict, match="is called"):
            await stall.operations.name_market_party(name="late", address=stranger)
        # The others go on as ever.
        await stall.join()
        assert (await stall.judge(await stall.submitted(), 60)).state is TaskState.PAID


async def test_a_task_that_cannot_be_closed_here_does_not_stop_the_others(
    settings: Settings, chain: LocalChain
):
    where = chain_settings(settings, chain)
    async with opened(where) as stall:
        await stall.arena.market.embedded.deposit(
            "default", "alice", Amount(10**6), key=CallKey(text="money")
        )
        now = await stall.now()
        on_chain = await stall.post(deadline=now + timedelta(seconds=60))
        chain.ask("evm_increaseTime", 61)
        chain.mine()
    # Nobody here pays for gas.
    poor = where.model_copy(update={"chain_relayer": None})
    async with opened(poor) as stall:
        assert (await stall.operations.close_due()).closed == []
    # Nobody can ask the node, either.
    away = where.model_copy(update={"chain_url": _closed_port(where)})
    async with opened(away) as stall:
        assert (await stall.operations.close_due()).closed == []
    async with opened(where) as stall:
        (closed,) = (await stall.operations.close_due()).closed
        assert (closed.task_id, closed.state) == (on_chain, TaskState.EXPIRED)
