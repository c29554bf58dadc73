"""`arena archive`: hide runs and agents, show them again, or delete them."""

from typing import Annotated

import typer

from arena.cli import output
from arena.cli.connection import call
from arena.cli.options import By, Json, caller, commands
from arena.cli.run_name import RUN_HELP, find_run
from arena.cli.tables import print_table
from arena.errors import InvalidInput
from arena.fields import split_agent
from arena.operations.boards import BoardOperations, Done
from arena.operations.runs import RunOperations
from arena.text import UNKNOWN

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
            f"run {mark.run_id}" if mark.run_id else f"{mark.agent_id}@{mark.agent_version}",
            f"{mark.agent_id}@{mark.agent_version}" if mark.run_id else UNKNOWN,
            output.time_cell(mark.at),
            mark.by,
            mark.reason,
        )
        for mark in found.marks
    ]
    columns = ("state", "what", "of", "when (UTC)", "by", "why")
    print_table(columns, rows, optional=("of",), ids=("what",), lines=None)


@app.command("add")
def add(
    context: typer.Context,
    reason: ReasonOption,
    run: RunOption = None,
    agent: AgentOption = None,
    by: By = None,
) -> None:
    """Hide a run or an agent version; it counts all the same."""
    _do(context, "archive", run, agent, reason, by)


@app.command("restore")
def restore(
    context: typer.Context,
    reason: ReasonOption,
    run: RunOption = None,
    agent: AgentOption = None,
    by: By = None,
) -> None:
    """Show an archived run or agent version again."""
    _do(context, "restore", run, agent, reason, by)


@app.command("delete")
def delete(
    context: typer.Context,
    reason: ReasonOption,
    run: RunOption = None,
    agent: AgentOption = None,
    by: By = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Delete a run or an agent version; a mark remains.

    Of an agent version, all runs, ratings and executions are deleted.
    """
    if not yes:
        typer.confirm(f"delete {run or agent} with all its results?", abort=True)
    _do(context, "delete", run, agent, reason, by)


def _do(
    context: typer.Context,
    action: str,
    run: str | None,
    agent: str | None,
    reason: str,
    by: str | None,
) -> None:
    """Call the operation `{action}_run` or `{action}_agent`."""
    if (run is None) == (agent is None):
        raise InvalidInput("name one thing: --run RUN or --agent AGENT@VERSION")
    who = by or caller()

    async def done(arena: ArchiveOperations) -> Done:
        if run is not None:
            operation = getattr(arena, f"{action}_run")
            return await operation(await find_run(arena, run), reason=reason, by=who)
        agent_id, version = split_agent(agent or "")
        if version is None:
            raise InvalidInput(f"--agent {agent}: name the version, as in {agent_id}@1.0.0")
        operation = getattr(arena, f"{action}_agent")
        return await operation(agent_id, version, reason=reason, by=who)

    output.line(call(context, ArchiveOperations, done).message)
