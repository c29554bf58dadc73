"""`arena scores`: recompute scores."""

from typing import Annotated

import typer

from arena.cli import output
from arena.cli.connection import call
from arena.cli.options import commands
from arena.errors import InvalidInput
from arena.fields import agent_reference, split_agent
from arena.operations.scores import ScoreOperations

app = commands("The scores.")


@app.callback()
def scores() -> None:
    """Scores update automatically; `recalculate` checks them against the raw data."""


@app.command("recalculate")
def recalculate(
    context: typer.Context,
    agent: Annotated[
        str | None, typer.Argument(help="AGENT or AGENT@VERSION.", metavar="AGENT")
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Every agent of the team.")] = False,
) -> None:
    """Recompute scores from the raw rows."""
    if (agent is None) is not every:
        raise InvalidInput("name an agent, or give --all")
    agent_id, version = split_agent(agent or "")
    done = call(
        context, ScoreOperations, lambda arena: arena.recalculate(agent_id or None, version)
    )
    for name in done.recalculated:
        output.console().print(agent_reference(name))
    output.console().print(f"{done.count} recalculated", style="dim")
