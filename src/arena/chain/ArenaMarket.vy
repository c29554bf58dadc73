# pragma version 0.4.3
# pragma evm-version cancun
# pragma optimize gas
# pragma nonreentrancy on
"""
@title ArenaMarket
@license Apache-2.0
@notice Paid tasks with a reward in escrow: post, apply, submit, judge, dispute, settle.
@dev The same states, guards and money as the embedded ledger (docs/market.md; its rows are numbered
     in the comments below). A call is checked in the same order: the state, the role, the window,
     the content. A refusal's reason is the name of Arena's error for it. A revert without a reason
     is none of the market's: a text longer than its type, ether sent to a call that takes none, a
     gas limit too low for a payment, a call from within a payment.

     Trust. The contract has no owner, no proxy and no pause: nobody can change a task's terms, take
     its money or stop it. Whoever takes part trusts
     - the judge named in the terms, as far as its verdict cannot be disputed, and then the arbiter;
     - that different addresses are different parties: one party may have several;
     - the block's timestamp, which a validator can shift by some seconds: windows are in minutes.
     The contract stores digests, never content. Whether a CID can be fetched, and what it holds, is
     checked by Arena before it sends a call.

     Every window is half-open, [opens, closes): at the instant one closes, the timeout opens, and
     from then on anyone may end the task. No task can be stuck, whatever its parties do.

     Money. A payment is pushed with little gas and no returned data; if the receiver refuses it,
     it becomes a credit that the receiver can withdraw. So no receiver can block a settlement.
     All effects are written before a payment, and every function is non-reentrant.
     `held` is what the contract owes: escrows, bonds and credits. Its balance is never less; it is
     more only if somebody forced ether into it.
"""

MIN_PASS_SCORE: public(constant(uint256)) = 60

# States, as in `TaskView.state`; 0 is no task.
OPEN: constant(uint256) = 1
ASSIGNED: constant(uint256) = 2
COMMITTED: constant(uint256) = 3
SUBMITTED: constant(uint256) = 4
JUDGED: constant(uint256) = 5
DISPUTED: constant(uint256) = 6
PAID: constant(uint256) = 7
REFUNDED: constant(uint256) = 8
EXPIRED: constant(uint256) = 9
CANCELLED: constant(uint256) = 10

MAX_SCORE: constant(uint256) = 100
MIN_WINDOW: constant(uint256) = 60
MAX_WINDOW: constant(uint256) = 30 * 86400
MAX_DEADLINE: constant(uint256) = 366 * 86400
MAX_APPLICANTS: constant(uint256) = 1000

PUSH_GAS: constant(uint256) = 30_000
# Gas that must be left before a push: its own costs to an account with code are up to 17,000, and a
# call passes on at most 63/64 of what is left. Without this check a caller could choose a gas limit
# at which the receiver gets too little, and so turn its payment into a credit.
PUSH_RESERVE: constant(uint256) = 50_000

EIP712_DOMAIN: constant(bytes32) = keccak256(
    "EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"
)
NAME: constant(bytes32) = keccak256("Arena")
VERSION: constant(bytes32) = keccak256("1")
APPLY: constant(bytes32) = keccak256(
    "Apply(uint256 taskId,address agent,string version,uint256 expires)"
)
COMMIT: constant(bytes32) = keccak256(
    "Commit(uint256 taskId,address agent,bytes32 commitment,uint256 expires)"
)
SUBMIT: constant(bytes32) = keccak256(
    "Submit(uint256 taskId,address agent,string resultHash,string language,uint256 expires)"
)
DISPUTE: constant(bytes32) = keccak256(
    "Dispute(uint256 taskId,address agent,string reasonURI,uint256 expires)"
)
# Half the order of secp256k1. For every signature (r, s) there is a second one with n - s; only
# the lower is accepted, so nobody can alter a signature that is still valid.
MAX_S: constant(bytes32) = 0x7FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF5D576E7357A4501DDFE92F46681B20A0


struct Terms:  # fixed when the task is posted
    deadline: uint256  # unix seconds; results are accepted before it
    judge: address
    judgeWindow: uint256  # seconds, counted from the submission
    fallbackJudge: address  # may judge once the judge has missed its window; empty: none
    fallbackWindow: uint256
    agentSharePercent: uint256  # of the reward, if nobody judges; rounded down
    disputeWindow: uint256  # 0: a verdict settles at once
    arbiter: address
    arbiterWindow: uint256
    bond: uint256  # what a dispute costs; it goes to the side that wins the dispute
    commitDeadline: uint256  # 0: no commitment; else commit before it, reveal from it on
    maxApplicants: uint256
    isSelfJudged: bool  # the poster is the judge
    isFirst: bool  # the first to apply gets the task


