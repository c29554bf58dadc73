"""`arena runs`: what was measured."""

from typing import Annotated
from uuid import UUID

import typer

from arena import schemas
from arena.cli import output
from arena.cli.connection import connected, resume_hint, settings_of, wait_for
from arena.cli.options import AgentsDir, FailUnder, Json, commands
from arena.cli.report import print_run
from arena.cli.run import exit_code, finish
from arena.cli.tables import print_table
from arena.settings import Settings

app = commands("Benchmark runs.")

RunId = Annotated[UUID, typer.Argument(help="The id of the run.", metavar="RUN")]


@app.command("list")
def list_runs(
    context: typer.Context,
    agent: Annotated[
        str | None, typer.Option(metavar="AGENT", help="Only runs of this agent.")
    ] = None,
    status: Annotated[
        str | None, typer.Option(metavar="STATE", help="Only runs in this state.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000, metavar="N", help="How many.")] = 20,
    cursor: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Go on behind a page (its next_cursor).")
    ] = None,
    as_json: Json = False,
) -> None:
    """List the newest runs."""

    async def fetch(settings: Settings) -> schemas.RunList:
        async with connected(settings) as client:
            return await client.runs(agent_id=agent, status=status, limit=limit, cursor=cursor)

    runs = wait_for(fetch(settings_of(context)))
    if as_json:
        output.print_json(runs)
        return
    if not runs.runs:
        output.line("no runs here; start one with: arena run AGENT")
        return
    columns = ("run", "agent", "version", "status", "passed", "score", "points", "started")
    rows = [
        (
            str(run.id),
            run.agent_id,
            run.agent_version,
            output.status(run.status),
            f"{run.passed_tests}/{run.total_tests}",
            output.percent(run.score_percent),
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
def show(context: typer.Context, run_id: RunId, as_json: Json = False) -> None:
    """Show a run and its results."""

    async def fetch(settings: Settings) -> schemas.Run:
        async with connected(settings) as client:
            return await print_run(client, run_id, as_json=as_json)

    wait_for(fetch(settings_of(context)))


@app.command("resume")
def resume(
    context: typer.Context,
    run_id: RunId,
    agents: AgentsDir = None,
    fail_under: FailUnder = None,
    as_json: Json = False,
) -> None:
    """Go on with a run that was interrupted, or that the infrastructure stopped."""

    async def go_on(settings: Settings) -> schemas.Run:
        async with connected(settings) as client:
            await client.resume_run(run_id, wait=False)
            with resume_hint(context, settings, run_id, agents):
                return await finish(client, run_id, f"run {run_id}", as_json=as_json)

    done = wait_for(go_on(settings_of(context, agents=agents)))
    raise typer.Exit(exit_code(done, fail_under))


@app.command("cancel")
def cancel(context: typer.Context, run_id: RunId) -> None:
    """Stop a run for good; the results it has stay."""

    async def stop(settings: Settings) -> schemas.Run:
        async with connected(settings) as client:
            return await client.cancel_run(run_id)

    run = wait_for(stop(settings_of(context)))
    output.line(f"run {run.id} is cancelled; its {run.completed_tests} results stay")
