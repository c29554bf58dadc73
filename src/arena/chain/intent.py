"""An intent: a transaction that is to happen exactly once, from its writing to its end."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from arena.chain.errors import refusal_of
from arena.errors import CallerError, Conflict
from arena.market.call import CallKey


class IntentState(StrEnum):
    """How far a transaction is."""

    WRITTEN = "written"
    """Signed and stored; it may have been sent."""
    SENT = "sent"
    """A node has accepted it."""
    MINED = "mined"
    """In a block that may still be reorganised away."""
    FINAL = "final"
    """In a block with enough blocks on top."""
    FAILED = "failed"
    """It has had no effect and never will: it reverted, or another one took its nonce."""
    ABANDONED = "abandoned"
    """No node has ever accepted it; its nonce and its key are free again."""

    @property
    def is_finished(self) -> bool:
        """Whether nothing more will happen."""
        return self in (IntentState.FINAL, IntentState.FAILED, IntentState.ABANDONED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    """Which chain: two development chains may have the same id, but not the same first block."""

    chain_id: int
    genesis: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NewTransaction:
    """A transaction to be sent."""

    team_id: str
    key: CallKey
    digest: str
    """Of the request that it carries out; the same key with another digest is refused."""
    action: str
    sender_name: str
    """The party that signs and pays."""
    to: str | None
    """None creates a contract."""
    data: bytes = field(default=b"", repr=False)
    value: int = 0
    """In wei."""
    task: str | None = None
    """Which task it concerns, for people."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """A signed transaction."""

    number: int
    hash: str
    raw: bytes = field(repr=False)
    max_fee: int
    """Per unit of gas, in wei."""
    tip: int
    block_number: int
    """The newest block when it was signed."""
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Intent:
    """A transaction with every attempt to send it; all have the same nonce."""

    id: int = 0
    """0 until it is written."""
    chain_id: int
    genesis: str
    team_id: str
    idempotency_key: str
    is_internal: bool
    digest: str
    action: str
    task: str | None
    sender: str
    recipient: str | None
    value: int
    data: bytes = field(repr=False)
    gas: int
    nonce: int
    state: IntentState = IntentState.WRITTEN
    revision: int = 1
    """Counts the changes."""
    transaction_hash: str | None = None
    """Of the attempt that was mined; this and the next four are None until then."""
    block_number: int | None = None
    block_hash: str | None = None
    gas_used: int | None = None
    is_reverted: bool | None = None
    reason: str | None = None
    """Why it failed, was abandoned or could not be sent yet."""
    passed_block: int | None = None
    """Since which block the nonce is used although no attempt is mined."""
    created_at: datetime
    updated_at: datetime
    attempts: tuple[Attempt, ...]

    @property
    def chain(self) -> Chain:
        """The chain that it was signed for."""
        return Chain(chain_id=self.chain_id, genesis=self.genesis)

    @property
    def last(self) -> Attempt:
        """The newest attempt."""
        return self.attempts[-1]

    @property
    def hash(self) -> str:
        """Of the attempt that was mined, else of the newest."""
        return self.transaction_hash or self.last.hash

    @property
    def what(self) -> str:
        """The call, for messages: `judge of task 7`."""
        return what(self.action, self.task)

    @property
    def error(self) -> CallerError | None:
        """Why it has had no effect, as the market's error; None unless it failed."""
        if self.state not in (IntentState.FAILED, IntentState.ABANDONED):
            return None
        if self.is_reverted:
            return refusal_of(self.reason, self.what)
        return Conflict(f"{self.what}: {self.reason}")


def what(action: str, task: str | None) -> str:
    """The call, for messages: `judge of task 7`."""
    return action if task is None else f"{action} of task {task}"