struct TaskView:
    terms: Terms
    poster: address
    reward: uint256
    state: uint256  # 0 none, 1 open, 2 assigned, 3 committed, 4 submitted, 5 judged, 6 disputed,
    #                 7 paid, 8 refunded, 9 expired, 10 cancelled
    agent: address
    applicantCount: uint256
    submittedAt: uint256
    judgedAt: uint256  # 0: no verdict, and then `score` means nothing
    disputedAt: uint256
    score: uint256  # of the verdict; a resolution does not change it
    disputer: address
    evaluationDigest: bytes32  # keccak256 of the text of the evaluationCID
    resultDigest: bytes32  # keccak256 of the text of the resultHash
    commitment: bytes32


# Vyper does not pack the fields of a struct: each would cost a storage word, 22,100 gas. They are
# packed by hand, from the highest bit down. Times have 36 bits (until the year 4147), windows 24,
# amounts 96. `fallback`, `dispute`, `bond` and `commitment` are written only if the task has them,
# and flags in `terms` tell, so that a plain task never reads them.
struct Task:
    money: uint256  # poster 160, reward 96
    terms: uint256  # judge 160, deadline 36, judgeWindow 24, maxApplicants 12, share 8, flags 16
    progress: uint256  # see Progress
    evaluation: bytes32
    result: bytes32
    fallback: uint256  # fallbackJudge 160, commitDeadline 36, fallbackWindow 24, unused 36
    dispute: uint256  # arbiter 160, disputedAt 36, disputeWindow 24, arbiterWindow 24, unused 12
    bond: uint256
    commitment: bytes32


struct Progress:  # one storage word, and unpacked in memory
    agent: address  # 160 bits
    submittedAt: uint256  # 36
    judgedAt: uint256  # 36
    applicantCount: uint256  # 12
    score: uint256  # 8
    state: uint256  # 4


# How far a field is shifted up, and its mask when it is down again.
PARTY_SHIFT: constant(uint256) = 96
TIME_SHIFT: constant(uint256) = 60  # of deadline, submittedAt, commitDeadline and disputedAt
WINDOW_SHIFT: constant(uint256) = 36  # of judgeWindow, fallbackWindow and disputeWindow
ARBITER_WINDOW_SHIFT: constant(uint256) = 12
MAX_APPLICANTS_SHIFT: constant(uint256) = 24
SHARE_SHIFT: constant(uint256) = 16
JUDGED_SHIFT: constant(uint256) = 24
APPLICANT_COUNT_SHIFT: constant(uint256) = 12
SCORE_SHIFT: constant(uint256) = 4
AMOUNT_MASK: constant(uint256) = 2**96 - 1
TIME_MASK: constant(uint256) = 2**36 - 1
WINDOW_MASK: constant(uint256) = 2**24 - 1
COUNT_MASK: constant(uint256) = 2**12 - 1
BYTE_MASK: constant(uint256) = 2**8 - 1
STATE_MASK: constant(uint256) = 2**4 - 1

# Flags in Task.terms.
IS_FIRST: constant(uint256) = 1
HAS_COMMIT: constant(uint256) = 2
HAS_FALLBACK: constant(uint256) = 4
HAS_DISPUTE: constant(uint256) = 8


event TaskPosted:
    taskId: indexed(uint256)
    poster: indexed(address)
    judge: indexed(address)
    reward: uint256
    terms: Terms
    evaluationCID: String[128]
    descriptionCID: String[128]

event Applied:
    taskId: indexed(uint256)
    agent: indexed(address)
    version: String[20]

event Assigned:
    taskId: indexed(uint256)
    agent: indexed(address)
    by: address

event Committed:
    taskId: indexed(uint256)
    agent: indexed(address)
    commitment: bytes32

event ResultSubmitted:
    taskId: indexed(uint256)
    agent: indexed(address)
    resultHash: String[128]
    language: String[50]

event Judged:
    taskId: indexed(uint256)
    judge: indexed(address)
    score: uint256
    winner: address
    resultHash: String[128]
    reasonURI: String[256]

event Disputed:
    taskId: indexed(uint256)
    by: indexed(address)
    bond: uint256
    reasonURI: String[256]

event Resolved:
    taskId: indexed(uint256)
    arbiter: indexed(address)
    score: uint256
    reasonURI: String[256]
    bondTo: address

