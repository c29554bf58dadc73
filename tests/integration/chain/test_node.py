"""The calls of a node: what a real one answers, and what happens if it is none."""

import asyncio
import json
import logging
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from eth_account import Account

from anvil_node import COIN, GWEI, Counter, LocalChain, call
from arena.chain.errors import (
    NoContract,
    NodeUnreachable,
    Refusal,
    Refused,
    Reverted,
    UnknownBlock,
    WrongChain,
)
from arena.chain.node import Node
from http_server import Server

NOBODY = "0x" + "22" * 20
HASH = "0x" + "ab" * 32
SECRET_PATH = "/v3/0123456789abcdef0123456789abcdef"
BLOCK = {"number": "0x1", "hash": HASH, "parentHash": HASH, "timestamp": "0x10"}


@pytest.fixture
async def node(chain: LocalChain) -> AsyncIterator[Node]:
    opened = Node(chain.url, chain_id=31337)
    yield opened
    await opened.close()


async def test_a_node_tells_its_chain_and_its_blocks(node: Node, chain: LocalChain):
    chain.mine(2)
    assert await node.chain_id() == 31337
    head = await node.head()
    assert head.number == 2
    assert await node.head(2) == await node.head(head.hash) == head
    assert (await node.head(1)).hash == head.parent_hash
    assert (await node.head(0)).hash == await node.genesis()
    pending = await node.head("pending")
    assert (pending.number, pending.parent_hash) == (3, head.hash)
    assert pending.timestamp >= head.timestamp
    for unknown in (99, HASH):
        with pytest.raises(UnknownBlock, match=str(unknown)):
            await node.head(unknown)


async def test_a_node_tells_balances_counts_and_fees(node: Node, chain: LocalChain):
    alice = chain.accounts[0].address
    before = chain.balance(alice)
    with chain.paused():
        chain.send_elsewhere(chain.accounts[0], nonce=0, tip=GWEI)
        assert await node.transaction_count(alice) == 0
        assert await node.transaction_count(alice, "pending") == 1
        assert await node.balance(alice) == before
        chain.mine()
    assert await node.transaction_count(alice) == 1
    fees = await node.fees()
    assert 0 < fees.base_fee <= GWEI
    assert (fees.tip, fees.block_number) == (GWEI, 1)


async def test_a_call_returns_what_the_contract_returns(node: Node, counter: Counter):
    assert int.from_bytes(await node.call(counter.address, call("count()"))) == 0
    assert await node.check_contract(counter.address) == await node.code(counter.address) != b""
    refused = call("add_below(uint256)", 0)
    with pytest.raises(Reverted) as raised:
        await node.call(counter.address, refused, sender=NOBODY)
    assert raised.value.reason == "WrongState"
    with pytest.raises(Reverted, match="WrongState"):
        await node.estimate_gas(counter.address, refused, sender=NOBODY)


async def test_an_address_without_a_contract_is_named(node: Node):
    assert await node.code(NOBODY) == b""
    with pytest.raises(NoContract, match=f"no contract at {NOBODY} on chain 31337") as raised:
        await node.check_contract(NOBODY)
    assert "arena chain deploy" in raised.value.message


async def test_logs_and_receipts_are_read(node: Node, chain: LocalChain, counter: Counter):
    alice = chain.accounts[0].address
    for number in (7, 8):
        data = f"0x{call('add(uint256)', number).hex()}"
        message = {"from": alice, "to": counter.address, "data": data}
        sent = chain.ask("eth_sendTransaction", message)
        chain.mine()
    logs = await node.logs([counter.address], 0, 99)
    assert [int.from_bytes(one.data) for one in logs] == [7, 8]
    receipt = await node.receipt(sent)
    assert receipt is not None
    assert receipt.logs == (logs[1],)
    assert (receipt.is_reverted, receipt.contract) == (False, None)
    assert logs[1].transaction_hash == sent
    assert logs[1].block_hash == receipt.block_hash
    assert f"0x{logs[1].topics[1][12:].hex()}" == alice.lower()
    assert await node.logs([NOBODY], 0, 99) == []
    assert await node.receipt(HASH) is None


async def test_a_sent_transaction_may_be_sent_again(node: Node, chain: LocalChain):
    alice = chain.accounts[0]

    def signed(nonce: int, **fields: Any) -> bytes:
        plain = {
            "type": 2,
            "chainId": 31337,
            "nonce": nonce,
            "to": NOBODY,
            "value": 1,
            "gas": 21_000,
            "maxFeePerGas": 3 * GWEI,
            "maxPriorityFeePerGas": GWEI,
        }
        return bytes(Account.sign_transaction(plain | fields, alice.private_key).raw_transaction)

    with chain.paused():
        await node.send_raw(signed(0))
        await node.send_raw(signed(0))
        refusals = {
            Refusal.UNDERPRICED: signed(0, value=2),
            Refusal.NO_FUNDS: signed(1, value=10**6 * COIN),
            Refusal.FEE_TOO_LOW: signed(1, maxFeePerGas=1, maxPriorityFeePerGas=1),
            Refusal.INVALID: signed(1, gas=20_000),
        }
        for why, raw in refusals.items():
            with pytest.raises(Refused) as raised:
                await node.send_raw(raw)
            assert raised.value.why is why
            assert raised.value.retryable is (why is not Refusal.INVALID)
        chain.mine()
    with pytest.raises(Refused) as raised:
        await node.send_raw(signed(0, value=3))
    assert raised.value.why is Refusal.NONCE_TOO_LOW


