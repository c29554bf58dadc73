"""`arena ledger`: who has what. All of it is test money."""

from typing import Annotated

import typer

from arena import schemas
from arena.cli import output
from arena.cli.connection import connected, settings_of, wait_for
from arena.cli.options import Json, commands
from arena.cli.tables import print_table
from arena.errors import InvalidInput
from arena.schemas import CURRENCY
from arena.settings import Settings

app = commands("Test money: balances, history, audit.")

Account = Annotated[str, typer.Argument(metavar="NAME", help="Whose account.")]
Amount = Annotated[str, typer.Argument(metavar="AMOUNT", help="How much, like 0.05.")]
Key = Annotated[
    str | None, typer.Option(metavar="TEXT", help="Done again under it, it is done once.")
]


@app.command("balance")
def balance(
    context: typer.Context,
    account: Annotated[
        str | None, typer.Argument(metavar="NAME", help="Whose (default: every account).")
    ] = None,
    as_json: Json = False,
) -> None:
    """Show what a party has, or every account that is not empty."""

    async def fetch(settings: Settings) -> schemas.Balances:
        async with connected(settings) as client:
            return await (client.balance(account) if account else client.balances())

    held = wait_for(fetch(settings_of(context)))
    if as_json:
        output.print_json(held)
    elif not held.balances:
        output.line("no money here; try: arena ledger deposit NAME 10")
    else:
        rows = [(one.account, one.amount) for one in held.balances]
        heading = f"{CURRENCY} (test money)"
        print_table(("account", heading), rows, right=(heading,))


@app.command("history")
def history(
    context: typer.Context,
    account: Account,
    limit: Annotated[int, typer.Option(min=1, max=500, metavar="N", help="How many.")] = 50,
    cursor: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Go on behind a page (its next_cursor).")
    ] = None,
    as_json: Json = False,
) -> None:
    """Show what came into an account and went out of it, newest first."""

    async def fetch(settings: Settings) -> schemas.LedgerHistory:
        async with connected(settings) as client:
            return await client.ledger_history(account, limit=limit, cursor=cursor)

    page = wait_for(fetch(settings_of(context)))
    if as_json:
        output.print_json(page)
        return
    if not page.lines:
        output.line(f"nothing has happened in the account of {account}")
        return
    rows = [
        (
            str(one.entry_id),
            output.moment(one.at),
            one.kind,
            "–" if one.task_id is None else str(one.task_id),
            one.amount,
            one.balance,
        )
        for one in page.lines
    ]
    columns = ("entry", "when", "what", "task", "amount", "balance")
    print_table(columns, rows, right=("entry", "task", "amount", "balance"))
    if page.next_cursor:
        output.line(f"more with: --cursor {page.next_cursor}")


@app.command("audit")
def audit(context: typer.Context, as_json: Json = False) -> None:
    """Check every invariant from the raw rows; exit 1 where one does not hold."""

    async def fetch(settings: Settings) -> schemas.Audit:
        async with connected(settings) as client:
            return await client.audit()

    report = wait_for(fetch(settings_of(context)))
    if as_json:
        output.print_json(report)
    else:
        looked = f"{report.tasks} tasks, {report.entries} entries, {report.postings} postings"
        for one in report.violations:
            output.line(f"{one.invariant}: {one.what}")
        told = "all invariants hold" if report.is_clean else f"{len(report.violations)} violations"
        output.line(f"{looked}, {report.accounts} accounts: {told}")
    raise typer.Exit(0 if report.is_clean else 1)


@app.command("deposit")
def deposit(context: typer.Context, account: Account, amount: Amount, key: Key = None) -> None:
    """Give somebody test money, which is worth nothing."""

    async def put(settings: Settings) -> schemas.Balances:
        async with connected(settings) as client:
            await client.deposit_test_money(account, _checked(amount), key=key)
            return await client.balance(account)

    _say(wait_for(put(settings_of(context))), account)


@app.command("withdraw")
def withdraw(context: typer.Context, account: Account, amount: Amount, key: Key = None) -> None:
    """Take test money out of an account."""

    async def take(settings: Settings) -> schemas.Balances:
        async with connected(settings) as client:
            await client.withdraw_test_money(account, _checked(amount), key=key)
            return await client.balance(account)

    _say(wait_for(take(settings_of(context))), account)


def _say(held: schemas.Balances, account: str) -> None:
    output.line(f"{account} has {held.balances[0].amount} {CURRENCY} (test money)")


def _checked(amount: str) -> str:
    try:
        schemas.minor_units(amount)
    except ValueError as wrong:
        raise InvalidInput(f"{amount!r} is no amount: {wrong}") from None
    return amount