event Paid:
    taskId: indexed(uint256)
    agent: indexed(address)
    amount: uint256
    score: uint256
    by: address

event Refunded:
    taskId: indexed(uint256)
    poster: indexed(address)
    amount: uint256
    score: uint256
    by: address

event Expired:
    taskId: indexed(uint256)
    hasSubmission: bool
    toAgent: uint256
    toPoster: uint256
    by: address

event Cancelled:
    taskId: indexed(uint256)
    poster: indexed(address)
    amount: uint256

event Credited:  # a push payment failed
    who: indexed(address)
    amount: uint256

event Withdrawn:
    who: indexed(address)
    amount: uint256


taskCount: public(uint256)  # ids count from 1
held: public(uint256)  # escrows, bonds and credits
credits: public(HashMap[address, uint256])
hasApplied: public(HashMap[uint256, HashMap[address, bool]])
tasks: HashMap[uint256, Task]


# Posting: row 1.

@external
@payable
def postTask(terms: Terms, evaluationCID: String[128], descriptionCID: String[128]) -> uint256:
    """
    @notice Offer a task; the ether sent is its reward, locked until the task ends.
    @return The task's id.
    """
    assert 0 < msg.value and msg.value <= AMOUNT_MASK, "InvalidInput"
    self._checkTerms(terms, msg.sender)
    assert len(evaluationCID) > 0 and len(descriptionCID) > 0, "BadContent"
    taskId: uint256 = self.taskCount + 1
    self.taskCount = taskId
    self.held += msg.value
    self._store(taskId, terms, msg.sender, msg.value, keccak256(evaluationCID))
    log TaskPosted(
        taskId=taskId,
        poster=msg.sender,
        judge=terms.judge,
        reward=msg.value,
        terms=terms,
        evaluationCID=evaluationCID,
        descriptionCID=descriptionCID,
    )
    return taskId


@internal
@view
def _checkTerms(terms: Terms, poster: address):
    """
    @dev Terms that could not be met are refused: every live task must have an exit.
    """
    assert terms.bond <= AMOUNT_MASK and terms.judge != empty(address), "InvalidInput"
    self._checkParties(terms, poster)
    # Times.
    assert block.timestamp < terms.deadline, "InvalidInput"
    assert terms.deadline <= block.timestamp + MAX_DEADLINE, "InvalidInput"
    if terms.commitDeadline != 0:
        # Equal times would leave an empty window.
        assert block.timestamp < terms.commitDeadline, "InvalidInput"
        assert terms.commitDeadline < terms.deadline, "InvalidInput"
    # Windows.
    assert self._isWindow(terms.judgeWindow), "InvalidInput"
    if terms.fallbackJudge != empty(address):
        assert self._isWindow(terms.fallbackWindow), "InvalidInput"
    else:
        assert terms.fallbackWindow == 0, "InvalidInput"
    if terms.disputeWindow != 0:
        assert self._isWindow(terms.disputeWindow), "InvalidInput"
        assert self._isWindow(terms.arbiterWindow), "InvalidInput"
        assert terms.arbiter != empty(address), "InvalidInput"
    else:
        # Set without effect, they would mean something else than the poster thinks.
        assert terms.arbiter == empty(address), "InvalidInput"
        assert terms.arbiterWindow == 0 and terms.bond == 0, "InvalidInput"
    assert terms.agentSharePercent <= 100, "InvalidInput"
    assert 1 <= terms.maxApplicants and terms.maxApplicants <= MAX_APPLICANTS, "InvalidInput"


@internal
@pure
def _checkParties(terms: Terms, poster: address):
    """
    @dev All roles are held by different parties, except that the poster of a task that is marked
         self-judged is its judge. The agent is checked when it applies.
    """
    assert (terms.judge == poster) == terms.isSelfJudged, "WrongRole"
    if terms.fallbackJudge != empty(address):
        assert terms.fallbackJudge not in [poster, terms.judge], "WrongRole"
    if terms.arbiter != empty(address):
        assert terms.arbiter not in [poster, terms.judge, terms.fallbackJudge], "WrongRole"


@internal
@pure
def _isWindow(seconds: uint256) -> bool:
    return MIN_WINDOW <= seconds and seconds <= MAX_WINDOW


