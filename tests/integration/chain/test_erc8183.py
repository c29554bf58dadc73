"""Jobs of ERC-8183 on a real node, in a minimal contract written from the text.

alice is the client, bob the provider, judy the evaluator.
"""

import hashlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import pytest
from eth_utils.address import to_checksum_address

from anvil_node import LocalChain, with_keys
from arena import clock
from arena.assembly import Arena, open_arena
from arena.chain.errors import MissingKey, NoContract, Reverted
from arena.chain.standards.contract import NotThisStandard
from arena.chain.standards.erc8183 import JobContract, NewJob, UnknownJob
from arena.chain.standards.job import JobStatus, describe, digest_of_cid
from arena.chain.standards.job_judging import JobJudge
from arena.content.cid import parse_cid
from arena.content.tree import CHUNK_BYTES
from arena.errors import Conflict, InvalidInput
from arena.evaluation.record import read_record
from arena.evaluation.verify import verify
from arena.market.call import ReceiptStatus
from arena.market.contents import cid_of_standard
from arena.market.errors import BadContent, WrongRole, WrongState
from arena.market.task import ExpiryReason, TaskState
from arena.settings import Settings
from standard_contracts import Deployed, deployed

ALICE, BOB, JUDY, CAROL = range(4)
BUDGET = 5_000_000
RESULT = b"alpha"


def standard(percent: int) -> dict[str, Any]:
    """A standard by which the result has this score."""
    parts = [
        {"type": "contains", "contains": ["alpha"], "weight": percent},
        {"type": "contains", "contains": ["beta"], "weight": 100 - percent},
    ]
    return {"type": "all_of", "pass_score": 60, "all_of": parts}


@dataclass
class Desk:
    """A contract of jobs, its token, and Arena with the keys of three parties."""

    arena: Arena
    chain: LocalChain
    token: Deployed
    contract: Deployed

    @property
    def jobs(self) -> JobContract:
        return JobContract(self.arena.caller, self.contract.address)

    @property
    def judge(self) -> JobJudge:
        return self.judge_of(self.jobs)

    def judge_of(self, jobs: JobContract) -> JobJudge:
        contents = self.arena.market.contents
        return JobJudge(jobs, contents, self.arena.resources, sandbox="namespace")

    def address(self, party: int) -> str:
        return self.chain.accounts[party].address

    def held(self, party: int) -> int:
        return self.token.read("balanceOf", self.address(party))

    def escrow(self) -> int:
        return self.token.read("balanceOf", self.contract.address)

    def sent_by(self, party: int) -> int:
        """How many transactions an account has sent, waiting ones included."""
        return self.chain.number("eth_getTransactionCount", self.address(party), "pending")

    def new(self, **changes: Any) -> NewJob:
        given = {
            "provider": self.address(BOB),
            "evaluator": self.address(JUDY),
            "expires_at": clock.now() + timedelta(days=1),
            "description": "Write alpha.",
        }
        return NewJob(**given | changes)

    async def funded(self, **changes: Any) -> int:
        job_id = await self.jobs.create(self.new(**changes), by="alice")
        await self.jobs.set_budget(job_id, BUDGET, by="alice")
        await self.jobs.fund(job_id, BUDGET, by="alice")
        return job_id

    async def submitted(self, result: bytes = RESULT, **changes: Any) -> tuple[int, str]:
        """A job with a result, and the result's CID."""
        job_id = await self.funded(**changes)
        cid = self.arena.content.put(result)
        await self.jobs.submit(job_id, cid, by="bob")
        return job_id, cid

    def expire(self) -> None:
        self.chain.ask("evm_increaseTime", 2 * 86_400)
        self.chain.mine()


@pytest.fixture
async def desk(settings: Settings, chain: LocalChain) -> AsyncIterator[Desk]:
    token = deployed(chain, "TestToken")
    contract = deployed(chain, "Jobs", token.address)
    token.send("mint", chain.accounts[ALICE].address, 4 * BUDGET, by=chain.accounts[CAROL].address)
    async with open_arena(with_keys(settings, chain)) as arena:
        yield Desk(arena, chain, token, contract)


# Judging


async def test_a_score_of_60_completes_and_pays(desk: Desk):
    job_id, cid = await desk.submitted()
    given = await desk.judge.judge(job_id, by="judy", result_cid=cid, standard=standard(60))
    assert (given.score, given.job.status) == (60, JobStatus.COMPLETED)
    assert given.job.state is TaskState.PAID
    assert given.sent.status is ReceiptStatus.FINAL
    assert (desk.held(BOB), desk.held(ALICE), desk.escrow()) == (BUDGET, 3 * BUDGET, 0)


