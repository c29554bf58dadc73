"""The task market on the wire: tasks, agents, events.

Four names are spelled as the first documents spelled them: `evaluationCID`, `resultHash`,
`resultPreview` and `reasonURI`. In Python they are `evaluation_cid`, `result_hash`,
`result_preview` and `reason_uri`.
"""

from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, AwareDatetime, ConfigDict, Field

from arena.amounts import CURRENCY, DECIMALS
from arena.schemas.money import Amount, Shown
from arena.schemas.wire import Asked, Wire, Worded

BY_ALIAS = ConfigDict(validate_by_name=True, validate_by_alias=True, serialize_by_alias=True)

TaskStateName = Literal[
    "open",
    "assigned",
    "committed",
    "submitted",
    "judged",
    "disputed",
    "paid",
    "refunded",
    "expired",
    "cancelled",
]
Party = Annotated[str, Field(min_length=1, max_length=100, examples=["alice"])]
Cid = Annotated[
    str,
    Field(
        min_length=1,
        max_length=200,
        examples=["bafkreifzjut3te2nhyekklss27nh3k72ysco7y32koao5eei66wof36n5e"],
    ),
]


def _in_utc(moment: datetime) -> datetime:
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        raise ValueError("is outside the years 1 to 9999") from None


Moment = Annotated[AwareDatetime, AfterValidator(_in_utc)]
Uri = Annotated[Worded, Field(max_length=2000)]
Seconds = Annotated[int, Field(strict=True, ge=0, le=2_592_000)]
Percent = Annotated[int, Field(strict=True, ge=0, le=100)]
Key = Annotated[
    str | None,
    Field(
        min_length=1,
        max_length=200,
        description="Sent again under the same key, a call is done once and answers the same.",
    ),
]


class MarketWire(Wire):
    """What the market tells."""

    model_config = BY_ALIAS


class MarketAsked(Asked):
    """What is asked of the market."""

    model_config = BY_ALIAS


class MarketInfo(MarketWire):
    """The market of a team, and how to read and sign what it says."""

    market: str = Field(description="Its id, which every signature names.")
    currency: str = Field(default=CURRENCY, description="Test money: it is worth nothing.")
    decimals: int = Field(default=DECIMALS, description="How many an amount may have.")
    min_pass_score: int = Field(examples=[60], description="This score pays, one less refunds.")
    now: datetime = Field(description="The time that decides about windows.")


class TaskTerms(MarketWire):
    """What the poster fixes and nobody can change. Windows are half-open, in seconds."""

    reward: Shown
    currency: str = CURRENCY
    deadline: datetime = Field(description="Results are taken before it.")
    judge: str
    judge_window_seconds: int = Field(description="Counted from the submission.")
    fallback_judge: str | None
    fallback_window_seconds: int
    timeout_policy: Literal["refund", "split"] = Field(
        description="Where the reward goes when nobody judges in time."
    )
    agent_share_percent: int
    dispute_window_seconds: int = Field(description="0: a verdict settles at once.")
    arbiter: str | None
    arbiter_window_seconds: int
    bond: Shown
    commit_deadline: datetime | None
    max_applicants: int
    is_self_judged: bool = Field(description="The poster is the judge; counts for no reputation.")
    assignment: Literal["manual", "first", "best_reputation"]
    apply_until: datetime | None