@internal
def _store(
    taskId: uint256, terms: Terms, poster: address, reward: uint256, evaluation: bytes32
):
    """
    @dev Write the packed words; `_checkTerms` has checked that each field fits its bits.
    """
    flags: uint256 = 0
    if terms.isFirst:
        flags |= IS_FIRST
    if terms.commitDeadline != 0:
        flags |= HAS_COMMIT
    if terms.fallbackJudge != empty(address):
        flags |= HAS_FALLBACK
    if flags & (HAS_COMMIT | HAS_FALLBACK) != 0:
        self.tasks[taskId].fallback = (
            convert(terms.fallbackJudge, uint256) << PARTY_SHIFT
            | terms.commitDeadline << TIME_SHIFT
            | terms.fallbackWindow << WINDOW_SHIFT
        )
    if terms.disputeWindow != 0:
        flags |= HAS_DISPUTE
        self.tasks[taskId].dispute = (
            convert(terms.arbiter, uint256) << PARTY_SHIFT
            | terms.disputeWindow << WINDOW_SHIFT
            | terms.arbiterWindow << ARBITER_WINDOW_SHIFT
        )
        if terms.bond != 0:
            self.tasks[taskId].bond = terms.bond
    self.tasks[taskId].money = convert(poster, uint256) << PARTY_SHIFT | reward
    self.tasks[taskId].terms = (
        convert(terms.judge, uint256) << PARTY_SHIFT
        | terms.deadline << TIME_SHIFT
        | terms.judgeWindow << WINDOW_SHIFT
        | terms.maxApplicants << MAX_APPLICANTS_SHIFT
        | terms.agentSharePercent << SHARE_SHIFT
        | flags
    )
    self.tasks[taskId].progress = OPEN
    self.tasks[taskId].evaluation = evaluation


# Applying: row 2.

@external
def applyForTask(taskId: uint256, version: String[20]):
    """
    @notice Apply as an agent with no other role in the task.
    """
    self._apply(taskId, msg.sender, version)


@external
def applyForTaskSigned(
    taskId: uint256, agent: address, version: String[20], expires: uint256, signature: Bytes[65]
):
    """
    @notice Apply for an agent that signed it; anyone may relay the signature and pay the gas.
    """
    statement: bytes32 = keccak256(abi_encode(APPLY, taskId, agent, keccak256(version), expires))
    self._checkSignature(agent, statement, expires, signature)
    self._apply(taskId, agent, version)


@internal
def _apply(taskId: uint256, agent: address, version: String[20]):
    progress: Progress = self._progress(taskId)
    assert progress.state == OPEN, "WrongState"
    terms: uint256 = self.tasks[taskId].terms
    assert not self._hasRole(taskId, terms, agent), "WrongRole"
    self._before((terms >> TIME_SHIFT) & TIME_MASK)
    assert not self.hasApplied[taskId][agent], "WrongState"
    limit: uint256 = (terms >> MAX_APPLICANTS_SHIFT) & COUNT_MASK
    assert progress.applicantCount < limit, "WrongState"
    self.hasApplied[taskId][agent] = True
    progress.applicantCount += 1
    log Applied(taskId=taskId, agent=agent, version=version)
    if terms & IS_FIRST != 0:
        self._assign(taskId, progress, agent, agent)
    else:
        self._write(taskId, progress)


@internal
@view
def _hasRole(taskId: uint256, terms: uint256, who: address) -> bool:
    if who == self._party(terms) or who == self._party(self.tasks[taskId].money):
        return True
    if terms & HAS_FALLBACK != 0 and who == self._party(self.tasks[taskId].fallback):
        return True
    return terms & HAS_DISPUTE != 0 and who == self._party(self.tasks[taskId].dispute)


# Assigning and cancelling: rows 3 and 4.

@external
def assignTask(taskId: uint256, agent: address):
    """
    @notice The poster gives the task to an agent that has applied.
    """
    progress: Progress = self._progress(taskId)
    assert progress.state == OPEN, "WrongState"
    assert msg.sender == self._party(self.tasks[taskId].money), "WrongRole"
    self._before(self._deadline(taskId))
    assert self.hasApplied[taskId][agent], "WrongState"
    self._assign(taskId, progress, agent, msg.sender)


@internal
def _assign(taskId: uint256, before: Progress, agent: address, by: address):
    progress: Progress = before
    progress.state = ASSIGNED
    progress.agent = agent
    self._write(taskId, progress)
    log Assigned(taskId=taskId, agent=agent, by=by)


@external
def cancelTask(taskId: uint256):
    """
    @notice The poster takes an open task back, with the whole reward.
    """
    progress: Progress = self._progress(taskId)
    assert progress.state == OPEN, "WrongState"
    money: uint256 = self.tasks[taskId].money
    assert msg.sender == self._party(money), "WrongRole"
    self._before(self._deadline(taskId))
    progress.state = CANCELLED
    self._write(taskId, progress)
    log Cancelled(taskId=taskId, poster=msg.sender, amount=money & AMOUNT_MASK)
    self._push(msg.sender, money & AMOUNT_MASK)


