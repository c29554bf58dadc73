"""Jobs of ERC-8183 (text of 2026-03-13): read them, and make the moves of each party.

Arena speaks it from assignment on: a job has a provider before it is funded, so an open task, whose
reward is in escrow while agents apply, stays a task of Arena's own contract.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import uuid4

from arena.chain.answers import Log, checksummed
from arena.chain.errors import Reverted
from arena.chain.standards.abi import (
    ALLOWANCE,
    APPROVE,
    CLAIM_REFUND,
    COMPLETE,
    CREATE_JOB,
    FUND,
    GET_JOB,
    JOB_COMPLETED,
    JOB_CREATED,
    JOB_REJECTED,
    JOB_SUBMITTED,
    PAYMENT_TOKEN,
    REFUNDED,
    REJECT,
    SET_BUDGET,
    SET_PROVIDER,
    SUBMIT,
    Function,
    word,
)
from arena.chain.standards.contract import (
    ADDRESS,
    ZERO,
    Caller,
    NotThisStandard,
    Sent,
    StandardContract,
)
from arena.chain.standards.job import Job, JobHistory, digest_of_cid, job_of
from arena.errors import InfrastructureError, InvalidInput, NotFound
from arena.market.call import CallKey, ReceiptStatus

STANDARD = "ERC-8183"
NO_PARAMETERS = b""
"""`optParams`: they are for hooks, and Arena speaks to none."""
NO_HOOK = ZERO
LARGEST = 2**256 - 1
BLOCKS_AT_ONCE = 10_000
"""Of a job's events per request; the newest first, for most jobs are."""


class UnknownJob(NotFound):
    """The contract has no such job."""

    code = "unknown_job"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewJob:
    """A job to be created."""

    provider: str | None
    """The address of whoever does it; it may be set later, but before the job is funded."""
    evaluator: str
    """The address of whoever judges it."""
    expires_at: datetime
    description: str


