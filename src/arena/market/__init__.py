"""Who pays whom: tasks with a reward, their states, the ledger and the escrow it holds.

A *task* is posted by a *poster*, who locks a *reward* in *escrow* and names a *judge* and the
*terms*; *agents* apply with signed messages, one is assigned, hands in a *result*, and the judge's
*verdict* pays the agent (a score of 60 or more) or refunds the poster. Every live task can be ended
by anyone once its time has run out. `moves.py` holds the one table of allowed moves; `Market` is
the door. Each call is one transaction: state, postings and events together.

This room imports scoring, evaluation, content and the store.
"""

from arena.market.agents import Applicant, MarketAgent, Reputation, ranked
from arena.market.errors import (
    BadContent,
    BadScore,
    BadSignature,
    InsufficientFunds,
    KeyConflict,
    TooEarly,
    TooLate,
    UnknownTask,
    WrongRole,
    WrongState,
)
from arena.market.events import Event, EventKind
from arena.market.keys import Keys
from arena.market.market import Judgement, Market, NewTask
from arena.market.money import Entry, EntryKind, Line, Posting
from arena.market.naming import ANYONE
from arena.market.proof import (
    Act,
    Proof,
    Statement,
    check_proof,
    commitment_of,
    message_of,
    public_key_of,
    sign,
)
from arena.market.receipt import Receipt
from arena.market.reviewing import TaskReviews
from arena.market.task import MIN_PASS_SCORE, ExpiryReason, Task, TaskState
from arena.market.terms import Assignment, Terms, TimeoutPolicy
from arena.market.views import AuditReport, TaskFilter, TaskStory, Violation

__all__ = [
    "ANYONE",
    "MIN_PASS_SCORE",
    "Act",
    "Applicant",
    "Assignment",
    "AuditReport",
    "BadContent",
    "BadScore",
    "BadSignature",
    "Entry",
    "EntryKind",
    "Event",
    "EventKind",
    "ExpiryReason",
    "InsufficientFunds",
    "Judgement",
    "KeyConflict",
    "Keys",
    "Line",
    "Market",
    "MarketAgent",
    "NewTask",
    "Posting",
    "Proof",
    "Receipt",
    "Reputation",
    "Statement",
    "Task",
    "TaskFilter",
    "TaskReviews",
    "TaskState",
    "TaskStory",
    "Terms",
    "TimeoutPolicy",
    "TooEarly",
    "TooLate",
    "UnknownTask",
    "Violation",
    "WrongRole",
    "WrongState",
    "check_proof",
    "commitment_of",
    "message_of",
    "public_key_of",
    "ranked",
    "sign",
]