# Committing: row 8.

@external
def commitResult(taskId: uint256, commitment: bytes32):
    """
    @notice The assigned agent commits to a result that nobody has seen: keccak256 of
            abi_encode(chain.id, this contract, taskId, agent, keccak256(resultHash), salt).
            It names the agent, so a copy is useless to others.
    """
    self._commit(taskId, msg.sender, commitment)


@external
def commitResultSigned(
    taskId: uint256, agent: address, commitment: bytes32, expires: uint256, signature: Bytes[65]
):
    """
    @notice `commitResult` for an agent that signed it.
    """
    statement: bytes32 = keccak256(abi_encode(COMMIT, taskId, agent, commitment, expires))
    self._checkSignature(agent, statement, expires, signature)
    self._commit(taskId, agent, commitment)


@internal
def _commit(taskId: uint256, by: address, commitment: bytes32):
    progress: Progress = self._progress(taskId)
    assert progress.state == ASSIGNED, "WrongState"
    assert self.tasks[taskId].terms & HAS_COMMIT != 0, "WrongState"
    assert by == progress.agent, "WrongRole"
    self._before((self.tasks[taskId].fallback >> TIME_SHIFT) & TIME_MASK)
    assert commitment != empty(bytes32), "BadContent"
    self.tasks[taskId].commitment = commitment
    progress.state = COMMITTED
    self._write(taskId, progress)
    log Committed(taskId=taskId, agent=by, commitment=commitment)


# Submitting: rows 6 and 9.

@external
def submitResult(
    taskId: uint256, resultHash: String[128], language: String[50], salt: bytes32
):
    """
    @notice The assigned agent submits its result, once; after a commitment, with its salt.
    """
    self._submit(taskId, msg.sender, resultHash, language, salt)


@external
def submitResultSigned(
    taskId: uint256,
    agent: address,
    resultHash: String[128],
    language: String[50],
    salt: bytes32,
    expires: uint256,
    signature: Bytes[65],
):
    """
    @notice `submitResult` for an agent that signed it. The salt needs no signature: only one fits.
    """
    statement: bytes32 = keccak256(
        abi_encode(SUBMIT, taskId, agent, keccak256(resultHash), keccak256(language), expires)
    )
    self._checkSignature(agent, statement, expires, signature)
    self._submit(taskId, agent, resultHash, language, salt)


@internal
def _submit(
    taskId: uint256, by: address, resultHash: String[128], language: String[50], salt: bytes32
):
    progress: Progress = self._progress(taskId)
    terms: uint256 = self.tasks[taskId].terms
    isReveal: bool = terms & HAS_COMMIT != 0
    assert progress.state == (COMMITTED if isReveal else ASSIGNED), "WrongState"
    assert by == progress.agent, "WrongRole"
    if isReveal:
        self._from((self.tasks[taskId].fallback >> TIME_SHIFT) & TIME_MASK)
    self._before((terms >> TIME_SHIFT) & TIME_MASK)
    assert len(resultHash) > 0, "BadContent"
    digest: bytes32 = keccak256(resultHash)
    if isReveal:
        revealed: bytes32 = keccak256(abi_encode(chain.id, self, taskId, by, digest, salt))
        assert revealed == self.tasks[taskId].commitment, "BadContent"
    self.tasks[taskId].result = digest
    progress.state = SUBMITTED
    progress.submittedAt = block.timestamp
    self._write(taskId, progress)
    log ResultSubmitted(taskId=taskId, agent=by, resultHash=resultHash, language=language)


# The verdict: rows 11, 12 and 13.

