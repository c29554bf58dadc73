"""`arena runs`: list, show, resume and cancel runs."""

from typing import Annotated

import typer

from arena.cli import output
from arena.cli.connection import (
    call,
    open_operations,
    resume_hint,
    settings_of,
    source_of,
    wait_for,
)
from arena.cli.gate import exit_code
from arena.cli.options import AgentsPath, FailUnder, Json, commands
from arena.cli.run import finish
from arena.cli.run_name import RunName, find_run
from arena.cli.run_report import print_run
from arena.cli.tables import print_table
from arena.operations.runs import RunOperations
from arena.runs.run import Run, RunStatus
from arena.settings import Settings
from arena.text import percent_text

app = commands("Benchmark runs.")


@app.command("list")
def list_runs(
    context: typer.Context,
    agent: Annotated[
        str | None, typer.Option(metavar="AGENT", help="Only runs of this agent.")
    ] = None,
    status: Annotated[
        RunStatus | None, typer.Option(metavar="STATE", help="Only runs in this state.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000, metavar="N", help="How many.")] = 20,
    cursor: Annotated[
        str | None, typer.Option(metavar="TEXT", help="The next_cursor of the previous page.")
    ] = None,
    as_json: Json = False,
) -> None:
    """List the newest runs."""
    runs = call(
        context,
        RunOperations,
        lambda arena: arena.runs(agent_id=agent, status=status, limit=limit, cursor=cursor),
    )
    if as_json:
        output.print_json(runs)
        return
    if not runs.runs:
        source = source_of(settings_of(context))
        output.line(f"no runs in {source}; start one with: arena run AGENT")
        return
    columns = ("run", "agent", "version", "status", "passed", "score", "points", "started")
    rows = [
        (
            str(run.id),
            run.agent_id,
            run.agent_version,
            output.status(run.state),
            f"{run.passed_tests}/{run.total_tests}",
            percent_text(run.score_percent),
            f"{run.points_earned:g}/{run.points_possible:g}",
            output.moment(run.started_at),
        )
        for run in runs.runs
    ]
    print_table(
        columns,
        rows,
        right=("passed", "score", "points"),
        optional=("points", "version", "started", "passed"),
    )
    if runs.next_cursor:
        output.line(f"more with: --cursor {runs.next_cursor}")


@app.command("show")
def show(context: typer.Context, run: RunName, as_json: Json = False) -> None:
    """Show a run and its results."""

    async def printed(arena: RunOperations) -> None:
        await print_run(arena, await find_run(arena, run), as_json=as_json)

    call(context, RunOperations, printed)


@app.command("resume")
def resume(
    context: typer.Context,
    run: RunName,
    agents: AgentsPath = None,
    fail_under: FailUnder = None,
    as_json: Json = False,
) -> None:
    """Resume a run that was interrupted, or that an infrastructure error stopped."""

    async def resumed(settings: Settings) -> Run:
        async with open_operations(settings, RunOperations) as arena:
            run_id = await find_run(arena, run)
            # Before the hint: if resuming is refused, there is nothing to continue later.
            await arena.resume_run(run_id, wait=False)
            with resume_hint(context, settings, run_id, agents):
                return await finish(arena, run_id, f"run {run_id}", fail_under, as_json=as_json)

    ended = wait_for(resumed(settings_of(context, agents=agents)))
    raise typer.Exit(exit_code(ended, fail_under))


@app.command("cancel")
def cancel(context: typer.Context, run: RunName) -> None:
    """Stop a run permanently; the results so far are kept."""

    async def cancelled(arena: RunOperations) -> Run:
        return await arena.cancel_run(await find_run(arena, run))

    ended = call(context, RunOperations, cancelled)
    output.line(f"run {ended.id} is cancelled; its {ended.completed_tests} results are kept")
