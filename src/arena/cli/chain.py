"""`arena chain`: a local node, the contract, the keys of this machine, and how they are."""

import asyncio
import contextlib
import getpass
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from arena.chain.anvil import Anvil, LocalNode
from arena.chain.artifact import load_artifact
from arena.chain.deployment import Deployment, deploy
from arena.chain.keys import Keys
from arena.chain.node import Node
from arena.chain.outbox import Outbox
from arena.chain.sending import OutboxOptions
from arena.chain.status import ChainStatus, KeyStatus, known_keys, read_status
from arena.chain.wei import DECIMALS
from arena.cli import chain_jobs, chain_standards, output
from arena.cli.connection import call, settings_of, wait_for
from arena.cli.options import Json, commands
from arena.cli.tables import print_table
from arena.errors import InfrastructureError, NotFound
from arena.operations.market import MarketOperations, MarketPartyList
from arena.settings import Settings
from arena.store.database import Database
from arena.text import UNKNOWN

app = commands("The market on a chain: node, contract, keys.")
key_app = commands("Keys of parties on this machine.")
app.add_typer(key_app, name="key", help="Add a key of a party to this machine.")
app.add_typer(chain_jobs.app, name="job", help="Jobs in contracts of others (ERC-8183).")

PARTIES = ("alice", "judy", "operator")
"""Somebody who posts, somebody who judges, and who pays for the gas of agents."""
FUNDS = 10_000 * 10**DECIMALS
"""What `arena chain up` gives to each key of this machine that has less than a hundredth of it."""
MAX_KEY_CHARACTERS = 200

PartyName = Annotated[str, typer.Argument(metavar="NAME", help="The party.")]


@app.command("up")
def up(
    context: typer.Context,
    port: Annotated[
        int, typer.Option(min=0, max=65535, metavar="N", help="The port; 0 takes a free one.")
    ] = 8545,
    block_time: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="SECONDS", help="A block every so often (default: one per transaction)."
        ),
    ] = None,
    party: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="Who gets a funded key (default: alice, judy, operator)."
        ),
    ] = None,
    background: Annotated[
        bool, typer.Option("--background", help="Return once it runs; `arena chain down` stops it.")
    ] = False,
) -> None:
    """Start a local node for development (anvil). Prints the settings that use it."""
    settings = settings_of(context)
    wait_for(_up(settings, party or PARTIES, port, block_time, background))


async def _up(
    settings: Settings,
    parties: Sequence[str],
    port: int,
    block_time: int | None,
    background: bool,
) -> None:
    anvil = _anvil(settings)
    node = await anvil.start(port=port, block_seconds=block_time, keeps_running=background)
    try:
        await _fund(settings, node)
        _print_exports(settings, anvil, node, parties, background)
        while not background:
            # The node may also end by itself.
            if anvil.running() is None:
                raise InfrastructureError("the node has ended; its log is in ARENA_HOME/chain")
            await asyncio.sleep(0.2)
    finally:
        if not background:
            with contextlib.suppress(NotFound):
                await anvil.stop()


async def _fund(settings: Settings, node: LocalNode) -> None:
    """Give the keys of this machine money on the new chain."""
    asked = Node(node.url, chain_id=node.chain_id)
    try:
        for key in known_keys(Keys(settings)):
            if await asked.balance(key.address) < FUNDS // 100:
                await asked.ask("anvil_setBalance", key.address, hex(FUNDS))
    finally:
        await asked.close()


def _print_exports(
    settings: Settings,
    anvil: Anvil,
    node: LocalNode,
    parties: Sequence[str],
    background: bool,
) -> None:
    """The settings as shell commands, so that `eval "$(arena chain up --background)"` works."""
    how = "arena chain down" if background else "Ctrl-C"
    output.line(f"# anvil serves chain {node.chain_id} at {node.url} (stop it with {how})")
    output.line(f"export ARENA_CHAIN_URL={node.url}")
    output.line(f"export ARENA_CHAIN_ID={node.chain_id}")
    output.line("export ARENA_CHAIN_CONFIRMATIONS=1")
    known = known_keys(Keys(settings))
    names, addresses = {one.name for one in known}, {one.address.lower() for one in known}
    free = [one for one in anvil.accounts() if one.address.lower() not in addresses]
    added = [
        f"{name}:{account.private_key}"
        for name, account in zip((one for one in parties if one not in names), free, strict=False)
    ]
    if added:
        output.line("# development keys, which everybody knows: never use them on another chain")
        # The shell adds them: keys that are set already must not be printed.
        before = "${ARENA_CHAIN_KEYS:+$ARENA_CHAIN_KEYS,}"
        output.line(f'export ARENA_CHAIN_KEYS="{before}{",".join(added)}"')
    if settings.chain_relayer is None and "operator" in parties:
        output.line("export ARENA_CHAIN_RELAYER=operator")
    if settings.chain_password is None:
        output.line("export ARENA_CHAIN_PASSWORD=development")
    output.line("# next: arena chain deploy --as NAME", at_once=True)


@app.command("down")
def down(context: typer.Context) -> None:
    """Stop the local node; its chain is kept for the next start."""
    wait_for(_anvil(settings_of(context)).stop())


