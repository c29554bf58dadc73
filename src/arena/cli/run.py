"""`arena run`: benchmark an agent."""

from typing import Annotated
from uuid import UUID

import typer

from arena import schemas
from arena.cli import output
from arena.cli.connection import connected, settings_of, wait_for
from arena.cli.options import AgentsDir, Json, TestsDir
from arena.cli.progress import follow
from arena.cli.report import print_run, results_of, show_run
from arena.client import Client
from arena.settings import Settings

app = typer.Typer()


@app.command()
def run(
    context: typer.Context,
    agent: Annotated[str, typer.Argument(help="AGENT or AGENT@VERSION (default: the newest).")],
    category: Annotated[str | None, typer.Option(help="Only tests of this category.")] = None,
    test: Annotated[list[str] | None, typer.Option(help="Only this test (repeatable).")] = None,
    tests: TestsDir = None,
    agents: AgentsDir = None,
    trials: Annotated[
        int | None, typer.Option(min=1, max=1000, help="How often each test is asked.")
    ] = None,
    concurrency: Annotated[
        int | None, typer.Option(min=1, max=256, help="Questions at once (default: the agent's).")
    ] = None,
    fail_under: Annotated[
        float | None,
        typer.Option(min=0, max=100, help="Exit with 1 where the score is below this percentage."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Benchmark an agent and show how it did."""
    agent_id, _, version = agent.partition("@")
    request = schemas.RunCreate(
        agent_id=agent_id,
        version=version or None,
        category=category,
        test_ids=test or None,
        trials=trials,
        concurrency=concurrency,
    )
    settings = settings_of(context, tests, agents)
    done = wait_for(_run(settings, request, as_json))
    raise typer.Exit(exit_code(done, fail_under))


async def _run(settings: Settings, request: schemas.RunCreate, as_json: bool) -> schemas.Run:
    async with connected(settings) as client:
        created = await client.create_run(request)
        await client.execute_run(created.run_id, wait=False)
        title = f"{created.agent_id} {created.version}"
        return await finish(client, created.run_id, title, as_json=as_json)


async def finish(client: Client, run_id: UUID, title: str, *, as_json: bool) -> schemas.Run:
    """Follow a run that was set going, and show how it ended."""
    try:
        await follow(client, run_id, title, is_quiet=as_json)
    except BaseException:
        told = f"interrupted; go on with: arena runs resume {run_id}"
        output.console(stderr=True).print(told, soft_wrap=True)
        raise
    details = await client.run(run_id, limit=1)
    if as_json:
        await print_run(client, details)
    else:
        await show_run(details, results_of(client, details.run))
    return details.run


def exit_code(run: schemas.Run, fail_under: float | None) -> int:
    """What the shell is told."""
    if run.status != "completed":
        return 3
    if fail_under is not None and (run.score_percent or 0.0) < fail_under:
        return 1
    return 0
