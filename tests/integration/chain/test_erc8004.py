"""Registries of ERC-8004 on a real node: minimal ones, written from the text.

alice posts a task, bob is the agent, judy judges. bob has a number in the Identity Registry.
"""

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import pytest
from eth_utils.address import to_checksum_address
from eth_utils.crypto import keccak

from anvil_node import LocalChain, with_keys
from arena import clock
from arena.amounts import Amount
from arena.assembly import Arena, open_arena
from arena.chain.artifact import load_artifact
from arena.chain.errors import NoContract
from arena.chain.parties import Parties
from arena.chain.standards.erc8004 import (
    Feedback,
    IdentityRegistry,
    ReputationRegistry,
    UnknownAgentId,
    UnknownRequest,
    ValidationAnswer,
    ValidationRegistry,
    wallet_of,
)
from arena.chain.standards.feedback import SelfJudged, settled_verdict
from arena.chain.standards.registration import (
    RegisteredAgent,
    read_registration,
    registration_of,
    write_registration,
)
from arena.chain.wallet import WalletSigner
from arena.content.canonical import read_canonical
from arena.content.tree import cid_of
from arena.errors import Conflict, Forbidden, InvalidInput
from arena.evaluation.evaluate import evaluate
from arena.evaluation.reading import read_standard_document
from arena.evaluation.verdict import Submission
from arena.market.call import Action, Call, ReceiptStatus
from arena.market.errors import BadContent, WrongRole, WrongState
from arena.market.signing import Act
from arena.market.task import Task, TaskPost, TaskState
from arena.market.verdicts import keep_verdict, verdict_call
from arena.settings import Settings
from standard_contracts import Deployed, deployed

ALICE, BOB, JUDY, CAROL = range(4)
STANDARD = {
    "type": "all_of",
    "pass_score": 60,
    "all_of": [
        {"type": "contains", "contains": ["alpha"], "weight": 87},
        {"type": "contains", "contains": ["beta"], "weight": 13},
    ],
}
RESULT = b"alpha"
REQUEST = keccak(text="the request")


@dataclass
class Desk:
    """A market with the keys of its parties, and three registries."""

    arena: Arena
    chain: LocalChain
    identity: Deployed
    reputation: Deployed
    validation: Deployed

    @property
    def team(self) -> str:
        return self.arena.settings.team

    def address(self, party: int) -> str:
        return self.chain.accounts[party].address

    def sent_by(self, party: int) -> int:
        return self.chain.number("eth_getTransactionCount", self.address(party), "pending")

    async def task(self, task_id: int) -> Task:
        return await self.arena.market.reader.task(self.team, task_id)

    async def submitted(self, result: bytes = RESULT, **terms: Any) -> Task:
        """A task with bob's result, in the contract if there is one."""
        given: dict[str, Any] = {
            "poster": "alice",
            "judge": "judy",
            "description": "Write alpha.",
            "evaluation": STANDARD,
            "reward": Amount(50_000),
            "deadline": clock.now() + timedelta(hours=1),
        }
        market, bob = self.arena.market, WalletSigner("bob", self.arena.wallets)
        done = await market.post_task(self.team, TaskPost(**given | terms))
        task_id = done.task_id
        assert task_id is not None
        place = await market.embedded.market_id(self.team)
        version = ""
        if contract := self.arena.settings.chain_contract:
            place, version = f"eip155:31337:{contract.lower()}", "1.0.0"
        proof = bob.prove(place, Act.APPLY, task_id=task_id, content=version)
        await market.act(self.team, task_id, Call(action=Action.APPLY, by="bob"), proof=proof)
        assign = Call(action=Action.ASSIGN, by="alice", agent="bob")
        await market.act(self.team, task_id, assign)
        proof = bob.prove(place, Act.SUBMIT, task_id=task_id, content=cid_of(result))
        await market.submit(self.team, task_id, "bob", result, proof=proof)
        return await self.task(task_id)

    async def judged(self, task: Task, *, by: str = "judy") -> Task:
        """The task after a verdict whose record is real."""
        contents = self.arena.market.contents
        submission = Submission(output=RESULT.decode())
        verdict = await evaluate(read_standard_document(STANDARD), submission)
        record = await keep_verdict(contents, task, submission, verdict, sandbox="")
        call = verdict_call(task, int(verdict.score), record, by=by)
        await self.arena.market.act(self.team, task.id, call)
        return await self.task(task.id)

    async def settled(self, **terms: Any) -> Task:
        return await self.judged(await self.submitted(**terms))

    async def give(self, task: Task, *, by: str = "alice", agent_id: int = 0) -> Feedback:
        verdict = await settled_verdict(self.arena.content, task)
        registry = ReputationRegistry(self.arena.caller, self.reputation.address)
        wallet = await self.wallet("bob")
        return await registry.give(self.arena.content, verdict, agent_id, wallet=wallet, by=by)

    async def respond(
        self, task: Task, *, by: str = "judy", request: bytes = REQUEST
    ) -> ValidationAnswer:
        verdict = await settled_verdict(self.arena.content, task)
        registry = ValidationRegistry(self.arena.caller, self.validation.address)
        wallet = await self.wallet("bob")
        return await registry.respond(verdict, f"0x{request.hex()}", wallet=wallet, by=by)

    async def wallet(self, agent: str) -> str:
        parties = Parties(self.arena.database, self.team, self.arena.wallets)
        return await wallet_of(self.arena.market.reader, parties, self.team, agent)

    def request(self, validator: int = JUDY, request: bytes = REQUEST) -> None:
        """bob asks for a validation."""
        given = (self.address(validator), 0, "ipfs://request", request)
        self.validation.send("validationRequest", *given, by=self.address(BOB))


