"""`arena runs`: list, show, compare, resume, export, cancel, push and repeat runs."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated

import typer

from arena.cli import output
from arena.cli.baseline_run import BaselineRunOperations, find_baseline
from arena.cli.budget import AllowUnknownPrices, MaxCost, MaxMinutes, MaxTokens, limits_of
from arena.cli.compare_runs import compare_runs
from arena.cli.connection import (
    call,
    open_operations,
    resume_hint,
    settings_of,
    source_of,
    wait_for,
)
from arena.cli.ending import EndedRunOperations, ending, export_run
from arena.cli.following import follow
from arena.cli.gate import Gates, exit_code
from arena.cli.options import (
    AgentsPath,
    BaselineOption,
    CsvFile,
    FailOnNewFailure,
    FailOnRegression,
    FailUnder,
    Json,
    JsonlFile,
    JunitFile,
    MarkdownFile,
    commands,
)
from arena.cli.result_report import print_results
from arena.cli.run_name import RunName, find_run
from arena.cli.run_report import (
    PROVENANCES,
    print_agreement,
    print_run,
    suite_text,
    verification_text,
)
from arena.cli.tables import print_table
from arena.errors import InvalidInput
from arena.operations.boards import BoardOperations
from arena.operations.pushes import PushOperations, RunPushed
from arena.operations.runs import RunOperations
from arena.runs.run import Run, RunStatus
from arena.settings import Settings
from arena.text import percent_text

app = commands("Benchmark runs.")
app.command("compare")(compare_runs)


class ResumedRunOperations(BaselineRunOperations, EndedRunOperations):
    """Operations of a run that is resumed."""


class ExportFormat(StrEnum):
    """The formats of `arena runs export`."""

    JUNIT = "junit"
    MARKDOWN = "markdown"
    CSV = "csv"
    JSONL = "jsonl"
    JSON = "json"


class PushTargetOperations(PushOperations, BoardOperations):
    """Operations of a server that a run is pushed to."""


class PushedRunOperations(RunOperations, PushOperations):
    """Operations of commands that push and repeat runs, which users also name by `latest`."""


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
    _print_runs(runs.runs)
    if runs.next_cursor:
        output.line(f"more with: --cursor {runs.next_cursor}")


def _print_runs(runs: Sequence[Run]) -> None:
    rows = {
        "run": [str(run.id) for run in runs],
        "agent": [f"{run.agent_id}@{run.agent_version}" for run in runs],
        "status": [output.status(run.state) for run in runs],
        "passed": [f"{run.passed_tests}/{run.total_tests}" for run in runs],
        "score": [percent_text(run.score_percent) for run in runs],
        "points": [f"{run.points_earned:g}/{run.points_possible:g}" for run in runs],
        "suite": [suite_text(run) for run in runs],
        "provenance": [PROVENANCES[run.provenance] for run in runs],
        "started (UTC)": [output.time_cell(run.started_at) for run in runs],
    }
    print_table(
        tuple(rows),
        list(zip(*rows.values(), strict=True)),
        right=("passed", "score", "points"),
        optional=("started (UTC)", "points", "passed"),
        ids=("run", "suite"),
    )


@app.command("show")
def show(
    context: typer.Context,
    run: RunName,
    test: Annotated[
        str | None,
        typer.Option("--test", metavar="TEST", help="Only this test, with its conversation."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Show a run and its results."""

    async def printed(arena: EndedRunOperations) -> None:
        run_id = await find_run(arena, run)
        if test is None:
            await print_run(arena, run_id, as_json=as_json)
        else:
            await print_results(arena, run_id, test, as_json=as_json)

    call(context, EndedRunOperations, printed)


