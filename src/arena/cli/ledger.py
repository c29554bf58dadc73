"""`arena ledger`: balances and history. All of it is test money."""

from collections.abc import Callable
from typing import Annotated, Any

import typer

from arena.amounts import Amount, money_words
from arena.cli import output
from arena.cli.connection import call
from arena.cli.options import Json, commands
from arena.cli.tables import print_table
from arena.errors import InvalidInput
from arena.market.money import Audit
from arena.market.projection import Rebuilt
from arena.operations.ledger import Balances, LedgerHistory, LedgerOperations
from arena.text import UNKNOWN

app = commands("Test money: balances, history, audit.")

Account = Annotated[str, typer.Argument(metavar="NAME", help="Whose account.")]
HowMuch = Annotated[str, typer.Argument(metavar="AMOUNT", help="How much, like 0.05.")]
Key = Annotated[
    str | None,
    typer.Option(metavar="TEXT", help="Idempotency key: repeated with it, it is done once."),
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
    held = call(context, LedgerOperations, lambda arena: arena.balances(account=account))
    output.show(held, _print_balances, as_json=as_json)


def _print_balances(held: Balances) -> None:
    if not held.balances:
        output.line("no money here; try: arena ledger deposit NAME 10")
        return
    heading = money_words(held.currency)
    rows = [(one.account, str(one.amount)) for one in held.balances]
    print_table(("account", heading), rows, right=(heading,))


@app.command("history")
def history(
    context: typer.Context,
    account: Account,
    limit: Annotated[int, typer.Option(min=1, max=500, metavar="N", help="How many.")] = 50,
    cursor: Annotated[
        str | None, typer.Option(metavar="TEXT", help="The next_cursor of the previous page.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Show the postings of an account, newest first."""
    page = call(
        context,
        LedgerOperations,
        lambda arena: arena.ledger_history(account, limit=limit, cursor=cursor),
    )
    output.show(page, _print_history, as_json=as_json)


def _print_history(page: LedgerHistory) -> None:
    if not page.lines:
        output.line(f"account {page.account} has no entries")
        return
    rows = [
        (
            str(one.entry_id),
            output.time_cell(one.at),
            one.kind,
            UNKNOWN if one.task_id is None else str(one.task_id),
            str(one.amount),
            str(one.balance),
        )
        for one in page.lines
    ]
    columns = ("entry", "when (UTC)", "what", "task", "amount", "balance")
    print_table(columns, rows, right=("entry", "task", "amount", "balance"))
    if page.next_cursor:
        output.line(f"more with: --cursor {page.next_cursor}")


@app.command("audit")
def audit(context: typer.Context, as_json: Json = False) -> None:
    """Check every invariant on the raw rows. Exit with 1 if one is violated."""
    report = call(context, LedgerOperations, lambda arena: arena.audit())
    output.show(report, _print_audit, as_json=as_json)
    raise typer.Exit(0 if report.is_clean else 1)


def _print_audit(report: Audit) -> None:
    for one in report.violations:
        output.line(f"{one.invariant}: {one.what}")
    found = "all invariants hold" if report.is_clean else f"{len(report.violations)} violations"
    output.line(
        f"{report.tasks} tasks, {report.entries} entries, {report.postings} postings, "
        f"{report.accounts} accounts: {found}"
    )


@app.command("deposit")
def deposit(context: typer.Context, account: Account, amount: HowMuch, key: Key = None) -> None:
    """Deposit test money, which is worth nothing."""
    _move(context, account, amount, lambda arena: arena.deposit_test_money, key)


@app.command("withdraw")
def withdraw(context: typer.Context, account: Account, amount: HowMuch, key: Key = None) -> None:
    """Withdraw test money from an account."""
    _move(context, account, amount, lambda arena: arena.withdraw_test_money, key)


def _move(
    context: typer.Context,
    account: str,
    amount: str,
    operation: Callable[[LedgerOperations], Callable[..., Any]],
    key: str | None,
) -> None:
    try:
        # Here rather than in the operation, so that the message quotes what was typed.
        Amount.parse(amount)
    except ValueError as error:
        raise InvalidInput(f"{amount!r} is not an amount: {error}") from None

    async def move(arena: LedgerOperations) -> Balances:
        await operation(arena)(account, amount, key=key)
        return await arena.balance(account)

    held = call(context, LedgerOperations, move)
    amount_now = held.balances[0].amount
    output.line(f"{account} has {amount_now} {money_words(held.currency)}")


@app.command("rebuild")
def rebuild(context: typer.Context, as_json: Json = False) -> None:
    """Compute reputations and executions again from the events."""
    rebuilt = call(context, LedgerOperations, lambda arena: arena.rebuild_projections())
    output.show(rebuilt, _print_rebuilt, as_json=as_json)


def _print_rebuilt(rebuilt: Rebuilt) -> None:
    changed = rebuilt.reputations + rebuilt.executions
    found = "nothing had to be changed"
    if changed:
        found = f"corrected {rebuilt.reputations} reputations and {rebuilt.executions} executions"
    output.line(f"{rebuilt.tasks} tasks: {found}")