@pytest.fixture
async def desk(settings: Settings, chain: LocalChain) -> AsyncIterator[Desk]:
    identity = deployed(chain, "IdentityRegistry")
    identity.send("register", "ipfs://bob", by=chain.accounts[BOB].address)
    identity.send("register", "ipfs://carol", by=chain.accounts[CAROL].address)
    reputation = deployed(chain, "ReputationRegistry", identity.address)
    validation = deployed(chain, "ValidationRegistry", identity.address)
    async with open_arena(with_keys(settings, chain)) as arena:
        made = Desk(arena, chain, identity, reputation, validation)
        market, bob = arena.market, WalletSigner("bob", arena.wallets)
        place = await market.embedded.market_id(made.team)
        proof = bob.prove(place, Act.REGISTER, content=bob.public_key)
        await market.register_agent(made.team, "bob", bob.public_key, proof, version="1.2.0")
        await market.deposit_test_money(made.team, "alice", 10**9)
        yield made


# The registration file


async def test_a_registration_file_is_read_as_it_was_written(desk: Desk):
    agent = await desk.arena.market.reader.agent(desk.team, "bob")
    identity = IdentityRegistry(desk.arena.caller, desk.identity.address)
    wallet = await desk.wallet("bob")
    made = registration_of(
        agent,
        wallet=f"eip155:31337:{wallet}",
        market_url="https://arena.example/",
        image="https://arena.example/bob.png",
        registered=await identity.check_agent(0, agent="bob", wallet=wallet),
    )
    data = write_registration(made)
    cid = desk.arena.content.put(data)
    assert read_registration(desk.arena.content.get(cid)) == made
    place = f"eip155:31337:{to_checksum_address(desk.identity.address)}"
    assert read_canonical(data) == {
        "type": "https://eips.ethereum.org/EIPS/eip-8004#registration-v1",
        "name": "bob",
        "description": "bob 1.2.0, an agent in an Arena market",
        "image": "https://arena.example/bob.png",
        "services": [
            {
                "name": "reputation",
                "endpoint": "https://arena.example/api/market/agents/bob",
            },
            {"name": "wallet", "endpoint": f"eip155:31337:{desk.address(BOB).lower()}"},
        ],
        "x402Support": False,
        "active": True,
        "registrations": [{"agentId": 0, "agentRegistry": place}],
        "supportedTrust": ["reputation"],
        "arena": {"agent": "bob", "version": "1.2.0"},
    }
    # The agent's URI is the content, so anybody can check what the registry names.
    desk.identity.send("setAgentURI", 0, f"ipfs://{cid}", by=desk.address(BOB))
    named = desk.identity.read("tokenURI", 0).removeprefix("ipfs://")
    assert read_registration(desk.arena.content.get(named)).registrations == (
        RegisteredAgent(agent_id=0, agent_registry=place),
    )


