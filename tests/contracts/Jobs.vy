# pragma version 0.4.3
"""
@notice Jobs as the text of ERC-8183 (2026-03-13) describes them: no fees, and hooks are ignored,
        which the text allows. For tests.
"""

interface Token:
    def transfer(receiver: address, amount: uint256) -> bool: nonpayable
    def transferFrom(sender: address, receiver: address, amount: uint256) -> bool: nonpayable

OPEN: constant(uint8) = 0
FUNDED: constant(uint8) = 1
SUBMITTED: constant(uint8) = 2
COMPLETED: constant(uint8) = 3
REJECTED: constant(uint8) = 4
EXPIRED: constant(uint8) = 5

struct Job:
    id: uint256
    client: address
    provider: address
    evaluator: address
    description: String[2048]
    budget: uint256
    expiredAt: uint256
    status: uint8
    hook: address

event JobCreated:
    jobId: indexed(uint256)
    client: indexed(address)
    provider: indexed(address)
    evaluator: address
    expiredAt: uint256
    hook: address

event ProviderSet:
    jobId: indexed(uint256)
    provider: indexed(address)

event BudgetSet:
    jobId: indexed(uint256)
    amount: uint256

event JobFunded:
    jobId: indexed(uint256)
    client: indexed(address)
    amount: uint256

event JobSubmitted:
    jobId: indexed(uint256)
    provider: indexed(address)
    deliverable: bytes32

event JobCompleted:
    jobId: indexed(uint256)
    evaluator: indexed(address)
    reason: bytes32

event JobRejected:
    jobId: indexed(uint256)
    rejector: indexed(address)
    reason: bytes32

event JobExpired:
    jobId: indexed(uint256)

event PaymentReleased:
    jobId: indexed(uint256)
    provider: indexed(address)
    amount: uint256

event Refunded:
    jobId: indexed(uint256)
    client: indexed(address)
    amount: uint256

paymentToken: public(immutable(address))
jobs: HashMap[uint256, Job]
jobCounter: public(uint256)


@deploy
def __init__(token: address):
    paymentToken = token


@external
def createJob(
    provider: address,
    evaluator: address,
    expiredAt: uint256,
    description: String[2048],
    hook: address,
) -> uint256:
    assert evaluator != empty(address), "evaluator is zero"
    assert expiredAt > block.timestamp, "expiredAt is not in the future"
    self.jobCounter += 1
    number: uint256 = self.jobCounter
    self.jobs[number] = Job(
        id=number,
        client=msg.sender,
        provider=provider,
        evaluator=evaluator,
        description=description,
        budget=0,
        expiredAt=expiredAt,
        status=OPEN,
        hook=hook,
    )
    log JobCreated(
        jobId=number,
        client=msg.sender,
        provider=provider,
        evaluator=evaluator,
        expiredAt=expiredAt,
        hook=hook,
    )
    return number


@external
def setProvider(jobId: uint256, provider: address, optParams: Bytes[1024]):
    self._is(jobId, OPEN)
    assert msg.sender == self.jobs[jobId].client, "not the client"
    assert self.jobs[jobId].provider == empty(address), "the provider is set"
    assert provider != empty(address), "provider is zero"
    self.jobs[jobId].provider = provider
    log ProviderSet(jobId=jobId, provider=provider)


@external
def setBudget(jobId: uint256, amount: uint256, optParams: Bytes[1024]):
    self._is(jobId, OPEN)
    job_client: address = self.jobs[jobId].client
    assert msg.sender in [job_client, self.jobs[jobId].provider], "neither client nor provider"
    self.jobs[jobId].budget = amount
    log BudgetSet(jobId=jobId, amount=amount)


@external
@nonreentrant
def fund(jobId: uint256, expectedBudget: uint256, optParams: Bytes[1024]):
    self._is(jobId, OPEN)
    budget: uint256 = self.jobs[jobId].budget
    assert msg.sender == self.jobs[jobId].client, "not the client"
    assert budget != 0, "the budget is zero"
    assert self.jobs[jobId].provider != empty(address), "the provider is not set"
    assert budget == expectedBudget, "another budget than expected"
    self.jobs[jobId].status = FUNDED
    assert extcall Token(paymentToken).transferFrom(msg.sender, self, budget)
    log JobFunded(jobId=jobId, client=msg.sender, amount=budget)


@external
def submit(jobId: uint256, deliverable: bytes32, optParams: Bytes[1024]):
    self._is(jobId, FUNDED)
    assert msg.sender == self.jobs[jobId].provider, "not the provider"
    self.jobs[jobId].status = SUBMITTED
    log JobSubmitted(jobId=jobId, provider=msg.sender, deliverable=deliverable)


@external
@nonreentrant
def complete(jobId: uint256, reason: bytes32, optParams: Bytes[1024]):
    self._is(jobId, SUBMITTED)
    assert msg.sender == self.jobs[jobId].evaluator, "not the evaluator"
    self.jobs[jobId].status = COMPLETED
    provider: address = self.jobs[jobId].provider
    budget: uint256 = self.jobs[jobId].budget
    assert extcall Token(paymentToken).transfer(provider, budget)
    log JobCompleted(jobId=jobId, evaluator=msg.sender, reason=reason)
    log PaymentReleased(jobId=jobId, provider=provider, amount=budget)


@external
@nonreentrant
def reject(jobId: uint256, reason: bytes32, optParams: Bytes[1024]):
    status: uint8 = self._status(jobId)
    if status == OPEN:
        assert msg.sender == self.jobs[jobId].client, "not the client"
    else:
        assert status == FUNDED or status == SUBMITTED, "wrong status"
        assert msg.sender == self.jobs[jobId].evaluator, "not the evaluator"
    self.jobs[jobId].status = REJECTED
    if status != OPEN:
        self._refund(jobId)
    log JobRejected(jobId=jobId, rejector=msg.sender, reason=reason)


@external
@nonreentrant
def claimRefund(jobId: uint256):
    status: uint8 = self._status(jobId)
    # An open job was never funded: there is nothing of it to give back.
    assert status == FUNDED or status == SUBMITTED, "wrong status"
    assert block.timestamp >= self.jobs[jobId].expiredAt, "not expired"
    self.jobs[jobId].status = EXPIRED
    self._refund(jobId)
    log JobExpired(jobId=jobId)


@external
@view
def getJob(jobId: uint256) -> Job:
    return self.jobs[jobId]


@internal
def _refund(jobId: uint256):
    client: address = self.jobs[jobId].client
    budget: uint256 = self.jobs[jobId].budget
    assert extcall Token(paymentToken).transfer(client, budget)
    log Refunded(jobId=jobId, client=client, amount=budget)


@internal
@view
def _status(jobId: uint256) -> uint8:
    assert self.jobs[jobId].client != empty(address), "no such job"
    return self.jobs[jobId].status


@internal
@view
def _is(jobId: uint256, status: uint8):
    assert self._status(jobId) == status, "wrong status"
