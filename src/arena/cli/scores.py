"""`arena scores`: add everything up again."""

from typing import Annotated

import typer

from arena import schemas
from arena.cli import output
from arena.cli.connection import connected, settings_of, wait_for
from arena.cli.options import commands, split_agent
from arena.errors import InvalidInput
from arena.settings import Settings

app = commands("The scores.")


@app.callback()
def scores() -> None:
    """Scores are always right by themselves; this is for those who want to see it done."""


@app.command("recalculate")
def recalculate(
    context: typer.Context,
    agent: Annotated[
        str | None, typer.Argument(help="AGENT or AGENT@VERSION.", metavar="AGENT")
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Every agent of the team.")] = False,
) -> None:
    """Add scores up again from the raw rows."""
    if (agent is None) is not every:
        raise InvalidInput("name an agent, or give --all")
    agent_id, version = split_agent(agent or "")

    async def fetch(settings: Settings) -> schemas.Recalculated:
        async with connected(settings) as client:
            return await client.recalculate(agent_id or None, version)

    done = wait_for(fetch(settings_of(context)))
    for name in done.recalculated:
        output.console().print(name)
    output.console().print(f"{done.count} recalculated", style="dim")