# Feedback


async def test_a_settled_verdict_is_feedback(desk: Desk):
    task = await desk.settled()
    assert (task.state, task.score) == (TaskState.PAID, 87)
    given = await desk.give(task)
    assert (given.value, given.index, given.sent.status) == (87, 1, ReceiptStatus.FINAL)
    (event,) = desk.reputation.events("NewFeedback")
    file = desk.arena.content.get(given.file_cid)
    assert event == {
        "feedbackIndex": 1,
        "value": 87,
        "valueDecimals": 0,
        "tag1": "starred",
        "tag2": "arena",
        "endpoint": "",
        "feedbackURI": f"ipfs://{given.file_cid}",
        "feedbackHash": keccak(file),
    }
    stored = desk.reputation.read("readFeedback", 0, desk.address(ALICE), 1)
    assert stored == (87, 0, "starred", "arena", False)
    assert task.ended_at is not None
    assert read_canonical(file) == {
        "agentRegistry": f"eip155:31337:{to_checksum_address(desk.identity.address)}",
        "agentId": 0,
        "clientAddress": f"eip155:31337:{to_checksum_address(desk.address(ALICE))}",
        "createdAt": task.ended_at.isoformat().replace("+00:00", "Z"),
        "value": 87,
        "valueDecimals": 0,
        "tag1": "starred",
        "tag2": "arena",
        "arena": {
            "task": {"ledger": "embedded", "id": task.id, "state": "paid"},
            "verdict": task.reason_uri,
            "score": 87,
        },
    }


async def test_a_verdict_is_told_once_whoever_does_it(desk: Desk):
    task = await desk.settled()
    first = await desk.give(task)
    assert await desk.give(task) == first
    with pytest.raises(Conflict, match=r"feedback on task 1: it was done before .* by 0x"):
        await desk.give(task, by="judy")
    assert len(desk.reputation.events("NewFeedback")) == 1
    # Another task has another verdict.
    other = await desk.give(await desk.settled(), by="judy")
    assert other.record_cid != first.record_cid
    assert len(desk.reputation.events("NewFeedback")) == 2


async def test_feedback_that_was_sent_is_continued(desk: Desk):
    task = await desk.settled()
    verdict = await settled_verdict(desk.arena.content, task)
    hasty = replace(desk.arena.caller, wait_seconds=0)
    registry = ReputationRegistry(hasty, desk.reputation.address)
    with desk.chain.paused():
        first = await registry.give(
            desk.arena.content, verdict, 0, wallet=desk.address(BOB), by="alice"
        )
        assert (first.sent.status, first.index) == (ReceiptStatus.PENDING, None)
        desk.chain.mine()
    again = await desk.give(task)
    assert again.sent.transaction_hash == first.sent.transaction_hash
    assert (again.sent.status, again.index) == (ReceiptStatus.FINAL, 1)


async def test_there_is_no_feedback_before_settlement(desk: Desk):
    before = desk.sent_by(ALICE)
    open_task = await desk.submitted()
    with pytest.raises(WrongState, match="is submitted, it has no settled verdict: try again"):
        await desk.give(open_task)
    disputable = await desk.settled(
        dispute_window_seconds=60, arbiter="carl", arbiter_window_seconds=60
    )
    assert disputable.state is TaskState.JUDGED
    with pytest.raises(WrongState, match="is judged, it has no settled verdict"):
        await desk.give(disputable)
    assert desk.sent_by(ALICE) == before