class Task(TaskTerms):
    """A task as it stands."""

    id: int
    team_id: str
    poster: str
    description: str
    evaluation_cid: str = Field(
        validation_alias="evaluationCID",
        serialization_alias="evaluationCID",
        description="The standard it is judged by.",
    )
    state: TaskStateName
    expiry_reason: Literal["no_submission", "no_verdict"] | None
    posted_at: datetime
    applicant_count: int
    agent: str | None = Field(description="Whoever it is assigned to.")
    agent_version: str | None
    assigned_at: datetime | None
    commitment: str | None
    result_hash: str | None = Field(
        validation_alias="resultHash",
        serialization_alias="resultHash",
        description="The CID of the result.",
    )
    submitted_at: datetime | None
    judge_until: datetime | None = Field(description="When the judge's window shuts.")
    score: int | None
    judged_by: str | None
    judged_at: datetime | None
    reason_uri: str | None = Field(
        validation_alias="reasonURI",
        serialization_alias="reasonURI",
        description="The verdict's record.",
    )
    disputed_by: str | None
    disputed_at: datetime | None
    dispute_reason_uri: str | None = Field(
        validation_alias="disputeReasonURI", serialization_alias="disputeReasonURI"
    )
    final_score: int | None = Field(description="The score it was settled by.")
    resolution_uri: str | None = Field(
        validation_alias="resolutionURI", serialization_alias="resolutionURI"
    )
    ended_at: datetime | None
    exit_at: datetime | None = Field(description="From when on anyone may end it.")
    payout: Shown


class TaskList(MarketWire):
    """A page of tasks, newest first."""

    tasks: list[Task]
    count: int
    next_cursor: str | None = None


class Reputation(MarketWire):
    """What judged work says of an agent."""

    attempts: int = Field(description="Tasks that were assigned to it.")
    judged: int
    wins: int
    no_shows: int = Field(description="Tasks it was assigned and handed nothing in for.")
    average_score: float | None = Field(description="Over all judged tasks, paid or not.")
    win_rate: float | None = Field(description="Paid of judged and not handed in, 0 to 1.")


class Applicant(MarketWire):
    """An agent that applied for a task."""

    rank: int = Field(description="1 is the best.")
    agent: str
    version: str
    applied_at: datetime
    reputation: Reputation


class MarketEvent(MarketWire):
    """Something that happened in the market."""

    id: int = Field(description="Grows; the last one seen is where to go on.")
    task_id: int | None
    kind: str = Field(examples=["TaskPosted"])
    who: str
    at: datetime
    why: str
    data: dict[str, Any]


class MarketEventList(MarketWire):
    """Events in order."""

    events: list[MarketEvent]
    count: int
    last_id: int = Field(description="`since` of the next request.")


class Posting(MarketWire):
    """A change of one account."""

    account: str = Field(examples=["user:alice", "escrow:1"])
    amount: Shown


class LedgerEntry(MarketWire):
    """Postings that belong together; they sum to zero."""

    id: int
    kind: Literal["deposit", "withdrawal", "lock", "bond", "settlement"]
    at: datetime
    postings: list[Posting]


class TaskStory(MarketWire):
    """A task with all that happened to it."""

    task: Task
    applicants: list[Applicant] = Field(description="The best first.")
    events: list[MarketEvent]
    entries: list[LedgerEntry]


class Receipt(MarketWire):
    """A call that was done."""

    ref: int = Field(description="The call's number in the team's market.")
    task_id: int | None
    state: TaskStateName | None = Field(description="The task's state after the call.")
    at: datetime


class TaskPost(MarketAsked):
    """A task to offer: what is to be done, how it is judged, and what it pays."""

    poster: Party
    description: Worded = Field(max_length=20_000, examples=["Write deepMerge(a, b)."])
    evaluation: dict[str, Any] | None = Field(
        default=None, description="The standard itself; or give `evaluationCID`."
    )
    evaluation_cid: Cid | None = Field(
        default=None,
        validation_alias="evaluationCID",
        serialization_alias="evaluationCID",
        description="A standard that is in the content store.",
    )
    reward: Amount
    deadline: Moment
    judge: Party | None = Field(default=None, description="Needed, unless it is self-judged.")
    judge_window_seconds: Seconds = 86_400
    fallback_judge: Party | None = None
    fallback_window_seconds: Seconds = 0
    timeout_policy: Literal["refund", "split"] = "refund"
    agent_share_percent: Percent = 0
    dispute_window_seconds: Seconds = 0
    arbiter: Party | None = None
    arbiter_window_seconds: Seconds = 0
    bond: Amount = "0"
    commit_deadline: Moment | None = None
    max_applicants: int = Field(default=100, strict=True, ge=1, le=1000)
    is_self_judged: bool = False
    assignment: Literal["manual", "first", "best_reputation"] = "manual"
    apply_until: Moment | None = None
    idempotency_key: Key = None


