"""A task: its immutable terms, its states, and its data."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, computed_field

from arena.amounts import CURRENCY, DECIMALS, Amount
from arena.clock import Moment
from arena.fields import MAX_NAME_LENGTH, NonBlank

EMBEDDED = "embedded"
"""The ledger in Arena's own database."""
EVM = "evm"
"""The contract on an EVM chain."""
MIN_WINDOW_SECONDS = 60
MAX_WINDOW_SECONDS = 30 * 86_400
MAX_DEADLINE_DAYS = 366
MAX_APPLICANTS = 1000
MAX_DESCRIPTION_LENGTH = 20_000
MAX_KEY_LENGTH = 200
MAX_RESULT_BYTES = 8 * 1024**2
MAX_LANGUAGE_LENGTH = 50
MAX_ID = 2**63 - 1
"""Of tasks, events and entries: their columns have 64 bits."""

BY_ALIAS = ConfigDict(
    validate_by_name=True,
    validate_by_alias=True,
    serialize_by_alias=True,
    json_schema_serialization_defaults_required=True,
)
"""For types with fields whose wire names are not snake_case, such as `evaluationCID`."""

Party = Annotated[str, Field(min_length=1, max_length=MAX_NAME_LENGTH, examples=["alice"])]
Cid = Annotated[
    str,
    Field(
        min_length=1,
        max_length=200,
        examples=["bafkreifzjut3te2nhyekklss27nh3k72ysco7y32koao5eei66wof36n5e"],
    ),
]
Seconds = Annotated[int, Field(strict=True, ge=0, le=MAX_WINDOW_SECONDS)]
Key = Annotated[
    str | None,
    Field(
        min_length=1,
        max_length=MAX_KEY_LENGTH,
        description="A call repeated with the same key is done once and gets the same response.",
    ),
]


class TaskState(StrEnum):
    """The state of a task."""

    OPEN = "open"
    ASSIGNED = "assigned"
    COMMITTED = "committed"
    SUBMITTED = "submitted"
    JUDGED = "judged"
    DISPUTED = "disputed"
    PAID = "paid"
    REFUNDED = "refunded"
    EXPIRED = "expired"
    CANCELLED = "cancelled"

    @property
    def is_final(self) -> bool:
        """Whether the task has ended."""
        return self in FINAL

    @property
    def has_verdict(self) -> bool:
        """Whether a live task has been judged: it then ends by settling, not by expiring."""
        return self in (TaskState.JUDGED, TaskState.DISPUTED)


FINAL = frozenset({TaskState.PAID, TaskState.REFUNDED, TaskState.EXPIRED, TaskState.CANCELLED})


class ExpiryReason(StrEnum):
    """Why a task expired: the agent's fault, or the judge's."""

    NO_SUBMISSION = "no_submission"
    NO_VERDICT = "no_verdict"


class TimeoutPolicy(StrEnum):
    """Where the reward goes when nobody gives a verdict in time."""

    REFUND = "refund"
    SPLIT = "split"
    """`agent_share_percent` of it to the agent, rounded down; the rest to the poster."""