@external
def judgeAndPay(
    taskId: uint256,
    score: uint256,
    winner: address,
    resultHash: String[128],
    reasonURI: String[256],
):
    """
    @notice The judge, or in its own later window the fallback judge, gives the one verdict.
            It names the agent and the result it is about. Without a dispute window it settles.
    """
    progress: Progress = self._progress(taskId)
    assert progress.state == SUBMITTED, "WrongState"
    terms: uint256 = self.tasks[taskId].terms
    judgeUntil: uint256 = progress.submittedAt + ((terms >> WINDOW_SHIFT) & WINDOW_MASK)
    if msg.sender == self._party(terms):
        self._before(judgeUntil)
    else:
        assert terms & HAS_FALLBACK != 0, "WrongRole"
        fallback: uint256 = self.tasks[taskId].fallback
        assert msg.sender == self._party(fallback), "WrongRole"
        self._from(judgeUntil)
        self._before(judgeUntil + ((fallback >> WINDOW_SHIFT) & WINDOW_MASK))
    assert score <= MAX_SCORE, "BadScore"
    assert winner == progress.agent, "WrongRole"
    assert keccak256(resultHash) == self.tasks[taskId].result, "BadContent"
    progress.score = score
    progress.judgedAt = block.timestamp
    log Judged(
        taskId=taskId,
        judge=msg.sender,
        score=score,
        winner=winner,
        resultHash=resultHash,
        reasonURI=reasonURI,
    )
    if terms & HAS_DISPUTE != 0:
        progress.state = JUDGED
        self._write(taskId, progress)
    else:
        self._settle(taskId, progress, score, 0, empty(address))


# Disputes: rows 15 and 17.

@external
@payable
def dispute(taskId: uint256, reasonURI: String[256]):
    """
    @notice The side that lost by the verdict asks the arbiter; the ether sent must be the bond.
    """
    self._dispute(taskId, msg.sender, reasonURI, msg.value)


@external
@payable
def disputeSigned(
    taskId: uint256, agent: address, reasonURI: String[256], expires: uint256, signature: Bytes[65]
):
    """
    @notice `dispute` for an agent that signed it. Whoever relays it pays the bond, which is the
            agent's from then on.
    """
    statement: bytes32 = keccak256(
        abi_encode(DISPUTE, taskId, agent, keccak256(reasonURI), expires)
    )
    self._checkSignature(agent, statement, expires, signature)
    self._dispute(taskId, agent, reasonURI, msg.value)


@internal
def _dispute(taskId: uint256, by: address, reasonURI: String[256], paid: uint256):
    progress: Progress = self._progress(taskId)
    assert progress.state == JUDGED, "WrongState"
    assert by == self._loser(taskId, progress), "WrongRole"
    word: uint256 = self.tasks[taskId].dispute
    self._before(progress.judgedAt + ((word >> WINDOW_SHIFT) & WINDOW_MASK))
    assert paid == self.tasks[taskId].bond, "InsufficientFunds"
    self.held += paid
    self.tasks[taskId].dispute = word | block.timestamp << TIME_SHIFT
    progress.state = DISPUTED
    self._write(taskId, progress)
    log Disputed(taskId=taskId, by=by, bond=paid, reasonURI=reasonURI)


@external
def resolve(taskId: uint256, score: uint256, reasonURI: String[256]):
    """
    @notice The arbiter decides a dispute; its score settles the task.
    """
    progress: Progress = self._progress(taskId)
    assert progress.state == DISPUTED, "WrongState"
    word: uint256 = self.tasks[taskId].dispute
    assert msg.sender == self._party(word), "WrongRole"
    self._before(self._arbiterUntil(word))
    assert score <= MAX_SCORE, "BadScore"
    # Only the loser may dispute. So whoever the new score favours has won the dispute too: the
    # disputer if the verdict is overturned, the other side if it is upheld.
    bondTo: address = self._party(self.tasks[taskId].money)
    if score >= MIN_PASS_SCORE:
        bondTo = progress.agent
    log Resolved(taskId=taskId, arbiter=msg.sender, score=score, reasonURI=reasonURI, bondTo=bondTo)
    self._settle(taskId, progress, score, self.tasks[taskId].bond, bondTo)


# Exits that anyone may take once a window has closed: rows 16 and 18, then 5, 7, 10 and 14.

@external
def settle(taskId: uint256):
    """
    @notice Settle by the judge's score once nobody can dispute it, or the arbiter has not resolved
            the dispute in time: the bond then goes back to the disputer.
    """
    progress: Progress = self._progress(taskId)
    assert progress.state == JUDGED or progress.state == DISPUTED, "WrongState"
    word: uint256 = self.tasks[taskId].dispute
    if progress.state == JUDGED:
        self._from(progress.judgedAt + ((word >> WINDOW_SHIFT) & WINDOW_MASK))
        self._settle(taskId, progress, progress.score, 0, empty(address))
    else:
        self._from(self._arbiterUntil(word))
        disputer: address = self._loser(taskId, progress)
        self._settle(taskId, progress, progress.score, self.tasks[taskId].bond, disputer)