async def test_a_score_of_59_rejects_and_refunds(desk: Desk):
    job_id, cid = await desk.submitted()
    given = await desk.judge.judge(job_id, by="judy", result_cid=cid, standard=standard(59))
    assert (given.score, given.job.status) == (59, JobStatus.REJECTED)
    assert given.job.state is TaskState.REFUNDED
    assert (desk.held(BOB), desk.held(ALICE), desk.escrow()) == (0, 4 * BUDGET, 0)


async def test_the_reason_is_the_sha2_256_digest_in_the_cid_of_the_record(desk: Desk):
    job_id, cid = await desk.submitted()
    given = await desk.judge.judge(job_id, by="judy", result_cid=cid, standard=standard(60))
    (event,) = desk.contract.events("JobCompleted")
    assert event["reason"] == parse_cid(given.record_cid).digest
    assert given.job.reason == f"0x{event['reason'].hex()}"
    # A record in one block: the digest is the hash of its bytes, which any tool can compute.
    data = desk.arena.content.get(given.record_cid)
    assert len(data) <= CHUNK_BYTES
    assert event["reason"] == hashlib.sha256(data).digest()
    record = read_record(data)
    assert (record.standard_cid, record.submission_cid) == (cid_of_standard(standard(60)), cid)
    assert (await verify(desk.arena.content, given.record_cid, None)).outcome == "holds"


async def test_the_digest_of_a_large_result_is_that_of_its_root_block(desk: Desk):
    large = b"alpha " * CHUNK_BYTES
    job_id, cid = await desk.submitted(large)
    assert digest_of_cid(cid) != hashlib.sha256(large).digest()
    given = await desk.judge.judge(job_id, by="judy", result_cid=cid, standard=standard(60))
    assert given.job.status is JobStatus.COMPLETED


async def test_nobody_else_can_judge_and_nothing_is_sent(desk: Desk):
    job_id, cid = await desk.submitted()
    before = [desk.sent_by(party) for party in (ALICE, BOB, JUDY)]
    for by in ("alice", "bob"):
        with pytest.raises(WrongRole, match=f"not by '{by}'"):
            await desk.judge.judge(job_id, by=by, result_cid=cid, standard=standard(60))
    with pytest.raises(MissingKey, match="there are keys of: alice, bob, judy"):
        await desk.judge.judge(job_id, by="carol", result_cid=cid, standard=standard(60))
    assert [desk.sent_by(party) for party in (ALICE, BOB, JUDY)] == before
    with pytest.raises(Reverted, match=r"complete of job 1 .*: not the evaluator"):
        await desk.jobs.settle(job_id, is_passed=True, record_cid=cid, by="bob")


async def test_a_job_is_judged_once(desk: Desk):
    job_id, cid = await desk.submitted()
    await desk.judge.judge(job_id, by="judy", result_cid=cid, standard=standard(60))
    with pytest.raises(WrongState, match="is Completed"):
        await desk.judge.judge(job_id, by="judy", result_cid=cid, standard=standard(59))
    # Another verdict on the same job is refused here; by another machine, by the contract.
    with pytest.raises(Conflict, match="it was done before with other values"):
        await desk.jobs.settle(job_id, is_passed=False, record_cid=cid, by="judy")
    elsewhere = JobContract(replace(desk.arena.caller, team_id="other"), desk.contract.address)
    with pytest.raises(Reverted, match="wrong status"):
        await elsewhere.settle(job_id, is_passed=True, record_cid=cid, by="judy")
    assert len(desk.contract.events("JobCompleted")) == 1
    assert desk.held(BOB) == BUDGET


async def test_content_that_was_not_submitted_is_refused_before_anything_is_sent(desk: Desk):
    job_id, cid = await desk.submitted()
    other = desk.arena.content.put(b"alpha beta")
    before = desk.sent_by(JUDY)
    with pytest.raises(BadContent, match=f"the deliverable is 0x{parse_cid(cid).digest.hex()}"):
        await desk.judge.judge(job_id, by="judy", result_cid=other, standard=standard(60))
    assert desk.sent_by(JUDY) == before
    assert (await desk.jobs.job(job_id)).status is JobStatus.SUBMITTED


async def test_content_that_is_not_here_is_no_verdict(desk: Desk):
    job_id = await desk.funded()
    cid = "bafkreifzjut3te2nhyekklss27nh3k72ysco7y32koao5eei66wof36n5e"
    await desk.jobs.submit(job_id, cid, by="bob")
    with pytest.raises(BadContent, match="is not in the content store"):
        await desk.judge.judge(job_id, by="judy", result_cid=cid, standard=standard(60))
    assert (await desk.jobs.job(job_id)).status is JobStatus.SUBMITTED


async def test_a_job_without_a_result_is_not_judged(desk: Desk):
    job_id = await desk.funded()
    cid = desk.arena.content.put(RESULT)
    with pytest.raises(WrongState, match="is Funded: nothing is submitted yet"):
        await desk.judge.judge(job_id, by="judy", result_cid=cid, standard=standard(60))