@app.command("deploy")
def deploy_contract(
    context: typer.Context,
    by: Annotated[
        str | None, typer.Option("--as", metavar="NAME", help="Whose key pays for it.")
    ] = None,
    again: Annotated[
        bool, typer.Option("--again", help="Deploy another, although there is one.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Deploy the market's contract. Repeated, it is the same deployment."""
    settings = settings_of(context)
    done = wait_for(_deploy(settings, by, again))
    output.show(done, _print_deployment, as_json=as_json)


async def _deploy(settings: Settings, by: str | None, again: bool) -> Deployment:
    async with contextlib.AsyncExitStack() as closing:
        node, database = Node.of(settings), Database(settings.database)
        closing.push_async_callback(database.close)
        closing.push_async_callback(node.close)
        keys = Keys(settings)
        return await deploy(
            Outbox(database, node, keys, OutboxOptions.of(settings)),
            node,
            load_artifact(),
            by=by or keys.payer(),
            team_id=settings.chain_team,
            seconds=settings.chain_wait_seconds,
            is_another=again,
        )


def _print_deployment(done: Deployment) -> None:
    output.line(
        f"# deployed on chain {done.chain_id} in block {done.block_number}, gas {done.gas_used:,}; "
        "its code is that of the contract that ships with Arena"
    )
    output.line(f"export ARENA_CHAIN_CONTRACT={done.contract}")
    output.line(f"export ARENA_CHAIN_FROM_BLOCK={done.block_number}")
    output.line("export ARENA_LEDGER=evm")


@app.command("status")
def status(context: typer.Context, as_json: Json = False) -> None:
    """Show the node, the contract and the keys here. Also lists unfinished transactions."""
    output.show(wait_for(_status(settings_of(context))), _print_status, as_json=as_json)


async def _status(settings: Settings) -> ChainStatus:
    node, database = Node.of(settings), Database(settings.database)
    try:
        return await read_status(settings, node, Keys(settings), database)
    finally:
        await node.close()
        await database.close()


def _print_status(found: ChainStatus) -> None:
    output.line(f"node       {found.node}, chain {found.chain_id}")
    output.line(f"block      {found.block_number}, {found.block_age_seconds} s old")
    output.line(f"gas        {found.base_fee_gwei:g} gwei")
    output.line(f"contract   {_contract_line(found)}")
    if found.contract and found.contract.held is not None:
        held, balance = found.contract.held, found.contract.balance
        output.line(f"tasks      {found.contract.task_count}")
        output.line(f"money      {held} {found.currency} held, balance {balance} {found.currency}")
    if found.keys:
        rows = [(one.name, one.address, one.balance or UNKNOWN) for one in found.keys]
        print_table(("party", "address", found.currency), rows, right=(found.currency,))
    if not found.unfinished:
        output.line("no unfinished transactions")
        return
    rows = [
        (
            one.action if one.task is None else f"{one.action} {one.task}",
            one.state if one.is_here else f"{one.state}, on another chain",
            one.hash,
            one.reason or "",
        )
        for one in found.unfinished
    ]
    print_table(("unfinished", "state", "hash", "why"), rows, optional=("why",))


def _contract_line(found: ChainStatus) -> str:
    contract = found.contract
    if contract is None:
        return "none: set ARENA_CHAIN_CONTRACT, or deploy one with `arena chain deploy`"
    if not contract.is_deployed:
        return f"{contract.address}: there is no contract on this chain"
    version = f"source {contract.source_sha256[:12]}, {contract.compiler}"
    if not contract.is_artifact:
        return f"{contract.address}: NOT the contract that ships with Arena ({version})"
    return f"{contract.address}: the contract that ships with Arena ({version})"


@app.command("keys")
def list_keys(context: typer.Context, as_json: Json = False) -> None:
    """List the parties whose keys are on this machine."""
    found = known_keys(Keys(settings_of(context)))
    if as_json:
        output.print_json([{"name": one.name, "address": one.address} for one in found])
    else:
        _print_keys(found)


def _print_keys(found: Sequence[KeyStatus]) -> None:
    if not found:
        output.line("no keys here; add one with: arena chain key new NAME")
        return
    print_table(("party", "address"), [(one.name, one.address) for one in found])


@key_app.command("new")
def new_key(context: typer.Context, name: PartyName) -> None:
    """Make a key in the keystore and print its address; needs ARENA_CHAIN_PASSWORD."""
    output.line(Keys(settings_of(context)).make(name))


@key_app.command("import")
def import_key(context: typer.Context, name: PartyName) -> None:
    """Store a private key, read from standard input, in the keystore; prints its address."""
    # Never from an argument: everybody on the machine can read those.
    if sys.stdin.isatty():
        text = getpass.getpass("private key: ")
    else:
        text = sys.stdin.read(MAX_KEY_CHARACTERS)
    output.line(Keys(settings_of(context)).add(name, text))


@app.command("parties")
def list_parties(context: typer.Context, as_json: Json = False) -> None:
    """List every party whose address is known."""
    found = call(context, MarketOperations, lambda arena: arena.market_parties())
    output.show(found, _print_parties, as_json=as_json)


def _print_parties(found: MarketPartyList) -> None:
    if not found.parties:
        output.line("no parties here; name one with: arena chain party NAME ADDRESS")
        return
    print_table(("party", "address"), [(one.name, one.address) for one in found.parties])


@app.command("party")
def name_party(
    context: typer.Context,
    name: PartyName,
    address: Annotated[str, typer.Argument(metavar="ADDRESS", help="0x and 40 digits.")],
) -> None:
    """Name an address, for a party whose key is elsewhere."""
    named = call(
        context, MarketOperations, lambda arena: arena.name_market_party(name=name, address=address)
    )
    output.line(f"{named.name} is {named.address}")


@app.command("demo")
def demo(context: typer.Context) -> None:
    """Run two paid tasks on a local chain.

    From posting to payment. It needs no settings and uses no other chain: its node, keys and data
    are in the folder chain-demo of ARENA_HOME, which is recreated each time.
    """
    from arena.cli.chain_demo import run_demo  # here to save start-up: it loads the whole market

    wait_for(run_demo(settings_of(context)))


def _anvil(settings: Settings) -> Anvil:
    return Anvil(settings.home / "chain")


# Last, so that the help lists them after the commands of Arena's own contract.
chain_standards.add_to(app)