async def test_a_resolved_dispute_counts_with_the_score_of_the_arbiter(desk: Desk):
    task = await desk.settled(dispute_window_seconds=60, arbiter="carl", arbiter_window_seconds=60)
    market = desk.arena.market
    dispute = Call(action=Action.DISPUTE, by="alice", reason_uri="ipfs://why")
    await market.act(desk.team, task.id, dispute)
    resolve = Call(action=Action.RESOLVE, by="carl", score=30, reason_uri="ipfs://because")
    await market.act(desk.team, task.id, resolve)
    task = await desk.task(task.id)
    assert (task.state, task.score, task.final_score) == (TaskState.REFUNDED, 87, 30)
    given = await desk.give(task, by="judy")
    file: Any = read_canonical(desk.arena.content.get(given.file_cid))
    assert (given.value, file["arena"]["resolution"]) == (30, "ipfs://because")
    assert file["arena"]["verdict"] == task.reason_uri


async def test_a_task_that_nobody_judged_gives_no_feedback(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
):
    task = await desk.submitted(judge_window_seconds=60)
    real = clock.now
    monkeypatch.setattr(clock, "now", lambda: real() + timedelta(minutes=2))
    await desk.arena.market.act(desk.team, task.id, Call(action=Action.EXPIRE))
    with pytest.raises(WrongState, match="is expired, it has no settled verdict: nobody judged it"):
        await desk.give(await desk.task(task.id))


async def test_a_self_judged_task_gives_no_feedback(desk: Desk):
    task = await desk.submitted(judge=None, is_self_judged=True)
    task = await desk.judged(task, by="alice")
    assert task.state is TaskState.PAID
    with pytest.raises(SelfJudged, match="was judged by its poster"):
        await desk.give(task)
    with pytest.raises(SelfJudged):
        await desk.respond(task, by="alice")
    assert desk.reputation.events("NewFeedback") == []


async def test_only_the_parties_of_the_task_tell(desk: Desk):
    task = await desk.settled()
    with pytest.raises(WrongRole, match="it neither posted nor judged it"):
        await desk.give(task, by="bob")
    assert desk.reputation.events("NewFeedback") == []


async def test_the_owner_of_an_agent_gives_it_no_feedback(desk: Desk):
    # alice buys bob's number; its wallet is not hers, so it is not hers to rate either way.
    task = await desk.settled()
    send = (desk.address(BOB), desk.address(ALICE), 0)
    desk.identity.send("transferFrom", *send, by=desk.address(BOB))
    with pytest.raises(Conflict, match=r"belongs to 0x.*, not to .*, the wallet of 'bob'"):
        await desk.give(task)
    verdict = await settled_verdict(desk.arena.content, task)
    registry = ReputationRegistry(desk.arena.caller, desk.reputation.address)
    with pytest.raises(Forbidden, match=r"'alice' .* owns agent 0"):
        await registry.give(desk.arena.content, verdict, 0, wallet=desk.address(ALICE), by="alice")


async def test_the_number_of_another_agent_is_refused(desk: Desk):
    task = await desk.settled()
    with pytest.raises(Conflict, match=r"agent 1 of 0x.* belongs to"):
        await desk.give(task, agent_id=1)
    assert desk.reputation.events("NewFeedback") == []


async def test_a_number_that_nobody_has_is_found_by_its_owner(desk: Desk):
    """With ownerOf: the registry has no agentExists, as the one in use has none."""
    assert not any(one.get("name") == "agentExists" for one in desk.identity.abi)
    task = await desk.settled()
    with pytest.raises(UnknownAgentId, match=r"there is no agent 7 .* \(no such token\)"):
        await desk.give(task, agent_id=7)
    with pytest.raises(InvalidInput, match="256 bits"):
        await desk.give(task, agent_id=2**256)


async def test_a_registry_that_is_not_there(desk: Desk):
    verdict = await settled_verdict(desk.arena.content, await desk.settled())
    registry = ReputationRegistry(desk.arena.caller, "0x" + "22" * 20)
    with pytest.raises(NoContract, match="the Reputation Registry: there is no contract at 0x22"):
        await registry.give(desk.arena.content, verdict, 0, wallet=desk.address(BOB), by="alice")