async def test_the_description_names_the_standard(desk: Desk):
    named = desk.arena.content.put(b'{"contains":["alpha"],"type":"contains"}')
    job_id, cid = await desk.submitted(description=describe("Write alpha.", named))
    with pytest.raises(BadContent, match=f"is to be judged by the standard {named}"):
        await desk.judge.judge(job_id, by="judy", result_cid=cid, standard=standard(60))
    given = await desk.judge.judge(job_id, by="judy", result_cid=cid)
    assert (given.score, given.job.status) == (100, JobStatus.COMPLETED)
    assert read_record(desk.arena.content.get(given.record_cid)).standard_cid == named


@pytest.mark.parametrize(
    ("document", "why"),
    [
        (None, "names no standard"),
        ({"type": "checklist", "items": ["It works"]}, "1 item to be reviewed by a person"),
        (standard(60) | {"pass_score": 50}, "set its pass_score to 60"),
    ],
)
async def test_a_standard_that_does_not_decide_is_refused(desk: Desk, document: Any, why: str):
    job_id, cid = await desk.submitted()
    before = desk.sent_by(JUDY)
    with pytest.raises(InvalidInput, match=why):
        await desk.judge.judge(job_id, by="judy", result_cid=cid, standard=document)
    assert desk.sent_by(JUDY) == before


async def test_a_verdict_that_was_sent_is_continued_not_made_again(desk: Desk):
    job_id, cid = await desk.submitted()
    hasty = JobContract(replace(desk.arena.caller, wait_seconds=0), desk.contract.address)
    with desk.chain.paused():
        judge = desk.judge_of(hasty)
        first = await judge.judge(job_id, by="judy", result_cid=cid, standard=standard(60))
        assert first.sent.status is ReceiptStatus.PENDING
        again = await judge.judge(job_id, by="judy", result_cid=cid, standard=standard(59))
        assert (again.record_cid, again.score) == (first.record_cid, 60)
        desk.chain.mine()
    last = await desk.judge.judge(job_id, by="judy", result_cid=cid, standard=standard(59))
    assert (last.record_cid, last.job.status) == (first.record_cid, JobStatus.COMPLETED)
    assert last.sent.transaction_hash == first.sent.transaction_hash
    assert len(desk.contract.events("JobCompleted")) == 1


async def test_only_what_has_enough_blocks_on_top_is_judged(desk: Desk):
    job_id, cid = await desk.submitted()
    careful = replace(desk.arena.caller, confirmations=2)
    judge = desk.judge_of(JobContract(careful, desk.contract.address))
    with pytest.raises(WrongState, match="is Funded"):
        await judge.judge(job_id, by="judy", result_cid=cid, standard=standard(60))
    desk.chain.mine()
    given = await judge.judge(job_id, by="judy", result_cid=cid, standard=standard(60))
    assert given.score == 60


# The other parties


async def test_a_job_is_created_without_a_provider_and_assigned_later(desk: Desk):
    job_id = await desk.jobs.create(desk.new(provider=None), by="alice")
    await desk.jobs.set_budget(job_id, BUDGET, by="alice")
    with pytest.raises(Reverted, match=r"fund of job 1 .*: the provider is not set"):
        await desk.jobs.fund(job_id, BUDGET, by="alice")
    await desk.jobs.set_provider(job_id, desk.address(BOB), by="alice")
    await desk.jobs.fund(job_id, BUDGET, by="alice")
    job = await desk.jobs.job(job_id)
    assert (job.provider, job.status) == (desk.address(BOB).lower(), JobStatus.FUNDED)
    assert (desk.escrow(), job.budget) == (BUDGET, BUDGET)


async def test_a_job_is_not_funded_with_another_budget_than_expected(desk: Desk):
    job_id = await desk.jobs.create(desk.new(), by="alice")
    await desk.jobs.set_budget(job_id, BUDGET + 1, by="bob")
    with pytest.raises(Reverted, match="another budget than expected"):
        await desk.jobs.fund(job_id, BUDGET, by="alice")
    assert desk.escrow() == 0


async def test_the_contract_may_take_only_the_budget(desk: Desk):
    await desk.funded()
    allowed = desk.token.read("allowance", desk.address(ALICE), desk.contract.address)
    assert allowed == 0
    assert desk.held(ALICE) == 3 * BUDGET
    # What one job was allowed to take is gone: the next is allowed its own.
    await desk.funded()
    assert desk.held(ALICE) == 2 * BUDGET


