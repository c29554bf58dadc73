"""`arena runs`: what was measured."""

from typing import Annotated
from uuid import UUID

import typer

from arena import schemas
from arena.cli import output
from arena.cli.connection import connected, settings_of, wait_for
from arena.cli.options import AgentsDir, Json, TestsDir
from arena.cli.report import print_run, results_of, show_run
from arena.cli.run import exit_code, finish
from arena.settings import Settings

app = typer.Typer(no_args_is_help=True, help="Benchmark runs.", rich_markup_mode=None)

RunId = Annotated[UUID, typer.Argument(help="The id of the run.", metavar="RUN")]


@app.command("list")
def list_runs(
    context: typer.Context,
    agent: Annotated[str | None, typer.Option(help="Only runs of this agent.")] = None,
    status: Annotated[str | None, typer.Option(help="Only runs in this state.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="How many.")] = 20,
    as_json: Json = False,
) -> None:
    """List the newest runs."""

    async def fetch(settings: Settings) -> schemas.RunList:
        async with connected(settings) as client:
            return await client.runs(agent_id=agent, status=status, limit=limit)

    runs = wait_for(fetch(settings_of(context)))
    if as_json:
        output.print_json(runs)
        return
    if not runs.runs:
        output.console().print("no runs yet; start one with: arena run AGENT")
        return
    columns = ("run", "agent", "version", "status", "passed", "score", "points", "started")
    lines = output.table("", *columns, right=("passed", "score", "points"))
    for run in runs.runs:
        lines.add_row(
            str(run.id),
            run.agent_id,
            run.agent_version,
            output.status(run.status),
            f"{run.passed_tests}/{run.total_tests}",
            output.percent(run.score_percent),
            f"{run.points_earned:g}/{run.points_possible:g}",
            output.moment(run.started_at),
        )
    output.console().print(lines)


@app.command("show")
def show(context: typer.Context, run_id: RunId, as_json: Json = False) -> None:
    """Show a run and its results."""

    async def fetch(settings: Settings) -> None:
        async with connected(settings) as client:
            details = await client.run(run_id, limit=1)
            if as_json:
                await print_run(client, details)
            else:
                await show_run(details, results_of(client, details.run))

    wait_for(fetch(settings_of(context)))


@app.command("resume")
def resume(
    context: typer.Context,
    run_id: RunId,
    tests: TestsDir = None,
    agents: AgentsDir = None,
    as_json: Json = False,
) -> None:
    """Go on with a run that was interrupted, or that the infrastructure stopped."""

    async def go_on(settings: Settings) -> schemas.Run:
        async with connected(settings) as client:
            await client.resume_run(run_id, wait=False)
            return await finish(client, run_id, f"run {run_id}", as_json=as_json)

    done = wait_for(go_on(settings_of(context, tests, agents)))
    raise typer.Exit(exit_code(done, None))


@app.command("cancel")
def cancel(context: typer.Context, run_id: RunId) -> None:
    """Stop a run for good; the results it has stay."""

    async def stop(settings: Settings) -> schemas.Run:
        async with connected(settings) as client:
            return await client.cancel_run(run_id)

    run = wait_for(stop(settings_of(context)))
    output.console().print(f"run {run.id} is cancelled; {run.completed_tests} results stay")