@external
def expire(taskId: uint256):
    """
    @notice End a task whose deadline passed without a result, or whose judges missed their windows.
    """
    progress: Progress = self._progress(taskId)
    assert OPEN <= progress.state and progress.state <= SUBMITTED, "WrongState"
    terms: uint256 = self.tasks[taskId].terms
    money: uint256 = self.tasks[taskId].money
    reward: uint256 = money & AMOUNT_MASK
    toAgent: uint256 = 0
    hasSubmission: bool = progress.state == SUBMITTED
    if hasSubmission:
        closes: uint256 = progress.submittedAt + ((terms >> WINDOW_SHIFT) & WINDOW_MASK)
        if terms & HAS_FALLBACK != 0:
            closes += (self.tasks[taskId].fallback >> WINDOW_SHIFT) & WINDOW_MASK
        self._from(closes)
        # Rounded down; the poster gets the rest, so the parts always sum to the reward.
        toAgent = reward * ((terms >> SHARE_SHIFT) & BYTE_MASK) // 100
    else:
        self._from((terms >> TIME_SHIFT) & TIME_MASK)
    progress.state = EXPIRED
    self._write(taskId, progress)
    log Expired(
        taskId=taskId,
        hasSubmission=hasSubmission,
        toAgent=toAgent,
        toPoster=reward - toAgent,
        by=msg.sender,
    )
    self._push(progress.agent, toAgent)
    self._push(self._party(money), reward - toAgent)


# Money.

@external
def withdraw() -> uint256:
    """
    @notice Row 19: collect the caller's credit, left by payments that it refused.
    """
    amount: uint256 = self.credits[msg.sender]
    assert amount > 0, "InsufficientFunds"
    self.credits[msg.sender] = 0
    self.held -= amount
    log Withdrawn(who=msg.sender, amount=amount)
    # With all the gas, and reverting: the caller waits for nothing but its own money.
    raw_call(msg.sender, b"", value=amount)
    return amount


@internal
def _settle(
    taskId: uint256, before: Progress, score: uint256, bond: uint256, bondTo: address
):
    """
    @dev Pay or refund by the score, and release the bond; the task ends here.
    """
    progress: Progress = before
    money: uint256 = self.tasks[taskId].money
    reward: uint256 = money & AMOUNT_MASK
    receiver: address = self._party(money)
    if score >= MIN_PASS_SCORE:
        receiver = progress.agent
        progress.state = PAID
        log Paid(taskId=taskId, agent=receiver, amount=reward, score=score, by=msg.sender)
    else:
        progress.state = REFUNDED
        log Refunded(taskId=taskId, poster=receiver, amount=reward, score=score, by=msg.sender)
    self._write(taskId, progress)
    if bondTo == receiver:
        self._push(receiver, reward + bond)
    else:
        self._push(receiver, reward)
        self._push(bondTo, bond)


@internal
def _push(who: address, amount: uint256):
    """
    @dev Pay, or book a credit if the receiver refuses. It cannot revert this call, use more than
         its gas, or make the contract copy what it returns.
    """
    if amount == 0:
        return
    # No reason is given: this is the caller's gas limit, not a refusal by the market.
    assert msg.gas >= PUSH_RESERVE
    self.held -= amount
    isPaid: bool = raw_call(who, b"", value=amount, gas=PUSH_GAS, revert_on_failure=False)
    if not isPaid:
        self.held += amount
        self.credits[who] += amount
        log Credited(who=who, amount=amount)


# Guards and stored words.

@internal
@view
def _before(closes: uint256):
    assert block.timestamp < closes, "TooLate"


@internal
@view
def _from(opens: uint256):
    assert block.timestamp >= opens, "TooEarly"


@internal
@view
def _loser(taskId: uint256, progress: Progress) -> address:
    """
    @dev The side against which the verdict went.
    """
    if progress.score >= MIN_PASS_SCORE:
        return self._party(self.tasks[taskId].money)
    return progress.agent


@internal
@view
def _progress(taskId: uint256) -> Progress:
    word: uint256 = self.tasks[taskId].progress
    assert word != 0, "UnknownTask"
    return self._unpacked(word)


@internal
@pure
def _unpacked(word: uint256) -> Progress:
    return Progress(
        agent=self._party(word),
        submittedAt=(word >> TIME_SHIFT) & TIME_MASK,
        judgedAt=(word >> JUDGED_SHIFT) & TIME_MASK,
        applicantCount=(word >> APPLICANT_COUNT_SHIFT) & COUNT_MASK,
        score=(word >> SCORE_SHIFT) & BYTE_MASK,
        state=word & STATE_MASK,
    )


