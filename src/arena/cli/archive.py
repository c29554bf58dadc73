"""`arena archive`: hide runs and agents, show them again, or delete them."""

from typing import Annotated

import typer

from arena.cli import output
from arena.cli.connection import call
from arena.cli.options import Json, commands
from arena.cli.run_name import RUN_HELP, find_run
from arena.cli.suites import caller
from arena.cli.tables import print_table
from arena.errors import InvalidInput
from arena.fields import split_agent
from arena.operations.boards import BoardOperations, Done
from arena.operations.runs import RunOperations

app = commands("Archived runs and agents: hidden, but counted; deleted ones leave a mark.")

RunOption = Annotated[str | None, typer.Option("--run", metavar="RUN", help=RUN_HELP)]
AgentOption = Annotated[
    str | None, typer.Option("--agent", metavar="AGENT@VERSION", help="A version of an agent.")
]
ReasonOption = Annotated[
    str, typer.Option("--reason", metavar="TEXT", help="Why; the log keeps it.")
]


class ArchiveOperations(BoardOperations, RunOperations):
    """Operations on archived runs and agents, and those that find a run by its name."""


@app.command("list")
def list_archived(context: typer.Context, as_json: Json = False) -> None:
    """List what was archived or deleted, newest first."""
    found = call(context, BoardOperations, lambda arena: arena.archive())
    if as_json:
        output.print_json(found)
        return
    if not found.marks:
        output.line("nothing was archived or deleted")
        return
    rows = [
        (
            "deleted" if mark.is_deleted else "archived",
            f"run {mark.run_id}" if mark.run_id else "agent",
            f"{mark.agent_id}@{mark.agent_version}",
            output.moment(mark.at),
            mark.by,
            mark.reason,
        )
        for mark in found.marks
    ]
    print_table(("state", "what", "of", "when", "by", "why"), rows, optional=("when", "by"))


@app.command("add")
def add(
    context: typer.Context,
    reason: ReasonOption,
    run: RunOption = None,
    agent: AgentOption = None,
) -> None:
    """Archive a run or an agent version: it is hidden, and counts all the same."""
    _do(context, "archive", run, agent, reason)


@app.command("restore")
def restore(
    context: typer.Context,
    reason: ReasonOption,
    run: RunOption = None,
    agent: AgentOption = None,
) -> None:
    """Show an archived run or agent version again."""
    _do(context, "restore", run, agent, reason)


@app.command("delete")
def delete(
    context: typer.Context,
    reason: ReasonOption,
    run: RunOption = None,
    agent: AgentOption = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Delete a run, or all runs, ratings and executions of an agent version; a mark remains."""
    if not yes:
        typer.confirm(f"delete {run or agent} with all its results?", abort=True)
    _do(context, "delete", run, agent, reason)


def _do(
    context: typer.Context, action: str, run: str | None, agent: str | None, reason: str
) -> None:
    """Call the operation `{action}_run` or `{action}_agent`."""
    if (run is None) == (agent is None):
        raise InvalidInput("name one thing: --run RUN or --agent AGENT@VERSION")

    async def done(arena: ArchiveOperations) -> Done:
        if run is not None:
            operation = getattr(arena, f"{action}_run")
            return await operation(await find_run(arena, run), reason=reason, by=caller())
        agent_id, version = split_agent(agent or "")
        if version is None:
            raise InvalidInput(f"--agent {agent}: name the version, as in {agent_id}@1.0.0")
        operation = getattr(arena, f"{action}_agent")
        return await operation(agent_id, version, reason=reason, by=caller())

    output.line(call(context, ArchiveOperations, done).message)
