"""Money: balances, history, audit. Deposits and withdrawals are of test money."""

from typing import Annotated

from fastapi import Query

from arena import schemas
from arena.api.access import Team
from arena.api.arena import House
from arena.api.market_shapes import PageLimit, shown_receipt
from arena.api.problems import responses
from arena.api.room import room_router
from arena.operations import paging
from arena.schemas import decimal_text, minor_units

router = room_router("/api/ledger", "ledger")


@router.get("/balance", responses=responses())
async def get_balance(
    house: House,
    team: Team,
    account: Annotated[
        str | None, Query(min_length=1, max_length=100, description="A party; default: all.")
    ] = None,
) -> schemas.Balances:
    """What a party has, or every account that is not empty."""
    if account is None:
        held = await house.market.balances(team)
    else:
        held = {f"user:{account}": await house.market.balance(team, account)}
    balances = [
        schemas.Balance(account=name, amount=decimal_text(amount))
        for name, amount in sorted(held.items())
    ]
    return schemas.Balances(balances=balances, count=len(balances))


@router.get("/history", responses=responses())
async def get_ledger_history(
    house: House,
    team: Team,
    account: Annotated[str, Query(min_length=1, max_length=100, description="A party.")],
    limit: PageLimit = 50,
    cursor: paging.Cursor = None,
) -> schemas.LedgerHistory:
    """A party's postings, newest first."""
    before = paging.decode_number(cursor) or None
    lines = await house.market.history(team, account, limit=limit + 1, before=before)
    page = lines[:limit]
    return schemas.LedgerHistory(
        account=f"user:{account}",
        lines=[
            schemas.LedgerLine(
                entry_id=line.entry_id,
                task_id=line.task_id,
                kind=line.kind.value,
                at=line.at,
                amount=decimal_text(line.amount),
                balance=decimal_text(line.balance),
            )
            for line in page
        ],
        count=len(page),
        next_cursor=paging.encode(page[-1].entry_id) if len(lines) > limit else None,
    )


@router.get("/audit", responses=responses())
async def audit_ledger(house: House, team: Team) -> schemas.Audit:
    """Check every invariant of the team's market from the raw rows."""
    report = await house.market.audit(team)
    return schemas.Audit(
        is_clean=report.is_clean,
        tasks=report.tasks,
        entries=report.entries,
        postings=report.postings,
        accounts=report.accounts,
        violations=[
            schemas.Violation(invariant=one.invariant, what=one.what) for one in report.violations
        ],
    )


@router.post("/deposit", responses=responses(409))
async def deposit_test_money(house: House, team: Team, body: schemas.TestMoney) -> schemas.Receipt:
    """Give a party test money; it is worth nothing."""
    amount, key = minor_units(body.amount), body.idempotency_key
    receipt = await house.market.deposit_test_money(team, body.account, amount, key=key)
    return shown_receipt(receipt)


@router.post("/withdraw", responses=responses(409))
async def withdraw_test_money(house: House, team: Team, body: schemas.TestMoney) -> schemas.Receipt:
    """Take test money out of a party's account."""
    amount, key = minor_units(body.amount), body.idempotency_key
    receipt = await house.market.withdraw_test_money(team, body.account, amount, key=key)
    return shown_receipt(receipt)