async def test_the_number_of_a_job_is_that_of_its_own_event(desk: Desk):
    """Somebody else's job is created in the same block, before it."""
    expires = int((clock.now() + timedelta(days=1)).timestamp())
    parties = (desk.address(BOB), desk.address(JUDY))
    zero = "0x" + 40 * "0"
    desk.contract.send("createJob", *parties, expires, "other", zero, by=desk.address(CAROL))
    job_id = await desk.jobs.create(desk.new(description="mine"), by="alice")
    desk.contract.send("createJob", *parties, expires, "other", zero, by=desk.address(CAROL))
    job = await desk.jobs.job(job_id)
    assert (job.id, job.description, job.client) == (2, "mine", desk.address(ALICE).lower())


async def test_an_expired_job_is_refunded_by_anybody(desk: Desk):
    job_id, _ = await desk.submitted()
    with pytest.raises(Reverted, match=r"claimRefund of job 1 .*: not expired"):
        await desk.jobs.claim_refund(job_id, by="judy")
    desk.expire()
    await desk.jobs.claim_refund(job_id, by="judy")
    assert (desk.held(ALICE), desk.escrow()) == (4 * BUDGET, 0)


# States


async def test_a_job_reads_as_a_task(desk: Desk):
    job_id = await desk.jobs.create(desk.new(), by="alice")
    assert (await desk.jobs.job(job_id)).state is TaskState.OPEN
    await desk.jobs.set_budget(job_id, BUDGET, by="alice")
    await desk.jobs.fund(job_id, BUDGET, by="alice")
    assert (await desk.jobs.job(job_id)).state is TaskState.ASSIGNED
    cid = desk.arena.content.put(RESULT)
    await desk.jobs.submit(job_id, cid, by="bob")
    job = await desk.jobs.job(job_id)
    assert (job.state, job.deliverable) == (
        TaskState.SUBMITTED,
        f"0x{hashlib.sha256(RESULT).hexdigest()}",
    )
    place = f"eip155:31337:{to_checksum_address(desk.contract.address)}"
    assert (job.contract, job.hook, job.reason) == (place, None, None)


async def test_a_job_that_its_client_rejects_while_open_is_cancelled(desk: Desk):
    job_id = await desk.jobs.create(desk.new(), by="alice")
    await desk.jobs.settle(job_id, is_passed=False, record_cid=cid_of_standard({}), by="alice")
    job = await desk.jobs.job(job_id)
    assert (job.status, job.state) == (JobStatus.REJECTED, TaskState.CANCELLED)


async def test_a_funded_job_that_is_rejected_without_a_result_is_refunded(desk: Desk):
    job_id = await desk.funded()
    await desk.jobs.settle(job_id, is_passed=False, record_cid=cid_of_standard({}), by="judy")
    assert (await desk.jobs.job(job_id)).state is TaskState.REFUNDED


async def test_why_a_job_expired(desk: Desk):
    """The standard has one state for both, Arena a reason for each."""
    silent = await desk.funded()
    unjudged, _ = await desk.submitted()
    desk.expire()
    for job_id in (silent, unjudged):
        await desk.jobs.claim_refund(job_id, by="bob")
    found = [await desk.jobs.job(job_id) for job_id in (silent, unjudged)]
    assert [job.status for job in found] == [JobStatus.EXPIRED] * 2
    assert [job.state for job in found] == [TaskState.EXPIRED] * 2
    reasons = [job.expiry_reason for job in found]
    assert reasons == [ExpiryReason.NO_SUBMISSION, ExpiryReason.NO_VERDICT]


async def test_the_events_of_an_old_job_are_found(desk: Desk):
    job_id, cid = await desk.submitted()
    desk.chain.mine(10)
    # Few blocks per request, so that several are needed.
    jobs = JobContract(desk.arena.caller, desk.contract.address, blocks_at_once=3)
    assert (await jobs.job(job_id)).deliverable == f"0x{parse_cid(cid).digest.hex()}"


# What is wrong


async def test_a_job_that_is_not_there(desk: Desk):
    with pytest.raises(UnknownJob, match="has no job 7"):
        await desk.jobs.job(7)
    with pytest.raises(InvalidInput, match="256 bits"):
        await desk.jobs.job(2**256)


async def test_an_address_without_a_contract(desk: Desk):
    nowhere = JobContract(desk.arena.caller, "0x" + "22" * 20)
    with pytest.raises(NoContract, match="there is no contract at 0x2222"):
        await nowhere.job(1)
    # A transaction there would succeed and do nothing.
    with pytest.raises(NoContract):
        await nowhere.create(desk.new(), by="alice")
    assert desk.sent_by(ALICE) == 0
    with pytest.raises(InvalidInput, match="40 hexadecimal digits"):
        JobContract(desk.arena.caller, "alice")


async def test_another_kind_of_contract(desk: Desk):
    with pytest.raises((NotThisStandard, UnknownJob)):
        await JobContract(desk.arena.caller, desk.token.address).job(1)
