"""The port to a ledger: where tasks live, who decides about moves, and who holds the money.

There are two: Arena's own database (`records/embedded.py`) and a contract on an EVM chain
(`arena.chain.ledger`). Both have the same calls, states, errors and money. A task stays on the
ledger that it was posted to. Whatever happens there is written to the market's tables, which is
what everybody reads (`records/reading.py`).
"""

from collections.abc import Awaitable, Sequence
from datetime import datetime
from typing import Protocol

from arena.amounts import Amount, Currency
from arena.market.call import Call, CallKey, Receipt
from arena.market.money import Audit, Balance, LedgerLine
from arena.market.signing import Proof
from arena.market.task import Task


class OnAnotherLedger(Exception):
    """The task is on another ledger than the one that was asked."""

    def __init__(self, ledger: str) -> None:
        super().__init__(ledger)
        self.ledger = ledger


class Ledger(Protocol):
    """Tasks and their money.

    Every change takes an idempotency key: the same key with the same arguments is done once and
    returns the same receipt. A receipt may be pending; then nothing was decided yet.
    """

    name: str
    currency: Currency
    allows_best_reputation: bool
    """Whether it can rank applicants."""

    def now(self) -> Awaitable[datetime]:
        """The time that windows are compared with."""
        ...

    def preview_task(self, task: Task, *, key: CallKey) -> Awaitable[Receipt | None]:
        """Raise what `post_task` would raise; the receipt if it was done before."""
        ...

    def post_task(self, task: Task, *, key: CallKey) -> Awaitable[Receipt]:
        """Open a task and lock its reward."""
        ...

    def preview(
        self, team_id: str, task_id: int, call: Call, *, key: CallKey, proof: Proof | None = None
    ) -> Awaitable[Receipt | None]:
        """Raise what `act` would raise now; the receipt if the call was done before."""
        ...

    def act(
        self, team_id: str, task_id: int, call: Call, *, key: CallKey, proof: Proof | None = None
    ) -> Awaitable[Receipt]:
        """Make a move, if the table of moves allows it now. `proof`: the agent's signature.

        Raises `OnAnotherLedger` if the task is not on this one.
        """
        ...

    def commitment(self, task: Task, agent: str, result_hash: str, salt: str) -> Awaitable[str]:
        """What an agent commits to, to reveal this result with this salt."""
        ...

    def deposit(
        self, team_id: str, name: str, amount: Amount, *, key: CallKey
    ) -> Awaitable[Receipt]:
        """Give test money to a party."""
        ...

    def withdraw(
        self, team_id: str, name: str, amount: Amount, *, key: CallKey
    ) -> Awaitable[Receipt]:
        """Take a party's money out of the ledger."""
        ...

    def balance(self, team_id: str, name: str) -> Awaitable[Amount]:
        """What a party has."""
        ...

    def balances(self, team_id: str) -> Awaitable[Sequence[Balance]]:
        """Every account that is known and not empty."""
        ...

    def history(
        self, team_id: str, name: str, *, limit: int = 50, before: int | None = None
    ) -> Awaitable[Sequence[LedgerLine]]:
        """A party's postings, newest first; `before` is the last entry of the previous page."""
        ...

    def audit(self, team_id: str | None = None) -> Awaitable[Audit]:
        """Check every invariant of one team, or of all teams."""
        ...