async def test_a_closed_port_is_an_unreachable_node(caplog: pytest.LogCaptureFixture):
    caplog.set_level(logging.DEBUG)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    node = Node(f"http://user:pass@127.0.0.1:{port}{SECRET_PATH}")
    with pytest.raises(NodeUnreachable, match=f"http://127.0.0.1:{port} cannot be rea") as raised:
        await node.head()
    await node.close()
    assert raised.value.retryable
    shown = f"{raised.value!r} {raised.value.__cause__!r} {caplog.text}"
    assert SECRET_PATH not in shown
    assert "pass@" not in shown


class LyingNode:
    """A server that answers each method as the test says."""

    def __init__(self, server: Server) -> None:
        self.answers: dict[str, Any] = {"eth_chainId": "0x1"}
        self.asked: list[str] = []
        self.batches = True
        server.do(self._reply)

    async def _reply(self, request: Any, writer: Any) -> None:
        asked = request.json
        if isinstance(asked, list) and not self.batches:
            body: Any = {"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": "no"}}
        elif isinstance(asked, list):
            body = [self._answer(one) for one in reversed(asked)]  # in any order
        else:
            body = self._answer(asked)
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(raw) + raw)
        await writer.drain()

    def _answer(self, asked: Any) -> Any:
        self.asked.append(asked["method"])
        found = self.answers.get(asked["method"])
        if isinstance(found, Callable):
            found = found(*asked["params"])
        if isinstance(found, bytes):
            return found
        if isinstance(found, LookupError):
            return {"jsonrpc": "2.0", "id": asked["id"], "error": found.args[0]}
        return {"jsonrpc": "2.0", "id": asked["id"], "result": found}


@asynccontextmanager
async def lying(path: str = SECRET_PATH, **options: Any) -> AsyncIterator[tuple[LyingNode, Node]]:
    server = Server()
    await server.start()
    node = Node(server.url + path, **options)
    try:
        yield LyingNode(server), node
    finally:
        await node.close()
        await server.stop()


async def test_another_chain_is_refused():
    async with lying(chain_id=5) as (_, node):
        for work in (node.head, node.chain_id, node.fees, lambda: node.balance(NOBODY)):
            with pytest.raises(WrongChain, match="serves chain 1, expected was chain 5") as raised:
                await work()
            assert SECRET_PATH not in raised.value.message


def failing(code: int, message: str) -> LookupError:
    """An answer that is an error."""
    return LookupError({"code": code, "message": message})


@pytest.mark.parametrize(
    ("method", "answer", "work"),
    [
        ("eth_chainId", "31337", lambda node: node.chain_id()),
        ("eth_chainId", None, lambda node: node.chain_id()),
        ("eth_chainId", "0x" + "f" * 100, lambda node: node.chain_id()),
        ("eth_chainId", b"<html>welcome</html>", lambda node: node.chain_id()),
        ("eth_chainId", b"[]", lambda node: node.chain_id()),
        ("eth_chainId", b'{"jsonrpc": "2.0", "id": 99, "result": "0x1"}', Node.chain_id),
        ("eth_getBlockByNumber", {"number": "0x1"}, lambda node: node.head()),
        ("eth_getBlockByNumber", {**BLOCK, "hash": "0x12"}, lambda node: node.head()),
        ("eth_getBlockByNumber", [BLOCK], lambda node: node.head()),
        ("eth_getBalance", "0xzz", lambda node: node.balance(NOBODY)),
        ("eth_getBalance", 5, lambda node: node.balance(NOBODY)),
        ("eth_call", "abc", lambda node: node.call(NOBODY, b"")),
        ("eth_getCode", {"code": "0x"}, lambda node: node.code(NOBODY)),
        ("eth_getTransactionReceipt", {"status": "0x1"}, lambda node: node.receipt(HASH)),
        ("eth_getLogs", "many", lambda node: node.logs([NOBODY], 0, 9)),
        ("eth_getLogs", [{"address": NOBODY}], lambda node: node.logs([NOBODY], 0, 9)),
        ("eth_feeHistory", {"oldestBlock": "0x1"}, lambda node: node.fees()),
    ],
)
async def test_an_answer_that_cannot_be_right_is_refused(method: str, answer: Any, work: Any):
    async with lying() as (server, node):
        server.answers[method] = answer
        with pytest.raises(NodeUnreachable, match=r"http://127\.0\.0\.1:\d+ .*answer") as raised:
            await work(node)
    assert SECRET_PATH not in repr(raised.value)


