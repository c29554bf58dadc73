"""A job of ERC-8183 (text of 2026-03-13), and how it stands in Arena's words. Pure.

    a job is                            a task would be
    Open                                open; but nothing is in escrow yet
    Funded                              assigned: a job has its provider before it is funded
    Submitted                           submitted
    Completed                           paid
    Rejected after it was funded        refunded
    Rejected by the client while Open   cancelled
    Expired, nothing was submitted      expired, no_submission
    Expired, nobody judged              expired, no_verdict

The standard has one state for both kinds of expiry (ethereum/ERCs#1931), and one for both kinds of
rejection; the events of the job tell which it was.
"""

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import IntEnum
from typing import Any, cast

from arena.chain.standards.contract import ZERO
from arena.content.canonical import canonical
from arena.content.cid import Cid, parse_cid
from arena.errors import InvalidInput
from arena.market.task import ExpiryReason, TaskState

EVALUATION = "evaluationCID"
"""The key under which the description of a job names the standard that it is judged by."""


class JobStatus(IntEnum):
    """The state of a job, by the standard's numbers."""

    OPEN = 0
    FUNDED = 1
    SUBMITTED = 2
    COMPLETED = 3
    REJECTED = 4
    EXPIRED = 5


STATES = {
    JobStatus.OPEN: TaskState.OPEN,
    JobStatus.FUNDED: TaskState.ASSIGNED,
    JobStatus.SUBMITTED: TaskState.SUBMITTED,
    JobStatus.COMPLETED: TaskState.PAID,
    JobStatus.REJECTED: TaskState.REFUNDED,
    JobStatus.EXPIRED: TaskState.EXPIRED,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class JobHistory:
    """What the events of a job tell besides its data."""

    deliverable: str | None = None
    """The digest of what was submitted: `0x` and 64 hexadecimal digits."""
    reason: str | None = None
    """The digest of the verdict's record, if the evaluator gave one; the same form."""
    is_refunded: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A job in its current state."""

    id: int
    contract: str
    """`eip155:<chain>:<address>`."""
    client: str
    provider: str | None
    evaluator: str
    description: str
    budget: int
    """In the smallest unit of the contract's token."""
    expired_at: int
    """Unix seconds; from then on anybody may have the budget sent back."""
    status: JobStatus
    hook: str | None
    deliverable: str | None
    reason: str | None
    state: TaskState
    """How it stands in Arena's words."""
    expiry_reason: ExpiryReason | None

    @property
    def name(self) -> str:
        """The job, for messages."""
        return f"job {self.id} of {self.contract}"

    @property
    def evaluation_cid(self) -> str | None:
        """The standard that its description names; None if it names none."""
        return evaluation_of(self.description)


def job_of(contract: str, data: tuple[Any, ...], history: JobHistory) -> Job:
    """A job from what its contract returns; ValueError if its status is unknown."""
    number, client, provider, evaluator, description, budget, expired_at, status, hook = data
    found = JobStatus(status)
    is_cancelled = found is JobStatus.REJECTED and not (history.is_refunded or history.deliverable)
    is_expired = found is JobStatus.EXPIRED
    silent = ExpiryReason.NO_VERDICT if history.deliverable else ExpiryReason.NO_SUBMISSION
    return Job(
        id=number,
        contract=contract,
        client=client.lower(),
        provider=_party(provider),
        evaluator=evaluator.lower(),
        description=bytes(description).decode("utf-8", "replace").replace("\0", "\ufffd"),
        budget=budget,
        expired_at=expired_at,
        status=found,
        hook=_party(hook),
        deliverable=history.deliverable,
        reason=history.reason,
        state=TaskState.CANCELLED if is_cancelled else STATES[found],
        expiry_reason=silent if is_expired else None,
    )


def digest_of_cid(cid: str) -> bytes:
    """What stands for content in a job: the sha2-256 digest in its CID, 32 bytes.

    It is the hash of the content's root block: of the bytes themselves if they fit in one block
    (up to 256 KiB), else of the node that lists the blocks. So two CIDs of the same bytes may have
    two digests, and a digest alone does not tell which CID it was.
    """
    return parse_cid(cid).digest


def is_digest_of(cid: Cid, word: str | None) -> bool:
    """Whether a word of a job stands for this content."""
    return word is not None and bytes.fromhex(word.removeprefix("0x")) == cid.digest


def describe(text: str, evaluation_cid: str) -> str:
    """The description of a job that Arena posts: the text, and the standard it is judged by."""
    return canonical({"description": text, EVALUATION: str(parse_cid(evaluation_cid))}).decode()


def evaluation_of(description: str) -> str | None:
    """The CID of the standard that a description names; None if it is another kind of text."""
    try:
        document: object = json.loads(description)
        named = cast(dict[str, object], document).get(EVALUATION)
        return str(parse_cid(named)) if isinstance(named, str) else None
    except (ValueError, RecursionError, AttributeError, InvalidInput):
        return None


def moment_of(seconds: int) -> datetime | None:
    """A time of a contract; None if it is after the year 9999."""
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        return None


def _party(address: str) -> str | None:
    return None if address == ZERO else address.lower()