async def test_a_record_must_be_about_the_task(desk: Desk):
    task = await desk.settled()
    store = desk.arena.content
    with pytest.raises(BadContent, match="is not about task 1"):
        await settled_verdict(store, replace(task, score=86, final_score=86))
    with pytest.raises(BadContent, match="is not about task 1"):
        await settled_verdict(store, replace(task, evaluation_cid=cid_of(b"other")))
    with pytest.raises(BadContent, match="the verdict of task 1 has no record"):
        await settled_verdict(store, replace(task, reason_uri="https://example.com/why"))
    with pytest.raises(InvalidInput, match="not a verdict record"):
        await settled_verdict(store, replace(task, reason_uri=store.put(b"{}")))


async def test_the_file_names_the_chain_and_the_contract_of_a_task_there(
    settings: Settings, chain: LocalChain
):
    identity = deployed(chain, "IdentityRegistry")
    identity.send("register", "", by=chain.accounts[BOB].address)
    reputation = deployed(chain, "ReputationRegistry", identity.address)
    contract = chain.deploy(load_artifact().bytecode)
    place = {"ledger": "evm", "chain_contract": contract}
    async with open_arena(with_keys(settings, chain, **place)) as arena:
        desk = Desk(arena, chain, identity, reputation, reputation)
        task = await desk.settled(reward=Amount(10**16, 18), judge_window_seconds=3600)
        assert (task.state, task.ledger) == (TaskState.PAID, "evm")
        given = await desk.give(task)
        file: Any = read_canonical(arena.content.get(given.file_cid))
    assert file["arena"] == {
        "task": {
            "ledger": "evm",
            "chain": "eip155:31337",
            "contract": contract.lower(),
            "id": 1,
            "state": "paid",
        },
        "verdict": task.reason_uri,
        "score": 87,
    }


# Validation


async def test_an_open_request_is_answered_with_the_verdict(desk: Desk):
    task = await desk.settled()
    desk.request()
    given = await desk.respond(task)
    assert (given.response, given.agent_id) == (87, 0)
    (event,) = desk.validation.events("ValidationResponse")
    assert task.reason_uri is not None
    evidence = keccak(desk.arena.content.get(task.reason_uri))
    assert event == {
        "response": 87,
        "responseURI": f"ipfs://{task.reason_uri}",
        "responseHash": evidence,
        "tag": "arena",
    }
    validator, agent_id, response, digest, tag, _ = desk.validation.read(
        "getValidationStatus", REQUEST
    )
    assert validator == desk.address(JUDY).lower()
    assert (agent_id, response, digest, tag) == (0, 87, evidence, "arena")
    assert await desk.respond(task) == given
    assert len(desk.validation.events("ValidationResponse")) == 1


async def test_a_request_that_is_not_open_is_refused(desk: Desk):
    task = await desk.settled()
    with pytest.raises(UnknownRequest, match="no such request"):
        await desk.respond(task)
    desk.request(validator=CAROL)
    with pytest.raises(Forbidden, match="is for the validator 0x"):
        await desk.respond(task)
    verdict = await settled_verdict(desk.arena.content, task)
    registry = ValidationRegistry(desk.arena.caller, desk.validation.address)
    with pytest.raises(InvalidInput, match="64 hexadecimal digits"):
        await registry.respond(verdict, "0x12", wallet=desk.address(BOB), by="judy")
    assert desk.validation.events("ValidationResponse") == []


async def test_only_whoever_judged_validates(desk: Desk):
    task = await desk.settled()
    desk.request(validator=ALICE)
    with pytest.raises(WrongRole, match="it did not judge it"):
        await desk.respond(task, by="alice")
    assert desk.validation.events("ValidationResponse") == []


async def test_there_is_no_validation_before_settlement(desk: Desk):
    desk.request()
    with pytest.raises(WrongState, match="has no settled verdict"):
        await desk.respond(await desk.submitted())