@app.command("resume")
def resume(
    context: typer.Context,
    run: RunName,
    agents: AgentsPath = None,
    max_cost: MaxCost = None,
    max_tokens: MaxTokens = None,
    max_minutes: MaxMinutes = None,
    allow_unknown_prices: AllowUnknownPrices = None,
    fail_under: FailUnder = None,
    baseline: BaselineOption = None,
    fail_on_regression: FailOnRegression = False,
    fail_on_new_failure: FailOnNewFailure = False,
    junit: JunitFile = None,
    markdown: MarkdownFile = None,
    csv: CsvFile = None,
    jsonl: JsonlFile = None,
    as_json: Json = False,
) -> None:
    """Resume a run that was interrupted, or stopped by an error or its budget.

    Limits that are given replace those of the run; what it has spent so far counts.
    """
    files = {"junit": junit, "markdown": markdown, "csv": csv, "jsonl": jsonl}
    gates = Gates.of(fail_under, baseline, fail_on_regression, fail_on_new_failure)
    end = ending(gates, as_json=as_json, **files)
    budget = limits_of(max_cost, max_tokens, max_minutes, allow_unknown_prices)

    async def resumed(settings: Settings) -> int:
        async with open_operations(settings, ResumedRunOperations) as arena:
            run_id = await find_run(arena, run)
            baseline_id = None
            if named := await find_baseline(arena, baseline):
                baseline_id = named.run_for((await arena.run(run_id, limit=1)).run.suite)
            # Before the hint: if resuming is refused, there is nothing to continue later.
            await arena.resume_run(run_id, wait=False, **budget)
            with resume_hint(context, settings, run_id, agents):
                await follow(arena, settings, run_id, f"run {run_id}", is_quiet=as_json)
                return await end.show(arena, run_id, baseline_id)

    raise typer.Exit(wait_for(resumed(settings_of(context, agents=agents))))


@app.command("export")
def export(
    context: typer.Context,
    run: RunName,
    kind: Annotated[ExportFormat, typer.Option("--format", help="The format of the file.")],
    to: Annotated[
        str,
        typer.Option("--output", metavar="FILE", help="The file to write (-: standard output)."),
    ] = "-",
) -> None:
    """Write a run to a file for a CI system or another program."""
    # Imported here: the other commands do not export.
    from arena.cli.export.target import Target

    target = Target(format=kind, name=to)
    target.check()

    async def exported(arena: EndedRunOperations) -> None:
        await export_run(arena, await find_run(arena, run), target)

    call(context, EndedRunOperations, exported)
    if to != "-":
        output.line(f"wrote {to}")


@app.command("cancel")
def cancel(context: typer.Context, run: RunName) -> None:
    """Stop a run permanently; the results so far are kept."""

    async def cancelled(arena: RunOperations) -> Run:
        return await arena.cancel_run(await find_run(arena, run))

    ended = call(context, RunOperations, cancelled)
    output.line(f"run {ended.id} is cancelled; its {ended.completed_tests} results are kept")


@app.command("push")
def push(
    context: typer.Context,
    run: RunName,
    to: Annotated[
        str | None,
        typer.Option(
            "--to",
            "--server",
            metavar="URL",
            help="The server to push to (default: `arena --server`, or ARENA_SERVER).",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Push a completed run to a server.

    The server checks it. Prints the address of the run there. Pushing a run again changes nothing.
    The token for the server is read from ARENA_TOKEN.
    """
    settings = settings_of(context)
    server = to or settings.server
    if server is None:
        raise InvalidInput("name the server to push to: arena runs push RUN --to URL")

    async def pushed() -> tuple[RunPushed, bool]:
        # Read here, whichever server other commands work on.
        here = settings.model_copy(update={"server": None})
        async with open_operations(here, PushedRunOperations) as arena:
            bundle = await arena.run_bundle(await find_run(arena, run))
        there = settings.model_copy(update={"server": server})
        async with open_operations(there, PushTargetOperations) as target:
            result = await target.push_run(bundle)
            return result, (await target.suites()).ranks_reported

    result, is_ranked = wait_for(pushed())
    address = f"{server.rstrip('/')}{result.path}"
    if as_json:
        output.print_json({**output.jsonable(result), "url": address})
    else:
        rank = "" if is_ranked else "; listed as a claim, not ranked (team setting)"
        output.line(f"{address}  {verification_text(result.run)}{rank}")


@app.command("reexecute")
def reexecute(
    context: typer.Context, run: RunName, agents: AgentsPath = None, as_json: Json = False
) -> None:
    """Ask the agent of a run again, and compare.

    The run must be completed, and its tests are used. The agent must be registered where the
    run is, with the same id and version.
    """

    async def repeated(settings: Settings) -> Run:
        async with open_operations(settings, PushedRunOperations) as arena:
            started = await arena.reexecute_run(await find_run(arena, run), wait=False)
            with resume_hint(context, settings, started.run_id, agents):
                title = f"run {started.run_id}"
                await follow(arena, settings, started.run_id, title, is_quiet=as_json)
            agreement = await arena.agreement(started.run_id)
            ended = (await arena.run(started.run_id, limit=1)).run
            if as_json:
                output.print_json({"run": ended, "agreement": agreement})
            else:
                await print_run(arena, started.run_id, as_json=False)
                print_agreement(agreement)
            return ended

    ended = wait_for(repeated(settings_of(context, agents=agents)))
    raise typer.Exit(exit_code(ended, None))