class JobContract:
    """A contract of jobs."""

    def __init__(
        self, caller: Caller, address: str, *, blocks_at_once: int = BLOCKS_AT_ONCE
    ) -> None:
        self.caller = caller
        self._contract = StandardContract(
            caller, address, what="the contract of jobs", standard=STANDARD
        )
        self._blocks_at_once = blocks_at_once

    @property
    def address(self) -> str:
        """In lower case."""
        return self._contract.address

    # Reading

    async def job(self, job_id: int) -> Job:
        """A job as it is in the newest block with enough blocks on top."""
        block = await self.caller.confirmed_block()
        data = await self._data(job_id, block)
        history = await self._history(job_id, block)
        try:
            return job_of(await self._contract.place(), data, history)
        except ValueError as error:
            raise NotThisStandard(f"job {job_id} of {self.address}: {error}") from None

    async def _data(self, job_id: int, block: int) -> tuple[Any, ...]:
        if not 0 <= job_id <= LARGEST:
            raise InvalidInput(f"the job's number is {job_id}: it has 0 to 256 bits")
        unknown = f"the contract {self.address} has no job {job_id}"
        try:
            data = await self._contract.read(GET_JOB, job_id, block=block)
        except Reverted as error:
            raise UnknownJob(f"{unknown} ({error.reason or 'no reason was given'})") from None
        # An implementation may return an empty job for a number that it has not given yet.
        if data[1] == ZERO:
            raise UnknownJob(unknown)
        return data

    async def _history(self, job_id: int, block: int) -> JobHistory:
        """What happened to a job, from its events: back to the one that created it."""
        found: list[Log] = []
        last = block
        while last >= 0 and not any(one.is_in(log) for log in found for one in JOB_CREATED):
            first = max(0, last - self._blocks_at_once + 1)
            topics = (None, word(job_id))
            at = [checksummed(self.address)]
            found = await self.caller.node.logs(at, first, last, topics) + found
            last = first - 1
        try:
            return _job_history(found)
        except ValueError as error:
            raise NotThisStandard(f"an event of job {job_id} of {self.address}: {error}") from None

    # The client

    async def create(self, new: NewJob, *, by: str) -> int:
        """Create a job, which is not funded yet, and return its number.

        The number is that of this transaction's own event: a guess could be somebody else's job.
        """
        arguments = (
            _address("the provider", new.provider or ZERO),
            _address("the evaluator", new.evaluator),
            int(new.expires_at.timestamp()),
            new.description,
            NO_HOOK,
        )
        what = f"createJob of {self.address}"
        sent = await self._contract.send(CREATE_JOB, arguments, by=by, key=_once(), what=what)
        receipt = await self._contract.receipt(sent)
        if receipt is None:
            raise InfrastructureError(
                f"{what} is not final yet (transaction {sent.transaction_hash}): do not create it "
                "again; once it is final, its event JobCreated has the number of the job",
                retryable=False,
            )
        for log in receipt.logs:
            is_mine = log.address.lower() == self.address
            if is_mine and any(one.is_in(log) for one in JOB_CREATED):
                return int.from_bytes(log.topics[1], "big")
        raise NotThisStandard(f"{self.address} created a job without the event JobCreated")

    async def set_provider(self, job_id: int, provider: str, *, by: str) -> Sent:
        """Choose who does it; only a job that was created without one."""
        given = _address("the provider", provider)
        return await self._act(SET_PROVIDER, job_id, (given, NO_PARAMETERS), by=by)

    async def set_budget(self, job_id: int, amount: int, *, by: str) -> Sent:
        """Set the price, in the token's smallest unit; it may be set again while it is open."""
        if not 0 <= amount <= LARGEST:
            raise InvalidInput(f"the budget is {amount}: it has 0 to 256 bits")
        arguments = (amount, NO_PARAMETERS)
        return await self._act(SET_BUDGET, job_id, arguments, by=by, key=_once())

    async def fund(self, job_id: int, expected_budget: int, *, by: str) -> Sent:
        """Pay the budget into the escrow; refused if it is not the expected one.

        The contract is first allowed to take this amount of the token, unless it is already.
        """
        await self._approve(expected_budget, by=by, job_id=job_id)
        return await self._act(FUND, job_id, (expected_budget, NO_PARAMETERS), by=by)

    async def _approve(self, amount: int, *, by: str, job_id: int) -> None:
        token = StandardContract(
            self.caller,
            await self._contract.read(PAYMENT_TOKEN),
            what="the token of the contract of jobs",
            standard="ERC-20",
        )
        _, owner = self.caller.key_of(by)
        spender = checksummed(self.address)
        if await token.read(ALLOWANCE, checksummed(owner), spender) >= amount:
            return
        what = f"approve for job {job_id} of {self.address}"
        # A key of its own each time: what was allowed for one job may have paid another.
        sent = await token.send(APPROVE, (spender, amount), by=by, key=_once(), what=what)
        if sent.status is ReceiptStatus.PENDING:
            raise InfrastructureError(
                f"{what} is not final yet (transaction {sent.transaction_hash}): try again later"
            )

    # The provider

    async def submit(self, job_id: int, result_cid: str, *, by: str) -> Sent:
        """Submit a result: its digest goes to the chain, its CID to the evaluator."""
        arguments = (digest_of_cid(result_cid), NO_PARAMETERS)
        return await self._act(SUBMIT, job_id, arguments, by=by)

    # The evaluator

    async def settle(self, job_id: int, *, is_passed: bool, record_cid: str, by: str) -> Sent:
        """Complete or reject a job; the reason is the digest of the verdict's record."""
        function = COMPLETE if is_passed else REJECT
        arguments = (digest_of_cid(record_cid), NO_PARAMETERS)
        key = self._verdict_key(job_id)
        return await self._act(function, job_id, arguments, by=by, key=key)

    async def unfinished_verdict(self, job_id: int) -> tuple[bytes, Sent] | None:
        """The reason of a verdict that an earlier call sent, and how it went; None if none waits.

        A process that was killed after sending is continued by this.
        """
        found = await self.caller.outbox.find(self.caller.team_id, self._verdict_key(job_id))
        if found is None or found.state.is_finished:
            return None
        sent = await self._contract.finished(found, f"the verdict on job {job_id}")
        # After the selector and the job's number.
        return found.data[36:68], sent

    def _verdict_key(self, job_id: int) -> CallKey:
        """One verdict per job, whichever it is."""
        return self._key(job_id, "verdict")

    # Anybody

    async def claim_refund(self, job_id: int, *, by: str) -> Sent:
        """Send the budget of an expired job back to its client."""
        return await self._act(CLAIM_REFUND, job_id, (), by=by)

    async def _act(
        self,
        function: Function,
        job_id: int,
        arguments: Sequence[object],
        *,
        by: str,
        key: CallKey | None = None,
    ) -> Sent:
        return await self._contract.send(
            function,
            (job_id, *arguments),
            by=by,
            key=key or self._key(job_id, function.name),
            what=f"{function.name} of job {job_id} of {self.address}",
        )

    def _key(self, job_id: int, what: str) -> CallKey:
        return CallKey(text=f"{STANDARD} {self.address} {job_id} {what}", is_internal=True)


def _once() -> CallKey:
    """A key for a call that is new every time."""
    return CallKey(text=uuid4().hex, is_internal=True)


def _job_history(logs: Sequence[Log]) -> JobHistory:
    deliverable = reason = None
    is_refunded = False
    for log in logs:
        if JOB_SUBMITTED.is_in(log):
            (deliverable,) = JOB_SUBMITTED.decode(log)
        elif JOB_COMPLETED.is_in(log) or JOB_REJECTED.is_in(log):
            (reason,) = JOB_COMPLETED.decode(log)
        elif REFUNDED.is_in(log):
            is_refunded = True
    return JobHistory(
        deliverable=None if deliverable is None else f"0x{deliverable.hex()}",
        reason=None if not reason or not any(reason) else f"0x{reason.hex()}",
        is_refunded=is_refunded,
    )


def _address(what: str, given: str) -> str:
    if not ADDRESS.fullmatch(given):
        raise InvalidInput(f"{what} is {given[:60]!r}, must be an address: 0x and 40 digits")
    return checksummed(given)
