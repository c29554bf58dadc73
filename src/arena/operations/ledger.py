"""The ledger: balances, history, audit, deposits and withdrawals of test money."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field, TypeAdapter

from arena.amounts import CURRENCY, Amount, AmountText
from arena.fields import NameFilter
from arena.market.call import Receipt
from arena.market.money import Audit, Balance, LedgerLine, user
from arena.market.projection import Rebuilt
from arena.market.task import EMBEDDED, Party
from arena.operations import paging
from arena.operations.market import IdempotencyKey
from arena.operations.operation import OperationGroup, get, post
from arena.operations.paging import Cursor

Account = Annotated[Party, Field(description="A party.")]
PageLimit = Annotated[int, Field(ge=1, le=500, description="How many at most.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Balances:
    """The balances of accounts; they sum to zero, because all money comes from `outside`."""

    balances: Sequence[Balance]
    count: int
    currency: str = CURRENCY


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerHistory:
    """A page of an account's postings, newest first."""

    account: str
    lines: Sequence[LedgerLine]
    count: int
    currency: str = CURRENCY
    next_cursor: str | None = None


class LedgerOperations(OperationGroup):
    """The ledger."""

    @get("/api/ledger/balance", id="get_balance", tag="ledger")
    async def balances(
        self,
        *,
        account: Annotated[
            NameFilter, Field(min_length=1, description="A party; default: all.")
        ] = None,
    ) -> Balances:
        """The balance of a party, or of every account that is not empty."""
        ledger = self.arena.market.ledger
        if account is None:
            held = await ledger.balances(self.team)
        else:
            amount = await ledger.balance(self.team, account)
            held = [Balance(account=user(account), amount=amount)]
        return Balances(balances=held, count=len(held), currency=ledger.currency.code)

    async def balance(self, account: str) -> Balances:
        """The balance of a party."""
        return await self.balances(account=account)

    @get("/api/ledger/history", id="get_ledger_history", tag="ledger")
    async def ledger_history(
        self, account: Account, *, limit: PageLimit = 50, cursor: Cursor = None
    ) -> LedgerHistory:
        """A party's postings, newest first."""
        before = paging.decode_number(cursor) or None
        ledger = self.arena.market.ledger
        lines = await ledger.history(self.team, account, limit=limit + 1, before=before)
        page = lines[:limit]
        return LedgerHistory(
            account=user(account),
            lines=page,
            count=len(page),
            currency=ledger.currency.code,
            next_cursor=paging.encode(page[-1].entry_id) if len(lines) > limit else None,
        )

    @get("/api/ledger/audit", id="audit_ledger", tag="ledger")
    async def audit(self) -> Audit:
        """Check every invariant of the team's market on the raw rows."""
        ledger = self.arena.market.ledger
        if not self.arena.settings.is_queued or ledger.name != EMBEDDED:
            return await ledger.audit(self.team)  # a worker may not know the chain
        found = await self.arena.jobs.chores.ask("audit_ledger", self.team, {})
        return TypeAdapter(Audit).validate_python(found)

    @post("/api/ledger/rebuild", id="rebuild_projections", tag="ledger")
    async def rebuild_projections(self) -> Rebuilt:
        """Compute the reputations and executions of the team's agents again from the events."""
        if not self.arena.settings.is_queued:
            return await self.arena.market.embedded.rebuild(self.team)
        return Rebuilt(**await self.arena.jobs.chores.ask("rebuild", self.team, {}))

    @post("/api/ledger/deposit", tag="ledger", errors=(409,), body="TestMoney")
    async def deposit_test_money(
        self, account: Party, amount: AmountText, *, key: IdempotencyKey = None
    ) -> Receipt:
        """Deposit test money into a party's account; it is worth nothing."""
        return await self.arena.market.deposit_test_money(
            self.team, account, Amount.parse(amount), key=key
        )

    @post("/api/ledger/withdraw", tag="ledger", errors=(409,), body="TestMoney")
    async def withdraw_test_money(
        self, account: Party, amount: AmountText, *, key: IdempotencyKey = None
    ) -> Receipt:
        """Withdraw test money from a party's account."""
        return await self.arena.market.withdraw_test_money(
            self.team, account, Amount.parse(amount), key=key
        )
