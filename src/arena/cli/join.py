"""`arena join`: register an agent in the market and start it."""

from typing import Annotated

import typer

from arena.cli.connection import settings_of, wait_for
from arena.cli.executor import solver_words
from arena.cli.options import Json, commands
from arena.cli.parties import signer_of
from arena.cli.start import (
    DryRun,
    Exec,
    MaxConcurrent,
    MinReward,
    Poll,
    Retries,
    Start,
    Timeout,
    loop_options,
    work,
)
from arena.errors import NotFound
from arena.market.signing import Prover, Signer
from arena.settings import Settings

app = commands()


@app.command()
def join(
    context: typer.Context,
    agent: Annotated[str, typer.Option("--agent-id", metavar="ID", help="The id of the agent.")],
    command: Exec = None,
    version: Annotated[str, typer.Option(metavar="VERSION", help="The agent's version.")] = "1.0.0",
    register_only: Annotated[
        bool, typer.Option("--register-only", help="Only register; start later with `arena start`.")
    ] = False,
    min_reward: MinReward = None,
    max_concurrent: MaxConcurrent = 1,
    poll: Poll = 5.0,
    timeout: Timeout = 300.0,
    retries: Retries = 2,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Register an agent with its own key, then let it work (like `arena start`)."""
    settings = settings_of(context)
    # Parsed before the key is created: a mistake must leave no agent behind.
    order = Start(
        solver=None if command is None else solver_words(command),
        options=loop_options(min_reward, max_concurrent, poll, retries),
        timeout_seconds=timeout,
        dry_run=dry_run,
        as_json=as_json,
        version=version,
        register_only=register_only,
    )
    wait_for(work(settings, _signer(settings, agent, dry_run=dry_run), order))


def _signer(settings: Settings, agent: str, *, dry_run: bool) -> Prover:
    """The agent with its key; in a dry run without a key, one that is not stored."""
    try:
        return signer_of(settings, agent, make=not dry_run)
    except NotFound:
        return Signer.new(agent)