class Assignment(StrEnum):
    """How an applicant gets the task. The poster may always choose manually."""

    MANUAL = "manual"
    FIRST = "first"
    """The first to apply gets it."""
    BEST_REPUTATION = "best_reputation"
    """After `apply_until`, anyone may assign it to the applicant ranked first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What the poster fixes; immutable. Windows are half-open, in seconds."""

    reward: Amount
    deadline: Moment
    """Results are accepted before it; after that anyone may expire the task."""
    judge_window_seconds: Seconds = 86_400
    """Counted from the submission."""
    fallback_judge: Party | None = None
    """May judge once the judge has missed its window."""
    fallback_window_seconds: Seconds = 0
    timeout_policy: TimeoutPolicy = TimeoutPolicy.REFUND
    """Where the reward goes when nobody judges in time."""
    agent_share_percent: Annotated[int, Field(strict=True, ge=0, le=100)] = 0
    """Of a split; 0 with the policy `refund`."""
    dispute_window_seconds: Seconds = 0
    """How long the losing side may dispute a verdict; 0: a verdict settles at once."""
    arbiter: Party | None = None
    """Decides disputes; required with a dispute window."""
    arbiter_window_seconds: Seconds = 0
    bond: Amount = Amount(0)  # noqa: RUF009 - an immutable number
    """What a dispute costs; it goes to the side that wins the dispute."""
    commit_deadline: Moment | None = None
    """If set, the agent commits to a hash before it and reveals the result after it."""
    max_applicants: Annotated[int, Field(strict=True, ge=1, le=MAX_APPLICANTS)] = 100
    is_self_judged: bool = False
    """The poster is the judge; such a task never counts for reputation."""
    assignment: Assignment = Assignment.MANUAL
    apply_until: Moment | None = None
    """When the choice by reputation may be made; required for `best_reputation`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskPost(Terms):
    """A task to offer: what is to be done, how it is judged, and what it pays."""

    # Instances are validated again when posted, so a caller may write reward="0.05".
    __pydantic_config__ = ConfigDict(
        validate_by_name=True,
        validate_by_alias=True,
        extra="forbid",
        revalidate_instances="always",
        # NaN must not become null in transit: the task would be judged by another standard.
        ser_json_inf_nan="constants",
    )

    poster: Party
    judge: Party | None = None
    """Required, unless the task is self-judged."""
    description: Annotated[
        NonBlank, Field(max_length=MAX_DESCRIPTION_LENGTH, examples=["Write deepMerge(a, b)."])
    ]
    evaluation: dict[str, Any] | None = None
    """The standard itself; or give `evaluationCID`."""
    evaluation_cid: Annotated[Cid | None, Field(alias="evaluationCID")] = None
    """The CID of a stored standard."""
    ledger: Literal["embedded", "evm"] | None = None
    """Where it is posted: `embedded`, or `evm` for the contract on a chain. Default: the setting
    of the server."""
    idempotency_key: Key = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Task(Terms):
    """A task in its current state."""

    __pydantic_config__ = BY_ALIAS

    id: int
    team_id: str
    poster: str
    description: str
    evaluation_cid: Annotated[str, Field(alias="evaluationCID")]
    """Its standard: verified, validated and pinned before the reward was locked."""
    judge: Party
    ledger: Annotated[str, Field(examples=[EMBEDDED])] = EMBEDDED
    """Where it lives, fixed when it is posted."""
    currency: str = CURRENCY
    decimals: int = DECIMALS
    """How many decimals an amount of it may have."""
    network: Annotated[str | None, Field(examples=["eip155:31337"])] = None
    """The chain it is on; null in the embedded ledger."""
    contract: str | None = None
    """The contract's address."""
    chain_task: int | None = None
    """Its number in the contract."""
    state: TaskState
    expiry_reason: ExpiryReason | None = None
    posted_at: datetime
    applicant_count: int = 0
    agent: str | None = None
    """The agent it is assigned to."""
    agent_version: str | None = None
    assigned_at: datetime | None = None
    commitment: str | None = None
    result_hash: Annotated[str | None, Field(alias="resultHash")] = None
    """The CID of the result, frozen when it was submitted."""
    language: str | None = None
    """The language of its code, as the agent named it; null if it named none."""
    submitted_at: datetime | None = None
    claimed_until: datetime | None = None
    """A process of the judge works on it; unless renewed, another may take it over from then on."""
    score: int | None = None
    """Of the verdict; after a resolution `final_score` decides."""
    judged_by: str | None = None
    judged_at: datetime | None = None
    reason_uri: Annotated[str | None, Field(alias="reasonURI")] = None
    """The verdict's record."""
    disputed_by: str | None = None
    disputed_at: datetime | None = None
    dispute_reason_uri: Annotated[str | None, Field(alias="disputeReasonURI")] = None
    final_score: int | None = None
    """The score it was settled by; null if it was not settled by one."""
    resolution_uri: Annotated[str | None, Field(alias="resolutionURI")] = None
    ended_at: datetime | None = None
    payout: Amount = Amount(0)  # noqa: RUF009 - an immutable number
    """What the agent got of the reward."""

    @computed_field
    @property
    def judge_until(self) -> datetime | None:
        """When the judge's window closes."""
        return _after(self.submitted_at, self.judge_window_seconds)

    @computed_field
    @property
    def exit_at(self) -> datetime | None:
        """When anyone may end it, whatever the parties do; null once it has ended."""
        match self.state:
            case TaskState.OPEN | TaskState.ASSIGNED | TaskState.COMMITTED:
                return self.deadline
            case TaskState.SUBMITTED:
                return self.fallback_until
            case TaskState.JUDGED:
                return self.dispute_until
            case TaskState.DISPUTED:
                return self.arbiter_until
            case _:
                return None

    def amount(self, value: int) -> Amount:
        """An amount in the currency of its ledger, from minor units."""
        return Amount(value, self.decimals)

    @property
    def fallback_until(self) -> datetime | None:
        """When the fallback judge's window closes; the judge's own without a fallback."""
        return _after(self.submitted_at, self.judge_window_seconds + self.fallback_window_seconds)

    @property
    def shortest_window_seconds(self) -> int:
        """The time that each judge surely has: the judge's window or the fallback's."""
        if self.fallback_judge is None:
            return self.judge_window_seconds
        return min(self.judge_window_seconds, self.fallback_window_seconds)

    def judge_at(self, at: datetime) -> str | None:
        """Whose turn it is to judge: the judge's, then the fallback judge's, then nobody's."""
        if self.judge_until is None or self.fallback_until is None or at >= self.fallback_until:
            return None
        return self.judge if at < self.judge_until else self.fallback_judge

    def turn_until(self, judge: str) -> datetime | None:
        """When this judge's window closes."""
        return self.judge_until if judge == self.judge else self.fallback_until

    @property
    def dispute_until(self) -> datetime | None:
        """When the dispute window closes."""
        return _after(self.judged_at, self.dispute_window_seconds)

    @property
    def arbiter_until(self) -> datetime | None:
        """When the arbiter's window closes."""
        return _after(self.disputed_at, self.arbiter_window_seconds)


def _after(start: datetime | None, seconds: int) -> datetime | None:
    return None if start is None else start + timedelta(seconds=seconds)


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskFilter:
    """Which tasks to list; a field that is None excludes nothing."""

    states: frozenset[TaskState] | None = None
    poster: str | None = None
    agent: str | None = None
    """Assigned to it."""
    applicant: str | None = None
    """It has applied."""
    judge: str | None = None
    """Judge, fallback judge or arbiter."""
    min_reward: Amount | None = None