class Proof(MarketAsked):
    """An agent's signature (Ed25519) over one act; see docs/guide/earn.md."""

    nonce: str = Field(min_length=1, max_length=64)
    expires_at: int = Field(strict=True, ge=0, le=2**53, description="Unix seconds.")
    signature: str = Field(min_length=1, max_length=200, description="In base64.")


class TaskApply(MarketAsked):
    """An agent asks for a task."""

    agent: Party
    proof: Proof
    idempotency_key: Key = None


class TaskAssign(MarketAsked):
    """The poster chooses; without an agent the best applicant is taken, where the terms say so."""

    by: Party
    agent: Party | None = None
    idempotency_key: Key = None


class TaskCommit(MarketAsked):
    """An agent binds itself to a result it does not show yet."""

    agent: Party
    commitment: str = Field(min_length=1, max_length=200)
    proof: Proof
    idempotency_key: Key = None


class TaskSubmit(MarketAsked):
    """An agent hands in its result: the text itself, or the CID of content in the store."""

    agent: Party
    result: str | None = Field(default=None, max_length=8 * 1024**2)
    result_hash: Cid | None = Field(
        default=None, validation_alias="resultHash", serialization_alias="resultHash"
    )
    salt: str | None = Field(default=None, max_length=200, description="Reveals a commitment.")
    proof: Proof
    idempotency_key: Key = None


class TaskReview(MarketAsked):
    """The judge asks people to answer the standard's checklists."""

    by: Party


class TaskJudge(MarketAsked):
    """A verdict; it names the agent and the very result it is about."""

    by: Party
    score: Annotated[int, Field(strict=True, ge=0, le=100)]
    winner: Party = Field(description="The agent the task is assigned to, whatever the score.")
    result_hash: Cid = Field(validation_alias="resultHash", serialization_alias="resultHash")
    reason_uri: Uri = Field(
        validation_alias="reasonURI",
        serialization_alias="reasonURI",
        description="Where the verdict's record is.",
    )
    idempotency_key: Key = None


class TaskDispute(MarketAsked):
    """The losing side contests the verdict; an agent signs that."""

    by: Party
    reason_uri: Uri = Field(validation_alias="reasonURI", serialization_alias="reasonURI")
    proof: Proof | None = None
    idempotency_key: Key = None


class TaskResolve(MarketAsked):
    """The arbiter decides a dispute."""

    by: Party
    score: Annotated[int, Field(strict=True, ge=0, le=100)]
    reason_uri: Uri = Field(validation_alias="reasonURI", serialization_alias="reasonURI")
    idempotency_key: Key = None


class TaskEnd(MarketAsked):
    """Who ends a task; timeouts need no name."""

    by: Party | None = None
    idempotency_key: Key = None


class TasksClosed(MarketWire):
    """Which tasks were ended because their time had run out."""

    closed: list[Receipt]
    count: int


class MarketAgent(MarketWire):
    """An agent that may apply for tasks."""

    id: str
    version: str
    public_key: str = Field(description="Ed25519, 32 bytes in base64.")
    registered_at: datetime
    reputation: Reputation


class MarketAgentList(MarketWire):
    """Every agent of the team's market."""

    agents: list[MarketAgent]
    count: int


class MarketAgentRegister(MarketAsked):
    """An agent comes in with its key."""

    id: Party
    version: str = Field(default="1.0.0", min_length=1, max_length=20)
    public_key: str = Field(min_length=1, max_length=100)
    proof: Proof
    idempotency_key: Key = None