def log_of(**fields: Any) -> dict[str, Any]:
    return {
        "address": NOBODY,
        "topics": [HASH],
        "data": "0x",
        "blockNumber": "0x1",
        "blockHash": HASH,
        "transactionHash": HASH,
        "logIndex": "0x0",
        **fields,
    }


@pytest.mark.parametrize("fields", [{"address": "0x" + "33" * 20}, {"blockNumber": "0x5"}])
async def test_an_event_that_was_not_asked_for_is_refused(fields: dict[str, str]):
    async with lying() as (server, node):
        server.answers["eth_getLogs"] = [log_of()]
        assert len(await node.logs([NOBODY], 0, 4)) == 1
        server.answers["eth_getLogs"] = [log_of(), log_of(**fields)]
        with pytest.raises(NodeUnreachable, match="an event that was not asked for"):
            await node.logs([NOBODY], 0, 4)


async def test_the_receipt_of_another_transaction_is_refused():
    receipt = {
        "transactionHash": "0x" + "cd" * 32,
        "status": "0x1",
        "blockNumber": "0x1",
        "blockHash": HASH,
        "gasUsed": "0x1",
        "logs": [],
    }
    async with lying() as (server, node):
        server.answers["eth_getTransactionReceipt"] = receipt
        with pytest.raises(NodeUnreachable, match="the receipt of another transaction"):
            await node.receipt(HASH)


async def test_many_blocks_are_asked_for_in_parts():
    def few(asked: dict[str, Any]) -> Any:
        first, last = int(asked["fromBlock"], 16), int(asked["toBlock"], 16)
        if last - first >= 3:
            return failing(-32005, "query exceeds the block range of 3")
        return [log_of(blockNumber=hex(number)) for number in range(first, last + 1)]

    async with lying() as (server, node):
        server.answers["eth_getLogs"] = few
        logs = await node.logs([NOBODY], 1, 20)
        assert [one.block_number for one in logs] == list(range(1, 21))
        server.answers["eth_getLogs"] = failing(-32000, "the database is broken")
        with pytest.raises(NodeUnreachable, match="the database is broken"):
            await node.logs([NOBODY], 1, 20)


async def test_a_chain_without_a_pending_block_is_read_at_its_newest():
    def count(address: str, tag: str) -> Any:
        return failing(-32000, "pending state is not available") if tag == "pending" else "0x7"

    async with lying() as (server, node):
        server.answers |= {"eth_getTransactionCount": count, "eth_getBlockByNumber": None}
        assert await node.transaction_count(NOBODY, "pending") == 7
        server.asked.clear()
        assert await node.transaction_count(NOBODY, "pending") == 7
        assert server.asked == ["eth_getTransactionCount"], "it is remembered"
        server.answers["eth_getBlockByNumber"] = lambda tag, _: BLOCK if tag == "latest" else None
        assert (await node.head("pending")).number == 1


@pytest.mark.parametrize("batches", [True, False])
async def test_a_node_that_takes_no_batches_is_asked_one_by_one(batches: bool):
    async with lying() as (server, node):
        server.batches = batches
        server.answers |= {
            "eth_feeHistory": {"baseFeePerGas": ["0x1", "0x2"], "oldestBlock": "0x9"},
            "eth_maxPriorityFeePerGas": failing(-32601, "the method does not exist"),
        }
        fees = await node.fees()
        assert (fees.base_fee, fees.tip, fees.block_number) == (2, GWEI, 9)


@pytest.mark.parametrize(
    ("status", "words", "is_retryable"),
    [
        (401, "refuses requests (HTTP 401)", False),
        (404, "refuses requests (HTTP 404)", False),
        (429, "throttles", True),
        (502, "answered with HTTP 502", True),
        (301, "answered with HTTP 301", True),
    ],
)
async def test_a_status_says_what_to_do(status: int, words: str, is_retryable: bool):
    server = Server()
    await server.start()
    server.say("no", status=status, Location="http://127.0.0.1:1/")
    node = Node(server.url + SECRET_PATH)
    with pytest.raises(NodeUnreachable) as raised:
        await node.head()
    assert words in raised.value.message
    assert SECRET_PATH not in raised.value.message
    assert raised.value.retryable is is_retryable
    await node.close()
    await server.stop()


async def test_a_node_that_is_silent_is_given_up():
    server = Server()
    await server.start()

    async def nothing(request: Any, writer: Any) -> None:
        await request_ended.wait()

    request_ended = asyncio.Event()
    server.do(nothing)
    node = Node(server.url, timeout_seconds=0.05)
    with pytest.raises(NodeUnreachable, match=r"did not answer eth_chainId within 0\.05 s"):
        await node.head()
    request_ended.set()
    await node.close()
    await server.stop()