@internal
def _write(taskId: uint256, progress: Progress):
    self.tasks[taskId].progress = (
        convert(progress.agent, uint256) << PARTY_SHIFT
        | progress.submittedAt << TIME_SHIFT
        | progress.judgedAt << JUDGED_SHIFT
        | progress.applicantCount << APPLICANT_COUNT_SHIFT
        | progress.score << SCORE_SHIFT
        | progress.state
    )


@internal
@pure
def _party(word: uint256) -> address:
    """
    @dev Every packed word has a party in its highest 160 bits.
    """
    return convert(word >> PARTY_SHIFT, address)


@internal
@view
def _deadline(taskId: uint256) -> uint256:
    return (self.tasks[taskId].terms >> TIME_SHIFT) & TIME_MASK


@internal
@pure
def _arbiterUntil(word: uint256) -> uint256:
    disputedAt: uint256 = (word >> TIME_SHIFT) & TIME_MASK
    return disputedAt + ((word >> ARBITER_WINDOW_SHIFT) & WINDOW_MASK)


# Signatures (EIP-712). No nonce is stored: by the state machine an agent can apply, commit, submit
# and dispute only once per task, so a signature that was used is useless.

@internal
@view
def _checkSignature(agent: address, statement: bytes32, expires: uint256, signature: Bytes[65]):
    assert block.timestamp < expires and len(signature) == 65, "BadSignature"
    s: uint256 = convert(extract32(signature, 32), uint256)
    v: uint256 = convert(slice(signature, 64, 1), uint256)
    assert s <= convert(MAX_S, uint256) and (v == 27 or v == 28), "BadSignature"
    domain: bytes32 = self._domainSeparator()
    digest: bytes32 = keccak256(concat(x"1901", domain, statement))
    # A signature that recovers nobody gives the empty address, which must not pass as an agent.
    signer: address = ecrecover(digest, v, convert(extract32(signature, 0), uint256), s)
    assert signer == agent and agent != empty(address), "BadSignature"


@internal
@view
def _domainSeparator() -> bytes32:
    # Computed for each call: after a fork of the chain, signatures of the other side are invalid.
    return keccak256(abi_encode(EIP712_DOMAIN, NAME, VERSION, chain.id, self))


# Views.

@external
@view
def domainSeparator() -> bytes32:
    """
    @notice The EIP-712 domain that agents sign for: Arena, version 1, this chain, this contract.
    """
    return self._domainSeparator()


@external
@view
def getTask(taskId: uint256) -> TaskView:
    """
    @notice All that is stored about a task; all zero if there is none.
    """
    task: Task = self.tasks[taskId]
    progress: Progress = self._unpacked(task.progress)
    disputedAt: uint256 = (task.dispute >> TIME_SHIFT) & TIME_MASK
    return TaskView(
        terms=self._terms(task),
        poster=self._party(task.money),
        reward=task.money & AMOUNT_MASK,
        state=progress.state,
        agent=progress.agent,
        applicantCount=progress.applicantCount,
        submittedAt=progress.submittedAt,
        judgedAt=progress.judgedAt,
        disputedAt=disputedAt,
        score=progress.score,
        disputer=self._loser(taskId, progress) if disputedAt != 0 else empty(address),
        evaluationDigest=task.evaluation,
        resultDigest=task.result,
        commitment=task.commitment,
    )


@internal
@pure
def _terms(task: Task) -> Terms:
    return Terms(
        deadline=(task.terms >> TIME_SHIFT) & TIME_MASK,
        judge=self._party(task.terms),
        judgeWindow=(task.terms >> WINDOW_SHIFT) & WINDOW_MASK,
        fallbackJudge=self._party(task.fallback),
        fallbackWindow=(task.fallback >> WINDOW_SHIFT) & WINDOW_MASK,
        agentSharePercent=(task.terms >> SHARE_SHIFT) & BYTE_MASK,
        disputeWindow=(task.dispute >> WINDOW_SHIFT) & WINDOW_MASK,
        arbiter=self._party(task.dispute),
        arbiterWindow=(task.dispute >> ARBITER_WINDOW_SHIFT) & WINDOW_MASK,
        bond=task.bond,
        commitDeadline=(task.fallback >> TIME_SHIFT) & TIME_MASK,
        maxApplicants=(task.terms >> MAX_APPLICANTS_SHIFT) & COUNT_MASK,
        isSelfJudged=task.progress != 0 and self._party(task.terms) == self._party(task.money),
        isFirst=task.terms & IS_FIRST != 0,
    )
